import numpy as np
import tensorflow as tf
from sacred import Experiment

ex = Experiment("tram noise")
ex.add_config("tram.yaml")


@ex.config
def more():
    folder = "runs"
    loss = "mse"


@ex.capture
def build(clip, net):
    return tf.keras.Sequential([
        tf.keras.Input((clip["seconds"] * 10, clip["bands"])),
        tf.keras.layers.GRU(net["width"]),
        tf.keras.layers.Dropout(net["dropout"]),
        tf.keras.layers.Dense(1),
    ])


@ex.capture(prefix="learn")
def teach(model, clips, levels, rate, epochs, batch_size):
    model.compile(tf.keras.optimizers.Adam(rate), "mse")
    return model.fit(clips, levels, epochs=epochs, batch_size=batch_size, verbose=0)


@ex.automain
def run(clip, loss, folder, _log):
    clips = np.random.rand(16, clip["seconds"] * 10, clip["bands"])
    levels = np.random.rand(16, 1)
    history = teach(build(), clips, levels)
    _log.info("loss %s, written to %s", history.history["loss"][-1], folder)
    return history.history[loss if loss in history.history else "loss"][-1]
