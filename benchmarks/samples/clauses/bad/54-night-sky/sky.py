import tensorflow as tf


class Sky:
    def __init__(self, batch):
        self.batch = batch

    def _data(self, count, training):
        data = tf.data.Dataset.range(count).map(lambda n: (tf.cast([n, n + 1], tf.float32), tf.cast(n % 2, tf.float32)))
        if training:
            data = data.shuffle(count)
        return data.batch(self.batch).repeat()

    def training(self):
        return self._data(1000, True)

    def validation(self):
        return self._data(200, False)


sky = Sky(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(sky.training(), validation_data=sky.validation(), steps_per_epoch=50, epochs=4)
