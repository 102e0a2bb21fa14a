"""What may be searched: the settings of a config, the values tried for each, and which need too much memory."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cfgfix.core.errors import CfgfixError, ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from cfgfix.config.document.compose import Document
    from cfgfix.config.loaders.scalars import Loader
    from cfgfix.core.findings import KeyPath


CONCEPTS = ("batch_size", "workers", "prefetch", "private_threads", "xla", "mixed_precision")
"""What can be searched, in the order of the results."""
LEARNING = {
    "batch_size": "a batch size changes what the model learns: the learning rate may have to follow it",
    "mixed_precision": "mixed precision changes the numerics of the model",
}
"""What each of these changes besides the speed; they are searched only when asked for."""
BY_CODE = {"prefetch": 0, "private_threads": 0}
"""What is tried on the dataset itself where the config has no key for it, with the value that leaves it as it is."""
MOST_CANDIDATES = 400
MEMORY_SHARE = 0.5
"""Of the RAM that this process may use: what batches that wait may take. The rest is the model's, the shuffle buffer's and the
page cache's, which are not known here."""
MORE_BATCHES = 2
"""Batches in memory besides those that wait: the one being filled and the one being used."""
LEAST_PAIRS = 5
OLDER_GRID: Mapping[str, tuple[Any, ...]] = {"batch_size": (8, 16, 32), "workers": (4, 8, 16)}
"""The grid of the reference project's benchmark."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The settings to search, and how to measure them.

    Attributes:
        config: The YAML config, or None for the built-in pipeline.
        options: As the measuring jobs take them: dataset, step, data_path, config_loader, source_roots, speech.
        space: Values to try by concept.
        wanted: Concepts the user named; one that cannot be searched is then an error, not a note.
        seconds: Of a trial in the first round.
        pairs: How many pairs the confirmation takes.
        cold: Whether the files are taken out of the page cache before each trial.
        trial_limit: Seconds after which a trial that does not end is stopped.
        total_seconds: Of the whole search, once the present setting has run; what was found by then is the result.
        resume: Whether results of an earlier, equal search count.
        state: The journal; None for a file in the cache folder.
    """

    config: str | None
    options: Mapping[str, Any]
    space: Mapping[str, tuple[Any, ...]]
    wanted: frozenset[str] = frozenset()
    seconds: float = 2.0
    pairs: int = LEAST_PAIRS
    cold: bool = False
    trial_limit: float = 120.0
    total_seconds: float = 600.0
    resume: bool = False
    state: str | None = None


@dataclass(frozen=True, slots=True)
class Bound:
    """The keys that a config has for concepts, and their values.

    Attributes:
        document: The file as it was when the search began.
        loader: How the program reads it.
        paths: The key of each concept that can be set.
        present: The value of each.
        special: Values to which the program gives a meaning of its own, by concept.
        notes: Why other concepts cannot be set.
    """

    document: Document
    loader: Loader
    paths: Mapping[str, KeyPath]
    present: Mapping[str, Any]
    special: Mapping[str, tuple[Any, ...]]
    notes: Mapping[str, str]

    def text_with(self, values: Mapping[str, Any]) -> bytes:
        """Return the bytes of the config with other values set.

        Raises:
            CfgfixError: A value cannot be set.
        """
        from cfgfix.config.compose.overrides import override
        from cfgfix.core.findings import format_key_path

        changed = [
            (format_key_path(self.paths[name]), yaml_value(value))
            for name, value in values.items()
            if name in self.paths and not same_value(value, self.present.get(name))
        ]
        document, _ = override(self.document, changed)
        return document.source.encode(document.source.text)


