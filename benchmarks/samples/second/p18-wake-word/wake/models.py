from tensorflow import keras


def build(cfg, classes):
    m, a = cfg["model"], cfg["audio"]
    inputs = keras.Input((a["frames"], a["mels"]))
    match m["arch"]:
        case "gru":
            x = keras.layers.GRU(m["width"])(inputs)
        case "dscnn" | "cnn":
            x = keras.layers.SeparableConv1D(m["width"], 5, activation="relu")(inputs)
            x = keras.layers.GlobalAveragePooling1D()(x)
        case other:
            raise ValueError(f"no architecture {other}")
    x = keras.layers.Dropout(m["dropout"])(x)
    return keras.Model(inputs, keras.layers.Dense(classes, activation="softmax")(x))
