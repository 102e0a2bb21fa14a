import argparse
import dataclasses
import tomllib


@dataclasses.dataclass
class DataOptions:
    winters: int
    days: int
    lakes: list[str]
    batch_size: int = 16


@dataclasses.dataclass
class ModelOptions:
    units: int = 8
    dropout: float = 0.0
    recurrent: str = "lstm"


@dataclasses.dataclass
class TrainOptions:
    epochs: int = 1
    learning_rate: float = 1e-3
    loss: str = "mse"
    early_stop: int | None = None
    checkpoint: str | None = None
    seed: int = 0


@dataclasses.dataclass
class Options:
    title: str
    data: DataOptions
    model: ModelOptions
    train: TrainOptions


def get_options(argv=None):
    parser = argparse.ArgumentParser(description="Freeze-up of lakes")
    parser.add_argument("file", nargs="?", default="lake.toml")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--units", type=int)
    parser.add_argument("--seed", type=int)
    args = parser.parse_args(argv)
    with open(args.file, "rb") as fh:
        raw = tomllib.load(fh)
    options = Options(raw["title"], DataOptions(**raw["data"]), ModelOptions(**raw["model"]),
                      TrainOptions(**raw["train"]))
    if args.epochs is not None:
        options.train.epochs = args.epochs
    if args.units is not None:
        options.model.units = args.units
    if args.seed is not None:
        options.train.seed = args.seed
    return options
