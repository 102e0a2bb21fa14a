"""Learning by trial: predict for one state and fit on one batch in every step."""

import collections
import random

import numpy as np
import tensorflow as tf

model = tf.keras.Sequential(
    [tf.keras.Input([4]), tf.keras.layers.Dense(24, "relu"), tf.keras.layers.Dense(2)]
)
model.compile("adam", "mse")
memory = collections.deque(maxlen=2000)
state = np.zeros(4, "float32")
for _ in range(600):
    action = int(np.argmax(model.predict(state[None], verbose=0)[0]))
    following = state + np.float32(0.1 * (action - 0.5))
    memory.append((state, action, -abs(float(state[0])), following))
    state = following
    if len(memory) >= 32:
        batch = random.sample(memory, 32)
        states = np.array([entry[0] for entry in batch])
        targets = model.predict(states, verbose=0)
        for row, (_, chosen, reward, _) in enumerate(batch):
            targets[row, chosen] = reward
        model.fit(states, targets, verbose=0)
