import os

from common import build, get_config


def main():
    cfg = get_config()
    model = build(cfg)
    model.load_weights("wheat.weights.h5")
    path = cfg["export"]["path"]
    os.makedirs(os.path.dirname(path), exist_ok=True)
    model.save(path)
    print("saved", path)


if __name__ == "__main__":
    main()
