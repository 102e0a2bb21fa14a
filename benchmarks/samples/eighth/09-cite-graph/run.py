"""Classify the papers of a citation graph.

    python run.py cora [key=value ...]
"""
import sys

import numpy as np
import tensorflow as tf
from omegaconf import OmegaConf

from layers import LAYERS


def load(name, overrides):
    base = OmegaConf.load("configs/base.yaml")
    special = OmegaConf.load(f"configs/{name}.yaml")
    return OmegaConf.merge(base, special, OmegaConf.from_dotlist(overrides))


def make_graph(data, rng):
    labels = np.arange(data.nodes) % data.classes
    adj = np.eye(data.nodes, dtype="float32")
    for i in range(data.nodes):
        same = np.flatnonzero(labels == labels[i])
        for j in rng.choice(same, data.edges_per_node):
            adj[i, j] = adj[j, i] = 1.0
    x = rng.normal(0, 1, (data.nodes, data.features)) + labels[:, None] * 0.3
    return x.astype("float32"), adj, labels


def split_nodes(n, split, rng):
    if abs(sum(split.values()) - 1) > 1e-6:
        raise ValueError(f"the parts of the split do not add up to one: {dict(split)}")
    order = rng.permutation(n)
    a, b = int(n * split.train), int(n * (split.train + split.val))
    return order[:a], order[a:b], order[b:]


class Net(tf.keras.Model):
    def __init__(self, cfg):
        super().__init__()
        reg = tf.keras.regularizers.L2(cfg.optim.l2)
        layer = LAYERS[cfg.model.layer]
        self.convs = [layer(cfg.model.hidden, cfg.model.heads, cfg.model.norm, reg) for _ in range(cfg.model.num_layers)]
        self.drop = tf.keras.layers.Dropout(cfg.model.dropout)
        self.out = tf.keras.layers.Dense(cfg.data.classes)

    def call(self, x, adj, training=False):
        for conv in self.convs:
            x = self.drop(tf.nn.relu(conv(x, adj)), training=training)
        return self.out(x)


def main():
    cfg = load(sys.argv[1], sys.argv[2:])
    tf.keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    x, adj, labels = make_graph(cfg.data, rng)
    train, val, test = split_nodes(cfg.data.nodes, cfg.data.split, rng)

    net = Net(cfg)
    optimizer = tf.keras.optimizers.get({"class_name": cfg.optim.name, "config": {"learning_rate": cfg.optim.lr}})
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    best, since = np.inf, 0
    for epoch in range(cfg.train.epochs):
        with tf.GradientTape() as tape:
            logits = net(x, adj, training=True)
            loss = loss_fn(labels[train], tf.gather(logits, train)) + sum(net.losses)
        optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
        val_loss = float(loss_fn(labels[val], tf.gather(net(x, adj), val)))
        if epoch % cfg.train.log_every == 0:
            print(f"epoch {epoch} loss {float(loss):.4f} val {val_loss:.4f}")
        best, since = (val_loss, 0) if val_loss < best else (best, since + 1)
        if since >= cfg.train.patience:
            break
    print("epochs %d test %.5f" % (epoch + 1, float(loss_fn(labels[test], tf.gather(net(x, adj), test)))))


if __name__ == "__main__":
    main()
