import numpy as np
import tensorflow as tf

from networks import ActorCritic

STATES, ACTIONS, UPDATES = 5, 3, 150

tf.keras.utils.set_random_seed(53)
rng = np.random.default_rng(53)
best_action = rng.normal(size=(STATES, ACTIONS)).astype("float32")
agent = ActorCritic(STATES, ACTIONS, rate=1e-2)
rewards = []

for update in range(UPDATES):
    states = rng.normal(size=(64, STATES)).astype("float32")
    logits = agent.actor(states, training=False)
    actions = tf.random.categorical(logits, 1, dtype=tf.int32)[:, 0].numpy()
    score = states @ best_action
    reward = (actions == score.argmax(axis=1)).astype("float32")
    agent.update(tf.constant(states), tf.constant(actions), tf.constant(reward))
    rewards.append(reward.mean())

print("reward of the first 20 updates", round(float(np.mean(rewards[:20])), 3))
print("reward of the last 20 updates", round(float(np.mean(rewards[-20:])), 3))