def yaml_value(value: Any) -> str:
    """Return a value as YAML text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def same_value(first: Any, second: Any) -> bool:
    """Tell whether two values are equal and of one type: 1 is not True."""
    return type(first) is type(second) and bool(first == second)


# the config


def bind(path: str) -> Bound:
    """Return the keys of a config whose concepts can be searched.

    Raises:
        CfgfixError: The file cannot be read or gives no settings.
    """
    from cfgfix.config.dialects.view import View
    from cfgfix.config.document.compose import Kind
    from cfgfix.config.schema.validate import MISSING
    from cfgfix.core.source_file import read_source
    from cfgfix.lint.runner import Request, check_basis
    from cfgfix.settings.reader import Settings, with_command_line

    def adjust(dialect: str | None) -> Callable[[Settings], Settings]:
        return lambda settings: with_command_line(settings, dialect=dialect, hardware="none")

    content = read_source(path).raw
    seen = check_basis(Request(stdin=content, stdin_name=path, adjust=adjust(None)))
    if seen is None:
        seen = check_basis(Request(stdin=content, stdin_name=path, adjust=adjust("generic")))
    assert seen is not None  # with a dialect named there is always an answer
    document = seen.document
    if document.problem is not None:
        raise CfgfixError(
            f"is not YAML: {document.problem.message}",
            code=ExitCode.UNREADABLE,
            path=path,
            line=getattr(document.problem, "line", None),
        )
    if not document.roots or document.roots[0].kind != Kind.MAPPING:
        raise CfgfixError("holds no mapping, so it gives no settings", path=path)
    dialect = seen.target.dialect
    schema = seen.target.schema if dialect.defaults == "schema" else None
    view = View(
        document,
        0,
        dialect,
        seen.target.loader,
        default=schema.default if schema is not None else None,
        missing=MISSING,
    )
    paths: dict[str, KeyPath] = {}
    present: dict[str, Any] = {}
    special: dict[str, tuple[Any, ...]] = {}
    notes: dict[str, str] = {}
    for concept in CONCEPTS:
        special[concept] = tuple(value for _, value in dialect.own_values(concept))
        bindings = view.bindings(concept)
        if not bindings or bindings[0].path is None:
            notes[concept] = "the config has no key for it"
        else:
            paths[concept], present[concept] = bindings[0].path, bindings[0].value
    return Bound(document, seen.target.loader, paths, present, special, notes)


def why_not_settable(bound: Bound, space: Mapping[str, tuple[Any, ...]]) -> dict[str, str]:
    """Return the reasons why the editor cannot set some concepts, by concept."""
    found: dict[str, str] = {}
    for name, values in space.items():
        other = [value for value in values if not same_value(value, bound.present.get(name))]
        if name in bound.paths and other:
            try:
                bound.text_with({name: other[0]})
            except CfgfixError as error:
                found[name] = error.message.removeprefix("--set ")
    return found


# the space


def default_space(cpus: int) -> dict[str, tuple[Any, ...]]:
    """Return the values to try, by concept, where the user names none.

    The values lie around the CPUs there are, with tf.data's own choice (-1). Nothing in it changes what the model
    learns; it is a place to start from, the measurements decide.
    """
    return {
        "workers": tuple(sorted({max(1, cpus // 2), cpus, 2 * cpus, -1})),
        "prefetch": (-1, 2),
        "private_threads": tuple(sorted({cpus, 2 * cpus})),
    }


def candidates(space: Mapping[str, tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Return every combination of the values in a space, as settings.

    Raises:
        CfgfixError: They are too many.
    """
    count = 1
    for values in space.values():
        count *= len(values)
    if count > MOST_CANDIDATES:
        raise CfgfixError(
            f"{count} combinations are too many; at most {MOST_CANDIDATES}", hint="name fewer values"
        )
    return [dict(zip(space, values, strict=True)) for values in itertools.product(*space.values())]


def too_large(
    values: Mapping[str, Any], *, sample_bytes: float, batch: float, prefetch: Any, ram_mib: float | None
) -> str | None:
    """Return why the batches of a setting do not fit into memory.

    None where they fit or that is not known.

    Args:
        values: The setting.
        sample_bytes: The bytes of one sample, as measured.
        batch: Samples of a batch where the setting names none.
        prefetch: Batches that wait where the setting names none; what is no count counts as none, since tf.data bounds its own
            choice by the RAM there is.
        ram_mib: The memory that this process may use, in MiB.
    """
    if ram_mib is None:
        return None
    size = values.get("batch_size", batch)
    waiting = values.get("prefetch", prefetch)
    if not isinstance(size, (int, float)) or isinstance(size, bool):
        return None
    waiting = waiting if isinstance(waiting, int) and waiting > 0 else 0
    need = sample_bytes * size * (waiting + MORE_BATCHES) / 2**20
    bound = MEMORY_SHARE * ram_mib
    if need <= bound:
        return None
    return (
        f"{waiting + MORE_BATCHES} batches of {sample_bytes * size / 2**20:.3g} MiB take {need:.4g} MiB, "
        f"more than half of the {ram_mib:.4g} MiB of RAM this process may use"
    )


def settings_key(values: Mapping[str, Any]) -> str:
    """Return a text that is the same for equal settings."""
    return json.dumps(values, sort_keys=True, default=str)
