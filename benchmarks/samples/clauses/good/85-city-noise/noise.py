import tensorflow as tf


def load(folder):
    def wave(path):
        return tf.audio.decode_wav(tf.io.read_file(path), desired_channels=1, desired_samples=16000)[0]

    files = tf.data.Dataset.list_files(folder + "/*.wav", shuffle=True)
    return files.map(wave, num_parallel_calls=tf.data.AUTOTUNE).batch(16)


class Trainer:
    def __init__(self, folder):
        self.batches = load(folder)
        self.model = tf.keras.Sequential([tf.keras.layers.Conv1D(8, 64, 32), tf.keras.layers.Conv1DTranspose(1, 64, 32)])
        self.optimizer = tf.keras.optimizers.Adam()

    @tf.function(reduce_retracing=True)
    def step(self, waves):
        with tf.GradientTape() as tape:
            back = self.model(waves)
            loss = tf.reduce_mean((back - waves[:, : tf.shape(back)[1]]) ** 2)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss

    def run(self, epochs):
        for _ in range(epochs):
            for waves in self.batches:
                self.step(waves)


Trainer("noise").run(10)
