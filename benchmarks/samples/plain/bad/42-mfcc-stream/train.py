import tensorflow as tf

from clips import BANDS, dataset

tf.keras.utils.set_random_seed(47)
train_ds = dataset(240, seed=1)
val_ds = dataset(90, seed=2)

inputs = tf.keras.Input((None, BANDS))
x = tf.keras.layers.Masking()(inputs)
x = tf.keras.layers.GRU(16)(x)
outputs = tf.keras.layers.Dense(3)(x)
model = tf.keras.Model(inputs, outputs)
model.compile(
    optimizer=tf.keras.optimizers.Adam(1e-2),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
history = model.fit(train_ds, validation_data=val_ds, epochs=4, verbose=0)
print("val accuracy", history.history["val_accuracy"][-1])
