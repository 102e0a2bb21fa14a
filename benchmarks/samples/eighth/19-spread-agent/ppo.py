import numpy as np
import tensorflow as tf


class PPO:
    def __init__(self, cfg, n_actions):
        self.cfg, self.n_actions = cfg, n_actions
        inputs = tf.keras.Input((cfg.obs_dim,))
        x = inputs
        for units, activation in zip(cfg.hidden, cfg.activations):
            x = tf.keras.layers.Dense(units, activation=activation)(x)
        heads = [tf.keras.layers.Dense(n_actions)(x), tf.keras.layers.Dense(1)(x)]
        self.net = tf.keras.Model(inputs, heads)
        rate = tf.keras.optimizers.schedules.CosineDecay(cfg.learning_rate, cfg.decay_steps)
        self.optimizer = tf.keras.optimizers.Adam(rate)

    def policy(self, obs):
        logits, value = self.net(obs)
        action = tf.random.categorical(logits, 1)[:, 0]
        return action, tf.nn.log_softmax(logits), value[:, 0]

    def advantages(self, rewards, values, last):
        cfg, adv, run = self.cfg, np.zeros_like(rewards), 0.0
        following = np.concatenate([values[1:], last[None]])
        for t in reversed(range(len(rewards))):
            delta = rewards[t] + cfg.discount * following[t] - values[t]
            run = delta + cfg.discount * cfg.gae_lambda * run
            adv[t] = run
        return adv

    def update(self, obs, act, logp, adv, ret):
        cfg, n = self.cfg, len(obs)
        if n % cfg.minibatches:
            raise ValueError(f"{n} samples cannot be cut into {cfg.minibatches} minibatches")
        if cfg.normalize_advantage:
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        for _ in range(cfg.epochs):
            for rows in np.array_split(np.random.permutation(n), cfg.minibatches):
                with tf.GradientTape() as tape:
                    logits, value = self.net(obs[rows])
                    new = tf.reduce_sum(tf.nn.log_softmax(logits) * tf.one_hot(act[rows], self.n_actions), 1)
                    ratio = tf.exp(new - logp[rows])
                    clipped = tf.clip_by_value(ratio, 1 - cfg.clip_range, 1 + cfg.clip_range)
                    p_loss = -tf.reduce_mean(tf.minimum(ratio * adv[rows], clipped * adv[rows]))
                    v_loss = tf.reduce_mean((value[:, 0] - ret[rows]) ** 2)
                    loss = p_loss + cfg.value_coef * v_loss
                grads = tape.gradient(loss, self.net.trainable_variables)
                self.optimizer.apply_gradients(zip(grads, self.net.trainable_variables))
        return float(loss)
