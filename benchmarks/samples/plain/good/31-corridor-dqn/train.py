import random
from collections import deque

import numpy as np
import tensorflow as tf

from agent import DqnAgent

LENGTH, EPISODES, LIMIT = 8, 40, 40

tf.keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)
eye = np.eye(LENGTH, dtype="float32")
agent = DqnAgent(LENGTH, 2)
memory = deque(maxlen=4000)
gaps = []

for episode in range(EPISODES):
    place, epsilon = 0, max(0.1, 1.0 - episode / 25)
    for t in range(LIMIT):
        action = agent.act(eye[place], epsilon, rng)
        after = min(LENGTH - 1, place + 1) if action else max(0, place - 1)
        done = after == LENGTH - 1
        memory.append((eye[place], action, float(done), eye[after], float(done)))
        place = after
        if len(memory) >= 64:
            s, a, r, s2, d = zip(*random.sample(memory, 32))
            agent.learn((np.stack(s), np.array(a, "int32"), np.array(r, "float32"),
                         np.stack(s2), np.array(d, "float32")))
        if done:
            break
    gaps.append(float(np.abs(agent.online(eye) - agent.target(eye)).max()))

print(f"{agent.updates} updates, target differs from online by at most {max(gaps[5:]):.4f}")
print("q of the start", agent.online(eye)[0].numpy().round(3))
