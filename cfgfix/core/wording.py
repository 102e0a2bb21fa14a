"""How figures and causes are put into words: counts, ratios, and the line of an error that says what is wrong."""

from __future__ import annotations

import re

MAX_CAUSE = 300
"""Most characters of a cause."""
_GENERATED = re.compile(r"^\{\{.*?\}\} ")
_STYLED = re.compile(r"\x1b\[[0-9;]*m")
_OPENINGS = ("in user code:", "Exception encountered when calling")
"""First lines under which TensorFlow and Keras repeat the error of the program."""
_NAMED = re.compile(r"^(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit|Iteration)\b")


def counted(number: int, one: str, more: str | None = None) -> str:
    """Return a number with its noun: `1 retrace`, `2 retraces`."""
    return f"{number} {one if number == 1 else more or one + 's'}"


def times_as_fast(ratio: float) -> str:
    """Return a ratio of speeds in words: `2 times as fast`, or `2 times as slow`."""
    if ratio <= 0:
        return "at no speed at all"
    if f"{ratio:.2f}" == "1.00" or f"{1 / ratio:.2f}" == "1.00":
        return "as fast"
    return f"{_ratio_text(ratio)} times as fast" if ratio > 1 else f"{_ratio_text(1 / ratio)} times as slow"


def _ratio_text(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.3g}" if ratio < 1000 else f"{ratio:.0f}"


def cause_line(error: BaseException) -> str:
    """Return an exception as one line: its kind, and the cause that its text gives.

    Of an error that TensorFlow or Keras repeat, that is the innermost.
    """
    text = cause_of(str(error))
    name = type(error).__name__
    if not text:
        return name
    return text if _NAMED.match(text) else f"{name}: {text}"


def cause_of(text: str) -> str:
    """Return the line of an error's text that says what is wrong."""
    lines = [_STYLED.sub("", line).rstrip() for line in text.strip().splitlines()]
    # TensorFlow puts the name of a generated function first.
    lines = [_GENERATED.sub("", line) for line in lines if line.strip()]
    if not lines:
        return ""
    if lines[0].strip().startswith(_OPENINGS):
        told = [line.strip() for line in lines[1:] if not line.strip().startswith(_OPENINGS)]
        ends = next(
            (n for n, line in enumerate(told) if line.startswith(("Arguments received", "Call arguments"))),
            None,
        )
        told = told[:ends]
        named = [line for line in told if _NAMED.match(line)]
        plain = [line for line in told if not line.startswith('File "')]
        lines = named[-1:] or plain[-1:] or lines
    return lines[0].strip()[:MAX_CAUSE]


def callable_name(graph_name: str) -> str | None:
    """Return the name of a callable given to tf.data, from its name in the graph.

    None where the graph has no name of its own for the callable. An object that is called is named there by its class,
    `<class 'module.Parser'>` without its signs; a class that is called by the class of classes, which says nothing.
    """
    found = re.match(r"class((?:\w+\.)+)(\w+)$", graph_name)
    if found is None:
        return None if graph_name.startswith("classtype") else graph_name
    return None if found[1].split(".")[0] in ("abc", "builtins", "functools") else found[2]
