import numpy as np
import tensorflow as tf

from windows import make_windows, sales, split

LENGTH, HORIZON, SEED = 28, 14, 11

tf.keras.utils.set_random_seed(SEED)
series = sales()
history_part, future_part = series[:700], series[700:]

x, y = make_windows(history_part, LENGTH, HORIZON)
train, val = split(x, y, val_share=0.2, gap=LENGTH + HORIZON, seed=SEED)
x_new, y_new = make_windows(future_part, LENGTH, HORIZON)

normalizer = tf.keras.layers.Normalization(axis=None)
normalizer.adapt(train[0])

model = tf.keras.Sequential([
    tf.keras.Input((LENGTH,)),
    normalizer,
    tf.keras.layers.Dense(256, activation="relu"),
    tf.keras.layers.Dense(256, activation="relu"),
    tf.keras.layers.Dense(1),
])
model.compile(optimizer=tf.keras.optimizers.Adam(2e-3), loss="mae")
stop = tf.keras.callbacks.EarlyStopping(patience=40, restore_best_weights=True)
fit = model.fit(*train, validation_data=val, epochs=250, batch_size=64,
                callbacks=[stop], verbose=0)

print("epochs", len(fit.history["loss"]))
print("validation mae", round(model.evaluate(*val, verbose=0), 3))
print("mae on the following months", round(model.evaluate(x_new, y_new, verbose=0), 3))
print("naive mae", round(float(np.abs(x_new[:, -1:] - y_new).mean()), 3))
