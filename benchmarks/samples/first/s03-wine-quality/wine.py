# wine quality regression, homework 3
import json

import numpy as np
from tensorflow import keras

# ------- defaults, put your own values into params.json -------
N_ROWS = 64
HIDDEN = [16, 8]
ACTIVATION = "relu"
LEARNING_RATE = 0.01
LOSS = "mse"
EPOCHS = 3
BATCH_SIZE = 16
# ---------------------------------------------------------------
with open("params.json") as f:
    globals().update(json.load(f))

np.random.seed(7)
keras.utils.set_random_seed(7)
X = np.random.rand(N_ROWS, 11).astype("float32")
Y = X.sum(axis=1, keepdims=True)

model = keras.Sequential()
model.add(keras.Input(shape=(11,)))
for n in HIDDEN:
    model.add(keras.layers.Dense(n, activation=ACTIVATION))
model.add(keras.layers.Dense(1))

model.compile(optimizer=keras.optimizers.Adam(learning_rate=LEARNING_RATE), loss=LOSS)
hist = model.fit(X, Y, epochs=EPOCHS, batch_size=BATCH_SIZE, verbose=0)
print("final loss:", hist.history["loss"][-1])
