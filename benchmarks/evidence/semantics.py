"""What TensorFlow and Keras take, refuse or ignore. Nothing here is timed: the answers are always the same."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import keras
import numpy as np
import tensorflow as tf
from harness import fact, outcome, section

AUTOTUNE = tf.data.AUTOTUNE


def numbers() -> dict[int, tf.data.Dataset]:
    return tf.data.Dataset.range(8)


print(f"TensorFlow {tf.__version__}, Keras {keras.__version__}")

section("counts")
for value in (0, 1, 2.0, "2"):
    fact(f"batch({value!r})", outcome(lambda value=value: list(numbers().batch(value))))
for value in (0, -1, -2, -5, 1):
    fact(
        f"map(num_parallel_calls={value})",
        outcome(lambda value=value: list(numbers().map(lambda x: x + 1, num_parallel_calls=value))),
    )
for value in (0, -1, -2):
    fact(f"prefetch({value})", outcome(lambda value=value: list(numbers().prefetch(value))))
for value in (1, 0, -1, -2, -3, AUTOTUNE):
    fact(f"shuffle({value})", outcome(lambda value=value: list(numbers().shuffle(value))))
fact("min(16, AUTOTUNE)", min(16, AUTOTUNE))

section("padding")
ragged = tf.data.Dataset.from_generator(
    lambda: ([1] * n for n in (3, 9)), output_signature=tf.TensorSpec([None], tf.int32)
)
fact("shape without lengths", ragged.padded_batch(2).element_spec.shape)
fact("shape with a length", ragged.padded_batch(2, [16], drop_remainder=True).element_spec.shape)
fact("fixed shape below an element", outcome(lambda: list(ragged.padded_batch(2, [8]))))

section("options that TensorFlow does not have")
for name in ("pin_memory", "persistent_workers", "prefetch_factor", "multiprocessing_context"):
    fact(name, outcome(lambda name=name: setattr(tf.data.Options(), name, True)))

section("dtype policies")
for name in (
    "mixed_float16",
    "mixed_bfloat16",
    "float32",
    "float16",
    "bfloat16",
    "fp16",
    "bf16",
    "mixed_fp16",
    "mixed_bf16",
    "mixed",
    True,
):
    fact(repr(name), outcome(lambda name=name: keras.mixed_precision.set_global_policy(name)))
for name in ("float16", "mixed_float16"):
    keras.mixed_precision.set_global_policy(name)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
    model.compile("adam", "mse")
    fact(
        f"{name}: variables, optimizer",
        (model.layers[0].kernel.dtype, type(model.optimizer).__name__),
    )
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.cast(model(np.ones((1, 4), "float32")), tf.float32))
    fact(f"{name}: gradient", tape.gradient(loss, model.layers[0].kernel).dtype.name)
keras.mixed_precision.set_global_policy("float32")

section("XLA and eager mode")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
    model.compile("adam", "mse", run_eagerly=True, jit_compile=True)
fact("compile(run_eagerly=True, jit_compile=True).jit_compile", model.jit_compile)

section("running out of data")


class Steps(keras.callbacks.Callback):
    count = 0

    def on_train_batch_end(self, batch: int, logs: object = None) -> None:  # noqa: ARG002 - the name and arguments Keras calls
        self.count += 1


for name, repeated in (("8 batches, steps_per_epoch=20, epochs=3", False), ("the same with repeat()", True)):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    data = tf.data.Dataset.from_tensors((tf.ones((2, 4)), tf.ones((2, 2)))).repeat(None if repeated else 8)
    steps = Steps()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(data, steps_per_epoch=20, epochs=3, verbose=0, callbacks=[steps])
    out = [str(item.message) for item in caught if "ran out of data" in str(item.message)]
    fact(f"{name}: steps, warning", f"{steps.count}, {'ran out of data' if out else 'none'}")

section("optimizer arguments")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    fact("Adam(decay=1e-6)", outcome(lambda: keras.optimizers.Adam(0.001, decay=1e-6)))
    fact("  warnings", [str(item.message)[:60] for item in caught])
fact("Adam(lr=0.001)", outcome(lambda: keras.optimizers.Adam(lr=0.001)))
fact("Adam(clipnorm=1, clipvalue=0.5)", outcome(lambda: keras.optimizers.Adam(clipnorm=1.0, clipvalue=0.5)))
fact(
    "Adam(clipnorm=1, global_clipnorm=0)",
    outcome(lambda: keras.optimizers.Adam(clipnorm=1.0, global_clipnorm=0.0)),
)

LOGGING = """
import os, sys
if sys.argv[1] == "before":
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
if sys.argv[1] == "after":
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
tf.constant(1) + 1
"""
section("lines on stderr of a small program by when TF_CPP_MIN_LOG_LEVEL=3 is set")
for when in ("never", "before", "after"):
    done = subprocess.run(
        [sys.executable, "-c", LOGGING, when],
        capture_output=True,
        text=True,
        check=True,
        env={name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"},
    )
    fact(when if when == "never" else f"{when} the import", len(done.stderr.splitlines()))

section("names that TensorFlow does not have")
for name in ("set_memory_limit", "set_logical_device_configuration", "LogicalDeviceConfiguration"):
    fact(f"tf.config.experimental.{name}", outcome(lambda name=name: getattr(tf.config.experimental, name)))

section("values of a wrong type")
for value in ("8", True, 2.0, None):
    fact(f"batch({value!r})", outcome(lambda value=value: list(numbers().batch(value))))
    fact(f"shuffle({value!r})", outcome(lambda value=value: list(numbers().shuffle(value))))
    fact(f"prefetch({value!r})", outcome(lambda value=value: list(numbers().prefetch(value))))
for value in (True, 1.5, "4"):
    fact(
        f"map(num_parallel_calls={value!r})",
        outcome(lambda value=value: list(numbers().map(lambda x: x + 1, num_parallel_calls=value))),
    )
for value in ("1e-4", 1, True, None, [0.001], np.float32(0.001), np.float64(0.001), 1e-4):
    fact(f"Adam(learning_rate={value!r})", outcome(lambda value=value: keras.optimizers.Adam(value)))
fact("L2('1e-4')", outcome(lambda: keras.regularizers.L2("1e-4")))
fact(
    "LayerNormalization(epsilon='1e-6'), called",
    outcome(lambda: keras.layers.LayerNormalization(epsilon="1e-6")(tf.ones((2, 3)))),
)
fact("CosineDecay('1e-3', 100)", outcome(lambda: keras.optimizers.schedules.CosineDecay("1e-3", 100)(1)))


def first_step(optimizer: keras.optimizers.Optimizer) -> None:
    optimizer.apply_gradients([(tf.ones((2,)), keras.Variable(np.zeros((2,), "float32")))])


for name, settings in {
    "Adam(epsilon='1e-7')": {"epsilon": "1e-7"},
    "AdamW(weight_decay='1e-4')": {"weight_decay": "1e-4"},
    "Adam(clipnorm='none')": {"clipnorm": "none"},
}.items():
    kind = keras.optimizers.AdamW if name.startswith("AdamW") else keras.optimizers.Adam
    fact(name, outcome(lambda kind=kind, settings=settings: kind(**settings)))
    fact(f"{name}, first step", outcome(lambda kind=kind, settings=settings: first_step(kind(**settings))))
for name, value in (("run_eagerly", "false"), ("jit_compile", "no")):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
    model.compile("sgd", "mse", **{name: value})
    kept = getattr(model, name)
    fact(f"compile({name}={value!r})", f"{kept!r}, which counts as {bool(kept)}")

section("bytes of optimizer state for a float32 parameter")
weight = keras.Variable(np.zeros((1000, 1000), "float32"))
for name, optimizer in {
    "SGD": keras.optimizers.SGD(),
    "SGD, momentum": keras.optimizers.SGD(momentum=0.9),
    "RMSprop": keras.optimizers.RMSprop(),
    "Lion": keras.optimizers.Lion(),
    "Adam": keras.optimizers.Adam(),
    "AdamW": keras.optimizers.AdamW(),
    "Adam, AMSGrad": keras.optimizers.Adam(amsgrad=True),
    "Adam, EMA": keras.optimizers.Adam(use_ema=True),
    "Adam, accumulation": keras.optimizers.Adam(gradient_accumulation_steps=2),
    "Adafactor": keras.optimizers.Adafactor(),
}.items():
    optimizer.build([weight])
    held = sum(int(np.prod(item.shape)) * 4 for item in optimizer.variables if len(item.shape))
    fact(name, round(held / 1e6, 3))
