import numpy as np
import keras
from sklearn.model_selection import KFold

N_FEATURES = 14


def yields(n=400, seed=8):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, N_FEATURES)).astype("float32")
    coef = rng.normal(size=N_FEATURES)
    y = x @ coef + 0.5 * np.maximum(x[:, 0], 0) + rng.normal(0, 0.2, n)
    return x, y.astype("float32")


def make_net(width, dropout):
    return keras.Sequential(
        [
            keras.Input((N_FEATURES,)),
            keras.layers.Dense(width, activation="relu"),
            keras.layers.Dropout(dropout),
            keras.layers.Dense(width // 2, activation="relu"),
            keras.layers.Dense(1),
        ]
    )


class CrossValidator:
    """Runs the same recipe on every fold and averages the error."""

    def __init__(self, folds=4, epochs=6, batch_size=32, lr=5e-3):
        self.folds = KFold(folds, shuffle=True, random_state=3)
        self.epochs = epochs
        self.batch_size = batch_size
        self.optimizer = keras.optimizers.Adam(lr, clipnorm=1.0)
        self.scores = []

    def run_fold(self, number, x, y, train_rows, test_rows):
        net = make_net(32, 0.1)
        net.compile(optimizer=self.optimizer, loss="mse", metrics=["mae"])
        net.fit(
            x[train_rows],
            y[train_rows],
            epochs=self.epochs,
            batch_size=self.batch_size,
            verbose=0,
        )
        _, mae = net.evaluate(x[test_rows], y[test_rows], verbose=0)
        print(f"fold {number}: mae {mae:.3f}")
        return mae

    def run(self, x, y):
        for number, (train_rows, test_rows) in enumerate(self.folds.split(x)):
            self.scores.append(self.run_fold(number, x, y, train_rows, test_rows))
        return float(np.mean(self.scores))


if __name__ == "__main__":
    keras.utils.set_random_seed(5)
    features, tonnes = yields()
    print("mean mae", round(CrossValidator().run(features, tonnes), 3))
