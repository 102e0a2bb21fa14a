"""Training and validation files that two calls split differently."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cfgfix.code.checks.handed_on import callers_of, constant_of
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import MISSING, place_of, text
from cfgfix.code.model.hit import at, hit_in
from cfgfix.code.model.nodes import Expr, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit

POSITIONS = {
    "keras.utils.image_dataset_from_directory": (7, 8, 9, 10),
    "keras.utils.text_dataset_from_directory": (6, 7, 8, 9),
    "keras.utils.audio_dataset_from_directory": (8, 9, 10, 11),
}
"""Where shuffle, seed, validation_split and subset stand."""


_PARAMETERS = ("shuffle", "seed", "validation_split", "subset")


class _LoadedPart(NamedTuple):
    """One call that loads one part of the files."""

    site: Site
    caller: Site | None
    shuffle: object
    seed: object
    split: object

    @property
    def place(self) -> tuple[int, int]:
        """Return the identities of the call and of the call that enters its function."""
        return id(self.site.call), id(self.caller.call) if self.caller is not None else 0


def mismatched_splits(program: Program) -> Iterator[Hit]:
    """Find training and validation files that two calls split differently."""
    parts: dict[tuple[str, str], dict[str, list[_LoadedPart]]] = {}
    for name, positions in POSITIONS.items():
        for site in flow_of(program).named(name):
            if site.call.opaque or written_for_one(program, site.scope):
                continue
            for caller in callers_of(program, site.scope):
                shuffle, seed, split, subset = (
                    constant_of(program, site.scope, site.call.argument(position, parameter), caller)
                    for position, parameter in zip(positions, _PARAMETERS, strict=True)
                )
                folder = _folder_key(program, site, caller)
                if folder is not None and subset in ("training", "validation"):
                    parts.setdefault((name, folder), {}).setdefault(subset, []).append(
                        _LoadedPart(site, caller, True if shuffle is None else shuffle, seed, split)
                    )
    told: set[tuple[int, int]] = set()
    for found in parts.values():
        for train in found.get("training", ()):
            for held in found.get("validation", ()):
                key = id(held.site.scope), held.site.call.number
                if key in told or not _belong_together(train, held, found):
                    continue
                wrong = _difference_of_calls(train, held)
                if wrong is None:
                    continue
                told.add(key)
                parameter, says, then = wrong
                written = held.site.call.keyword(parameter)
                place = place_of(written, held.site.scope) if written is not None else None
                yield hit_in(
                    held.site.scope,
                    place or held.site.call.name_place,
                    held.site.call.block,
                    {"says": says, "then": then},
                    needs=((train.site.scope, train.site.call.block),),
                    related=(at(train.site, label="the training files are chosen here"),),
                )


def _belong_together(train: _LoadedPart, held: _LoadedPart, found: dict[str, list[_LoadedPart]]) -> bool:
    """Tell whether two calls split the same folder for one training.

    They are the only ones of their kind for the folder, or stand beside each other in one function.
    """
    if all(len({part.place for part in items}) == 1 for items in found.values()):
        return True
    if train.caller is not held.caller and (train.caller is None or held.caller is None):
        return False
    first, second = train.caller or train.site, held.caller or held.site
    if first.scope is not second.scope or first.call.block != second.call.block:
        return False
    if train.caller is None and train.site is held.site:
        return False
    return all(
        len({part.place for part in items if (part.caller or part.site).scope is first.scope}) == 1
        for items in found.values()
    )


def _folder_key(program: Program, site: Site, caller: Site | None) -> str | None:
    """Return a text that identifies the folder of a call, or None.

    It is the constant, or the source text with its file and function.
    """
    written: Expr | None = site.call.argument(0, "directory")
    if written is None:
        return None
    known = constant_of(program, site.scope, written, caller)
    if isinstance(known, str):
        return f"'{known}'"
    where = site.scope
    if isinstance(written, Name) and caller is not None:
        names = [item.name for item in where.params]
        if written.name in names:
            target = next((item for item in caller.targets if item.scope is where), None)
            position = names.index(written.name) - int(target is not None and target.receiver is not None)
            given = caller.call.argument(position, written.name)
            if given is None:
                return None
            written, where = given, caller.scope
    shown = text(written)
    return None if "..." in shown else f"{shown} of {where.module.path}:{where.qualname}"


def _difference_of_calls(train: _LoadedPart, held: _LoadedPart) -> tuple[str, str, str] | None:
    """Return how two calls differ: the parameter, words for it, and the effect."""
    if (
        MISSING not in (train.split, held.split)
        and isinstance(train.split, float)
        and isinstance(held.split, float)
        and train.split != held.split
    ):
        overlap = held.split > train.split
        return (
            "validation_split",
            f"validation_split is {held.split} here and {train.split} for the training files",
            "the two parts overlap" if overlap else "some files are in neither part",
        )
    if MISSING in (train.shuffle, held.shuffle, train.seed, held.seed):
        return None
    if not train.shuffle and not held.shuffle:
        return None
    if bool(train.shuffle) != bool(held.shuffle):
        return (
            "shuffle",
            f"shuffle is {bool(held.shuffle)} here and {bool(train.shuffle)} for the training files",
            "only one of them cuts the files in their shuffled order, so that the two parts overlap",
        )
    if train.seed is not None and held.seed is not None and train.seed != held.seed:
        return (
            "seed",
            f"the seed is {held.seed} here and {train.seed} for the training files",
            "each call shuffles the files in its own order before it cuts, so that the two parts overlap",
        )
    return None
