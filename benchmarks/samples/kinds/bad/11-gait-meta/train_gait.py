import json
import pathlib

import numpy as np
import tensorflow as tf

from model import build_net, make_optimizer

cfg = json.loads((pathlib.Path(__file__).parent / "settings.json").read_text())


def recordings(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    t = np.linspace(0, 4 * np.pi, 64)
    x = np.sin(t[None, :, None] * (1 + 0.6 * y[:, None, None]) + rng.uniform(0, 6, (n, 1, 6)))
    return (x + 0.5 * rng.normal(size=x.shape)).astype("float32"), y


def step(net, x, y):
    optimizer = make_optimizer(cfg)
    with tf.GradientTape() as tape:
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=net(x, training=True))
        loss = tf.reduce_mean(ce)
    g = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(g, net.trainable_variables))
    return loss


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(6)
    x, y = recordings(640, 0)
    xv, yv = recordings(200, 1)
    net = build_net()
    for ep in range(cfg["epochs"]):
        order = np.random.permutation(len(x))
        tot = 0.0
        for b in range(0, len(x), cfg["batch"]):
            i = order[b:b + cfg["batch"]]
            tot += float(step(net, x[i], y[i])) * len(i)
        acc = np.mean(np.argmax(net(xv).numpy(), 1) == yv)
        print("ep %d loss %.3f val acc %.3f" % (ep, tot / len(x), acc))
