import tempfile

import tensorflow as tf

from records import read_records, write_records

TRAIN, VAL, BATCH = 640, 160, 32

tf.keras.utils.set_random_seed(6)
with tempfile.TemporaryDirectory() as folder:
    train_file = write_records(f"{folder}/train.tfrecord", TRAIN, seed=1)
    val_file = write_records(f"{folder}/val.tfrecord", VAL, seed=2)
    train_ds = read_records(train_file, BATCH, shuffle=TRAIN)
    val_ds = read_records(val_file, BATCH)

    model = tf.keras.Sequential([
        tf.keras.Input((8, 8, 1)),
        tf.keras.layers.Conv2D(4, 3, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ])
    model.compile(tf.keras.optimizers.Adam(2e-2), "binary_crossentropy", metrics=["accuracy"])
    history = model.fit(
        train_ds,
        validation_data=val_ds,
        steps_per_epoch=TRAIN // BATCH,
        epochs=4,
        verbose=0,
    )
    print("val accuracy", round(history.history["val_accuracy"][-1], 3))
