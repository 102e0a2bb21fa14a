import tensorflow as tf


@tf.keras.utils.register_keras_serializable(package="forest")
class FeatureGate(tf.keras.layers.Layer):
    """Learned soft selection of the inputs."""

    def __init__(self, features, sharpness=1.0, **kwargs):
        super().__init__(**kwargs)
        self.features = features
        self.sharpness = sharpness

    def build(self, input_shape):
        self.gate = self.add_weight(shape=(self.features,), initializer="zeros", name="gate")

    def call(self, x):
        return x * tf.sigmoid(self.sharpness * self.gate)

    def get_config(self):
        config = super().get_config()
        config.update(features=self.features, sharpness=self.sharpness)
        return config
