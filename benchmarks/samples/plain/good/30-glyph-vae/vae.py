import tensorflow as tf


class GlyphVae(tf.keras.Model):
    def __init__(self, pixels, latent=4):
        super().__init__()
        self.encoder = tf.keras.Sequential([
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(2 * latent),
        ])
        self.decoder = tf.keras.Sequential([
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(pixels),
        ])
        self.recon = tf.keras.metrics.Mean(name="recon")
        self.kl = tf.keras.metrics.Mean(name="kl")

    @property
    def metrics(self):
        return [self.recon, self.kl]

    def call(self, x, training=False):
        mean, log_var = tf.split(self.encoder(x), 2, axis=-1)
        z = mean
        if training:
            z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
        return self.decoder(z), mean, log_var

    def train_step(self, data):
        x = data
        with tf.GradientTape() as tape:
            logits, mean, log_var = self(x, training=True)
            bce = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
            recon = tf.reduce_mean(tf.reduce_sum(bce, axis=-1))
            kl = -0.5 * tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var), axis=-1)
            loss = recon + tf.reduce_mean(kl)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.recon.update_state(tf.reduce_mean(bce))
        self.kl.update_state(kl)
        return {m.name: m.result() for m in self.metrics}
