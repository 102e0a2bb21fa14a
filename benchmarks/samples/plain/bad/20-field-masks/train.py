import numpy as np
import tensorflow as tf

from fields import CLASSES, SIZE, dataset, scenes


def unet_like():
    inputs = tf.keras.Input((SIZE, SIZE, 1))
    a = tf.keras.layers.Conv2D(12, 3, padding="same", activation="relu")(inputs)
    b = tf.keras.layers.MaxPooling2D()(a)
    b = tf.keras.layers.Conv2D(16, 3, padding="same", activation="relu")(b)
    b = tf.keras.layers.UpSampling2D()(b)
    x = tf.keras.layers.Concatenate()([a, b])
    outputs = tf.keras.layers.Conv2D(CLASSES, 1)(x)
    return tf.keras.Model(inputs, outputs)


tf.keras.utils.set_random_seed(6)
images, masks = scenes(80, seed=1)
train_ds = dataset(images, masks, training=True)
val_ds = dataset(*scenes(32, seed=2), training=False)
model = unet_like()
model.compile(
    tf.keras.optimizers.Adam(5e-3),
    tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
history = model.fit(train_ds, validation_data=val_ds, epochs=25, verbose=0)
print("val accuracy", round(history.history["val_accuracy"][-1], 4))
shares = np.bincount(np.concatenate([m.numpy().ravel() for _, m in val_ds]), minlength=CLASSES)
print("class shares in the masks", (shares / shares.sum()).round(4))
