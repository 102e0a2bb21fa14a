import argparse
import resource

import tensorflow as tf

from input_pipeline import SIZE, encode_tiles, training_data


class MemoryLog(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"epoch {epoch} loss {logs['loss']:.3f} peak memory {peak:.0f} MB")


def build():
    return tf.keras.Sequential([
        tf.keras.Input((SIZE, SIZE, 3)),
        tf.keras.layers.AveragePooling2D(8),
        tf.keras.layers.Conv2D(16, 3, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(3),
    ])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tiles", type=int, default=240)
    p.add_argument("--batch-size", type=int, default=24)
    p.add_argument("--epochs", type=int, default=24)
    args = p.parse_args()
    tf.keras.utils.set_random_seed(0)

    tiles, labels = encode_tiles(args.tiles)
    ds = training_data(tiles, labels, args.batch_size)
    model = build()
    model.compile(tf.keras.optimizers.Adam(1e-2),
                  tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(ds, epochs=args.epochs, steps_per_epoch=args.tiles // args.batch_size,
              callbacks=[MemoryLog()], verbose=0)


if __name__ == "__main__":
    main()
