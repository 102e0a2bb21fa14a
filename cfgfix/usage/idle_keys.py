"""Keys of a file that have no effect: nothing reads them, or the program overwrites them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from cfgfix.code.inference.interpreter.objects import Spot
from cfgfix.code.model.expressions import text
from cfgfix.core.edits import RenameKey
from cfgfix.core.findings import format_key_path
from cfgfix.usage.config_files import DocumentStep, Entry, KeyPath
from cfgfix.usage.config_runs import ConfigRuns, Idle, Verdict
from cfgfix.usage.run_host import counts_as_read
from cfgfix.usage.run_results import RunResult
from cfgfix.usage.spelling import nearest_name

_FOR_A_READER = frozenset(
    {"title", "name", "description", "desc", "comment", "comments", "note", "notes", "author", "authors", "version", "license",
     "date", "created", "url", "homepage", "readme", "about", "project", "experiment", "tags", "id"}
)  # fmt: skip
"""Names of keys that stand in a config for its reader."""
_ELSEWHERE = frozenset({"misplaced-key", "misspelt-key"})
"""What is said of a section that the code looks for elsewhere: what lies in it goes with it."""


def find_unread(runs: ConfigRuns) -> None:
    """Add verdicts on keys that no program reads with the values of the file."""
    every_way = runs.again()
    if _is_wholly_unread(runs, every_way):
        _tell_unused_file(runs)
        return
    if _is_for_another_tool(runs):
        return
    dead: set[KeyPath] = set()
    unsure: set[KeyPath] = set()
    misplaced = {verdict.path for verdict in runs.verdicts if verdict.check in _ELSEWHERE}
    for path, entry in runs.entries.items():
        if (
            not path
            or path in runs.reported
            or any(path[:depth] in misplaced for depth in range(1, len(path)))
            or any(path[:depth] in dead for depth in range(1, len(path)))
        ):
            continue
        if entry.anchored or (entry.kind != "scalar" and _holds_anchor(entry)):
            continue
        if any(isinstance(step, int) for step in path) and not _is_beside_what_is_read(runs, path):
            continue
        if _is_of_hydra(runs, path):
            continue
        if runs.reported.holds_below(path):
            if entry.kind != "scalar" and runs.untouched(path) and str(path[-1]) in runs.mentioned:
                unsure.add(path)
            continue
        if runs.untouched(path):
            if isinstance(path[-1], DocumentStep):
                # Of a document that nothing takes out of the file nothing is said.
                unsure.add(path)
                continue
            if any(path[:depth] in unsure for depth in range(1, len(path))):
                continue
            if runs.not_followed(path):
                unsure.add(path)
                continue
            if not runs.exhausted and any(key.writes for key in runs.keys_at(path)):
                continue
            if _is_read_from_defaults(runs, entry) or _is_switched_off(runs, path):
                continue
            guard = _read_otherwise(runs, path, every_way)
            if guard:
                runs.reported.add(path)
                runs.unused_here.add(path)
                if isinstance(guard, Verdict):
                    runs.add(guard)
                dead.add(path)
                continue
            if (
                str(path[-1]) in runs.mentioned
                or _is_mentioned_below(runs, entry)
                or _is_in_scripts(runs, entry)
            ):
                # Of a section that other code may read nothing is said, nor of what lies in it.
                unsure.add(path)
                continue
            dead.add(path)
            runs.reported.add(path)
            runs.add(_unread_verdict(runs, entry))


def _is_beside_what_is_read(runs: ConfigRuns, path: KeyPath) -> bool:
    """Tell whether another key of the same list item is read."""
    item = runs.entries.get(path[:-1])
    if isinstance(path[-1], int) or item is None or item.kind != "map" or not isinstance(path[-2], int):
        return False
    if any(key.accepted for key in runs.keys_at(path)):
        return False
    return any(
        any(key.reads for key in runs.keys_at(child.path)) for _, child in item.children if child.path != path
    )


def _is_wholly_unread(runs: ConfigRuns, every_way: list[RunResult]) -> bool:
    """Tell whether programs open a file and use none of its keys on any way.

    False where the runs could not follow the programs completely.
    """
    if any(isinstance(path[0], DocumentStep) for path in runs.entries if path):
        return False
    if not every_way or runs.first.loading.how == "hydra" or not runs.untouched(()):
        return False
    made = [*runs.results, *every_way]
    if any(result.run.exhausted or result.run.left_early or result.unresolved for result in made):
        return False
    if any(key.source == runs.path for result in made for item in result.run.asked for key in item.sections):
        return False
    files = [opened for result in made if (opened := result.opened.get(runs.path)) is not None]
    if any(counts_as_read(key) or key.logs or key.writes for opened in files for key in opened.keys.values()):
        return False
    sections = [entry for path, entry in runs.entries.items() if len(path) == 1]
    return bool(sections) and not any(
        _holds_anchor(entry) or runs.may_be_read(str(entry.path[-1])) or _is_in_scripts(runs, entry)
        for entry in sections
    )


def _tell_unused_file(runs: ConfigRuns) -> None:
    """Add one verdict on a file of which no key is used, with its other keys."""
    first, *rest = [entry for path, entry in runs.entries.items() if len(path) == 1]
    source = runs.first.file.source
    for path in runs.entries:
        runs.reported.add(path)
    runs.add(
        Verdict(
            "unused-file",
            first.path,
            first.key,
            {
                "entry": runs.relative(runs.results[0].entrance.module.path),
                "place": runs.place(runs.first.loading.spot),
            },
            spot=runs.first.loading.spot,
            label="loads the file",
            others=tuple(source.location(*entry.key, "the same") for entry in rest),
        )
    )


def _is_read_from_defaults(runs: ConfigRuns, entry: Entry) -> bool:
    """Tell whether a key is misspelt and the value of another file counts instead.

    Verdicts on such keys are added.
    """
    found = False
    for child in list(entry.walk()):
        if child.kind != "scalar" or not child.path or child.path in runs.reported:
            continue
        given = {str(path[-1]) for path in runs.entries if path[:-1] == child.path[:-1] and path}
        for result in runs.results:
            for other in result.opened.values():
                if other.file is runs.first.file:
                    continue
                names = {
                    str(path[-1]): key
                    for path, key in other.keys.items()
                    if path
                    and path[:-1] == child.path[:-1]
                    and counts_as_read(key)
                    and str(path[-1]) not in given
                }
                near = nearest_name(str(child.path[-1]), names)
                if near is None or child.path in runs.reported:
                    continue
                key = names[near]
                spot = (
                    (key.reads or key.uses or key.walks)[0] if (key.reads or key.uses or key.walks) else None
                )
                runs.reported.add(child.path)
                found = True
                runs.add(
                    Verdict(
                        "misspelt-key",
                        child.path,
                        child.key,
                        {
                            "key": format_key_path(child.path),
                            "name": str(child.path[-1]),
                            "wanted": near,
                            "effect": f"the value of {other.file.path} counts",
                            "place": runs.place(spot) if spot is not None else other.file.path,
                        },
                        spot=spot,
                        label=f"reads `{near}`",
                        changes=(RenameKey(child.path, near),) if runs.first.file.form == "yaml" else (),
                    )
                )
    return found


def _is_switched_off(runs: ConfigRuns, path: KeyPath) -> bool:
    """Tell whether the one value read of a file makes the program skip the file.

    The same call loads another file, of which the key is read.
    """
    for result, opened in zip(runs.results, runs.mine, strict=True):
        read = [
            place
            for place, key in opened.keys.items()
            if counts_as_read(key) and place in runs.entries and runs.entries[place].kind == "scalar"
        ]
        spot = opened.loading.spot
        if len(read) != 1 or not any(
            other is not opened
            and (other.loading.spot.path, other.loading.spot.place) == (spot.path, spot.place)
            and (key := other.keys.get(path)) is not None
            and counts_as_read(key)
            for other in result.opened.values()
        ):
            return False
    return True


def _is_mentioned_below(runs: ConfigRuns, entry: Entry) -> bool:
    if entry.kind != "map":
        return False
    return any(
        str(child.path[-1]) in runs.mentioned for child in entry.walk() if child.path and child is not entry
    )


def _is_in_scripts(runs: ConfigRuns, entry: Entry) -> bool:
    """Tell whether a script that names the file also names a key of an entry.

    Such a script runs `yq .ports.board pool.yaml`.
    """
    words = runs.project.words_beside(runs.path.rpartition("/")[2])
    return any(str(item.path[-1]) in words for item in entry.walk() if item.path)


def _holds_anchor(entry: Entry) -> bool:
    return any(child.anchored for child in entry.walk())


def _is_for_a_reader(name: str) -> bool:
    """Tell whether a key is there for human readers, as titles and comments are."""
    return name.lower() in _FOR_A_READER or name.startswith(("_", "//", "#", "$"))


_MANIFEST = frozenset({"apiVersion", "kind"})
"""Keys by which a file is a manifest of Kubernetes or Argo, whatever else reads it."""
MAX_CONFIG = 100_000
"""Characters of the largest JSON file whose keys may be settings: the configs of 45 public projects stay below 20,000, records of data do not."""


def _is_of_hydra(runs: ConfigRuns, path: KeyPath) -> bool:
    """Tell whether Hydra itself reads a key."""
    return path[0] == "hydra" or (path[0] == "defaults" and runs.entries[path[:1]].kind == "list")


def _is_for_another_tool(runs: ConfigRuns) -> bool:
    """Tell whether a file is for another tool, or holds data and no settings."""
    tops = runs.entries[()].children if () in runs.entries else ()
    if _MANIFEST.issubset({str(step) for step, _ in tops}):
        return True
    if runs.first.file.form != "json":
        return False
    return len(runs.first.file.source.text) > MAX_CONFIG or _holds_records(tops)


def _holds_records(tops: Iterable[tuple[Any, Entry]]) -> bool:
    """Tell whether at least half of the top entries are lists, two of them of records.

    Records are mappings: annotations of images, lines of a log.
    """
    lists = records = count = 0
    for _, entry in tops:
        count += 1
        if entry.kind == "list":
            lists += not entry.children
            records += bool(entry.children) and all(child.kind == "map" for _, child in entry.children)
    return records > 1 and 2 * (lists + records) >= count


def _names_something(name: str) -> bool:
    """Tell whether a key names a thing for display: ends in name, title or label."""
    return name.lower().endswith(("name", "title", "label"))


def _unread_verdict(runs: ConfigRuns, entry: Entry) -> Verdict:
    name = str(entry.path[-1])
    logs = [spot for key in runs.keys_at(entry.path) for spot in key.logs]
    notes = []
    if logs:
        notes.append(f"it is only written down again in {runs.place(logs[0])}")
    return Verdict(
        "dead-key",
        entry.path,
        entry.key,
        {"key": format_key_path(entry.path)},
        severity="info"
        if (_is_for_a_reader(name) and len(entry.path) == 1) or _is_shown_as_rest(runs, entry.path)
        else None,
        spot=logs[0] if logs else None,
        label="only written down again" if logs else "",
        notes=tuple(notes),
    )


def _is_shown_as_rest(runs: ConfigRuns, path: KeyPath) -> bool:
    """Tell whether only functions with a `**` parameter log a key.

    None reads the key or accepts its name: such functions may be there to show all that they get.
    """
    keys = runs.keys_at(path)
    logs = [spot for key in keys for spot in key.logs]
    return (
        bool(logs)
        and not any(key.accepted or key.reads for key in keys)
        and all(any(item.kind == "**" for item in spot.scope.params) for spot in logs)
    )


def _read_otherwise(runs: ConfigRuns, path: KeyPath, every_way: list[RunResult]) -> Verdict | bool:
    """Return a verdict on a key that is read only under other values of the file.

    Returns:
        A verdict where another value of the file decides it; True where something else does; False where no way reads it.
    """
    found = False
    told: list[tuple[str, Spot, bool]] = []
    sure = True
    for own, result in zip(runs.results, every_way, strict=False):
        opened = result.opened.get(runs.path)
        if opened is None:
            continue
        for key in opened.read_from(path):
            written = key.writes or key.may_write
            if written and not (key.reads or key.walks or key.escapes or key.offers or key.guards):
                # What is used is what that way puts in its place.
                continue
            found = True
            mine = own.opened[runs.path].keys.get(key.path)
            taken = {(spot.path, spot.place) for spot in mine.reads} if mine is not None else set()
            for spot in (*key.reads, *key.walks, *key.escapes, *key.offers) or key.uses:
                if (spot.path, spot.place) in taken:
                    continue
                condition = _deciding_condition(own, result, spot)
                if condition is None:
                    sure = False
                else:
                    told.append((condition, spot, _kind_is_not_chosen(own, condition, spot, path)))
    if not told:
        return found
    condition, spot, _ = next((item for item in told if not item[2]), told[0])
    return Verdict(
        "unused-here",
        path,
        runs.entries[path].key,
        {
            "key": format_key_path(path),
            "condition": condition,
            "place": runs.place(spot),
        },
        severity="warning" if sure and all(kind for _, _, kind in told) else "info",
        spot=spot,
        label="the only place that reads it",
    )


def _deciding_condition(own: RunResult, every_way: RunResult, spot: Spot) -> str | None:
    """Return the condition that keeps a run from reaching a place, None if unknown.

    It is the outermost condition that the own run saw fail, or else the last one if a config decides it.
    """
    conditions = every_way.run.config_conditions
    for number, item in enumerate(spot.conditions):
        negated = item.startswith("not ")
        for shown, wanted in ((item, True), *(((item[4:], False),) if negated else ())):
            seen = own.run.outcomes.get(shown)
            if item in conditions and seen is not None and wanted not in seen:
                return _last_of_chain(spot.conditions[number:])
    deciding = [item for item in spot.conditions if item in conditions]
    if not deciding or deciding[-1] != spot.conditions[-1] or deciding[-1] in own.run.outcomes:
        return None
    return deciding[-1]


def _last_of_chain(conditions: tuple[str, ...]) -> str:
    """Return the last of leading conditions that compare one value with words.

    It names the way that is taken.
    """
    first = _KIND.fullmatch(conditions[0])
    found = conditions[0]
    for item in conditions[1:] if first is not None else ():
        kind = _KIND.fullmatch(item)
        if kind is None or first is None or kind["of"] != first["of"]:
            break
        found = item
    return found


_KIND = re.compile(r"(?:not )?(?P<of>.+) == (?P<mark>['\"])(?P<word>[\w .+-]+)(?P=mark)")
"""A condition by which a value of a config chooses one of several kinds, all of which the program knows."""


def _kind_is_not_chosen(own: RunResult, condition: str, spot: Spot, path: KeyPath) -> bool:
    """Tell whether a condition chooses another kind than the one that reads a key.

    The kinds are such as models, data or optimizers that the program knows. False where the key's path
    names the kind, or where the key stands beside a switch that turns it on.
    """
    kind = _KIND.fullmatch(condition)
    shown = condition.removeprefix("not ")
    if kind is None or any(
        block.test is not None and text(block.test) == shown for block in spot.scope.blocks
    ):
        return False
    word, steps = _letters_of(kind["word"]), [_letters_of(str(step)) for step in path]
    if any(word in step or (len(step) > 2 and step in word) for step in steps):
        return False
    choosing = {
        key
        for other, outcomes in own.run.outcomes.items()
        if (same_kind := _KIND.fullmatch(other)) is not None and same_kind["of"] == kind["of"]
        for keys in outcomes.values()
        for key in keys
    }
    return any(same for key in choosing for _, same in key.compared)


def _letters_of(name: str) -> str:
    """Return the letters and digits of a name in lower case."""
    return "".join(filter(str.isalnum, name.lower()))


def _counts_in_another_way(runs: ConfigRuns, path: KeyPath) -> bool:
    """Tell whether a value has an effect when conditions turn out otherwise."""
    for result in runs.again():
        opened = result.opened.get(runs.path)
        key = opened.keys.get(path) if opened is not None else None
        if key is not None and runs.counts(key):
            return True
    return False


def find_overwritten(runs: ConfigRuns) -> None:
    """Add verdicts on values that are replaced, only logged, or read but not used."""
    if runs.exhausted:
        return
    for path, entry in runs.entries.items():
        if not path or path in runs.reported or entry.anchored or any(isinstance(step, int) for step in path):
            continue
        keys = runs.keys_at(path)
        if not keys or len(keys) < len(runs.mine):
            continue
        if entry.kind != "scalar" or any(runs.counts(key) for key in keys):
            continue
        if any(key.path != path for opened in runs.mine for key in opened.read_from(path)):
            continue
        writes = [spot for key in keys for spot in key.writes]
        logs = [spot for key in keys for spot in key.logs]
        reads = [spot for key in keys for spot in key.reads]
        if writes and all(key.writes for key in keys):
            # An empty value only keeps a place for what the program puts there.
            shown = "info" if entry.data is None else None
            _add_verdict(runs, "replaced-key", entry, writes[0], "replaced here", shown)
        elif (logs or reads) and _counts_in_another_way(runs, path):
            guard = _read_otherwise(runs, path, runs.again())
            if isinstance(guard, Verdict) and guard.severity == "warning":
                runs.reported.add(path)
                runs.add(guard)
        elif reads and any(name in runs.mentioned for key in keys for name in key.kept_as):
            # Code that does not run reads what it is kept as.
            continue
        elif logs and reads and str(path[-1]) not in runs.mentioned:
            # What a program changes and writes down is a config for another run.
            changed = any(
                key.writes
                for opened in runs.mine
                if (mine := opened.keys.get(path)) is not None and mine.written_down
                for key in opened.keys.values()
            )
            # One that a function takes by its name and does not use is meant for this one.
            is_taken = any(key.accepted for key in keys)
            shown = "info" if (changed and not is_taken) or _names_something(str(path[-1])) else None
            _add_verdict(runs, "logged-key", entry, logs[0], "only logged", shown)
        elif (
            reads
            and not any(key.may_write for key in keys)
            and str(path[-1]) not in runs.mentioned
            and not _counts_in_another_way(runs, path)
        ):
            _add_verdict(runs, "unused-value", entry, reads[0], "read here, and used by nothing")


def _add_verdict(
    runs: ConfigRuns, kind: str, entry: Entry, spot: Spot, label: str, severity: str | None = None
) -> None:
    """Add a verdict on a value without effect, with the place that shows it."""
    runs.reported.add(entry.path)
    runs.add(
        Verdict(
            kind,
            entry.path,
            entry.key,
            {"key": format_key_path(entry.path), "place": runs.place(spot)},
            severity=severity,
            spot=spot,
            label=label,
        )
    )


def find_idle(runs: ConfigRuns) -> None:
    """Add verdicts on values that have no effect, whichever way the program takes.

    The values lie in sections that another value of the config may choose.
    """
    if runs.exhausted or _is_for_another_tool(runs):
        return
    for path in [path for path in runs.entries if _may_be_idle(runs, path)]:
        if any(path[:depth] in runs.idle for depth in range(1, len(path))):
            continue
        for cover in runs.covers():
            idle = cover.without_effect(runs.path, path)
            if idle is None:
                continue
            kept = {name for key in runs.keys_at(path) for name in key.kept_as}
            beside = runs.mentioned_beside(cover)
            if any(name in beside for name in (str(path[-1]), *kept)):
                continue
            runs.idle.add(path)
            runs.reported.add(path)
            runs.add(_idle_verdict(runs, path, idle))
            break


def _may_be_idle(runs: ConfigRuns, path: KeyPath) -> bool:
    """Tell whether a key without uses lies in a section that runs read or choose.

    Keys of lists and keys with an alias do not count.
    """
    entry = runs.entries[path]
    if (
        len(path) < 2
        or path in runs.reported
        or entry.anchored
        or any(isinstance(step, int) for step in path)
        or (entry.kind != "scalar" and _holds_anchor(entry))
        or runs.reported.holds_below(path)
        or _is_of_hydra(runs, path)
        or (
            not any(
                key.offers or key.reads for depth in range(1, len(path)) for key in runs.keys_at(path[:depth])
            )
            and not any(path[:depth] in runs.unused_here for depth in range(1, len(path)))
        )
    ):
        return False
    return not any(
        key.uses or key.escapes or key.walks
        for depth in range(1, len(path) + 1)
        for key in runs.keys_at(path[:depth])
    )


def _idle_verdict(runs: ConfigRuns, path: KeyPath, idle: Idle) -> Verdict:
    notes = []
    if idle.value is not None:
        notes.append(
            f"looked at with `{format_key_path(idle.chooser)}: {idle.value}`, by which its section is used"
        )
    places = idle.logs or idle.reads
    check = "dead-key" if not idle.reads else "logged-key" if idle.logs else "unused-value"
    values = {"key": format_key_path(path)}
    if check != "dead-key":
        values["place"] = runs.place(places[0])
    label = "only written down" if idle.logs else "read here, and used by nothing"
    return Verdict(
        check,
        path,
        runs.entries[path].key,
        values,
        severity="info" if _is_shown_as_rest(runs, path) else None,
        spot=places[0] if places else None,
        label=label if places else "",
        notes=tuple(notes),
    )
