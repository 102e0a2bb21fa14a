import numpy as np
import tensorflow as tf
from wgan import make_generator, make_critic, gradient_penalty

LATENT, DIM, N_CRITIC, LAMBDA = 8, 16, 3, 10.0

G, D = make_generator(LATENT, DIM), make_critic(DIM)
g_opt = tf.keras.optimizers.Adam(1e-4, beta_1=0.0, beta_2=0.9)
d_opt = tf.keras.optimizers.Adam(1e-4, beta_1=0.0, beta_2=0.9)


@tf.function
def critic_step(real):
    z = tf.random.normal([tf.shape(real)[0], LATENT])
    with tf.GradientTape() as tape:
        fake = G(z, training=True)
        wasserstein = tf.reduce_mean(D(fake, training=True)) - tf.reduce_mean(D(real, training=True))
        loss = wasserstein + LAMBDA * gradient_penalty(D, real, fake)
    d_opt.apply_gradients(zip(tape.gradient(loss, D.trainable_variables), D.trainable_variables))
    return wasserstein


@tf.function
def generator_step(n):
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(D(G(tf.random.normal([n, LATENT]), training=True), training=True))
    g_opt.apply_gradients(zip(tape.gradient(loss, G.trainable_variables), G.trainable_variables))
    return loss


faces = np.tanh(np.random.randn(512, DIM)).astype("float32")
ds = tf.data.Dataset.from_tensor_slices(faces).shuffle(512).batch(64, drop_remainder=True).repeat()
it = iter(ds)
for step in range(10):
    for _ in range(N_CRITIC):
        w = critic_step(next(it))
    g = generator_step(tf.constant(64))
print("W %.4f  G %.4f" % (float(w), float(g)))
