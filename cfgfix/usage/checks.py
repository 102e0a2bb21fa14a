"""A config held against the code that reads it: what the code does with each key, as findings.

Imported only where a config class or a source root is known.
"""

from __future__ import annotations

import bisect
import contextlib
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from cfgfix.code.model.python_files import PythonFile, clear_package_cache
from cfgfix.code.model.summary_cache import SummaryStore
from cfgfix.config.dialects.dialect import Dialect, schema_data
from cfgfix.config.document.compose import Document, Kind
from cfgfix.config.document.nodes import Node, deref
from cfgfix.config.loaders.scalars import Loader, resolve
from cfgfix.config.schema.infer import Inferred
from cfgfix.core import cache
from cfgfix.core.errors import CfgfixError
from cfgfix.core.findings import format_key_path
from cfgfix.core.source_file import SourceFile, read_source
from cfgfix.rules.hit import Hit, Span
from cfgfix.rules.rule import Rule
from cfgfix.settings.reader import Settings
from cfgfix.usage import key_uses
from cfgfix.usage.key_uses import DEAD, INFERENCE, NEVER, ONLY_LOGGED, OVERWRITTEN, TOOLS, Spot, Usage, Use

PREFIX = "code."
MAX_DEPTH = 40
MAX_KEYS = 20_000
"""Most keys of one config that are looked at."""
MAX_PATHS = 5_000
"""Most key paths of the configs of one project that are asked for; nothing is said of others."""
FEW_KEYS = 4
"""A file of fewer keys may be read by nothing for a reason of each; from here on the reason is one."""

MAX_TEXT = 2_000
"""Most characters of a value that are looked through for interpolations."""
_INTERPOLATED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?=(?:\[[^\]]{0,40}\])?\s*[},]|\.\$\{)")
_KINDS = {NEVER: "dead-key", TOOLS: "aside-key", INFERENCE: "aside-key", ONLY_LOGGED: "logged-key", OVERWRITTEN: "overwritten-key"}  # fmt: skip
_ABSENT: Any = object()


# What the code does


def usage_of(
    files: Sequence[PythonFile],
    settings: Settings,
    inferred: Inferred | None,
    paths: Iterable[tuple[str, ...]],
    key: object,
    *,
    shared: Sequence[Rule] | None = None,
    use_cache: bool = True,
) -> Usage:
    """Return what a project's code does with its config, from the cache if unchanged.

    Args:
        files: The Python files of the project.
        settings: The settings, which name the project's folder.
        inferred: The schema of the config class; None for a project without one.
        paths: Key paths of the config files, for a project without a class.
        key: What else the answer depends on, for the caches.
        shared: The rules of the scan of the same files, whose summaries are then used and added to.
        use_cache: Whether to keep and use answers between runs.
    """
    wanted = () if inferred is not None else tuple(sorted(set(paths))[:MAX_PATHS])
    tree = cache.name_of(file.path for file in files)
    question = cache.key_of(
        (
            [(file.path, file.stamp) for file in files],
            settings.root,
            repr(inferred.schema) if inferred is not None else None,
            repr(inferred.sections) if inferred is not None else None,
            wanted,
            repr(key),
        )
    )
    # A project with a class and one without have answers of their own.
    name = f"usage-{tree}" + ("-class" if inferred is not None else "")
    known = cache.load(name, question) if use_cache else None
    if known is not None:
        found = _unpacked_records(known)
        if isinstance(found, Usage):
            return found
    from cfgfix.code.model.program import Program
    from cfgfix.code.model.scanning import FRAMEWORKS
    from cfgfix.usage.loading import usage

    clear_package_cache()
    needles = FRAMEWORKS if shared is not None else ()
    name_of_store = tree if shared is not None else f"code-{tree}"
    with contextlib.closing(SummaryStore(name_of_store, needles, enabled=use_cache)) as store:
        program = Program(files, store, needles)
        program.scan()
        try:
            made = usage(
                program,
                settings.root,
                (inferred.schema, inferred.sections) if inferred is not None else None,
                wanted,
            )
        except RecursionError:
            # Code that nests deeper than can be followed: nothing is said of any key.
            made = Usage({})
        if use_cache:
            store.keep_only(set(program.files))
            program.save()
            cache.store(name, question, _packed_records(made))
    return made


