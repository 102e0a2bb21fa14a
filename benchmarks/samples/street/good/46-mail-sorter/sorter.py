import numpy as np
import tensorflow as tf

ZONES = 6
EPOCHS = 8


def envelopes(n, seed):
    rng = np.random.default_rng(seed)
    zone = rng.integers(0, ZONES, n)
    template = np.random.default_rng(8).normal(0, 1, (ZONES, 40))
    x = 0.55 * template[zone] + rng.normal(0, 1, (n, 40))
    return x.astype("float32"), zone.astype("int64")


def dataset(n, seed, training):
    ds = tf.data.Dataset.from_tensor_slices(envelopes(n, seed))
    if training:
        ds = ds.shuffle(n, seed=seed)
    return ds.batch(64).prefetch(tf.data.AUTOTUNE)


class Sorter:
    def __init__(self):
        self.model = tf.keras.Sequential(
            [
                tf.keras.Input((40,)),
                tf.keras.layers.Dense(48, activation="relu"),
                tf.keras.layers.Dense(ZONES),
            ]
        )
        self.optimizer = tf.keras.optimizers.Adam(1e-3)
        self.loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.train_acc = tf.keras.metrics.SparseCategoricalAccuracy(name="train_acc")
        self.val_acc = tf.keras.metrics.SparseCategoricalAccuracy(name="val_acc")

    @tf.function
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.model(x, training=True)
            loss = self.loss_fn(y, logits)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        self.train_acc.update_state(y, logits)

    @tf.function
    def val_step(self, x, y):
        self.val_acc.update_state(y, self.model(x, training=False))

    def run(self, train, val):
        history = []
        for epoch in range(EPOCHS):
            self.train_acc.reset_state()
            self.val_acc.reset_state()
            for x, y in train:
                self.train_step(x, y)
            for x, y in val:
                self.val_step(x, y)
            row = (float(self.train_acc.result()), float(self.val_acc.result()))
            history.append(row)
            print(f"epoch {epoch}: train {row[0]:.4f} val {row[1]:.4f}")
        return history


def confusion(logits, truth):
    table = np.zeros((ZONES, ZONES), dtype=int)
    np.add.at(table, (truth, logits.argmax(axis=1)), 1)
    return table


def print_zones(table):
    print("zone   letters  found   mostly mistaken for")
    for zone in range(ZONES):
        row = table[zone]
        wrong = row.copy()
        wrong[zone] = 0
        other = "-" if wrong.sum() == 0 else str(wrong.argmax())
        print(f"{zone:4d}  {row.sum():8d}  {row[zone] / max(1, row.sum()):.2f}   {other}")


def curve(history, width=40):
    low = min(min(row) for row in history)
    high = max(max(row) for row in history)
    for epoch, (train_acc, val_acc) in enumerate(history):
        line = [" "] * (width + 1)
        for mark, value in (("t", train_acc), ("v", val_acc)):
            at = 0 if high == low else int((value - low) / (high - low) * width)
            line[at] = mark
        print(f"{epoch:2d} |{''.join(line)}|")


def main():
    tf.keras.utils.set_random_seed(46)
    train, val = dataset(3000, 1, True), dataset(600, 2, False)
    sorter = Sorter()
    history = sorter.run(train, val)
    logits = np.concatenate([sorter.model(x, training=False) for x, _ in val])
    truth = np.concatenate([y for _, y in val])
    print(f"last reported val {history[-1][1]:.4f}, counted afterwards "
          f"{(logits.argmax(axis=1) == truth).mean():.4f}")
    curve(history)
    print_zones(confusion(logits, truth))


if __name__ == "__main__":
    main()
