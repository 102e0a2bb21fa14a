import sys

import numpy as np
import tensorflow as tf

from networks import make_discriminator, make_generator
from utils import load_cfg

cfg = load_cfg(sys.argv[1] if len(sys.argv) > 1 else "gan.yaml")
tf.keras.utils.set_random_seed(cfg.seed)

G, D = make_generator(cfg), make_discriminator(cfg)
g_opt = tf.keras.optimizers.Adam(cfg.generator.lr, beta_1=0.5)
d_opt = tf.keras.optimizers.Adam(cfg.discriminator.lr, beta_1=0.5)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)


def leaves():
    rng = np.random.default_rng(cfg.seed)
    x = rng.uniform(-1, 1, (32, cfg.image_size, cfg.image_size, 1)).astype("float32")
    return tf.data.Dataset.from_tensor_slices(x).shuffle(32, seed=1).repeat().batch(cfg.batch_size, drop_remainder=True)


def d_loss_fn(real, fake, real_out, fake_out):
    if cfg.loss.type == "bce":
        return bce(tf.ones_like(real_out) * cfg.loss.label_smoothing, real_out) + bce(tf.zeros_like(fake_out), fake_out)
    eps = tf.random.uniform((len(real), 1, 1, 1))
    mixed = eps * real + (1 - eps) * fake
    with tf.GradientTape() as tape:
        tape.watch(mixed)
        out = D(mixed, training=True)
    slope = tf.norm(tf.reshape(tape.gradient(out, mixed), (len(real), -1)), axis=1)
    return tf.reduce_mean(fake_out) - tf.reduce_mean(real_out) + cfg.loss.gp_weight * tf.reduce_mean((slope - 1) ** 2)


def g_loss_fn(fake_out):
    if cfg.loss.type == "bce":
        return bce(tf.ones_like(fake_out), fake_out)
    return -tf.reduce_mean(fake_out)


n_critic = cfg.get("n_critic", 1)
data = iter(leaves())
d_steps = 0
for it in range(1, cfg.iterations + 1):
    for _ in range(n_critic):
        real = next(data)
        fake = G(tf.random.normal((cfg.batch_size, cfg.latent_dim)), training=True)
        with tf.GradientTape() as tape:
            d_loss = d_loss_fn(real, fake, D(real, training=True), D(fake, training=True))
        d_opt.apply_gradients(zip(tape.gradient(d_loss, D.trainable_variables), D.trainable_variables))
        d_steps += 1
    with tf.GradientTape() as tape:
        g_loss = g_loss_fn(D(G(tf.random.normal((cfg.batch_size, cfg.latent_dim)), training=True), training=True))
    g_opt.apply_gradients(zip(tape.gradient(g_loss, G.trainable_variables), G.trainable_variables))
    if it % cfg.log_every == 0:
        print(f"{it}: d {float(d_loss):.4f} g {float(g_loss):.4f} ({d_steps} critic steps)")
