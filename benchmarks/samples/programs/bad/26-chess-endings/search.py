import time

import numpy as np

from evaluator import Evaluator

rng = np.random.default_rng(0)


def children(board):
    out = []
    for i in np.flatnonzero(board == 0)[:8]:
        child = board.copy()
        child[i] = rng.choice([-1.0, 1.0])
        out.append(child)
    return out


class Beam:
    def __init__(self, evaluator, width=3, depth=4):
        self.ev, self.width, self.depth = evaluator, width, depth

    def rank(self, boards):
        scores = [self.ev.value(b) for b in boards]
        return [boards[i] for i in np.argsort(scores)[::-1][: self.width]]

    def run(self, root):
        front = [root]
        for _ in range(self.depth):
            front = self.rank([c for b in front for c in children(b)])
        return front[0]


ev = Evaluator()
ev.value(np.zeros(16, "float32"))
t = time.perf_counter()
best = Beam(ev).run(np.zeros(16, "float32"))
print(f"{ev.calls} calls, {time.perf_counter() - t:.2f} s", best[:4])
