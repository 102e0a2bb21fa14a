import tensorflow as tf
from tensorflow import keras

OPTIMIZERS = {
    "adam": keras.optimizers.Adam,
    "sgd": keras.optimizers.SGD,
    "rmsprop": keras.optimizers.RMSprop,
}
HEADS = ("eta", "fare")


def two_heads(units):
    inputs = keras.Input((5,))
    x = keras.layers.Dense(units, activation="relu")(inputs)
    return keras.Model(inputs, {head: keras.layers.Dense(1)(x) for head in HEADS})


class Trainer:
    def __init__(self, run):
        self.net = two_heads(run["units"])
        self.optimizer = OPTIMIZERS[run["optimizer"]](run["lr"])
        self.weights = run.get("loss_weights", {"eta": 1.0, "fare": 1.0})
        self.clip = run["clip"]

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            out = self.net(x, training=True)
            loss = sum(self.weights[h] * tf.reduce_mean(tf.abs(out[h] - y[h])) for h in HEADS)
        grads = tape.gradient(loss, self.net.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, self.clip)
        self.optimizer.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss
