import tensorflow as tf


class BaseTrainer:
    """Holds the settings; subclasses build the model and the data."""

    def __init__(self, cfg):
        self.name = cfg["experiment"]
        self.batch_size = cfg["data"]["batch_size"]
        self.epochs = cfg["trainer"]["epochs"]
        self.train_cfg = cfg["trainer"]
        self.model_cfg = cfg["model"]
        self.callback_cfg = cfg.get("callbacks") or {}

    def build_model(self):
        raise NotImplementedError

    def build_data(self):
        raise NotImplementedError

    def optimizer(self):
        cls = getattr(tf.keras.optimizers, self.train_cfg["optimizer"])
        return cls(learning_rate=self.train_cfg["lr"], clipnorm=self.train_cfg.get("grad_clip"))

    def callbacks(self):
        cbs = []
        if self.callback_cfg.get("early_stopping"):
            cbs.append(tf.keras.callbacks.EarlyStopping(**self.callback_cfg["early_stopping"]))
        if self.callback_cfg.get("lr_schedule"):
            cbs.append(tf.keras.callbacks.ReduceLROnPlateau(**self.callback_cfg["lr_schedule"]))
        return cbs

    def run(self):
        train, val = self.build_data()
        model = self.build_model()
        model.compile(self.optimizer(), self.train_cfg["loss"], metrics=self.train_cfg["metrics"])
        log = model.fit(
            train, validation_data=val, epochs=self.epochs, callbacks=self.callbacks(),
            class_weight=self.train_cfg["class_weight"], verbose=0)
        print(self.name, "steps", int(model.optimizer.iterations), "loss", log.history["loss"][-1])
        return model
