import os
import time
import numpy as np
import tensorflow as tf
import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "config.yaml")) as f:
    cfg = yaml.safe_load(f)

tf.keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
D = cfg["features"]


def sample(n, shift):
    x = rng.normal(size=(n, D)).astype("float32") + shift
    y = (x[:, 0] - shift + x[:, 1] - shift > 0).astype("float32")
    return x, y


xs, ys = sample(192, 0.0)
xt, yt = sample(192, 0.7)

source = tf.data.Dataset.from_tensor_slices((xs, ys)).shuffle(192).batch(cfg["batch_size"], drop_remainder=True)
target = tf.data.Dataset.from_tensor_slices(xt).shuffle(192).batch(cfg["batch_size"], drop_remainder=True)
pairs = tf.data.Dataset.zip((source, target)).prefetch(2)

feat = tf.keras.Sequential([tf.keras.Input((D,)), tf.keras.layers.Dense(32, activation="relu")])
label_head = tf.keras.Sequential([tf.keras.Input((32,)), tf.keras.layers.Dense(1)])
domain_head = tf.keras.Sequential([tf.keras.Input((32,)), tf.keras.layers.Dense(16, activation="relu"),
                                   tf.keras.layers.Dense(1)])
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
opt = tf.keras.optimizers.Adam(cfg["lr"])
variables = feat.trainable_variables + label_head.trainable_variables + domain_head.trainable_variables


@tf.custom_gradient
def reverse(x, alpha):
    def grad(dy):
        return -alpha * dy, None
    return tf.identity(x), grad


@tf.function
def train_step(x, y, x_target, alpha):
    with tf.GradientTape() as tape:
        fs = feat(x, training=True)
        ft = feat(x_target, training=True)
        cls = bce(y[:, None], label_head(fs))
        both = tf.concat([fs, ft], 0)
        dom_y = tf.concat([tf.zeros((tf.shape(fs)[0], 1)), tf.ones((tf.shape(ft)[0], 1))], 0)
        dom = bce(dom_y, domain_head(reverse(both, alpha)))
        loss = cls + dom
    grads = tape.gradient(loss, variables)
    opt.apply_gradients(zip(grads, variables))
    return cls, dom


total = cfg["epochs"] * len(source)
n = 0
t0 = time.time()
for epoch in range(cfg["epochs"]):
    for (x, y), x_target in pairs:
        p = n / total
        alpha = 2.0 / (1.0 + np.exp(-cfg["gamma"] * p)) - 1.0
        cls, dom = train_step(x, y, x_target, tf.constant(alpha, tf.float32))
        n += 1
    print("epoch %d cls %.3f dom %.3f" % (epoch, cls, dom))
print("steps", n, "%.1fs" % (time.time() - t0))
acc = np.mean((label_head(feat(xt)).numpy()[:, 0] > 0) == yt)
print("target acc %.3f" % acc)
