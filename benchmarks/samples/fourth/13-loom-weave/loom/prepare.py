"""First program: make threads."""
import sys

import numpy as np

from loom.cloth import Threads, read


def main():
    cloth = read(sys.argv[1])
    threads = Threads(**cloth["threads"])
    rng = np.random.default_rng(cloth["seed"])
    x = rng.random((threads.count, len(threads.colours)), dtype="float32")
    np.savez(threads.spool, x=x + threads.twist, y=x.sum(axis=1, keepdims=True))


if __name__ == "__main__":
    main()
