import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

from losses import dice_loss, dice_score


def tiny_unet(size=32):
    inp = tf.keras.Input((size, size, 1))
    d1 = layers.Conv2D(8, 3, padding="same", activation="relu")(inp)
    p1 = layers.MaxPooling2D()(d1)
    mid = layers.Conv2D(16, 3, padding="same", activation="relu")(p1)
    u1 = layers.Concatenate()([layers.UpSampling2D()(mid), d1])
    return tf.keras.Model(inp, layers.Conv2D(1, 1, activation="sigmoid")(u1))


scans = np.random.rand(24, 32, 32, 1).astype("float32")
masks = (scans > 0.7).astype("uint8")

net = tiny_unet()
net.compile(optimizer="adam", loss=dice_loss, metrics=[dice_score])
net.fit(scans, masks, batch_size=8, epochs=2, verbose=2)