def _packed_records(value: Any) -> Any:
    """Return records as data that `marshal` can write."""
    fields = getattr(type(value), "__record_fields__", None)
    if fields is not None:
        return ("@", type(value).__name__, [_packed_records(getattr(value, name)) for name in fields])
    if isinstance(value, Mapping):
        return ("d", [(_packed_records(key), _packed_records(item)) for key, item in value.items()])
    if isinstance(value, (tuple, list)):
        return ("t", [_packed_records(item) for item in value])
    return value


def _unpacked_records(data: Any) -> Any:
    if not isinstance(data, tuple):
        return data
    if data[0] == "@":
        return getattr(key_uses, data[1])(*[_unpacked_records(item) for item in data[2]])
    if data[0] == "d":
        return {_unpacked_records(key): _unpacked_records(item) for key, item in data[1]}
    return tuple(_unpacked_records(item) for item in data[1])


def with_unknown_keys(schema: Mapping[str, Any], unknown: str) -> dict[str, Any]:
    """Return a class's schema with a given effect of unknown keys.

    The effect is `fatal` or `ignored`.
    """
    changed = {
        name: with_unknown_keys(value, unknown)
        if isinstance(value, Mapping)
        else [with_unknown_keys(item, unknown) if isinstance(item, Mapping) else item for item in value]
        if isinstance(value, list)
        else value
        for name, value in schema.items()
    }
    if changed.get("additionalProperties") is False and "properties" in changed:
        changed["x-unknown"] = unknown
    return changed


def key_paths(document: Document) -> Iterator[tuple[str, ...]]:
    """Yield the key paths of a document; entries of sequences have the step `[]`."""
    if document.problem is None:
        for root in document.roots:
            for path, _, _ in _keys_below(root, (), 0):
                yield path


def _keys_below(
    node: Node, path: tuple[str, ...], depth: int
) -> Iterator[tuple[tuple[str, ...], Node, Node]]:
    node = deref(node)
    if depth > MAX_DEPTH:
        return
    if node.kind == Kind.MAPPING:
        for key, value in node.items:
            name = deref(key)
            if name.kind != Kind.SCALAR or (name.text == "<<" and not name.style):
                continue
            yield (*path, name.text), name, value
            if value.kind != Kind.ALIAS:
                yield from _keys_below(value, (*path, name.text), depth + 1)
    elif node.kind == Kind.SEQUENCE:
        for item in node.items[:64]:
            if item.kind != Kind.ALIAS:
                yield from _keys_below(item, (*path, "[]"), depth + 1)


# Findings in a config


def hits_in_config(
    document: Document, index: int, usage: Usage, loader: Loader, wanted: frozenset[str]
) -> Iterator[tuple[str, Hit]]:
    """Yield the hits in a config, each with the name of the rule's check.

    Args:
        document: The config.
        index: The number of the root in the document.
        usage: What the code does.
        loader: How the project reads plain values.
        wanted: Names of the checks that are asked for.
    """
    values: dict[tuple[str, ...], Any] = {}
    entries = []
    for count, (path, name, value) in enumerate(_keys_below(document.roots[index], (), 0)):
        if count > MAX_KEYS:
            break
        entries.append((path, name, value))
        values[path] = _value_of_node(value, loader)
    elsewhere = _ValuesElsewhere(document.roots[index], usage)
    entries = [entry for entry in entries if not elsewhere.counts(entry[0], entry[2])]
    known = [use for path, _, _ in entries if (use := usage.keys.get(path)) is not None]
    # One cause, one finding: of a file that no code reads, every key is dead.
    nothing = len(known) >= FEW_KEYS and all(use.status == NEVER for use in known)
    for path, name, value in entries:
        use = usage.keys.get(path)
        if use is None:
            continue
        for check, details in _hits_on_key(path, values, usage, use):
            if check not in wanted:
                continue
            if nothing:
                details["notes"] = [
                    *details.get("notes", ()),
                    f"nor does it read any of the {len(known)} keys of this file: are `schema` and `source-roots` the right ones?",
                ]
            yield (
                check,
                Hit(
                    Span(name.start, name.end, path),
                    values=details.pop("values"),
                    notes=tuple(details.pop("notes", ())),
                    severity=details.pop("severity", None),
                ),
            )
            if nothing:
                return
        del value


