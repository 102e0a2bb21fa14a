import numpy as np

from model import forecaster

load = np.random.rand(500, 24).astype("float32")
nxt = load.mean(axis=1) + 0.1

net = forecaster(load.shape[1])
net.compile(loss="mse", optimizer="rmsprop")
net.fit(load, nxt, epochs=2, batch_size=50, verbose=2)
