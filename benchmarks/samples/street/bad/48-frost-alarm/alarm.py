import argparse
import time

import tensorflow as tf

from nights import nights


def parse():
    p = argparse.ArgumentParser(description="frost alarm")
    p.add_argument("--max-epochs", type=int, default=60)
    p.add_argument("--patience", type=int, default=5)
    p.add_argument("--units", type=int, default=32)
    return p.parse_args()


def net(units):
    model = tf.keras.Sequential(
        [
            tf.keras.Input((4,)),
            tf.keras.layers.Dense(units, activation="relu"),
            tf.keras.layers.Dense(units, activation="relu"),
            tf.keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(
        optimizer=tf.keras.optimizers.Adam(2e-3),
        loss="binary_crossentropy",
        metrics=["accuracy"],
    )
    return model


def stopping(patience):
    return tf.keras.callbacks.EarlyStopping(
        monitor="val_acc",
        mode="max",
        patience=patience,
        restore_best_weights=True,
        verbose=1,
    )


def main():
    args = parse()
    tf.keras.utils.set_random_seed(48)
    x, y = nights(2400, 1)
    x_val, y_val = nights(600, 2)
    model = net(args.units)
    start = time.perf_counter()
    history = model.fit(
        x,
        y,
        validation_data=(x_val, y_val),
        epochs=args.max_epochs,
        batch_size=64,
        callbacks=[stopping(args.patience)],
        verbose=0,
    )
    ran = len(history.history["loss"])
    best = max(range(ran), key=lambda i: history.history["val_accuracy"][i])
    print(f"{ran} epochs in {time.perf_counter() - start:.1f} s, best epoch was {best + 1}")
    print("kept accuracy %.3f" % model.evaluate(x_val, y_val, verbose=0)[1])


if __name__ == "__main__":
    main()
