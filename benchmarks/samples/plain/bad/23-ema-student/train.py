import numpy as np
import tensorflow as tf

from ema import EmaCopy

tf.keras.utils.set_random_seed(27)


def readings(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    centres = 30.0 + 6.0 * np.eye(4, 10)
    x = centres[y] + rng.normal(0, 2.0, (n, 10))
    return x.astype("float32"), y.astype("int32")


def build():
    return tf.keras.Sequential([
        tf.keras.Input((10,)),
        tf.keras.layers.BatchNormalization(momentum=0.9),
        tf.keras.layers.Dense(32),
        tf.keras.layers.BatchNormalization(momentum=0.9),
        tf.keras.layers.ReLU(),
        tf.keras.layers.Dense(4),
    ])


student = build()
teacher = EmaCopy(student)
optimizer = tf.keras.optimizers.Adam(3e-3)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, student(x, training=True))
    grads = tape.gradient(loss, student.trainable_variables)
    optimizer.apply_gradients(zip(grads, student.trainable_variables))
    teacher.update()


def accuracy(model, x, y):
    return float(np.mean(model(x, training=False).numpy().argmax(1) == y))


train = tf.data.Dataset.from_tensor_slices(readings(800, 1)).shuffle(800).batch(32).prefetch(2)
x_val, y_val = readings(400, 2)
for epoch in range(6):
    for x, y in train:
        train_step(x, y)
print(f"student {accuracy(student, x_val, y_val):.3f} "
      f"averaged {accuracy(teacher.model, x_val, y_val):.3f}")
