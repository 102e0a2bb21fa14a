"""Read one Python file into its summary, in this process or another."""

from __future__ import annotations

import gc

from cfgfix.code.model import python_files as discover
from cfgfix.code.model.summarise import summarise
from cfgfix.code.model.summary import ModuleSummary, broken_summary
from cfgfix.code.model.summary_cache import dump, undump
from cfgfix.code.model.summary_codec import pack, unpack
from cfgfix.core.cache import digest

NEEDLE_RULES, NEEDLE_FRAMEWORK, NEEDLE_CONFIG = 1, 2, 4
"""Bits of what a file's bytes hold: something a selected rule asks for, a framework's name, a config class."""
FRAMEWORKS = (b"tensorflow", b"keras", b"TF_CONFIG")
"""A file without any of these bytes can only matter when another file calls into it."""


CONFIG_NEEDLES = (
    b"@dataclass", b"s.dataclass", b"@attr", b"@define", b"@frozen",
    b"BaseModel", b"BaseSettings", b"BaseConfig", b"(Config)", b"NamedTuple",
)  # fmt: skip


POOL_BYTES = 3 * 1024 * 1024
"""Source that takes about a second to summarise; below it other processes cost more than they save."""


def needles_of(data: bytes, needles: tuple[bytes, ...]) -> int:
    """Return as bits which of the search words a file's bytes hold."""
    bits = 0
    if any(needle in data for needle in FRAMEWORKS):
        bits |= NEEDLE_FRAMEWORK
        if any(needle in data for needle in needles):
            bits |= NEEDLE_RULES
    # What is summarised in any case is not looked through for them: its classes are known then.
    if bits == NEEDLE_FRAMEWORK | NEEDLE_RULES or any(needle in data for needle in CONFIG_NEEDLES):
        bits |= NEEDLE_CONFIG
    return bits


def summarise_bytes(data: bytes, path: str) -> ModuleSummary:
    """Return the summary of a file; cells of a notebook that fail are left out."""
    decoded = discover.decode(data, path)
    if isinstance(decoded, str):
        return broken_summary(decoded)
    text, cells = decoded
    summary = summarise(text, path)
    summary.cells = cells
    if cells and summary.problem is not None:
        # One cell that does not parse must not hide the others.
        repaired = _without_broken_cells(text, cells, path)
        if repaired is not None:
            return repaired
    return summary


def unpacked(packed: bytes) -> ModuleSummary | None:
    """Return a summary from the store, or None where it is damaged."""
    data = undump(packed)
    try:
        return unpack(data) if data is not None else None
    except (TypeError, ValueError):
        return None


_CHILD: list[tuple[bytes, ...]] = []
"""The needles, in a process that only summarises."""


def begin_child(needles: tuple[bytes, ...]) -> None:
    """Make a process ready to read files."""
    gc.disable()
    _CHILD[:] = [needles]


def summarised(path: str) -> tuple[bytes, int, bytes | None]:
    """Return a file's hash, the search words it holds as bits, and its packed summary.

    The summary is None for a file that holds none of the words that matter.
    """
    data = discover.read_bytes(path)
    if isinstance(data, str):
        return b"", NEEDLE_FRAMEWORK | NEEDLE_RULES, dump(pack(broken_summary(data)))
    bits = needles_of(data, _CHILD[0])
    if not (bits & NEEDLE_FRAMEWORK and bits & NEEDLE_RULES):
        return digest(data), bits, None
    return digest(data), bits, dump(pack(summarise_bytes(data, path)))


def _without_broken_cells(text: str, cells: tuple[tuple[int, int], ...], path: str) -> ModuleSummary | None:
    """Return the summary of a notebook without the cells that are no Python.

    None where no cell is left.
    """
    lines = text.split("\n")
    starts = [start for start, _ in cells]
    good = False
    for begin, end in zip(starts, [*starts[1:], len(lines) + 1], strict=True):
        body = "\n".join(lines[begin - 1 : end - 1])
        if summarise(body, path).problem is None:
            good = True
            continue
        for index in range(begin - 1, min(end - 1, len(lines))):
            lines[index] = ""
    if not good:
        return None
    summary = summarise("\n".join(lines), path)
    summary.cells = cells
    return summary if summary.problem is None else None
