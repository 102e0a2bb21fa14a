"""Random transformations that differ between a picture and its mask."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.model.expressions import text
from cfgfix.code.model.hit import at, hit_at
from cfgfix.code.model.nodes import Expr, Name, Subscript
from cfgfix.code.model.program import Program
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit

_MOVES = frozenset(
    {
        "tensorflow.image.random_flip_left_right",
        "tensorflow.image.random_flip_up_down",
        "tensorflow.image.random_crop",
        "keras.preprocessing.image.random_rotation",
        "keras.preprocessing.image.random_shift",
        "keras.preprocessing.image.random_shear",
        "keras.preprocessing.image.random_zoom",
    }
)
"""Functions that move what is in a picture by what they draw."""
_MASK = re.compile(
    r"(?i)(?:^|_)(?:mask|segmentation|seg|annotation|ground_?truth|gt|trimap|label)s?(?:_|$|\d)|mask$|^y$"
)


def pair_moved_by_two_draws(program: Program) -> Iterator[Hit]:
    """Find a picture and its mask that two random draws transform differently."""
    by_scope: dict[int, list[Site]] = {}
    for site in flow_of(program).named(*_MOVES):
        known = by_scope.setdefault(id(site.scope), [])
        if all(site.call is not other.call for other in known):
            known.append(site)
    for sites in by_scope.values():
        for number, first in enumerate(sites[:_MOST]):
            for second in sites[number + 1 : _MOST]:
                if first.name == second.name and _is_pair(program, first, second):
                    mask, picture = (first, second) if _is_mask(_picture_name(first)) else (second, first)
                    yield hit_at(
                        mask,
                        flow=(),
                        values={
                            "move": text(mask.call.func),
                            "picture": _picture_name(picture),
                            "mask": _picture_name(mask),
                            "line": picture.call.name_line,
                        },
                        related=(at(picture, label=f"{_picture_name(picture)} is moved by another draw"),),
                    )


_MOST = 50


def _is_pair(program: Program, first: Site, second: Site) -> bool:
    """Tell whether one call transforms a mask and the other its picture.

    Both calls run together and have no seed.
    """
    names = _picture_name(first), _picture_name(second)
    if "" in names or _is_mask(names[0]) is _is_mask(names[1]):
        return False
    scope = first.scope
    if not (
        inside(scope, first.call.block, second.call.block)
        and inside(scope, second.call.block, first.call.block)
    ):
        return False
    if (
        _seed_of_call(first) is not None
        or _seed_of_call(second) is not None
        or first.call.opaque
        or second.call.opaque
    ):
        return False
    return not written_for_one(program, scope)


def _picture_name(site: Site) -> str:
    """Return the name of the picture that a call transforms, or empty text."""
    given: Expr | None = site.call.argument(0, "value" if site.name.endswith("crop") else "image")
    if isinstance(given, Subscript):
        index = getattr(given.index, "value", None)
        return index if isinstance(index, str) else ""
    return given.name if isinstance(given, Name) else ""


def _is_mask(name: str) -> bool:
    return _MASK.search(name) is not None


def _seed_of_call(site: Site) -> Expr | None:
    """Return the seed of a call; two calls with the same seed draw the same numbers."""
    return site.call.argument(2 if site.name.endswith("crop") else 1, "seed")
