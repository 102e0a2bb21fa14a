import argparse

import numpy as np
from networks import read


def compose(net, seed, count):
    window = list(seed)
    written = []
    for _ in range(count):
        row = np.array(window[-16:]).reshape(1, -1)
        odds = net.predict(row)[0]
        note = int(np.random.choice(len(odds), p=odds))
        written.append(note)
        window.append(note)
    return written


parser = argparse.ArgumentParser()
parser.add_argument("--model", default="notes.keras")
parser.add_argument("--count", type=int, default=500)
args = parser.parse_args()
print(compose(read(args.model), np.random.randint(0, 88, 16), args.count))
