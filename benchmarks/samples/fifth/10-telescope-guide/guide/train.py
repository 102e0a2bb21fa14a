import sys

from .config import read
from .trainers import TRAINERS


def main():
    cfg = read(sys.argv[1])
    TRAINERS[cfg["target"]](cfg).run()


if __name__ == "__main__":
    main()
