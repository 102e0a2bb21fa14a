import os
import tensorflow as tf
from input_pipeline import get_dataset

BATCH = 32
EPOCHS = int(os.environ.get("EPOCHS", 3))

tf.keras.utils.set_random_seed(0)
train_ds = get_dataset("train", BATCH)
val_ds = get_dataset("val", BATCH)

model = tf.keras.Sequential([
    tf.keras.Input((20, 20, 1)),
    tf.keras.layers.Conv2D(8, 3, activation="relu"),
    tf.keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(1, activation="relu"),
])
model.compile("adam", loss="mae")
history = model.fit(train_ds, epochs=EPOCHS, steps_per_epoch=640 // BATCH, validation_data=val_ds, verbose=2)
print(history.history)
