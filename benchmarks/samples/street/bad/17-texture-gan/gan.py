import numpy as np
import tensorflow as tf

from nets import LATENT, SIDE, discriminator, generator

bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)


def weave(n=2048, seed=17):
    rng = np.random.default_rng(seed)
    phase = rng.uniform(0, 2 * np.pi, (n, 1, 1))
    grid = np.arange(SIDE) / SIDE * 4 * np.pi
    img = np.sin(grid[None, :, None] + phase) * np.cos(grid[None, None, :])
    return (img + rng.normal(0, 0.05, img.shape)).clip(-1, 1)[..., None].astype("float32")


class TextureGAN:
    def __init__(self, rate=2e-4):
        self.gen = generator()
        self.disc = discriminator()
        self.optimizer = tf.keras.optimizers.Adam(rate, beta_1=0.5)

    @tf.function
    def step(self, real):
        noise = tf.random.normal((tf.shape(real)[0], LATENT))
        with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
            fake = self.gen(noise, training=True)
            real_logit = self.disc(real, training=True)
            fake_logit = self.disc(fake, training=True)
            d_loss = bce(tf.ones_like(real_logit), real_logit) + bce(
                tf.zeros_like(fake_logit), fake_logit
            )
            g_loss = bce(tf.ones_like(fake_logit), fake_logit)
        d_vars = self.disc.trainable_variables
        g_vars = self.gen.trainable_variables
        self.optimizer.apply_gradients(zip(d_tape.gradient(d_loss, d_vars), d_vars))
        self.optimizer.apply_gradients(zip(g_tape.gradient(g_loss, g_vars), g_vars))
        return d_loss, g_loss

    def fit(self, dataset, epochs):
        for epoch in range(epochs):
            for real in dataset:
                d_loss, g_loss = self.step(real)
            print(f"epoch {epoch}: disc {float(d_loss):.3f} gen {float(g_loss):.3f}")


    def sample(self, n, seed=0):
        noise = tf.random.stateless_normal((n, LATENT), seed=(seed, 17))
        return self.gen(noise, training=False).numpy()[..., 0]


def texture_numbers(images):
    """Contrast, smoothness and share of bright pixels; the fakes should come close."""
    images = np.asarray(images).reshape(len(images), SIDE, SIDE)
    across = np.abs(np.diff(images, axis=2)).mean()
    down = np.abs(np.diff(images, axis=1)).mean()
    return {
        "contrast": float(images.std()),
        "step across": float(across),
        "step down": float(down),
        "bright share": float((images > 0.5).mean()),
    }


def as_text(image, levels=" .:-=+*#%@"):
    index = ((image + 1) / 2 * (len(levels) - 1)).round().astype(int)
    return "\n".join("".join(levels[i] for i in row) for row in index.clip(0, len(levels) - 1))


def compare(real, fake):
    left, right = texture_numbers(real), texture_numbers(fake)
    for name in left:
        print(f"{name:<14} real {left[name]:.3f} fake {right[name]:.3f}")


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(17)
    images = (
        tf.data.Dataset.from_tensor_slices(weave())
        .shuffle(2048, seed=17)
        .batch(64, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )
    gan = TextureGAN()
    gan.fit(images, epochs=3)
    fakes = gan.sample(64)
    compare(weave(64, seed=18)[..., 0], fakes)
    print(as_text(fakes[0]))
