import os

import numpy as np
import tensorflow as tf

from networks import make_discriminator, make_generator
from options import get_parser


def gan_losses(kind, real, fake, smooth):
    if kind == "bce":
        bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
        d_loss = bce(smooth * tf.ones_like(real), real) + bce(tf.zeros_like(fake), fake)
        return d_loss, bce(tf.ones_like(fake), fake)
    if kind == "lsgan":
        d_loss = tf.reduce_mean((real - smooth) ** 2) + tf.reduce_mean(fake ** 2)
        return d_loss, tf.reduce_mean((fake - 1.0) ** 2)
    d_loss = tf.reduce_mean(tf.nn.relu(1.0 - real)) + tf.reduce_mean(tf.nn.relu(1.0 + fake))
    return d_loss, -tf.reduce_mean(fake)


def main():
    opt = get_parser().parse_args()
    tf.keras.utils.set_random_seed(0)
    os.makedirs(opt.out_dir, exist_ok=True)

    faces = np.random.rand(32, opt.image_size, opt.image_size, opt.channels).astype("float32") * 2 - 1
    ds = tf.data.Dataset.from_tensor_slices(faces).batch(opt.batch_size, drop_remainder=True)

    gen, disc = make_generator(opt), make_discriminator(opt)
    g_opt = tf.keras.optimizers.Adam(opt.lr)
    d_opt = tf.keras.optimizers.Adam(opt.lr)

    for epoch in range(opt.epochs):
        for real in ds:
            noise = tf.random.normal((opt.batch_size, opt.latent_dim))
            with tf.GradientTape(persistent=True) as tape:
                fake = gen(noise, training=True)
                d_loss, g_loss = gan_losses(opt.loss, disc(real), disc(fake), opt.label_smooth)
            d_opt.apply_gradients(zip(tape.gradient(d_loss, disc.trainable_variables), disc.trainable_variables))
            g_opt.apply_gradients(zip(tape.gradient(g_loss, gen.trainable_variables), gen.trainable_variables))
        if (epoch + 1) % opt.sample_every == 0:
            np.save(os.path.join(opt.out_dir, f"{opt.name}_{epoch:03d}.npy"), fake.numpy())
    print("layers", len(gen.layers), "d %.5f g %.5f" % (float(d_loss), float(g_loss)))


if __name__ == "__main__":
    main()
