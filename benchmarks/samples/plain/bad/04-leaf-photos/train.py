import resource
import tempfile

import tensorflow as tf

from photos import ensure_photos, make_dataset

tf.keras.utils.set_random_seed(8)

with tempfile.TemporaryDirectory() as folder:
    paths = ensure_photos(folder)
    train_ds = make_dataset(paths)

    model = tf.keras.Sequential([
        tf.keras.Input((160, 160, 3)),
        tf.keras.layers.AveragePooling2D(16),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ])
    model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    history = model.fit(train_ds, epochs=2, verbose=0)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print("accuracy", history.history["accuracy"][-1])
    print(f"peak memory grew by {(after - before) / 1024:.0f} MB")
