"""Predicts whether a subscriber will cancel in the next quarter."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

EPOCHS = 12
BATCH = 64


def make_subscribers(n, seed):
    rng = np.random.default_rng(seed)
    tenure = rng.gamma(2.0, 14.0, n)
    calls = rng.poisson(3.0, n)
    bill = rng.normal(42.0, 11.0, n)
    outages = rng.poisson(1.2, n)
    score = 0.55 * calls + 0.9 * outages - 0.06 * tenure + 0.02 * bill - 1.6
    left = (score + rng.normal(0, 0.6, n) > 0).astype("float32")
    x = np.stack([tenure, calls, bill, outages], axis=1).astype("float32")
    return x, left


class ChurnModel(tf.keras.Model):
    def __init__(self, hidden=(32, 16), **kwargs):
        super().__init__(**kwargs)
        self.blocks = [layers.Dense(h, activation="relu") for h in hidden]
        self.drop = layers.Dropout(0.2)
        self.head = layers.Dense(1, activation="softmax", name="churn_probability")

    def call(self, inputs, training=False):
        x = inputs
        for block in self.blocks:
            x = block(x)
        x = self.drop(x, training=training)
        return self.head(x)


def best_threshold(scores, left, call_cost=4.0, loss_per_churn=60.0, save_rate=0.3):
    """Score above which a retention call pays for itself on the validation customers."""
    best, best_gain = 0.5, -np.inf
    for threshold in np.linspace(0.05, 0.95, 19):
        called = scores >= threshold
        gain = save_rate * loss_per_churn * (called & (left > 0.5)).sum() - call_cost * called.sum()
        if gain > best_gain:
            best, best_gain = threshold, gain
    return best, best_gain


def lift_by_decile(scores, left):
    order = np.argsort(-scores)
    base = max(left.mean(), 1e-9)
    rows = []
    for i, part in enumerate(np.array_split(order, 10)):
        rows.append((i + 1, scores[part].mean(), left[part].mean(), left[part].mean() / base))
    return rows


def print_report(scores, left):
    threshold, gain = best_threshold(scores, left)
    print(f"call above {threshold:.2f}, expected gain {gain:.0f}")
    print("decile  score   left   lift")
    for decile, score, share, lift in lift_by_decile(scores, left):
        print(f"{decile:6d}  {score:.3f}  {share:.3f}  {lift:.2f}")


def main():
    tf.keras.utils.set_random_seed(21)
    x_train, y_train = make_subscribers(4000, seed=0)
    x_val, y_val = make_subscribers(1000, seed=1)

    norm_mean = x_train.mean(axis=0)
    norm_std = x_train.std(axis=0)
    x_train = (x_train - norm_mean) / norm_std
    x_val = (x_val - norm_mean) / norm_std

    model = ChurnModel()
    model.compile(
        optimizer=tf.keras.optimizers.Adam(2e-3),
        loss="binary_crossentropy",
        metrics=["accuracy", tf.keras.metrics.AUC(name="auc")],
    )
    history = model.fit(
        x_train,
        y_train,
        validation_data=(x_val, y_val),
        epochs=EPOCHS,
        batch_size=BATCH,
        verbose=2,
    )
    print("base rate", float(y_val.mean()))
    print("best val auc", max(history.history["val_auc"]))
    print_report(model.predict(x_val, verbose=0).ravel(), y_val)


if __name__ == "__main__":
    main()
