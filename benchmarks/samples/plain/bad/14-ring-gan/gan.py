import tensorflow as tf

LATENT = 8


def make_generator():
    return tf.keras.Sequential([
        tf.keras.Input((LATENT,)),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(2),
    ], name="generator")


def make_discriminator():
    return tf.keras.Sequential([
        tf.keras.Input((2,)),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(1),
    ], name="discriminator")


class RingGan:
    def __init__(self, rate=2e-3):
        self.generator = make_generator()
        self.discriminator = make_discriminator()
        self.stacked = tf.keras.Sequential([self.generator, self.discriminator])
        self.g_opt = tf.keras.optimizers.Adam(rate, beta_1=0.5)
        self.d_opt = tf.keras.optimizers.Adam(rate, beta_1=0.5)
        self.bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)

    @tf.function
    def train_discriminator(self, real):
        noise = tf.random.normal([tf.shape(real)[0], LATENT])
        fake = self.generator(noise, training=True)
        with tf.GradientTape() as tape:
            on_real = self.discriminator(real, training=True)
            on_fake = self.discriminator(fake, training=True)
            loss = self.bce(tf.ones_like(on_real), on_real) + self.bce(tf.zeros_like(on_fake), on_fake)
        variables = self.discriminator.trainable_variables
        self.d_opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    @tf.function
    def train_generator(self, n):
        noise = tf.random.normal([n, LATENT])
        with tf.GradientTape() as tape:
            verdict = self.stacked(noise, training=True)
            loss = self.bce(tf.ones_like(verdict), verdict)
        variables = self.stacked.trainable_variables
        self.g_opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss
