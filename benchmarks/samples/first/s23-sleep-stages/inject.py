"""@section("name") fills keyword parameters from that table of night.toml."""
import functools
import inspect
import tomllib

with open("night.toml", "rb") as _f:
    NIGHT = tomllib.load(_f)


def section(name):
    table = NIGHT[name]

    def decorate(function):
        known = inspect.signature(function).parameters

        @functools.wraps(function)
        def call(*args, **kwargs):
            given = {key: value for key, value in table.items() if key in known}
            return function(*args, **{**given, **kwargs})

        return call

    return decorate
