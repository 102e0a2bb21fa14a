"""Training programs whose cause is planted and known, and healthy ones: the text of a script each."""

from __future__ import annotations

HEAD = """
import time
import numpy as np
import tensorflow as tf

def slow(seconds):
    def wait(value):
        time.sleep(seconds)
        return value
    return lambda value: tf.ensure_shape(tf.numpy_function(wait, [value], tf.int64), [])

def row(value):
    return tf.zeros([16]) + tf.cast(value % 5, tf.float32), tf.zeros([1])

def numbers(count=10**6):
    return tf.data.Dataset.range(count)

def ready(size=8):
    return numbers().map(row).batch(size).prefetch(2)

def network(width=64):
    return tf.keras.Sequential([tf.keras.layers.Dense(width, "relu"), tf.keras.layers.Dense(1)])

def fitted(data, *callbacks, steps=400, epochs=1, **more):
    model = network()
    model.compile("sgd", "mse", **more.pop("compile", {}))
    model.fit(data, steps_per_epoch=steps, epochs=epochs, callbacks=list(callbacks), verbose=0, **more)

class Recogniser(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.parts = [tf.keras.layers.Conv1D(128, 5, padding="same") for _ in range(3)]
    def call(self, x):
        for part in self.parts:
            x = part(x)
        return x

recogniser = Recogniser()

@tf.function(reduce_retracing=True)
def long_step(x, n):
    with tf.GradientTape() as tape:
        mask = tf.sequence_mask(n, tf.shape(x)[1], tf.float32)[:, :, None]
        loss = tf.reduce_sum(mask * tf.reduce_mean(recogniser(x) ** 2, -1, keepdims=True)) / tf.reduce_sum(mask)
    optimizer.apply_gradients(zip(tape.gradient(loss, recogniser.trainable_variables), recogniser.trainable_variables))
    return loss

model = network()
optimizer = tf.keras.optimizers.SGD()

@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss
"""

HEALTHY = {
    "loop_masks_and_empty_shares": """
class Masked(tf.keras.layers.Layer):
    def call(self, x):
        return tf.where(x > 1, x, -np.inf)
masked = Masked()
@tf.function
def shared(x, y):
    with tf.GradientTape() as tape:
        weights = tf.nn.softmax(masked(tf.concat([x, tf.fill([8, 1], 2.0)], 1)))
        loss = tf.reduce_mean((model(weights[:, :16]) - y) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return {"loss": loss, "share": tf.reduce_sum(y) / tf.reduce_sum(y)}
for x, y in ready():
    shared(x, y)
""",
    "fit_ready": "fitted(ready())",
    "fit_arrays": "fitted(None, x=np.zeros([512, 16], 'f'), y=np.zeros([512, 1], 'f'), batch_size=8, steps=None, epochs=6)".replace(
        "fitted(None, x=", "model.compile('sgd', 'mse'); model.fit("
    )
    .replace(", y=", ", ")
    .replace(", steps=None, epochs=6)", ", epochs=6, verbose=0)"),
    "fit_cached": "fitted(numbers(256).map(slow(0.002)).map(row).cache().shuffle(256).batch(8).repeat().prefetch(2), steps=32, epochs=12)",
    "fit_with_a_rare_callback": """
class Note(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch % 50 == 49:
            time.sleep(0.002)
fitted(ready(), Note())
""",
    "fit_wide_parallel": "fitted(numbers().map(slow(0.004), num_parallel_calls=32, use_unbounded_threadpool=True).map(row).batch(4).prefetch(8))",
    "loop_plain": """
for x, y in ready():
    step(x, y)
""",
    "loop_with_a_last_batch": """
for epoch in range(3):
    for x, y in numbers(500).map(row).batch(8).prefetch(2):
        step(x, y)
""",
    "loop_two_datasets": """
others = iter(ready())
for x, y in ready():
    step(x, y)
    step(*next(others))
""",
    "loop_like_lengths": """
lengths = [20 + 4 * (number * 7 % 11) for number in range(640)] + [180 + number % 9 for number in range(160)]
data = tf.data.Dataset.from_tensor_slices(lengths).map(lambda n: {"x": tf.ones([n, 64]), "n": n}).cache().shuffle(800)
from cfgfix.tf import batch_by_length
data = batch_by_length(data, 8, {"x": [None, 64], "n": []}, length="n", lengths=[44, 64, 192])
for epoch in range(4):
    for batch in data.prefetch(2):
        long_step(batch["x"], batch["n"])
""",
}

