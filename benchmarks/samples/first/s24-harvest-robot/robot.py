"""Joint angles for a berry in the picture."""
import numpy as np
import yaml
from tensorflow import keras

from tags import Loader

with open("conf/robot.yaml") as stream:
    robot = yaml.load(stream, Loader=Loader)


def policy(shape, *, joints, hidden, activation):
    return keras.Sequential([
        keras.Input(shape),
        keras.layers.Flatten(),
        keras.layers.Dense(hidden, activation=activation),
        keras.layers.Dense(joints, activation="tanh"),
    ])


def teach(arm, pictures, rate, rounds, loss):
    net = policy(pictures.shape[1:], **robot[arm])
    net.compile(keras.optimizers.Adam(rate), loss)
    angles = np.random.uniform(-1, 1, (len(pictures), robot[arm]["joints"])).astype("float32")
    return net.fit(pictures, angles, epochs=rounds, batch_size=8, verbose=0).history["loss"][-1]


if __name__ == "__main__":
    keras.utils.set_random_seed(robot["seed"])
    camera = robot["camera"]
    pictures = np.random.rand(camera["frames"], camera["height"], camera["width"], 1).astype("float32")
    for arm in ("gripper", "backup_gripper"):
        print(arm, round(teach(arm, pictures, **robot["learn"]), 4))
