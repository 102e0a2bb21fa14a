import argparse

import numpy as np
import tensorflow as tf

from model import build_tagger


def make_tags(n, seed):
    rng = np.random.default_rng(seed)
    w = np.random.default_rng(0).normal(size=(20, 6))
    x = rng.normal(size=(n, 20)).astype("float32")
    return x, (x @ w > 0).astype("float32")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--rate", type=float, default=0.5)
    args = parser.parse_args()

    tf.keras.utils.set_random_seed(1)
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    model = build_tagger(20, 6)
    optimizer = tf.keras.mixed_precision.LossScaleOptimizer(
        tf.keras.optimizers.SGD(args.rate, momentum=0.9))
    loss_fn = tf.keras.losses.BinaryCrossentropy(from_logits=True)
    mean_loss = tf.keras.metrics.Mean()

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x, training=True))
            scaled = optimizer.scale_loss(loss)
        grads = tape.gradient(scaled, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        mean_loss.update_state(loss)

    x, y = make_tags(960, 1)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(960).batch(32)
    ds = ds.prefetch(tf.data.AUTOTUNE)
    for epoch in range(args.epochs):
        mean_loss.reset_state()
        for bx, by in ds:
            train_step(bx, by)
        print(f"epoch {epoch} loss {float(mean_loss.result()):.4f}")
    x_val, y_val = make_tags(400, 2)
    hits = (model(x_val, training=False).numpy() > 0) == (y_val > 0.5)
    print(f"validation accuracy {hits.mean():.3f}")


if __name__ == "__main__":
    main()
