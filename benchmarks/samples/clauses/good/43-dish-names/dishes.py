import tensorflow as tf
from tensorflow.keras import layers

model = tf.keras.Sequential(
    [
        layers.Input((96, 96, 3)),
        layers.Conv2D(16, 3, strides=2, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(101, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
x = tf.random.uniform([64, 96, 96, 3])
model.fit(x, tf.random.uniform([64], maxval=101, dtype=tf.int32), epochs=2)
