import tensorflow as tf
from tensorflow.keras import layers


def model_fn(params):
    shape = (params.image_size, params.image_size, params.num_channels)
    model = tf.keras.Sequential([tf.keras.Input(shape)])
    channels = params.base_channels
    for c in (channels, channels * 2):
        model.add(layers.Conv2D(c, 3, padding="same"))
        if params.use_batch_norm:
            model.add(layers.BatchNormalization(momentum=params.bn_momentum))
        model.add(layers.ReLU())
        model.add(layers.MaxPooling2D())
    model.add(layers.Flatten())
    model.add(layers.Dropout(params.dropout_rate))
    model.add(layers.Dense(params.num_labels))
    return model
