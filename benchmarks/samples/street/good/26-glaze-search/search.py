"""Random search over small networks for the glaze colour model."""
import resource
import time

import numpy as np
import tensorflow as tf

TRIALS = 24


def recipes(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.dirichlet(np.ones(12), n)
    mix = np.random.default_rng(5).normal(size=(12, 3))
    y = np.tanh(3 * x @ mix) + rng.normal(0, 0.05, (n, 3))
    return x.astype("float32"), y.astype("float32")


def propose(rng):
    return {
        "units": int(rng.choice([256, 384, 512])),
        "depth": int(rng.integers(2, 5)),
        "rate": float(10 ** rng.uniform(-3.5, -2.3)),
        "dropout": float(rng.choice([0.0, 0.1, 0.2])),
    }


def build(params):
    model = tf.keras.Sequential([tf.keras.Input((12,))])
    for _ in range(params["depth"]):
        model.add(tf.keras.layers.Dense(params["units"], activation="relu"))
        if params["dropout"]:
            model.add(tf.keras.layers.Dropout(params["dropout"]))
    model.add(tf.keras.layers.Dense(3))
    model.compile(tf.keras.optimizers.Adam(params["rate"]), loss="mse")
    return model


def evaluate_trial(params, train, val):
    model = build(params)
    history = model.fit(*train, validation_data=val, epochs=3, batch_size=64, verbose=0)
    return min(history.history["val_loss"])


def search(train, val, seed=26):
    rng = np.random.default_rng(seed)
    results = []
    for trial in range(TRIALS):
        params = propose(rng)
        tf.keras.backend.clear_session()
        score = evaluate_trial(params, train, val)
        results.append({"params": params, "score": score})
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"trial {trial:2d} loss {score:.4f} memory {used:.0f} MB")
    return min(results, key=lambda r: r["score"])


def main():
    tf.keras.utils.set_random_seed(26)
    start = time.perf_counter()
    best = search(recipes(2000, 1), recipes(400, 2))
    print("best", best["params"], f"{best['score']:.4f}")
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
