import tensorflow as tf
from tensorflow.keras import layers


def build_model(data_cfg, model_cfg):
    size = data_cfg["image_size"]
    shape = (size, size, data_cfg["channels"])

    backbone_cls = getattr(tf.keras.applications, model_cfg["backbone"])
    backbone = backbone_cls(
        input_shape=shape,
        alpha=model_cfg["alpha"],
        include_top=False,
        weights=model_cfg["weights"],
        pooling=model_cfg["pooling"],
    )
    for layer in backbone.layers[: model_cfg["fine_tune_at"]]:
        layer.trainable = False

    inputs = layers.Input(shape)
    x = layers.Rescaling(data_cfg["rescale"])(inputs)
    x = backbone(x)
    x = layers.Dropout(model_cfg["dropout"])(x)
    outputs = layers.Dense(model_cfg["num_classes"], activation="softmax")(x)
    return tf.keras.Model(inputs, outputs)