class _ValuesElsewhere:
    """The values of a file that count although no read of the program shows it.

    They are repeated by an alias, named by an interpolation `${a.b}`, or read by Hydra itself.
    """

    __slots__ = ("_hydra", "_names", "_spans")

    def __init__(self, root: Node, usage: Usage) -> None:
        self._hydra = any(item.name.startswith("hydra") for item in usage.loadings)
        self._spans: list[tuple[int, int]] = []
        self._names: set[str] = set()
        pending: list[tuple[Node, int]] = [(root, 0)]
        while pending:
            node, depth = pending.pop()
            if node.kind == Kind.ALIAS:
                if node.target is not None:
                    self._spans.append((node.target.start, node.target.end))
            elif depth > MAX_DEPTH:
                continue
            elif node.kind == Kind.MAPPING:
                for key, value in node.items:
                    pending += [(key, depth + 1), (value, depth + 1)]
            elif node.kind == Kind.SEQUENCE:
                pending += [(item, depth + 1) for item in node.items]
            elif "${" in node.text:
                # `${a.b}`, `${.b}` beside it, `${oc.select:a.b,1}`: the last name is enough to say nothing of a key.
                self._names.update(_INTERPOLATED.findall(node.text[:MAX_TEXT]))
        merged: list[tuple[int, int]] = []
        for start, end in sorted(self._spans):
            if merged and start < merged[-1][1]:
                merged[-1] = merged[-1][0], max(end, merged[-1][1])
            else:
                merged.append((start, end))
        self._spans = merged

    def counts(self, path: tuple[str, ...], value: Node) -> bool:
        """Tell whether a key's value is used by an alias, an interpolation or Hydra."""
        if self._hydra and path[0] in ("defaults", "hydra"):
            return True
        if self._names and any(step in self._names for step in path):
            return True
        place = bisect.bisect_left(self._spans, value.end, key=lambda span: span[0])
        return place > 0 and self._spans[place - 1][1] > value.start


def _value_of_node(node: Node, loader: Loader) -> Any:
    node = deref(node)
    if node.kind != Kind.SCALAR or node.tag is not None:
        # What a tag makes of the text is not said here.
        return _ABSENT
    return node.text if node.style else resolve(node.text, loader).value


def _hits_on_key(
    path: tuple[str, ...], values: Mapping[tuple[str, ...], Any], usage: Usage, use: Use
) -> Iterator[tuple[str, dict[str, Any]]]:
    value = values.get(path, _ABSENT)
    if use.status in DEAD:
        yield _KINDS[use.status], _dead_operands(path, usage, use)
        return
    for option in usage.options.get(path, ()):
        if option.always:
            how = f"its default is {option.default}" if option.default is not None else "it is required"
            yield (
                "overridden-key",
                {
                    "values": {"option": option.flag, "how": how, "place": _place_text(option.spot)},
                    "notes": [f"declared in {_place_text(option.declared)}"],
                },
            )
            return
    if isinstance(value, str) and use.arithmetic:
        yield (
            "text-calculated",
            {
                "values": {
                    "place": _place_text(use.arithmetic[0]),
                    "code": use.arithmetic[0].how,
                    "value": value,
                }
            },
        )
    off = [guard for guard in use.guards if _fulfils_guard(guard, values) is False]
    if off:
        guard, operator, wanted = off[0]
        given = values[guard]
        yield (
            "guarded-key",
            {
                "values": {
                    "guard": format_key_path(guard),
                    "given": _yaml_text(given),
                    "needed": guard_in_words(operator, wanted),
                    "place": _place_text(use.reads[0]) if use.reads else "",
                },
            },
        )


