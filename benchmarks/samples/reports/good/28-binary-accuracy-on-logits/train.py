import numpy as np
import tensorflow as tf


def defect_model(side):
    return tf.keras.Sequential(
        [
            tf.keras.Input((side, side, 1)),
            tf.keras.layers.Conv2D(4, 3, activation="relu"),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.Dense(1),
        ]
    )


tf.keras.utils.set_random_seed(9)
parts = np.random.rand(200, 10, 10, 1).astype("float32")
faulty = np.random.randint(0, 2, 200)
parts[faulty == 1] += 0.05

net = defect_model(10)
net.compile(
    optimizer=tf.keras.optimizers.Adam(0.02),
    loss=tf.keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[
        tf.keras.metrics.BinaryAccuracy(name="acc", threshold=0.0),
        tf.keras.metrics.Precision(name="prec", thresholds=0.0),
    ],
)
net.fit(parts, faulty, epochs=40, verbose=0)
print(net.evaluate(parts, faulty, return_dict=True, verbose=0))
z = net.predict(parts, verbose=0).ravel()
print("true accuracy", np.mean((z > 0) == faulty))
