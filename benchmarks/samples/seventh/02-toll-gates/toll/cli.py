"""Command line and settings file, merged: what is given on the command line wins."""
import argparse

import yaml


def build_parser():
    p = argparse.ArgumentParser(description="Train the toll gate forecaster")
    p.add_argument("--settings", default="settings/hourly.yml")
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--batch-size", type=int, default=None)
    p.add_argument("--lr", type=float, default=None)
    p.add_argument("--out-dir", default="/tmp/toll-runs")
    return p


def load(argv=None):
    args = build_parser().parse_args(argv)
    with open(args.settings) as fh:
        conf = yaml.safe_load(fh)
    if args.epochs is not None:
        conf["training"]["epochs"] = args.epochs
    if args.batch_size is not None:
        conf["data"]["batch_size"] = args.batch_size
    if args.lr is not None:
        conf["training"]["lr"] = args.lr
    conf["out_dir"] = args.out_dir
    return conf