def _dead_operands(path: tuple[str, ...], usage: Usage, use: Use) -> dict[str, Any]:
    places = {
        NEVER: use.writes,
        TOOLS: use.tools,
        INFERENCE: use.inference,
        ONLY_LOGGED: use.reads,
        OVERWRITTEN: use.writes,
    }[use.status]
    whose = {TOOLS: "tests and tools", INFERENCE: "the inference code"}.get(use.status, "")
    notes = []
    verb = {NEVER: "only given a value in", OVERWRITTEN: "given a value in"}.get(use.status, "read in")
    if places:
        notes.append(f"{verb} {', '.join(_place_text(item) for item in places[:4])}")
    home = usage.defined.get(path)
    if home is not None:
        notes.append(f"defined by {home[2]} in {home[0]}:{home[1]}")
    return {
        "values": {
            "whose": whose,
            "place": _place_text(places[0]) if places else "",
            "code": places[0].how if places else "",
        },
        "notes": notes,
    }


def _fulfils_guard(
    guard: tuple[tuple[str, ...], str, Any], values: Mapping[tuple[str, ...], Any]
) -> bool | None:
    """Tell whether a config fulfils a guard; None where the config does not show it."""
    path, operator, wanted = guard
    value = values.get(path, _ABSENT)
    if value is _ABSENT or not isinstance(value, (str, int, float, bool, type(None))):
        return None
    if operator == "true":
        return bool(value)
    if operator == "false":
        return not value
    if type(value) is not type(wanted):
        return None
    return bool((value == wanted) is (operator == "=="))


def guard_in_words(operator: str, wanted: Any) -> str:
    """Return in words the value that a guard needs."""
    if operator == "true":
        return "on"
    if operator == "false":
        return "off"
    return f"{_yaml_text(wanted)}" if operator == "==" else f"anything but {_yaml_text(wanted)}"


def _yaml_text(value: Any) -> str:
    return (
        {True: "true", False: "false", None: "null"}.get(value, str(value))
        if isinstance(value, (bool, type(None)))
        else str(value)
    )


def _place_text(spot: Spot) -> str:
    return f"{spot.path}:{spot.line}"


def section_of(usage: Usage, path: Sequence[str | int], name: str) -> str | None:
    """Return the path of a key of the same name in another section, or None."""
    own = tuple(str(step) for step in path)
    found = [other for other in usage.keys if other[-1] == name and other != own]
    return format_key_path(min(found)) if found else None


def class_of(usage: Usage, path: Sequence[str | int]) -> str | None:
    """Return the name of the class that takes the section around a key, or None."""
    return usage.sections.get(tuple(str(step) for step in path[:-1]))


def loading_summary(usage: Usage) -> str:
    """Return one line that says how the project loads its configs; empty if unknown."""
    core = [item for item in usage.loadings if item.role == key_uses.CORE]
    if not core:
        return ""
    names = sorted({item.name for item in core})
    version = {"pyyaml": "YAML 1.1", "ruamel-1.1": "YAML 1.1", "ruamel": "YAML 1.2"}.get(
        usage.loader or "", ""
    )
    unknown = {
        "fatal": "a key that the class does not have stops the program",
        "ignored": "keys that the class does not have are ignored",
    }.get(usage.unknown or "", "")
    where = _place_text(core[0].spot) + (f" and {len(core) - 1} more" if len(core) > 1 else "")
    return "; ".join(
        part for part in (f"configs are loaded by {', '.join(names)} in {where}", version, unknown) if part
    )


# Findings in the code


