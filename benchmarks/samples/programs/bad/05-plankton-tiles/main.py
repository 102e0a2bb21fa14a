import tempfile

import tensorflow as tf

from tiles import CLASSES, TileSource, fake_scans

root = tempfile.mkdtemp() + "/scans"
fake_scans(root)
source = TileSource(root)

model = tf.keras.Sequential([
    tf.keras.Input((32, 32, 3)),
    tf.keras.layers.Conv2D(4, 3, strides=2, activation="relu"),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(len(CLASSES), activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(source(training=True), epochs=2, verbose=2)