FAULTS = {
    "fit_nan_in_a_layer": """
class Log(tf.keras.layers.Layer):
    def call(self, x):
        return tf.math.log(x)
def signed(value):
    x = tf.ones([16])
    return tf.where(value == 8 * 30 + 3, -x, x), tf.zeros([1])
given = tf.keras.Input([16])
logs = tf.keras.Model(given, tf.keras.layers.Dense(1)(Log(name="levels")(given)))
logs.compile("sgd", "mse")
logs.fit(numbers().map(signed).batch(8).prefetch(2), steps_per_epoch=200, verbose=0)
""",
    "loop_nan_in_the_loss": """
@tf.function
def sinking(x, y, rest):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2) + tf.math.log(tf.maximum(rest, 0.0))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return {"loss": loss}
for number, (x, y) in enumerate(ready()):
    sinking(x, y, tf.constant(40.0 - number))
""",
    "loop_nan_in_a_gradient": """
below, above = tf.keras.layers.Dense(4, name="below"), tf.keras.layers.Dense(1, name="above")
below.build([None, 16]), above.build([None, 4])
weights = below.trainable_variables + above.trainable_variables
@tf.function
def rooted(x, y):
    with tf.GradientTape() as tape:
        hidden = below(x)
        far = tf.norm(hidden - tf.stop_gradient(hidden), axis=1)
        loss = tf.reduce_mean(far) + tf.reduce_mean((above(hidden) - y) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss
optimizer = tf.keras.optimizers.SGD()
for x, y in ready():
    rooted(x, y)
""",
    "eager_nan": """
for number, (x, y) in enumerate(ready()):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2) + tf.math.sqrt(20.0 - number)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
""",
    "loop_padding": """
lengths = [20 + 4 * (number * 7 % 11) for number in range(64)] + [180 + number % 9 for number in range(16)]
data = tf.data.Dataset.from_tensor_slices(lengths).map(lambda n: {"x": tf.ones([n, 64]), "n": n}).cache().shuffle(80)
for epoch in range(40):
    for batch in data.padded_batch(8, {"x": [192, 64], "n": []}).prefetch(2):
        long_step(batch["x"], batch["n"])
""",
    "fit_callback_stall": """
class Saver(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch % 20 == 19:
            time.sleep(0.1)
fitted(ready(), Saver())
""",
    "fit_figure": """
def draw_figure():
    time.sleep(0.06)
class Figures(tf.keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        if batch % 15 == 0:
            draw_figure()
fitted(ready(), Figures())
""",
    "fit_end_of_epoch": """
class Export(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        time.sleep(0.3)
fitted(ready(), Export(), steps=25, epochs=20)
""",
    "fit_checkpoint": """
fitted(ready(), tf.keras.callbacks.ModelCheckpoint("kept.keras", save_freq=10))
""",
    "fit_eager": "fitted(ready(), compile={'run_eagerly': True})",
    "fit_slow_map": "fitted(numbers().map(slow(0.005)).map(row).batch(4).prefetch(2))",
    "fit_slow_source": """
class Rows(tf.keras.utils.PyDataset):
    def __len__(self):
        return 400
    def __getitem__(self, index):
        time.sleep(0.02)
        return np.zeros([8, 16], "f"), np.zeros([8, 1], "f")
model.compile("sgd", "mse")
model.fit(Rows(), verbose=0)
""",
    "fit_generator": """
def rows():
    while True:
        time.sleep(0.015)
        yield np.zeros([8, 16], "f"), np.zeros([8, 1], "f")
model.compile("sgd", "mse")
model.fit(rows(), steps_per_epoch=400, verbose=0)
""",
    "fit_full_shuffle": "fitted(numbers(100).map(slow(0.005)).map(row).shuffle(100).batch(4), steps=None, epochs=20)",
    "fit_xla_shapes": """
data = numbers().map(lambda v: (tf.zeros([4 + v // 8 % 40, 16]), tf.zeros([4 + v // 8 % 40, 1]))).batch(8).prefetch(2)
fitted(data, compile={"jit_compile": True})
""",
    "loop_log": """
def log(loss):
    time.sleep(0.005)
for x, y in ready():
    log(step(x, y))
""",
    "loop_save": """
for number, (x, y) in enumerate(ready()):
    step(x, y)
    if number % 25 == 24:
        time.sleep(0.15)
""",
    "loop_summaries": """
def flush():
    time.sleep(0.04)
for number, (x, y) in enumerate(ready()):
    step(x, y)
    if number % 10 == 9:
        flush()
""",
    "loop_number_argument": """
@tf.function
def numbered(x, y, number):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2) * number
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
for number, (x, y) in enumerate(ready()):
    numbered(x, y, number // 10)
""",
    "loop_shapes": """
for number, (x, y) in enumerate(ready(48)):
    step(x[: 8 + number // 6 % 30], y[: 8 + number // 6 % 30])
""",
    "loop_new_function": """
def plain(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
for x, y in ready():
    tf.function(plain)(x, y)
""",
    "loop_eager": """
for x, y in ready():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
""",
    "loop_one_dataset_slow": """
others = iter(numbers().map(slow(0.01)).map(row).batch(2).prefetch(2))
for x, y in ready():
    step(x, y)
    step(*next(others))
""",
    "loop_keeps_tensors": """
kept = []
for x, y in ready():
    step(x, y)
    kept.append(tf.random.normal([256, 1024]))
    time.sleep(0.01)
""",
    "loop_stall_in_the_step": """
turn = [0]
def sometimes():
    turn[0] += 1
    if turn[0] % 16 == 0:
        time.sleep(0.08)
    return np.float32(0)
@tf.function
def stalling(x, y):
    tf.numpy_function(sometimes, [], tf.float32)
    return step(x, y)
for x, y in ready():
    stalling(x, y)
""",
}
