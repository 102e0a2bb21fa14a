import tensorflow as tf

from reviews import LENGTH, STARS, VOCAB, fake_reviews


def pipeline(n, seed, batch, shuffle):
    tokens, stars = fake_reviews(n, seed)
    ds = tf.data.Dataset.from_tensor_slices((tokens, stars))
    if shuffle:
        ds = ds.shuffle(n, seed=seed)
    return ds.batch(batch).prefetch(tf.data.AUTOTUNE)


def rating_model():
    inputs = tf.keras.Input((LENGTH,), dtype="int32")
    x = tf.keras.layers.Embedding(VOCAB, 24)(inputs)
    x = tf.keras.layers.GlobalAveragePooling1D()(x)
    x = tf.keras.layers.Dense(32, activation="relu")(x)
    logits = tf.keras.layers.Dense(STARS)(x)
    return tf.keras.Model(inputs, logits)


def main():
    tf.keras.utils.set_random_seed(17)
    train = pipeline(2000, seed=1, batch=64, shuffle=True)
    val = pipeline(400, seed=2, batch=64, shuffle=False)

    model = rating_model()
    model.compile(
        optimizer=tf.keras.optimizers.Adam(3e-3),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[tf.keras.metrics.SparseCategoricalAccuracy(name="acc")],
    )
    model.fit(train, validation_data=val, epochs=5, verbose=2)
    print(model.evaluate(val, verbose=0, return_dict=True))


if __name__ == "__main__":
    main()
