import os

os.environ.setdefault("KERAS_BACKEND", "tensorflow")

import keras
import numpy as np

import vae

keras.utils.set_random_seed(1)
wafers = (np.random.rand(512, 2) @ np.random.rand(2, 10)).astype("float32")

model, encoder = vae.build(wafers.shape[1])
model.compile(optimizer=keras.optimizers.Adam(0.005), loss="mse")
model.fit(wafers, wafers, epochs=3, batch_size=64, verbose=2)

draws = np.stack([encoder(wafers[:1]).numpy()[0] for _ in range(6)])
print("six draws of one wafer:\n", draws.round(4))
print("spread", draws.std(axis=0))
