import numpy as np
import tensorflow as tf
import yaml

from glove_net import GloveNet


def main():
    with open("hyper.yaml") as fh:
        hyper = yaml.safe_load(fh)
    shape = (hyper["windows"], hyper["frames"], hyper["sensors"])
    x = np.random.randn(*shape).astype("float32")
    y = np.random.randint(0, hyper["gestures"], hyper["windows"])
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(hyper["windows"]).batch(hyper["batch_size"])

    net = GloveNet(hyper)
    net.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    net.fit(ds, epochs=hyper["epochs"], verbose=2)


main()
