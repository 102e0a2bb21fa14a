from enum import Enum

SAMPLE_RATE = 22_050
CLEANERS = ["english"]
KIB = 1024


class Mode(str, Enum):
    FAST = "fast"
    GOOD = "good"
