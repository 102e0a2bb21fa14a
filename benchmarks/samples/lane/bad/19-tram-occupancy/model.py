import keras
from keras import layers


def occupancy_model(stops, embed, units, dropout):
    stop = keras.Input((1,), dtype="int32", name="stop")
    context = keras.Input((4,), name="context")
    x = layers.Flatten()(layers.Embedding(stops, embed)(stop))
    x = layers.Concatenate()([x, context])
    for width in units:
        x = layers.Dense(width, activation="relu")(x)
        x = layers.Dropout(dropout)(x)
    return keras.Model([stop, context], layers.Dense(1)(x))


def compile_from(model, options):
    model.compile(
        optimizer=keras.optimizers.Adam(options["learning_rate"]),
        loss="mse",
        metrics=["mae"],
        run_eagerly=options.get("run_eagerly", False),
    )
    return model
