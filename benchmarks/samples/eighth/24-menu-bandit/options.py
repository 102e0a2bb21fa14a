import argparse


def truth(text):
    return text.strip().lower() in ("1", "true", "yes", "on")


class Parser(argparse.ArgumentParser):
    def convert_arg_line_to_args(self, line):
        return line.split()


def parse(argv=None):
    parser = Parser(fromfile_prefix_chars="@")
    parser.add_argument("--dishes", type=int, default=8)
    parser.add_argument("--context", type=int, default=4)
    parser.add_argument("--hidden", type=int, nargs="*", default=[16])
    parser.add_argument("--learning-rate", "--lr", dest="rate", type=float, default=1e-3)
    parser.add_argument("--batch-size", type=int, default="32")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--epsilon", type=float, default=0.1)
    parser.add_argument("--shuffle", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--double-q", type=truth, default=False)
    args, rest = parser.parse_known_args(argv)
    return args, dict(item.lstrip("-").split("=", 1) for item in rest)
