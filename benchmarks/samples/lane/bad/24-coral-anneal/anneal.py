import time

import numpy as np
import tensorflow as tf
import keras

from vae import CoralVAE

DIMS = 24
WARMUP_STEPS = 120


def colonies(n=960, seed=45):
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 3))
    mix = rng.normal(size=(3, DIMS))
    return (np.tanh(hidden @ mix) + rng.normal(0, 0.05, (n, DIMS))).astype("float32")


def kl_weight(step):
    return min(1.0, step / WARMUP_STEPS) * 0.2


def main(epochs=5):
    keras.utils.set_random_seed(45)
    batches = (
        tf.data.Dataset.from_tensor_slices(colonies())
        .shuffle(960)
        .batch(32, drop_remainder=True)
    )
    vae = CoralVAE(DIMS)
    step = 0
    for epoch in range(epochs):
        started = time.perf_counter()
        for x in batches:
            fit, kl = vae.train_step(x, kl_weight(step))
            step += 1
        print(
            f"epoch {epoch + 1} fit {float(fit):.3f} kl {float(kl):.3f} "
            f"{time.perf_counter() - started:.2f} s"
        )
    traces = vae.train_step.experimental_get_tracing_count()
    print(f"{step} steps, {traces} traces")


if __name__ == "__main__":
    main()
