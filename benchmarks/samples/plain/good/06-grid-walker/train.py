import time

import numpy as np
import tensorflow as tf

from memory import ReplayMemory

STATE, ACTIONS, STEPS = 128, 4, 9000
UPDATE_EVERY = 100

tf.keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)
preference = rng.normal(size=(STATE, ACTIONS)).astype("float32")

net = tf.keras.Sequential([
    tf.keras.Input((STATE,)),
    tf.keras.layers.Dense(32, activation="relu"),
    tf.keras.layers.Dense(ACTIONS),
])
optimizer = tf.keras.optimizers.Adam(3e-3)


@tf.function
def update(states, actions, rewards):
    with tf.GradientTape() as tape:
        q = tf.gather(net(states, training=True), actions, batch_dims=1)
        loss = tf.reduce_mean(tf.square(rewards - q))
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return loss


memory = ReplayMemory(STATE)
start = time.time()
for step in range(STEPS):
    state = rng.normal(size=STATE).astype("float32")
    action = int(rng.integers(ACTIONS))
    memory.add(state, action, float(np.tanh(state @ preference[:, action])))
    if (step + 1) % UPDATE_EVERY == 0:
        loss = update(*map(tf.convert_to_tensor, memory.sample(64, rng)))
print(f"last loss {float(loss):.4f} after {time.time() - start:.1f}s")
