"""Mark rust spots on photographs of leaves."""
import argparse

import numpy as np
import tensorflow as tf
import yaml

from losses import make_loss
from unet import unet


def leaves(image, count):
    x = np.random.rand(count, image["size"], image["size"], image["channels"]).astype("float32")
    return x, (x[..., :1] > 0.7).astype("float32")


def make_optimizer(optim):
    rate = optim["lr"]
    if optim["schedule"] == "cosine":
        schedule = tf.keras.optimizers.schedules.CosineDecay(rate, optim["decay_steps"])
    else:
        schedule = tf.keras.optimizers.schedules.PolynomialDecay(rate, optim["decay_steps"])
    optimizer = tf.keras.optimizers.Adam(learning_rate=rate)
    print(optimizer.name, "with", type(schedule).__name__)
    return optimizer


def clip(gradients, norm):
    return gradients if norm is None else tf.clip_by_global_norm(gradients, norm)[0]


def run(settings):
    loop, optim = settings["loop"], settings["optim"]
    x, y = leaves(settings["image"], loop["leaves"])
    batches = iter(tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(loop["batch"]))
    net, loss, optimizer = unet(settings["net"]), make_loss(settings["loss"]), make_optimizer(optim)

    @tf.function
    def step(images, masks):
        with tf.GradientTape() as tape:
            value = loss(masks, net(images, training=True))
        gradients = tape.gradient(value, net.trainable_variables)
        gradients = clip(gradients, optim.get("grad_clip"))
        optimizer.apply_gradients(zip(gradients, net.trainable_variables))
        return value

    for i in range(1, loop["steps"] + 1):
        value = step(*next(batches))
        if i % loop["eval_every"] == 0:
            print(i, round(float(value), 5))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--settings", default="settings.yaml")
    options = parser.parse_args()
    tf.keras.utils.set_random_seed(8)
    with open(options.settings) as f:
        run(yaml.safe_load(f))
