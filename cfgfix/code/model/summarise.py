"""Python source text to its summary, or to the reason why there is none."""

from __future__ import annotations

import _ast
from collections.abc import Sequence

from cfgfix.code.model.summary import MAX_BYTES, NOT_PARSED, WORDS, ModuleSummary, broken_summary
from cfgfix.code.model.summary_builder import SummaryBuilder


def summarise(text: str, path: str = "<text>") -> ModuleSummary:
    """Return the summary of Python source text.

    A text that does not parse, nests too deep or is too large gives a summary with `problem` set; nothing is raised.
    The caller turns the cyclic garbage collector off where many files are read.
    """
    if len(text) > MAX_BYTES:
        return broken_summary(f"is larger than {MAX_BYTES // (1024 * 1024)} MiB")
    if "\0" in text:
        return broken_summary("holds a NUL character", text.count("\n", 0, text.find("\0")) + 1)
    if _too_deep(text):
        return broken_summary("nests too deep to be read safely")
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = compile(text, path, "exec", _ast.PyCF_ONLY_AST, True)
    except SyntaxError as error:
        return broken_summary(f"{NOT_PARSED}: {error.msg}", error.lineno or 1)
    except (ValueError, OverflowError) as error:
        return broken_summary(f"is not Python: {error}")
    except (RecursionError, MemoryError):
        return broken_summary("nests too deep to be read safely")
    count = text.count("\n") + 1
    try:
        summary = SummaryBuilder(tree, _line_numbers(count + text.count("\r"))).summary
    except RecursionError:
        return broken_summary("nests too deep to be read safely")
    summary.lines = count
    summary.words = tuple(word for word in WORDS if word in text)
    if "cfgfix:" in text:
        summary.suppressions = _suppression_rows(text)
    return summary


_LINES = [0]


def _line_numbers(last: int) -> Sequence[int]:
    """Return the line numbers up to a last one.

    They are the same objects for every file but a huge one.
    """
    if last >= _MANY_LINES:
        return range(last + 1)
    if last >= len(_LINES):
        _LINES.extend(range(len(_LINES), last + 1))
    return _LINES


_MANY_LINES = 50_000
_RUN = 3000


def _too_deep(text: str) -> bool:
    """Tell whether a text nests so deeply that it can exhaust the parser's stack.

    Python limits brackets (200) and indentation (100) itself, but not prefix operators and long operator chains.
    """
    start = 0
    while (end := text.rfind("\n", start, start + _RUN)) >= 0:
        start = end + 1
    if len(text) - start < _RUN:
        # No line is that long.
        return False
    for line in text.split("\n"):
        if len(line) >= _RUN and '"' not in line and "'" not in line:
            signs = (
                sum(map(line.count, "-+~*/%&|^."))
                + line.count("not ")
                + line.count("lambda")
                + line.count(" if ")
            )
            if signs >= _RUN and signs > line.count(","):
                return True
    return False


def _suppression_rows(text: str) -> tuple[tuple[int, tuple[str, ...], bool], ...]:
    import re

    pattern = re.compile(r"#\s*cfgfix:\s*ignore(-file)?\s*(?:\[([^\]\n]*)\])?")
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if "cfgfix:" in line:
            match = pattern.search(line)
            if match is not None:
                rules = tuple(part.strip() for part in (match[2] or "").split(",") if part.strip())
                found.append((number, rules, match[1] is not None))
    return tuple(found)
