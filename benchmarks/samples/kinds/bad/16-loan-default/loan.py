# %% [markdown]
# # Loan default, second try with a small net

# %%
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(8)
n = 3000
income = rng.lognormal(3, 0.5, n)
debt = rng.lognormal(2, 0.7, n)
age = rng.integers(18, 80, n)
p = 1 / (1 + np.exp(-(1.5 * np.log(debt / income) + 0.8)))
default = (rng.uniform(size=n) < p).astype("float32")
X = np.stack([np.log(income), np.log(debt), age / 80.0], 1).astype("float32")
print("default rate", default.mean())

# %%
norm = tf.keras.layers.Normalization()
norm.adapt(X[:2400])

model = tf.keras.Sequential([
    tf.keras.Input((3,)),
    norm,
    tf.keras.layers.Dense(16, activation="relu"),
    tf.keras.layers.Dense(16, activation="relu"),
    tf.keras.layers.Dense(1, activation="softmax"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])

# %%
hist = model.fit(X[:2400], default[:2400], epochs=8, batch_size=64, validation_data=(X[2400:], default[2400:]), verbose=0)
print("val acc", [round(a, 3) for a in hist.history["val_accuracy"]])

# %%
scores = model.predict(X[2400:], batch_size=256, verbose=0).ravel()
print("scores min/max", scores.min(), scores.max())
