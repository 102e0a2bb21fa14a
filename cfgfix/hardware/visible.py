"""What CUDA_VISIBLE_DEVICES leaves of the devices, as the CUDA Programming Guide (13.4, section 5.2) describes it.

The reading of numbers follows C's `strtoul`, as CUDA's does: `1gpu2` is 1, and an entry that starts with no number
ends the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

VARIABLE = "CUDA_VISIBLE_DEVICES"


class Choice(NamedTuple):
    """The devices that stay visible."""

    chosen: tuple[int, ...]
    """Positions in the list of UUIDs, in the order in which the process will see them."""
    by_index: bool
    """Whether they were chosen by number, so that the numbering of CUDA matters."""
    note: str | None
    """What is odd about the variable's value."""


def leading_number(text: str) -> int | None:
    """Return the number at the start of an entry, as `strtoul` reads it, or None.

    A negative number is negative.
    """
    stripped = text.lstrip(" \t\n\v\f\r")
    sign = stripped[:1] if stripped[:1] in {"+", "-"} else ""
    end = len(sign)
    while end < len(stripped) and stripped[end] in "0123456789":
        end += 1
    digits = stripped[len(sign) : end]
    if not digits or len(digits) > 20:
        return None
    return -int(digits) if sign == "-" else int(digits)


def choose(value: str | None, uuids: Sequence[str | None]) -> Choice:
    """Return the devices that a value of CUDA_VISIBLE_DEVICES leaves visible.

    Args:
        value: The variable; None where it is not set.
        uuids: The devices in the driver's order, with their UUIDs (`GPU-...` or `MIG-...`) where known.
    """
    if value is None:
        return Choice(tuple(range(len(uuids))), by_index=False, note=None)
    entries = value.split(",")
    first = entries[0].strip()
    if not value.strip():
        return Choice((), by_index=False, note=f"{VARIABLE} is empty: no GPU is visible")
    if first[:4] in {"GPU-", "MIG-"}:
        return _devices_by_uuid(entries, uuids)
    chosen: list[int] = []
    for entry in entries:
        number = leading_number(entry)
        if number is None or number < 0 or number >= len(uuids):
            left = "no GPU is visible" if not chosen else f"only {len(chosen)} of the entries before it count"
            text = entry.strip()[:40]
            note = f"{VARIABLE}={value[:60]}: {text!r} is no device of this machine and ends the list: {left}"
            return Choice(tuple(chosen), by_index=True, note=note)
        if number in chosen:
            return Choice((), by_index=True, note=_repetition_problem(value, str(number)))
        chosen.append(number)
    return Choice(tuple(chosen), by_index=True, note=None)


def _repetition_problem(value: str, entry: str) -> str:
    return f"{VARIABLE}={value[:60]}: {entry[:60]} stands twice, and CUDA then shows no GPU at all"


def _devices_by_uuid(entries: list[str], uuids: Sequence[str | None]) -> Choice:
    """Return the devices that the beginnings of UUIDs name.

    The first entry that does not name exactly one device ends the list.
    """
    kind = entries[0].strip()[:4]
    chosen: list[int] = []
    shown = ",".join(entries)[:60]
    for raw in entries:
        entry = raw.strip()
        problem = None
        matches: list[int] = []
        if entry[:4] != kind:
            problem = f"it is not of the kind {kind}..., and kinds cannot be mixed"
        else:
            matches = [index for index, uuid in enumerate(uuids) if uuid == entry]
            matches = matches or [
                index for index, uuid in enumerate(uuids) if uuid is not None and uuid.startswith(entry)
            ]
            if not matches:
                problem = "it is no device of this machine"
            elif len(matches) > 1:
                problem = f"{len(matches)} devices start with it"
        if problem is not None:
            left = "no GPU is visible" if not chosen else f"only the {len(chosen)} before it count"
            note = f"{VARIABLE}={shown}: {entry[:60]!r} ends the list, since {problem}: {left}"
            return Choice(tuple(chosen), by_index=False, note=note)
        if matches[0] in chosen:
            return Choice((), by_index=False, note=_repetition_problem(shown, entry))
        chosen.append(matches[0])
    return Choice(tuple(chosen), by_index=False, note=None)
