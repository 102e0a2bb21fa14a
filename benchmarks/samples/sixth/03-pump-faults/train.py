import hydra
import tensorflow as tf
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from pump.windows import load


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(cfg: DictConfig) -> float:
    print(OmegaConf.to_yaml(cfg.trainer))
    tf.keras.utils.set_random_seed(cfg.seed)
    train, val = load(cfg.data)
    model = instantiate(cfg.model, input_shape=[cfg.data.window, cfg.data.sensors], classes=cfg.data.classes)
    model.compile(optimizer=instantiate(cfg.optim), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    history = model.fit(
        train,
        validation_data=val,
        epochs=cfg.trainer.max_epochs,
        steps_per_epoch=cfg.trainer.steps_per_epoch,
        callbacks=[tf.keras.callbacks.ReduceLROnPlateau(**cfg.trainer.reduce_lr)],
        verbose=0,
    )
    print("steps done", int(model.optimizer.iterations))
    return history.history["val_loss"][-1]


if __name__ == "__main__":
    main()
