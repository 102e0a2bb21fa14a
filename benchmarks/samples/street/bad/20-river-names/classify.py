import tensorflow as tf

from text import ALPHABET, MAX_LEN, REGIONS, encode, names

BATCH = 32


def to_ids(name, label):
    ids = encode(name.numpy().decode("utf-8"))
    return tf.constant(ids), label


def dataset(n, seed, training):
    texts, labels = names(n, seed)
    ds = tf.data.Dataset.from_tensor_slices((texts, labels))
    ds = ds.map(to_ids, num_parallel_calls=tf.data.AUTOTUNE)
    ds = ds.cache()
    if training:
        ds = ds.shuffle(n, seed=seed)
    return ds.batch(BATCH).prefetch(tf.data.AUTOTUNE)


def build():
    return tf.keras.Sequential(
        [
            tf.keras.Input((MAX_LEN,), dtype="int32"),
            tf.keras.layers.Embedding(len(ALPHABET) + 1, 12, mask_zero=True),
            tf.keras.layers.Bidirectional(tf.keras.layers.GRU(24)),
            tf.keras.layers.Dense(len(REGIONS), activation="softmax"),
        ]
    )


def main():
    tf.keras.utils.set_random_seed(20)
    train = dataset(1200, 1, training=True)
    val = dataset(240, 2, training=False)
    model = build()
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(train, validation_data=val, epochs=3, verbose=2)
    print("val accuracy", model.evaluate(val, verbose=0)[1])


if __name__ == "__main__":
    main()
