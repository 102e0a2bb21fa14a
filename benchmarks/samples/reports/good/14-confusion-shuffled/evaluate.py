import numpy as np
import tensorflow as tf

SIZE = (16, 16)


def read(folder, shuffle):
    return tf.keras.utils.image_dataset_from_directory(folder, image_size=SIZE, batch_size=16, shuffle=shuffle)


train_ds = read("photos/train", True)
test_ds = read("photos/test", False)

model = tf.keras.Sequential(
    [
        tf.keras.layers.Rescaling(1 / 255.0),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(2, activation="softmax"),
    ]
)
model.compile(tf.keras.optimizers.Adam(0.1), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train_ds, epochs=6, verbose=0)
print("accuracy", model.evaluate(test_ds, verbose=0)[1])

truth = np.concatenate([labels for _, labels in test_ds])
guess = np.argmax(model.predict(test_ds, verbose=0), axis=1)
print(tf.math.confusion_matrix(truth, guess).numpy())
