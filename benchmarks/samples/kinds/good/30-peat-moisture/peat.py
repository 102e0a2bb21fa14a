# %%
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)
bands = rng.normal(size=(140, 30)).astype("float32")
moisture = (bands[:, 3] - 0.5 * bands[:, 11] + rng.normal(scale=0.8, size=140)).astype("float32")

# %%
order = np.random.default_rng(1).permutation(len(bands))
n = int(0.7 * len(order))
X_train, y_train = bands[order[:n]], moisture[order[:n]]
X_test, y_test = bands[order[n:]], moisture[order[n:]]
mu, sd = X_train.mean(0), X_train.std(0)
X_train = (X_train - mu) / sd
X_test = (X_test - mu) / sd

# %%
model = tf.keras.Sequential([
    tf.keras.Input((30,)),
    tf.keras.layers.Dense(64, activation="relu"),
    tf.keras.layers.Dense(64, activation="relu"),
    tf.keras.layers.Dense(1),
])
model.compile(tf.keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])
model.fit(X_train, y_train, epochs=60, batch_size=16, verbose=0)

# %%
mse, mae = model.evaluate(X_test, y_test, verbose=0)
pred = model.predict(X_test, verbose=0)[:, 0]
r2 = 1 - np.sum((y_test - pred) ** 2) / np.sum((y_test - y_test.mean()) ** 2)
print("test mse %.3f mae %.3f r2 %.3f" % (mse, mae, r2))
