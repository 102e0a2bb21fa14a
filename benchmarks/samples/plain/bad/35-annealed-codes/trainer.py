import tensorflow as tf


class Trainer:
    def __init__(self, encoder, decoder, warmup, rate=2e-3):
        self.encoder, self.decoder = encoder, decoder
        self.warmup = warmup
        self.step = 0
        self.optimizer = tf.keras.optimizers.Adam(rate)
        self.beta = tf.keras.metrics.Mean()
        self.kl = tf.keras.metrics.Mean()

    def kl_weight(self):
        return min(1.0, self.step / self.warmup)

    @tf.function
    def train_step(self, x):
        beta = self.kl_weight()
        with tf.GradientTape() as tape:
            mean, log_var = tf.split(self.encoder(x, training=True), 2, axis=-1)
            z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
            x_hat = self.decoder(z, training=True)
            recon = tf.reduce_mean(tf.reduce_sum(tf.square(x - x_hat), axis=-1))
            kl = tf.reduce_mean(-0.5 * tf.reduce_sum(
                1 + log_var - tf.square(mean) - tf.exp(log_var), axis=-1))
            loss = recon + beta * kl
        variables = self.encoder.trainable_variables + self.decoder.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        self.step += 1
        self.beta.update_state(beta)
        self.kl.update_state(kl)
