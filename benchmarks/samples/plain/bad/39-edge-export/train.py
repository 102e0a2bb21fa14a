import numpy as np
import tensorflow as tf

from convert import run_int8, to_int8

tf.keras.utils.set_random_seed(26)


def signs(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    x = rng.integers(0, 160, (n, 16, 16, 1))
    for i, k in enumerate(y):
        r, c = 8 * (k // 2), 8 * (k % 2)
        x[i, r:r + 8, c:c + 8] += 40
    return x.astype("uint8"), y


x_train, y_train = signs(1200, 1)
x_test, y_test = signs(300, 2)

model = tf.keras.Sequential([
    tf.keras.Input((16, 16, 1)),
    tf.keras.layers.Conv2D(8, 3, activation="relu"),
    tf.keras.layers.MaxPooling2D(),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(4, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x_train / np.float32(255), y_train, epochs=8, batch_size=32, verbose=0)

_, accuracy = model.evaluate(x_test / np.float32(255), y_test, verbose=0)
print(f"keras accuracy {accuracy:.3f}")
blob = to_int8(model, x_train)
print(f"int8 accuracy  {np.mean(run_int8(blob, x_test) == y_test):.3f}, {len(blob)} bytes")
