import tensorflow as tf
import keras


class Loop:
    def __init__(self, model, lr=2e-3):
        self.model = model
        self.optimizer = keras.optimizers.Adam(lr)
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.loss = keras.metrics.Mean()
        self.acc = keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def _train_batch(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.model(x, training=True)
            loss = self.loss_fn(y, logits)
        variables = self.model.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        self.loss.update_state(loss)
        self.acc.update_state(y, logits)

    @tf.function
    def _eval_batch(self, x, y):
        logits = self.model(x, training=False)
        self.loss.update_state(self.loss_fn(y, logits))
        self.acc.update_state(y, logits)

    def _pass(self, dataset, step):
        self.loss.reset_state()
        self.acc.reset_state()
        for x, y in dataset:
            step(x, y)
        return float(self.loss.result()), float(self.acc.result())

    def run(self, train, valid, epochs):
        for epoch in range(1, epochs + 1):
            t_loss, t_acc = self._pass(train, self._train_batch)
            v_loss, v_acc = self._pass(valid, self._eval_batch)
            if epoch % 5 == 0:
                print(
                    f"{epoch:3d} train {t_loss:.3f}/{t_acc:.3f}"
                    f" valid {v_loss:.3f}/{v_acc:.3f}"
                )
        return v_loss
