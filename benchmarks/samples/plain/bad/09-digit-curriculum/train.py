import argparse
import time

import numpy as np
import tensorflow as tf


def parse_args():
    p = argparse.ArgumentParser(description="Small classifier with a hand-made lr plan")
    p.add_argument("--epochs", type=int, default=12)
    p.add_argument("--lr", type=float, default=4e-3)
    p.add_argument("--decay", type=float, default=0.85)
    p.add_argument("--seed", type=int, default=31)
    return p.parse_args()


def make_data(seed):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(10, 32))
    y = rng.integers(0, 10, 1500)
    x = centres[y] + rng.normal(scale=0.9, size=(1500, 32))
    return x.astype("float32"), y.astype("int32")


def build_model():
    return tf.keras.Sequential([
        tf.keras.Input((32,)),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(10),
    ])


def main():
    args = parse_args()
    tf.keras.utils.set_random_seed(args.seed)
    x, y = make_data(args.seed)
    model = build_model()
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    start = time.time()
    for epoch in range(args.epochs):
        lr = args.lr * args.decay ** epoch
        model.compile(tf.keras.optimizers.Adam(lr), loss, metrics=["accuracy"])
        history = model.fit(x[:1200], y[:1200], batch_size=64, verbose=0,
                            validation_data=(x[1200:], y[1200:]))
        val = history.history["val_accuracy"][-1]
        print(f"epoch {epoch + 1:2d} lr {lr:.5f} val accuracy {val:.3f}")
    print(f"{time.time() - start:.1f}s, optimizer steps {int(model.optimizer.iterations)}")


if __name__ == "__main__":
    main()
