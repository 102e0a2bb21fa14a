import math


def warm_cosine(base, total):
    return lambda epoch, lr: 0.5 * base * (1 + math.cos(math.pi * epoch / total))


class StepDecay:
    def __init__(self, base, factor=0.5, drop=5):
        self.base = base
        self.factor = factor
        self.drop = drop

    def __call__(self, epoch, lr):
        return self.base * self.factor ** (epoch // self.drop)
