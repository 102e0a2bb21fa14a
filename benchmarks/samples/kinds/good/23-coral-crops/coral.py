import numpy as np
import tensorflow as tf

SEED = (42, 7)
SIZE = 20


rng = tf.random.Generator.from_seed(SEED[0])


def random_view(img, label):
    seed = rng.make_seeds(2)[:, 0]
    img = tf.image.stateless_random_crop(img, (SIZE, SIZE, 3), seed=seed)
    img = tf.image.stateless_random_flip_left_right(img, seed=seed)
    img = tf.image.stateless_random_contrast(img, 0.7, 1.3, seed=seed)
    return img, label


def middle(img, label):
    return tf.image.resize_with_crop_or_pad(img, SIZE, SIZE), label


def reef(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    x = rng.uniform(0, 1, (n, 26, 26, 3)).astype("float32")
    for k in range(3):
        x[y == k, 6:20, 6:20, k] *= 0.5
    return x, y


def datasets(batch=32):
    xtr, ytr = reef(320, 0)
    xva, yva = reef(96, 1)
    train = tf.data.Dataset.from_tensor_slices((xtr, ytr)).cache().shuffle(320, seed=SEED[0])
    train = train.map(random_view, num_parallel_calls=tf.data.AUTOTUNE).batch(batch).prefetch(2)
    val = tf.data.Dataset.from_tensor_slices((xva, yva)).map(middle).batch(96).cache()
    return train, val


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(SEED[0])
    train, val = datasets()
    model = tf.keras.Sequential([
        tf.keras.Input((SIZE, SIZE, 3)),
        tf.keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(3, activation="softmax"),
    ])
    model.compile("adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(train, validation_data=val, epochs=3, verbose=2)
    probe = tf.data.Dataset.from_tensors(tf.reshape(tf.range(26. * 26 * 3), (26, 26, 3))).repeat(50)
    ds = tf.data.Dataset.zip((probe, tf.data.Dataset.range(50))).map(random_view)
    print("different views of one picture in 50 draws:", len({v.numpy().tobytes() for v, _ in ds}))
