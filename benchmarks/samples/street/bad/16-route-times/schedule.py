"""Learning-rate plan by round of training."""


def rate_for(round_no, start=3e-3, halve_every=4):
    return start * 0.5 ** (round_no // halve_every)
