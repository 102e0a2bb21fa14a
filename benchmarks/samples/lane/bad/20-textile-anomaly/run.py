import resource

import numpy as np
import tensorflow as tf
import keras

from autoencoder import build, stream, train_step


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Monitor:
    """Collects the per step errors from which the alarm level is set."""

    def __init__(self):
        self.losses = []
        self.errors = []

    def add(self, loss, error):
        self.losses.append(float(loss))
        self.errors.append(error)

    def alarm_level(self, last=50):
        worst = [float(tf.reduce_max(e)) for e in self.errors[-last:]]
        return float(np.mean(worst))


def main(steps=400):
    keras.utils.set_random_seed(19)
    model = build()
    optimizer = keras.optimizers.Adam(3e-3)
    monitor = Monitor()
    for step, x in enumerate(stream(steps, 32, seed=1), start=1):
        loss, error = train_step(model, optimizer, x)
        monitor.add(loss, error)
        if step in (10, 200, 400):
            print(f"step {step} loss {monitor.losses[-1]:.4f} peak {peak_mb():.0f} MB")
    level = monitor.alarm_level()
    flawed = next(stream(1, 32, seed=2, flawed=True))
    score = float(tf.reduce_max(tf.square(model(flawed, training=False) - flawed)))
    print(f"alarm level {level:.3f}, flawed cloth {score:.3f}")


if __name__ == "__main__":
    main()
