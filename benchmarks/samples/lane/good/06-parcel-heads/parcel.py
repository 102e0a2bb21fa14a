import numpy as np
import keras
from keras import layers

SIZES = ["small", "medium", "large"]
CARRIERS = ["air", "rail", "road", "sea"]


def parcels(n=500, seed=6):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 10)).astype("float32")
    size = np.digitize(x[:, 0] + x[:, 1], [-0.7, 0.7])
    carrier = (x[:, 2] > 0).astype(int) * 2 + (x[:, 3] > 0).astype(int)
    return x, {"size": size.astype("int32"), "carrier": carrier.astype("int32")}


def build(trunk_width=48):
    inputs = keras.Input((10,), name="features")
    x = layers.Dense(trunk_width, activation="relu")(inputs)
    x = layers.BatchNormalization()(x)
    x = layers.Dense(trunk_width, activation="relu")(x)
    size = layers.Dense(len(SIZES), activation="softmax", name="size")(x)
    carrier = layers.Dense(len(CARRIERS), activation="softmax", name="carrier")(x)
    return keras.Model(inputs, {"size": size, "carrier": carrier})


def compile_model(model, lr, carrier_weight):
    model.compile(
        optimizer=keras.optimizers.Adam(lr),
        loss={
            "size": "sparse_categorical_crossentropy",
            "carrier": "sparse_categorical_crossentropy",
        },
        loss_weights={"size": 1.0, "carrier": carrier_weight},
        metrics={"size": ["accuracy"], "carrier": ["accuracy"]},
    )
    return model


def main():
    keras.utils.set_random_seed(3)
    x, y = parcels()
    model = compile_model(build(), lr=4e-3, carrier_weight=0.5)
    model.fit(x, y, epochs=6, batch_size=50, validation_split=0.2, verbose=2)
    probs = model.predict(x[:4], verbose=0)
    for i in range(4):
        print(
            SIZES[int(np.argmax(probs["size"][i]))],
            CARRIERS[int(np.argmax(probs["carrier"][i]))],
        )


if __name__ == "__main__":
    main()
