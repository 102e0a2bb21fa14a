import numpy as np
import tensorflow as tf

import preprocess

tf.keras.utils.set_random_seed(3)


def photo(kind):
    colour = np.array([[200, 60, 40], [90, 70, 50]])[kind]
    img = np.random.normal(colour, 50, (40, 36, 3)).clip(0, 255).astype("uint8")
    return tf.io.encode_png(img).numpy()


def pipeline(pngs, kinds, train):
    ds = tf.data.Dataset.from_tensor_slices((pngs, kinds))
    if train:
        ds = ds.shuffle(len(pngs))
    return ds.map(lambda p, k: (preprocess.read_photo(p, train), k)).batch(16)


kinds = np.random.randint(0, 2, 160).astype("float32")
pngs = [photo(int(k)) for k in kinds]
train, test = pipeline(pngs[:120], kinds[:120], True), pipeline(pngs[120:], kinds[120:], False)

first = next(iter(test))[0]
print("pixel range", float(tf.reduce_min(first)), float(tf.reduce_max(first)))

model = tf.keras.Sequential([
    tf.keras.Input((preprocess.SIDE, preprocess.SIDE, 3)),
    tf.keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(tf.keras.optimizers.SGD(0.1), "binary_crossentropy", metrics=["accuracy"])
h = model.fit(train, epochs=3, validation_data=test, verbose=0)
print({k: [round(v, 3) for v in vs] for k, vs in h.history.items()})
