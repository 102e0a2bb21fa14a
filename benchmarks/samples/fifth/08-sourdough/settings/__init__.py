import importlib


def pick(name):
    module = importlib.import_module(f"{__name__}.{name}")
    return {k.lower(): v for k, v in vars(module).items() if k.isupper()}
