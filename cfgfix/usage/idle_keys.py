"""Keys of a file that have no effect: nothing reads them, or the program overwrites them."""

from __future__ import annotations

from cfgfix.core.edits import RenameKey
from cfgfix.core.findings import format_key_path
from cfgfix.usage.config_files import Entry, KeyPath
from cfgfix.usage.judge import Judge, Verdict
from cfgfix.usage.program_runs import RunResult, counted
from cfgfix.usage.spelling import nearest_name

_FOR_A_READER = frozenset(
    {"title", "name", "description", "desc", "comment", "comments", "note", "notes", "author", "authors", "version", "license",
     "date", "created", "url", "homepage", "readme", "about", "project", "experiment", "tags", "id"}
)  # fmt: skip
"""Names of keys that stand in a config for its reader."""
_ELSEWHERE = frozenset({"misplaced-key", "misspelt-key"})
"""What is said of a section that the code looks for elsewhere: what lies in it goes with it."""


def find_unread(judge: Judge) -> None:
    """Tell of keys that no program reads, or that only a way reads which is not taken."""
    every_way = judge.again()
    dead: list[Entry] = []
    unsure: set[KeyPath] = set()
    misplaced = {verdict.path for verdict in judge.verdicts if verdict.check in _ELSEWHERE}
    for path, entry in judge.entries.items():
        if (
            not path
            or path in judge.told
            or any(path[:depth] in misplaced for depth in range(1, len(path)))
            or any(path[:depth] in {item.path for item in dead} for depth in range(1, len(path)))
        ):
            continue
        if entry.anchored or (entry.kind != "scalar" and _holds_anchor(entry)):
            continue
        if isinstance(path[-1], int) or any(isinstance(step, int) for step in path):
            continue
        if judge.root is not None and judge.first.loading.how == "hydra" and path[0] in ("defaults", "hydra"):
            continue
        if any(told[: len(path)] == path for told in judge.told):
            continue
        if judge.untouched(path):
            if any(path[:depth] in unsure for depth in range(1, len(path))):
                continue
            if judge.not_followed(path):
                unsure.add(path)
                continue
            if not judge.exhausted and any(key.writes for key in judge.keys_at(path)):
                continue
            if _is_read_from_defaults(judge, entry):
                continue
            guard = _read_otherwise(judge, path, every_way)
            if guard:
                judge.told.add(path)
                if isinstance(guard, Verdict):
                    judge.add(guard)
                dead.append(entry)
                continue
            if (
                str(path[-1]) in judge.mentioned
                or _is_mentioned_below(judge, entry)
                or _is_in_scripts(judge, entry)
            ):
                # Of a section that other code may read nothing is said, nor of what lies in it.
                unsure.add(path)
                continue
            dead.append(entry)
            judge.told.add(path)
            judge.add(_unread_verdict(judge, entry))


def _is_read_from_defaults(judge: Judge, entry: Entry) -> bool:
    """Tell of a name that is near to one which a file below this one has, and which counts instead of it."""
    found = False
    for child in list(entry.walk()):
        if child.kind != "scalar" or not child.path or child.path in judge.told:
            continue
        given = {str(path[-1]) for path in judge.entries if path[:-1] == child.path[:-1] and path}
        for result in judge.results:
            for other in result.opened.values():
                if other.file is judge.first.file:
                    continue
                names = {
                    str(path[-1]): key
                    for path, key in other.keys.items()
                    if path and path[:-1] == child.path[:-1] and counted(key) and str(path[-1]) not in given
                }
                near = nearest_name(str(child.path[-1]), names)
                if near is None or child.path in judge.told:
                    continue
                key = names[near]
                spot = (
                    (key.reads or key.uses or key.walks)[0] if (key.reads or key.uses or key.walks) else None
                )
                judge.told.add(child.path)
                found = True
                judge.add(
                    Verdict(
                        "misspelt-key",
                        child.path,
                        child.key,
                        {
                            "key": format_key_path(child.path),
                            "name": str(child.path[-1]),
                            "wanted": near,
                            "effect": f"the value of {other.file.path} counts",
                            "place": judge.place(spot) if spot is not None else other.file.path,
                        },
                        spot=spot,
                        label=f"reads `{near}`",
                        changes=(RenameKey(child.path, near),) if judge.first.file.form == "yaml" else (),
                    )
                )
    return found


def _is_mentioned_below(judge: Judge, entry: Entry) -> bool:
    if entry.kind != "map":
        return False
    return any(
        str(child.path[-1]) in judge.mentioned for child in entry.walk() if child.path and child is not entry
    )


