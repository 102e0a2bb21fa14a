import keras
from keras import layers, ops


@keras.saving.register_keras_serializable(package="satellite")
class PatchEmbed(layers.Layer):
    def __init__(self, patch, width, **kwargs):
        super().__init__(**kwargs)
        self.patch = patch
        self.width = width
        self.proj = layers.Conv2D(width, patch, strides=patch)

    def call(self, x):
        h = self.proj(x)
        return ops.reshape(h, (-1, h.shape[1] * h.shape[2], h.shape[3]))

    def get_config(self):
        return {**super().get_config(), "patch": self.patch, "width": self.width}


@keras.saving.register_keras_serializable(package="satellite")
class TokenScale(layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(shape=(shape[-1],), initializer="ones")

    def call(self, x):
        return x * self.scale
