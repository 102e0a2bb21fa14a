import json
import os
import numpy as np
import tensorflow as tf
from nets import expression_net

P = json.load(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "params.json")))
tf.keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(500, P["n_genes"])).astype("float32")
y = (x[:, :3].sum(1) + rng.normal(size=500) > 0).astype("float32")[:, None]
ds = tf.data.Dataset.from_tensor_slices((x[:400], y[:400])).shuffle(400).batch(P["batch"], drop_remainder=True)

net = expression_net(P["n_genes"], P["l1"], P["units"])
opt = tf.keras.optimizers.Adam(P["lr"])
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        logits = net(xb, training=True)
        loss = bce(yb, logits) + tf.add_n(net.losses)
    g = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(g, net.trainable_variables))
    return loss


for ep in range(P["epochs"]):
    vals = [float(step(xb, yb)) for xb, yb in ds]
print("last loss %.3f" % np.mean(vals))
w = net.get_layer("genes").get_weights()[0]
print("test acc %.3f" % np.mean((net(x[400:]).numpy() > 0) == (y[400:] > 0)))
print("share of near-zero weights %.2f" % np.mean(np.abs(w) < 1e-2), "sum |w| %.1f" % np.abs(w).sum())
