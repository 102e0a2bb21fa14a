"""Score all pictures of one flight and write a csv (drone dumps, a few hundred at a time)."""
import csv
import os
import tempfile
import time

import numpy as np
import tensorflow as tf

from predictor import CLASSES, LeafClassifier


def make_weights(path):
    # stand-in for the model trained on the cluster
    tf.keras.utils.set_random_seed(0)
    m = tf.keras.Sequential([
        tf.keras.Input((32, 32, 3)),
        tf.keras.layers.Conv2D(8, 3, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(len(CLASSES), activation="softmax"),
    ])
    m.save(path)


def read_flight(n=90):
    rng = np.random.default_rng(5)
    for i in range(n):
        yield f"IMG_{i:04d}.png", rng.integers(0, 255, size=(48, 48, 3), dtype=np.uint8)


def main():
    work = tempfile.mkdtemp()
    model_path = os.path.join(work, "leaf.keras")
    make_weights(model_path)
    clf = LeafClassifier(model_path)

    rows = []
    t0 = time.time()
    names, imgs = zip(*read_flight())
    for name, (label, conf) in zip(names, clf.classify(imgs)):
        rows.append({"file": name, "label": label, "conf": round(conf, 4)})
    print("scored", len(rows), "images in %.1fs" % (time.time() - t0))

    with open(os.path.join(work, "scores.csv"), "w", newline="") as f:
        w = csv.DictWriter(f, fieldnames=["file", "label", "conf"])
        w.writeheader()
        w.writerows(rows)
    print({c: sum(r["label"] == c for r in rows) for c in CLASSES})


if __name__ == "__main__":
    main()
