import keras
from keras import layers

from pipeline import ScanPipeline, rail_scans


def build(width):
    return keras.Sequential(
        [
            keras.Input((width,)),
            layers.Dense(128, activation="relu"),
            layers.Dense(128, activation="relu"),
            layers.Dense(2, activation="softmax"),
        ]
    )


def main():
    keras.utils.set_random_seed(31)
    traces, labels = rail_scans()
    pipe = ScanPipeline(traces, labels)
    model = build(traces.shape[1])
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    history = model.fit(
        pipe.train(), validation_data=pipe.holdout(), epochs=25, verbose=0
    )
    for epoch in (0, 9, 24):
        print(
            epoch + 1,
            "train", round(history.history["accuracy"][epoch], 3),
            "holdout", round(history.history["val_accuracy"][epoch], 3),
        )
    fresh, fresh_labels = rail_scans(n=400, seed=99)
    print("new line", round(model.evaluate(fresh, fresh_labels, verbose=0)[1], 3))


if __name__ == "__main__":
    main()
