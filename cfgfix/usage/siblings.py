"""Config files that nothing opens beside one of the same kind that a program opens: given by hand, as a rule."""

from __future__ import annotations

from collections.abc import Iterable

from cfgfix.usage.config_files import ConfigFile, Entry
from cfgfix.usage.spelling import nearest_name

ALIKE = 0.75
"""Least share of the keys of each of two files that the other one has, too."""
LEAST = 4
"""Fewest keys that both have."""
MAX_BESIDE = 40
"""Most config files of one folder that are held against each other."""
_MAX_DEPTH = 4


def similar_siblings(path: str, files: Iterable[str], config_of: Reader) -> dict[str, float]:
    """Return the files in the same folder that have a config's keys.

    With each comes the share of common keys.

    Args:
        path: The file.
        files: All config files of the project.
        config_of: Returns a config file by its path.
    """
    folder, ending = path.rpartition("/")[0], path.rpartition(".")[2]
    beside = [
        other
        for other in files
        if other.rpartition("/")[0] == folder and other.rpartition(".")[2] == ending and other != path
    ]
    mine = _sections_of_config(config_of(path)) if beside and len(beside) < MAX_BESIDE else None
    if mine is None:
        return {}
    found: dict[str, float] = {}
    for other in beside:
        theirs = _sections_of_config(config_of(other))
        if theirs is None:
            continue
        common, all_mine, all_theirs = _count_common_keys(mine, theirs, 0)
        share = common / max(all_mine, all_theirs, 1)
        if common >= LEAST and share >= ALIKE:
            found[other] = share
    return found


def _sections_of_config(config: ConfigFile | None) -> Entry | None:
    root = config.tree()[0] if config is not None else None
    return root if root is not None and root.kind == "map" else None


def _count_common_keys(one: Entry, other: Entry, depth: int) -> tuple[int, int, int]:
    """Return how many keys two sections have in common, and how many each has.

    Misspelt keys count as common.
    """
    ours = {str(name): child for name, child in one.children}
    theirs = {str(name): child for name, child in other.children}
    common, mine, others = 0, len(ours), len(theirs)
    free = {name for name in theirs if name not in ours}
    for name, child in ours.items():
        meant = name if name in theirs else nearest_name(name, sorted(free))
        if meant is None:
            mine += _key_count(child)
            continue
        free.discard(meant)
        beside = theirs.pop(meant)
        common += (child.kind == "map") == (beside.kind == "map")
        if child.kind == beside.kind == "map" and depth < _MAX_DEPTH:
            inner, first, second = _count_common_keys(child, beside, depth + 1)
            common, mine, others = common + inner, mine + first, others + second
    return common, mine, others + sum(map(_key_count, theirs.values()))


def _key_count(entry: Entry) -> int:
    """Return the number of keys below an entry."""
    return sum(1 + _key_count(child) for _, child in entry.children) if entry.kind == "map" else 0


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Reader = Callable[[str], ConfigFile | None]
