import tensorflow as tf


class Gate:
    size = (64, 64)

    def __init__(self, folder, batch=32):
        self.folder = folder
        self.batch = batch

    def _read(self, part):
        return tf.keras.utils.image_dataset_from_directory(
            self.folder, validation_split=0.2, subset=part, seed=1, image_size=self.size
        )

    def data(self):
        scale = tf.keras.layers.Rescaling(1 / 255)
        parts = [self._read(part) for part in ("training", "validation")]
        return [part.map(lambda x, y: (scale(x), y)).batch(self.batch).prefetch(2) for part in parts]


train, valid = Gate("cars").data()
model = tf.keras.Sequential([tf.keras.layers.Conv2D(8, 3), tf.keras.layers.GlobalMaxPooling2D(), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(train, validation_data=valid, epochs=3)
