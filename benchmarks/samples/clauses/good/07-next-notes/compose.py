import argparse

import numpy as np
import tensorflow as tf
from networks import read


def compose(net, seed, count):
    step = tf.function(net, reduce_retracing=True)
    window = list(seed)
    written = []
    for _ in range(count):
        row = np.array(window[-16:]).reshape(1, -1)
        odds = step(row)[0].numpy()
        note = int(np.random.choice(len(odds), p=odds))
        written.append(note)
        window.append(note)
    return written


parser = argparse.ArgumentParser()
parser.add_argument("--model", default="notes.keras")
parser.add_argument("--count", type=int, default=500)
args = parser.parse_args()
print(compose(read(args.model), np.random.randint(0, 88, 16), args.count))
