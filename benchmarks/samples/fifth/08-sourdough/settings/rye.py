from .base import *  # noqa: F403

EPOCHS = 2
HIDDEN = dict(HIDDEN, units=20)  # noqa: F405
FLOUR = "rye"
