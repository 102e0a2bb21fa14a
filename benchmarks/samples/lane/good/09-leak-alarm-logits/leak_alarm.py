"""Raise an alarm when a pipe segment is leaking."""
import numpy as np
import tensorflow as tf
import keras

SEED = 17
FEATURES = ["flow_in", "flow_out", "pressure", "temperature", "age"]


def segment_readings(n, rng):
    flow_in = rng.normal(10, 2, n)
    leaking = rng.random(n) < 0.45
    loss = np.where(leaking, rng.gamma(2.0, 0.35, n), rng.gamma(2.0, 0.12, n))
    flow_out = flow_in - loss
    pressure = rng.normal(5, 1, n) - 0.3 * leaking
    temperature = rng.normal(12, 4, n)
    age = rng.uniform(0, 40, n)
    x = np.stack([flow_in, flow_out, pressure, temperature, age], axis=1)
    return x.astype("float32"), leaking.astype("float32")


def as_dataset(x, y, batch, training):
    ds = tf.data.Dataset.from_tensor_slices((x, y[:, None]))
    if training:
        ds = ds.shuffle(len(x), seed=SEED)
    return ds.batch(batch).prefetch(tf.data.AUTOTUNE)


def build(normalizer):
    inputs = keras.Input((len(FEATURES),))
    x = normalizer(inputs)
    x = keras.layers.Dense(24, activation="relu")(x)
    x = keras.layers.Dense(12, activation="relu")(x)
    logit = keras.layers.Dense(1)(x)
    return keras.Model(inputs, logit)


def main():
    keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED)
    x, y = segment_readings(1500, rng)
    train = as_dataset(x[:1000], y[:1000], 50, True)
    valid = as_dataset(x[1000:], y[1000:], 100, False)

    normalizer = keras.layers.Normalization()
    normalizer.adapt(x[:1000])
    model = build(normalizer)
    model.compile(
        optimizer=keras.optimizers.Adam(3e-3),
        loss=keras.losses.BinaryCrossentropy(from_logits=True),
        metrics=[keras.metrics.BinaryAccuracy(name="hit_rate", threshold=0.0)],
    )
    best = keras.callbacks.EarlyStopping(
        monitor="val_hit_rate", mode="max", patience=4, restore_best_weights=True
    )
    history = model.fit(
        train, validation_data=valid, epochs=10, callbacks=[best], verbose=2
    )

    logits = model.predict(x[1000:], verbose=0)[:, 0]
    by_hand = np.mean((tf.sigmoid(logits).numpy() > 0.5) == (y[1000:] > 0.5))
    print("reported", round(max(history.history["val_hit_rate"]), 3))
    print("by hand ", round(float(by_hand), 3))


if __name__ == "__main__":
    main()
