"""Beat classifier. Records are exported class by class (N, S, V), one block each."""
import numpy as np
import tensorflow as tf

CLASSES = ("N", "S", "V")


class BeatData:
    def __init__(self, per_class=500, length=40, seed=0):
        rng = np.random.default_rng(seed)
        t = np.linspace(-1, 1, length)
        self.x, self.y = [], []
        for k in range(len(CLASSES)):
            w = 0.08 + 0.06 * k
            beat = np.exp(-(t / w) ** 2)[None] * rng.uniform(0.6, 1.4, (per_class, 1))
            self.x.append(beat + 0.25 * rng.normal(size=(per_class, length)))
            self.y.append(np.full(per_class, k))
        self.x = np.concatenate(self.x).astype("float32")
        self.y = np.concatenate(self.y)

    def dataset(self, batch_size, training, buffer=64):
        ds = tf.data.Dataset.from_tensor_slices((self.x, self.y))
        if training:
            ds = ds.shuffle(buffer, reshuffle_each_iteration=True)
        return ds.batch(batch_size).prefetch(1)


def main():
    tf.keras.utils.set_random_seed(0)
    train = BeatData(500, seed=0)
    test = BeatData(100, seed=1)
    model = tf.keras.Sequential([
        tf.keras.Input((40,)),
        tf.keras.layers.Reshape((40, 1)),
        tf.keras.layers.Conv1D(8, 7, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(3, activation="softmax"),
    ])
    model.compile(tf.keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
    ds = train.dataset(32, training=True)
    print("labels in the first batch:", np.bincount(next(iter(ds))[1].numpy(), minlength=3))
    h = model.fit(ds, validation_data=test.dataset(300, training=False), epochs=4, verbose=0)
    print("val acc", np.round(h.history["val_accuracy"], 3))


if __name__ == "__main__":
    main()
