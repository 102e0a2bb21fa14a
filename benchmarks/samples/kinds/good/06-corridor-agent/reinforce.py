import time
import numpy as np
import tensorflow as tf


class Corridor:
    """Walk right to reach the goal; a wind pushes back now and then."""

    def __init__(self, length=12, seed=0):
        self.length = length
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.pos = 0
        self.t = 0
        return self._obs()

    def _obs(self):
        return np.array([self.pos / self.length, self.t / 150.0], "float32")

    def step(self, a):
        self.t += 1
        self.pos = max(0, self.pos + (1 if a == 1 else -1))
        if self.rng.random() < 0.1:
            self.pos = max(0, self.pos - 1)
        done = self.pos >= self.length or self.t >= 150
        return self._obs(), (1.0 if self.pos >= self.length else -0.05), done


policy = tf.keras.Sequential([
    tf.keras.Input((2,)),
    tf.keras.layers.Dense(24, activation="relu"),
    tf.keras.layers.Dense(2),
])
opt = tf.keras.optimizers.Adam(5e-3)


@tf.function
def act(obs):
    return tf.random.categorical(policy(obs[None]), 1)[0, 0]


@tf.function(reduce_retracing=True)
def learn(s, a, returns):
    with tf.GradientTape() as tape:
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=a, logits=policy(s))
        loss = -tf.reduce_mean(logp * returns)
    g = tape.gradient(loss, policy.trainable_variables)
    opt.apply_gradients(zip(g, policy.trainable_variables))
    return loss


def discounted(rewards, gamma=0.97):
    out, run = np.zeros(len(rewards), "float32"), 0.0
    for i in reversed(range(len(rewards))):
        run = rewards[i] + gamma * run
        out[i] = run
    return out


def play(env):
    states, actions, rewards = [], [], []
    obs, done = env.reset(), False
    while not done:
        o = tf.constant(obs)
        a = act(o)
        obs, r, done = env.step(int(a))
        states.append(o)
        actions.append(a)
        rewards.append(r)
    return states, actions, rewards


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(4)
    env = Corridor(seed=4)
    t0 = time.time()
    for ep in range(60):
        states, actions, rewards = play(env)
        ret = discounted(rewards)
        loss = learn(tf.stack(states), tf.stack(actions), tf.constant(ret - ret.mean()))
        if ep % 20 == 19:
            print(ep + 1, "steps", len(rewards), "loss %.3f" % float(loss))
    print("took %.1fs" % (time.time() - t0))
