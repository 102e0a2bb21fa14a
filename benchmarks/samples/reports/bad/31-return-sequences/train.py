import numpy as np
import tensorflow as tf

UNITS = 12


def stack(depth, classes, rnn=tf.keras.layers.LSTM):
    net = tf.keras.Sequential()
    net.add(tf.keras.Input((None, 3)))
    for _ in range(depth):
        net.add(rnn(UNITS))
        net.add(tf.keras.layers.Dropout(0.2))
    net.add(tf.keras.layers.Dense(classes, activation="softmax"))
    return net


motion = np.random.randn(90, 25, 3)
gesture = np.random.randint(0, 4, 90)
net = stack(2, 4)
net.compile("adam", "sparse_categorical_crossentropy")
net.fit(motion, gesture, epochs=1, verbose=2)