def _is_in_scripts(judge: Judge, entry: Entry) -> bool:
    """Tell whether a script that names the file names a key, too: `yq .ports.board pool.yaml`."""
    words = judge.project.words_beside(judge.path.rpartition("/")[2])
    return any(str(item.path[-1]) in words for item in entry.walk() if item.path)


def _holds_anchor(entry: Entry) -> bool:
    return any(child.anchored for child in entry.walk())


def _unread_verdict(judge: Judge, entry: Entry) -> Verdict:
    name = str(entry.path[-1])
    logs = [spot for key in judge.keys_at(entry.path) for spot in key.logs]
    notes = []
    if logs:
        notes.append(f"it is only written down again in {judge.place(logs[0])}")
    return Verdict(
        "dead-key",
        entry.path,
        entry.key,
        {"key": format_key_path(entry.path)},
        severity="info" if name.lower() in _FOR_A_READER and len(entry.path) == 1 else None,
        spot=logs[0] if logs else None,
        label="only written down again" if logs else "",
        notes=tuple(notes),
    )


def _read_otherwise(judge: Judge, path: KeyPath, every_way: list[RunResult]) -> Verdict | bool:
    """Return what is said of a key that only code reads which this file's other values do not let run.

    Returns:
        A verdict where another value of the file decides it; True where something else does; False where no way reads it.
    """
    found = False
    for result in every_way:
        opened = result.opened.get(judge.path)
        if opened is None:
            continue
        for other, key in opened.keys.items():
            if other[: len(path)] != path or not counted(key):
                continue
            found = True
            for spot in (*key.reads, *key.uses, *key.walks, *key.escapes):
                deciding = [item for item in spot.conditions if item in result.run.config_conditions]
                if not deciding or deciding[-1] != spot.conditions[-1]:
                    continue
                return Verdict(
                    "unused-here",
                    path,
                    judge.entries[path].key,
                    {
                        "key": format_key_path(path),
                        "condition": deciding[-1],
                        "place": judge.place(spot),
                    },
                    severity="info",
                    spot=spot,
                    label="the only place that reads it",
                )
    return found


def _counts_in_another_way(judge: Judge, path: KeyPath) -> bool:
    """Tell whether a value has an effect where conditions of the program turn out otherwise."""
    for result in judge.again():
        opened = result.opened.get(judge.path)
        key = opened.keys.get(path) if opened is not None else None
        if key is not None and judge.counts(key):
            return True
    return False


def find_overwritten(judge: Judge) -> None:
    """Tell of values that are replaced, only logged, or read and used by nothing."""
    if judge.exhausted:
        return
    for path, entry in judge.entries.items():
        if not path or path in judge.told or entry.anchored or any(isinstance(step, int) for step in path):
            continue
        keys = judge.keys_at(path)
        if not keys or len(keys) < len(judge.mine):
            continue
        if any(judge.counts(key) for key in keys):
            continue
        below = [
            key
            for opened in judge.mine
            for other, key in opened.keys.items()
            if len(other) > len(path) and other[: len(path)] == path
        ]
        if any(counted(key) for key in below) or entry.kind != "scalar":
            continue
        writes = [spot for key in keys for spot in key.writes]
        logs = [spot for key in keys for spot in key.logs]
        reads = [spot for key in keys for spot in key.reads]
        if writes and all(key.writes for key in keys):
            judge.told.add(path)
            judge.add(
                Verdict(
                    "replaced-key",
                    path,
                    entry.key,
                    {"key": format_key_path(path), "place": judge.place(writes[0])},
                    spot=writes[0],
                    label="replaced here",
                )
            )
        elif (logs or reads) and _counts_in_another_way(judge, path):
            continue
        elif logs and reads and str(path[-1]) not in judge.mentioned:
            judge.told.add(path)
            judge.add(
                Verdict(
                    "logged-key",
                    path,
                    entry.key,
                    {"key": format_key_path(path), "place": judge.place(logs[0])},
                    spot=logs[0],
                    label="only logged",
                )
            )
        elif (
            reads
            and not any(key.may_write for key in keys)
            and str(path[-1]) not in judge.mentioned
            and not _counts_in_another_way(judge, path)
        ):
            judge.told.add(path)
            judge.add(
                Verdict(
                    "unused-value",
                    path,
                    entry.key,
                    {"key": format_key_path(path), "place": judge.place(reads[0])},
                    spot=reads[0],
                    label="read here, and used by nothing",
                )
            )
