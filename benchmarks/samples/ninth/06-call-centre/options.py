import argparse


def parse(argv=None):
    parser = argparse.ArgumentParser(description="Route phone calls by intent")
    data = parser.add_argument_group("data")
    data.add_argument("--calls", type=int, default=80)
    data.add_argument("--n-intents", type=int, default=6)
    data.add_argument("--vocab-size", type=int, default=300)
    data.add_argument("--max-words", type=int, default=20)

    net = parser.add_argument_group("network")
    net.add_argument("--embed-dim", type=int, default=16)
    net.add_argument("--pooling", choices=["mean", "max"], default="mean")
    net.add_argument("--dropout", default=0.3)
    net.add_argument("--mask-padding", type=bool, default=True)

    fit = parser.add_argument_group("fit")
    fit.add_argument("-b", "--batch-size", type=int, default=16)
    fit.add_argument("-e", "--epochs", type=int, default=2)
    fit.add_argument("--lr", dest="learning_rate", type=float, default=1e-3)
    fit.add_argument("--label-smoothing", type=float, default=0.1)
    fit.add_argument("--save", metavar="FILE")
    return parser.parse_args(argv)
