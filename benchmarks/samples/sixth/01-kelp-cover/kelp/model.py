from tensorflow.keras import Model, layers


def conv_block(x, filters, activation, dropout):
    x = layers.Conv2D(filters, 3, padding="same", activation=activation)(x)
    x = layers.Dropout(dropout)(x)
    return layers.Conv2D(filters, 3, padding="same", activation=activation)(x)


def build_unet(size, channels, filters, dropout=0.0, activation="relu", upsampling="nearest"):
    inputs = layers.Input((size, size, channels))
    skips, x = [], inputs
    for f in filters[:-1]:
        x = conv_block(x, f, activation, dropout)
        skips.append(x)
        x = layers.MaxPooling2D()(x)
    x = conv_block(x, filters[-1], activation, dropout)
    for f, skip in zip(reversed(filters[:-1]), reversed(skips)):
        x = layers.UpSampling2D(interpolation=upsampling)(x)
        x = layers.Concatenate()([x, skip])
        x = conv_block(x, f, activation, dropout)
    outputs = layers.Conv2D(1, 1, activation="sigmoid")(x)
    return Model(inputs, outputs)
