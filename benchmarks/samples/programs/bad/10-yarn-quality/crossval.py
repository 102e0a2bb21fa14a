import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--folds", type=int, default=4)
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--lr", type=float, default=5e-3)


def make_model(features):
    inp = tf.keras.Input((features,))
    h = tf.keras.layers.Dense(12, activation="elu")(inp)
    return tf.keras.Model(inp, tf.keras.layers.Dense(1)(h))


@tf.function
def train_step(model, optimizer, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def split(n, folds, seed=0):
    order = np.random.default_rng(seed).permutation(n)
    for held in np.array_split(order, folds):
        yield np.setdiff1d(order, held), held


def run_fold(x, y, train, held, args):
    model = make_model(x.shape[1])
    optimizer = tf.keras.optimizers.Adam(args.lr)
    ds = tf.data.Dataset.from_tensor_slices((x[train], y[train])).shuffle(len(train)).batch(30, drop_remainder=True)
    for _ in range(args.epochs):
        for bx, by in ds:
            train_step(model, optimizer, bx, by)
    return float(np.abs(model(x[held]).numpy() - y[held]).mean())


if __name__ == "__main__":
    args = parser.parse_args()
    x = np.random.rand(240, 5).astype("float32")
    y = x @ np.array([[1.0], [-2.0], [0.5], [0.0], [3.0]], "float32")
    scores = [run_fold(x, y, a, b, args) for a, b in split(len(x), args.folds)]
    print("mae per fold", np.round(scores, 3), "mean", round(float(np.mean(scores)), 3))
