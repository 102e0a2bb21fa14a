"""Backbones by name."""
from tensorflow import keras
from tensorflow.keras import layers

BACKBONES = {}


def register(fn):
    BACKBONES[fn.__name__] = fn
    return fn


@register
def plain_cnn(inputs, width=16, depth=3):
    x = inputs
    for _ in range(depth):
        x = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
    return layers.GlobalAveragePooling2D()(x)


@register
def tiny_resnet(inputs, blocks=3, width=16, dropout=0.0):
    x = layers.Conv2D(width, 3, padding="same")(inputs)
    for _ in range(blocks):
        y = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
        x = layers.Add()([x, layers.Dropout(dropout)(y)])
    return layers.GlobalAveragePooling2D()(x)


def create(spec, head):
    options = dict(spec)
    backbone = BACKBONES[options.pop("name")]
    inputs = keras.Input((16, 16, 3))
    features = backbone(inputs, **options)
    return keras.Model(inputs, layers.Dense(head["classes"], activation=head["activation"])(features))
