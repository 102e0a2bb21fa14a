import argparse
import numpy as np
import tensorflow as tf
from net import SongNet

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=6)
parser.add_argument("--lr", type=float, default=1e-3)
args = parser.parse_args()

SPECIES, MELS, FRAMES = 8, 12, 30


def clips(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, SPECIES, n)
    x = rng.normal(size=(n, FRAMES, MELS))
    for i in range(n):
        s = rng.integers(0, FRAMES - 6)
        x[i, s:s + 6, y[i]] += 2.5
    return x.astype("float32"), y.astype("int64")


def loss_fn(y, out):
    onehot = tf.one_hot(y, SPECIES)
    return tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=onehot, logits=out))


def main():
    tf.keras.utils.set_random_seed(0)
    x, y = clips(1600, 0)
    xv, yv = clips(400, 1)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1600).batch(32).prefetch(tf.data.AUTOTUNE)
    model = SongNet(SPECIES)
    model(xv[:1])
    opt = tf.keras.optimizers.Adam(args.lr)

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            out = model(xb, training=True)
            loss = loss_fn(yb, out)
        g = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(g, model.trainable_variables))
        return loss

    for epoch in range(args.epochs):
        m = tf.keras.metrics.Mean()
        for xb, yb in ds:
            m.update_state(step(xb, yb))
        acc = np.mean(np.argmax(model(xv).numpy(), 1) == yv)
        print("epoch %d loss %.3f val acc %.3f" % (epoch, float(m.result()), acc))


if __name__ == "__main__":
    main()
