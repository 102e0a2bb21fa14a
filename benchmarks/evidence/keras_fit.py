"""What eager mode, XLA and 16-bit policies cost in Keras' fit on a CPU."""

from __future__ import annotations

import time

import keras
import numpy as np
import tensorflow as tf
from harness import compare, fact, section


def fitting(
    width: int, batch: int, steps: int, *, policy: str = "float32", **settings: object
) -> keras.Model:
    keras.mixed_precision.set_global_policy(policy)
    layers = [
        keras.Input((width,)),
        *[keras.layers.Dense(width, "relu") for _ in range(4)],
        keras.layers.Dense(1, dtype="float32"),
    ]
    model = keras.Sequential(layers)
    model.compile("adam", "mse", **settings)
    keras.mixed_precision.set_global_policy("float32")
    model.data = tf.data.Dataset.from_tensors(
        (np.ones((batch, width), "float32"), np.ones((batch, 1), "float32"))
    ).repeat(steps)
    return model


def epoch(model: keras.Model) -> float:
    start = time.perf_counter()
    model.fit(model.data, epochs=1, verbose=0)
    return time.perf_counter() - start


for width, batch, steps in ((64, 32, 100), (1024, 128, 6)):
    models = {
        "graph": fitting(width, batch, steps),
        "run_eagerly": fitting(width, batch, steps, run_eagerly=True),
        "jit_compile": fitting(width, batch, steps, jit_compile=True),
    }
    if width == 1024:
        models["mixed_float16"] = fitting(width, batch, steps, policy="mixed_float16")
        models["mixed_bfloat16"] = fitting(width, batch, steps, policy="mixed_bfloat16")
    compare(
        f"one epoch of {steps} steps, width {width}, batch {batch}",
        {name: lambda model=model: epoch(model) for name, model in models.items()},
        rounds=3,
    )

section("fit over 40 lengths, seconds")
for jit in (False, True):
    model = keras.Sequential(
        [
            keras.Input((None, 16)),
            keras.layers.Dense(16),
            keras.layers.GlobalAveragePooling1D(),
            keras.layers.Dense(1),
        ]
    )
    model.compile("adam", "mse", jit_compile=jit)
    data = tf.data.Dataset.from_generator(
        lambda: ((np.ones((4, n, 16), "float32"), np.ones((4, 1), "float32")) for n in range(40, 80)),
        output_signature=(tf.TensorSpec([4, None, 16]), tf.TensorSpec([4, 1])),
    )
    start = time.perf_counter()
    model.fit(data, verbose=0)
    fact(f"jit_compile={jit}", round(time.perf_counter() - start, 2))

section("gradients of a float16 layer for a loss of 1e-7, share that is not 0")
keras.mixed_precision.set_global_policy("mixed_float16")
layer = keras.layers.Dense(8)
layer.build((None, 8))
scaler = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD())
for name, scale in (("without loss scaling", False), ("with loss scaling", True)):
    with tf.GradientTape() as tape:
        loss = tf.cast(tf.reduce_mean(layer(tf.ones((4, 8)))), tf.float32) * 1e-7
        loss = scaler.scale_loss(loss) if scale else loss
    gradient = tape.gradient(loss, layer.kernel.value)
    fact(name, float(np.mean(gradient.numpy() != 0)))
keras.mixed_precision.set_global_policy("float32")
