import tempfile

import tensorflow as tf

import tables

DAYS, BATCH, EPOCHS = 300, 25, 3

folder = tempfile.mkdtemp()
train = tables.load(tables.export(folder, DAYS, "train", 1), BATCH, train=True)
test = tables.load(tables.export(folder, 60, "test", 2), BATCH, train=False)

model = tf.keras.Sequential([
    tf.keras.layers.BatchNormalization(),
    tf.keras.layers.Dense(16, activation="relu"),
    tf.keras.layers.Dense(1),
])
model.compile(tf.keras.optimizers.Adam(0.01), "mse")
model.fit(train, epochs=EPOCHS, steps_per_epoch=DAYS // BATCH, verbose=2)
print("test", model.evaluate(test, verbose=0))