def hits_in_code(
    usage: Usage, wanted: Collection[str], dialect: Dialect | None, inferred: Inferred | None
) -> Iterator[tuple[str, Hit]]:
    """Yield the hits in the code, each with the name of the rule's check.

    Args:
        usage: What the code does.
        wanted: Names of the checks that are asked for.
        dialect: The dialect with whose schema the class's defaults are compared, or None.
        inferred: The schema of the class, or None.
    """
    from cfgfix.code.model.positions import Offsets

    sources: dict[str, SourceFile | None] = {}
    offsets_of: dict[str, Offsets] = {}
    for check, spot, values, severity, notes in _faults_in_code(usage, dialect, inferred):
        if check not in wanted:
            continue
        if spot.path not in sources:
            try:
                sources[spot.path] = read_source(spot.path)
            except CfgfixError:
                sources[spot.path] = None
        source = sources[spot.path]
        if source is None:
            continue
        if spot.path not in offsets_of:
            offsets_of[spot.path] = Offsets(source.text)
        offsets = offsets_of[spot.path]
        start = offsets.offset(spot.line, spot.column)
        end = max(start, offsets.offset(spot.end_line, spot.end_column))
        context = source.line_text(spot.line).strip()[:200]
        place = source.location(start, end)
        yield check, Hit(place, values, severity=severity, notes=notes, context=context)


def _faults_in_code(
    usage: Usage, dialect: Dialect | None, inferred: Inferred | None
) -> Iterator[tuple[str, Spot, Mapping[str, object], str | None, tuple[str, ...]]]:
    """Yield the faults in the code: check, place, operands, severity and notes.

    The severity is None where the rule's own holds.
    """
    for item in usage.undefined:
        effect = (
            "the program stops with AttributeError here"
            if item.fatal
            else "the default given here is always taken"
        )
        yield (
            "undefined-read",
            item.spot,
            {"owner": item.owner, "name": item.name, "effect": effect},
            "error" if item.fatal else "warning",
            tuple(f"there is `{other}`" for other in item.elsewhere),
        )
    for literal in usage.literals:
        values = {
            "key": format_key_path(literal.path),
            "value": _yaml_text(literal.value),
            "name": literal.path[-1],
        }
        yield "literal", literal.spot, values, None, ()
    loadings = [item for item in usage.loadings if item.role == key_uses.CORE]
    for entry in usage.entries:
        if not entry.loads and loadings:
            values = {"loads": _place_text(loadings[0].spot), "trains": _place_text(entry.trains)}
            yield "entry-without-config", entry.spot, values, None, ()
    if dialect is not None and inferred is not None:
        for path, ours, theirs in _contradicting_defaults(inferred.schema, dialect):
            place = usage.defined.get(path)
            if place is not None:
                values = {
                    "key": format_key_path(path),
                    "ours": _yaml_text(ours),
                    "theirs": _yaml_text(theirs),
                    "schema": dialect.name,
                }
                yield (
                    "default-contradicts",
                    Spot(place[0], place[1], 0, place[1] + 1, 0, ""),
                    values,
                    None,
                    (),
                )


def _contradicting_defaults(
    schema: Mapping[str, Any], dialect: Dialect
) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Yield keys whose default in the class differs from the dialect's schema.

    With each come both defaults.
    """
    other = schema_data(dialect)
    if not isinstance(other, Mapping):
        return
    pending: list[tuple[Any, Any, tuple[str, ...]]] = [(schema, other, ())]
    while pending:
        ours, theirs, path = pending.pop()
        if len(path) > MAX_DEPTH:
            continue
        mine, their = ours.get("properties"), theirs.get("properties")
        if not isinstance(mine, Mapping) or not isinstance(their, Mapping):
            continue
        for name, entry in mine.items():
            stated = their.get(name)
            if not isinstance(stated, Mapping) or not isinstance(entry, Mapping):
                continue
            if "default" in entry and "default" in stated and entry["default"] != stated["default"]:
                yield (*path, name), entry["default"], stated["default"]
            pending.append((entry, stated, (*path, name)))


def project_files(settings: Settings) -> list[PythonFile]:
    """Return the Python files of the project: its source roots, else its folder."""
    from cfgfix.settings.code_files import python_files, relative_path

    roots = settings.source_roots or (".",)
    return python_files([relative_path(os.path.join(settings.root, root)) for root in roots], settings)
