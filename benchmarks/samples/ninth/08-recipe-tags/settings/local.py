from .base import *  # noqa: F401,F403

BATCH_SIZE = 32.0
LEARNIN_RATE = 1e-4
HIDDEN = HIDDEN + [16]  # noqa: F405
