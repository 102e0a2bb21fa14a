import numpy as np
import tensorflow as tf

from common import build, crossings
from train import FOLDER, train


def load_planner():
    model = build()
    checkpoint = tf.train.Checkpoint(net=model)
    latest = tf.train.latest_checkpoint(FOLDER)
    print("restoring", latest)
    checkpoint.restore(latest).assert_existing_objects_matched().expect_partial()
    return model


def rmse(model, x, y):
    return float(np.sqrt(np.mean((model.predict(x, verbose=0) - y) ** 2)))


def decks_needed(load, capacity=0.35, decks=4):
    """Number of car decks to open for a predicted (standardised) load."""
    level = (np.asarray(load).ravel() + 1.2) / capacity / 2
    return np.clip(np.ceil(level), 1, decks).astype(int)


def timetable(model, x, names):
    load = model.predict(x, verbose=0).ravel()
    for name, value, decks in zip(names, load, decks_needed(load)):
        bar = "#" * int(np.clip((value + 1.2) * 12, 0, 30))
        print(f"{name}  load {value:+.2f}  decks {decks}  {bar}")


def sailing_names(n, first=6, gap=50):
    minutes = first * 60 + gap * np.arange(n)
    return [f"{m // 60 % 24:02d}:{m % 60:02d}" for m in minutes]


def main():
    tf.keras.utils.set_random_seed(33)
    trained = train()
    planner = load_planner()
    x, y = crossings(500, 2)
    print(f"just trained {rmse(trained, x, y):.4f}")
    print(f"restored     {rmse(planner, x, y):.4f}")
    timetable(planner, x[:12], sailing_names(12))


if __name__ == "__main__":
    main()
