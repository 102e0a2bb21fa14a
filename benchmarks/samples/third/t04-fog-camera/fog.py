"""Is there fog over the harbour?"""
import argparse

import numpy as np
import tensorflow as tf
import yaml


def documents(path):
    with open(path) as stream:
        return list(yaml.safe_load_all(stream))


def pipeline(camera, flow):
    size = camera["size"]
    images = np.random.rand(32, size, size, 1).astype("float32") * camera["gain"]
    fog = np.random.randint(0, 2, (32, 1))
    options = tf.data.Options()
    for word, value in flow["options"].items():
        setattr(options, word, value)
    for word, value in flow["threading"].items():
        setattr(options.threading, word, value)
    data = tf.data.Dataset.from_tensor_slices((images, fog)).shuffle(flow["shuffle"])
    return data.batch(flow["batch"]).prefetch(flow["ahead"]).with_options(options)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--settings", default="harbour.yaml")
    camera, flow, training = documents(parser.parse_args().settings)
    tf.keras.mixed_precision.set_global_policy(training["mixed"])
    model = tf.keras.Sequential([
        tf.keras.Input((camera["size"], camera["size"], 1)),
        tf.keras.layers.Conv2D(4, 5),
        tf.keras.layers.GlobalMaxPooling2D(),
        tf.keras.layers.Dense(1, "sigmoid", dtype="float32"),
    ])
    model.compile(tf.keras.optimizers.Adam(training["rate"]), "binary_crossentropy")
    model.fit(pipeline(camera, flow), epochs=training["epochs"], verbose=0)


if __name__ == "__main__":
    main()
