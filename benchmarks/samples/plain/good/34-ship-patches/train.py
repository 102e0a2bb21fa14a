import tensorflow as tf

from network import ship_network
from patches import dataset

tf.keras.utils.set_random_seed(33)
train_ds = dataset(800, 1, training=True)
val_ds = dataset(300, 2, training=False)

model = ship_network()
model.compile(optimizer=tf.keras.optimizers.Adam(3e-3),
              loss="binary_crossentropy", metrics=["accuracy"])
history = model.fit(train_ds, validation_data=val_ds, epochs=12, verbose=0)
print("val accuracy", [round(a, 3) for a in history.history["val_accuracy"][::3]])
