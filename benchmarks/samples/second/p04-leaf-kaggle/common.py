import argparse

import yaml


def get_cfg(path):
    with open(path) as f:
        args = argparse.Namespace(**yaml.full_load(f))
    args.seed = 42
    args.shape = (args.img_size, args.img_size, 3)
    return args
