import numpy as np
from tensorflow.keras.layers import LSTM, Dense, Dropout, Input
from tensorflow.keras.models import Sequential

LOOK_BACK = 30
prices = np.cumsum(np.random.randn(400)).astype("float32")
X = np.array([prices[i:i + LOOK_BACK] for i in range(len(prices) - LOOK_BACK)])[..., None]
y = prices[LOOK_BACK:]

model = Sequential()
model.add(Input((LOOK_BACK, 1)))
model.add(LSTM(16))
model.add(Dropout(0.2))
model.add(LSTM(16))
model.add(Dense(1))
model.compile(loss="mean_squared_error", optimizer="adam")
model.fit(X, y, epochs=2, batch_size=64, verbose=2)
