import tensorflow as tf


def clock_net(side, hours, filters, kernel=3, dropout=0.0, dilation=1, **_):
    model = tf.keras.Sequential([tf.keras.Input((side, side, 1))])
    for count in filters:
        model.add(tf.keras.layers.Conv2D(count, kernel, dilation_rate=dilation, activation="relu"))
    model.add(tf.keras.layers.GlobalAveragePooling2D())
    if dropout:
        model.add(tf.keras.layers.Dropout(dropout))
    model.add(tf.keras.layers.Dense(hours, activation="softmax"))
    return model
