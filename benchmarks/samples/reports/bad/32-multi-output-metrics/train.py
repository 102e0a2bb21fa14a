import numpy as np
from tensorflow import keras
from tensorflow.keras import layers


def face_net():
    inp = keras.Input((16, 16, 1))
    h = layers.Conv2D(8, 3, strides=2, activation="relu")(inp)
    h = layers.GlobalAveragePooling2D()(h)
    age = layers.Dense(1, name="age")(h)
    pose = layers.Dense(3, name="pose")(h)
    return keras.Model(inp, [age, pose])


faces = np.random.rand(64, 16, 16, 1)
targets = {"age": np.random.rand(64, 1) * 80, "pose": np.random.rand(64, 3)}

net = face_net()
net.compile(
    optimizer="adam",
    loss={"age": "mae", "pose": "mse"},
    loss_weights={"age": 0.1, "pose": 1.0},
    metrics=["mae"],
)
net.fit(faces, [targets["age"], targets["pose"]], epochs=1, verbose=2)
