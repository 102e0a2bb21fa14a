import tensorflow as tf
from layers import augmenter


class Pipeline:
    def __init__(self, config):
        self.config = config
        self.augmenter = augmenter(config["strength"])

    def _change(self, image, label):
        return self.augmenter(image, training=True), label

    def training(self, images, labels):
        data = tf.data.Dataset.from_tensor_slices((images, labels)).batch(self.config["batch"])
        if self.config["cache"]:
            data = data.cache()
        if self.config["augment"]:
            data = data.map(self._change)
        return data.prefetch(2)
