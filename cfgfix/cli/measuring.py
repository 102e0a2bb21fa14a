"""What the commands that measure share: options, what they need, their progress, and how they print an answer."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import click

from cfgfix.core.errors import CfgfixError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.core.terminal import Paint

Command: TypeAlias = Callable[..., None]
Option: TypeAlias = Callable[[Command], Command]
Show: TypeAlias = Callable[[str, float], None]
"""Shows what is going on, and how much of it is done."""

JSON: Option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
QUIET: Option = click.option("--quiet", "-q", is_flag=True, help="No progress.")
HTML: Option = click.option(
    "--html", "html", type=click.Path(dir_okay=False), help="Also write one self-contained HTML page."
)


def number_option(name: str, default: float, *, least: float, text: str) -> Option:
    """Return an option that takes a number, whole where the default is whole."""
    kind = click.IntRange(int(least)) if isinstance(default, int) else click.FloatRange(least)
    return click.option(name, default=default, show_default=True, type=kind, help=text)


def function_option(name: str, text: str) -> Option:
    """Return an option that names a function of the user."""
    return click.option(name, metavar="MODULE:FUNCTION", help=text)


def source_root_option(text: str) -> Option:
    """Return the option that names folders of the user's modules."""
    return click.option(
        "--source-root",
        "source_roots",
        multiple=True,
        type=click.Path(exists=True, file_okay=False),
        help=text,
    )


def combine_options(*options: Option) -> Option:
    """Return several options as one decorator; the help shows them in this order."""

    def add(function: Command) -> Command:
        for option in reversed(options):
            function = option(function)
        return function

    return add


data_source = combine_options(
    function_option(
        "--dataset",
        "Your dataset, or the function that returns it: tf.data, PyDataset, a generator of batches.",
    ),
    click.option(
        "--data-path",
        type=click.Path(exists=True, file_okay=False),
        help="An LJSpeech-style folder for the built-in pipeline; with --dataset, where its files lie.",
    ),
    number_option("--batch-size", 16, least=1, text="Of the built-in pipeline."),
)
"""The options that name a pipeline."""


def require_data_source(options: Mapping[str, Any]) -> None:
    """Refuse options that name no pipeline to measure.

    Raises:
        CfgfixError: The options name no pipeline; the hint says how to name one.
    """
    if not options["dataset"] and not options["data_path"]:
        raise CfgfixError(
            "there is nothing to measure",
            hint="name your pipeline with --dataset package.module:function, or a speech folder with --data-path",
        )


def code_of(options: Mapping[str, Any], roots: Sequence[str]) -> dict[str, Any]:
    """Return the options that a measuring process needs to run the user's pipeline.

    Paths are made absolute, since user code may change the folder.
    """
    return {
        "dataset": options["dataset"],
        "data_path": absolute(options["data_path"]),
        "config_loader": options["config_loader"],
        "source_roots": [os.path.abspath(root) for root in roots],
        "speech": {"batch_size": options["batch_size"]},
    }


def need_tensorflow() -> None:
    """Require TensorFlow, and say how to install it.

    Raises:
        CfgfixError: It is not installed.
    """
    _require_module("tensorflow", "TensorFlow")


def need_numpy() -> None:
    """Require NumPy, which is enough for watching devices, and say how to install it.

    Raises:
        CfgfixError: It is not installed.
    """
    _require_module("numpy", "NumPy")


def _require_module(module: str, name: str) -> None:
    import importlib.util

    if importlib.util.find_spec(module) is None:
        raise CfgfixError(f"this command needs {name}", hint="pip install 'cfgfix[tf]'")


def absolute(path: str | None) -> str | None:
    """Return a path as an absolute one, or None for an empty path."""
    return os.path.abspath(path) if path else None


TELL_SECONDS = 15.0
"""Between two lines on one task where they are not written over."""


@contextlib.contextmanager
def progress_line(*, quiet: bool) -> Iterator[Show]:
    """Show progress on standard error while the body runs, then take it away.

    One line rewritten in a terminal; elsewhere a line per task, and one every `TELL_SECONDS` while it goes on.
    """
    terminal = sys.stderr.isatty()
    state: dict[str, Any] = {"what": "", "told": 0.0}

    def show(what: str, share: float) -> None:
        if quiet:
            return
        if terminal:
            now = time.monotonic()
            if what == state["what"] and now - state["told"] < 0.1:
                return
            state["told"] = now
            text = f"{what} {min(share, 1.0):4.0%}" if what else ""
            sys.stderr.write(f"\r\x1b[K{text[:100]}")
            sys.stderr.flush()
        elif what and what != state["what"]:
            state["told"] = time.monotonic()
            sys.stderr.write(f"{what} ...\n")
            sys.stderr.flush()
        elif what and time.monotonic() - state["told"] >= TELL_SECONDS:
            state["told"] = time.monotonic()
            sys.stderr.write(f"{what} {min(share, 1.0):.0%} ...\n")
            sys.stderr.flush()
        state["what"] = what

    try:
        yield show
    finally:
        show("", 1.0)


def finite(value: Any) -> Any:
    """Return JSON data with infinities and NaN as null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return value


def terminal_paint() -> Paint:
    """Return the colours for text on standard output."""
    from cfgfix.core.terminal import Paint, wants_colour

    return Paint(on=wants_colour("auto", os.environ, terminal=sys.stdout.isatty()))


def print_answer(
    form: Mapping[str, Any],
    render: Callable[[Mapping[str, Any], Paint], str],
    *,
    as_json: bool,
    shown: Mapping[str, Any] | None = None,
) -> None:
    """Print an answer in its JSON form or as text.

    Args:
        form: The JSON form.
        render: Makes the text.
        as_json: Whether the form is printed.
        shown: The data that the text is made of, where it is not the form.
    """
    if as_json:
        click.echo(json.dumps(form, indent=2))
    else:
        click.echo(render(form if shown is None else shown, terminal_paint()), nl=False)
