import tensorflow as tf

from data import split

train_ds = split(0, 96, True)
val_ds = split(500, 532, False)

reg = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1)])
reg.compile("adam", "mse")
reg.fit(train_ds, validation_data=val_ds, epochs=2, verbose=2)
print("val inputs from", float(min(tf.reduce_min(x) for x, _ in val_ds)), "rows", sum(len(x) for x, _ in val_ds))
