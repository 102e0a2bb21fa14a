"""Search settings by measuring: successive halving, then the best against the present setting in paired runs.

A setting reaches the user's pipeline as the pipeline's own config: a copy of the file in a temporary folder, with the values
set by the editor. The score is samples per second, so that a smaller batch is not better for being smaller. Nothing is
written to the user's file but by `apply`, and that only what was measured and proven.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cfgfix.core.errors import CfgfixError, ExitCode, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from cfgfix.config.document.compose import Document
    from cfgfix.config.loaders.scalars import Loader
    from cfgfix.core.findings import KeyPath
    from cfgfix.measure.statistics import Interval

CONCEPTS = ("batch_size", "workers", "prefetch", "private_threads", "xla", "mixed_precision")
"""What can be searched, in the order of the results."""
LEARNING = {
    "batch_size": "a batch size changes what the model learns: the learning rate may have to follow it",
    "mixed_precision": "mixed precision changes the numerics of the model",
}
"""What each of these changes besides the speed; they are searched only when asked for."""
BY_CODE = {"prefetch": 0, "private_threads": 0}
"""What is tried on the dataset itself where the config has no key for it, with the value that leaves it as it is."""
_IN_CODE = {
    "prefetch": "end the dataset with .prefetch({})",
    "private_threads": "give the dataset threads of its own: options = tf.data.Options(); "
    "options.threading.private_threadpool_size = {}; dataset = dataset.with_options(options)",
}
KEEP = 3
"""The best third of a round goes on, with three times the time: each round then costs about the same."""
MOST_CANDIDATES = 400
MEMORY_SHARE = 0.5
"""Of the RAM that this process may use: what batches that wait may take. The rest is the model's, the shuffle buffer's and the
page cache's, which are not known here."""
MORE_BATCHES = 2
"""Batches in memory besides those that wait: the one being filled and the one being used."""
PER_CHILD = 16
"""Trials in one process: its start takes seconds, and what a trial leaves behind in it must not pile up."""
LEAST_PAIRS = 5
MOST_STEPS_BEYOND = 4
"""Doublings of a value that came out best as the largest of those tried."""
WORTH_GOING_ON = 1.05
"""Gain of a doubling from which the next one is tried."""
OLDER_GRID: Mapping[str, tuple[Any, ...]] = {"batch_size": (8, 16, 32), "workers": (4, 8, 16)}
"""The grid of the reference project's benchmark."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is searched and how.

    Attributes:
        config: The YAML config, or None for the built-in pipeline.
        options: As the measuring jobs take them: dataset, step, data_path, config_loader, source_roots, speech.
        space: Values to try by concept.
        wanted: Concepts the user named; one that cannot be searched is then an error, not a note.
        seconds: Of a trial in the first round.
        pairs: How many pairs the confirmation takes.
        cold: Whether the files are taken out of the page cache before each trial.
        trial_limit: Seconds after which a trial that does not end is stopped.
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
    resume: bool = False
    state: str | None = None


@dataclass(frozen=True, slots=True)
class Bound:
    """Where a config has the concepts, and what it says.

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
        """Return the file's bytes with other values.

        Raises:
            CfgfixError: A value cannot be set.
        """
        from cfgfix.config.compose.overrides import override
        from cfgfix.core.findings import format_key_path

        changed = [
            (format_key_path(self.paths[name]), _yaml(value))
            for name, value in values.items()
            if name in self.paths and not _same_value(value, self.present.get(name))
        ]
        document, _ = override(self.document, changed)
        return document.source.encode(document.source.text)


def _yaml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _same_value(first: Any, second: Any) -> bool:
    return type(first) is type(second) and bool(first == second)


@dataclass(frozen=True, slots=True)
class Try:
    """One setting and what it gave.

    Attributes:
        values: By concept.
        rate: Samples per second of its longest trial; None where it failed.
        error: Why it failed.
        seconds: What that trial was given.
        batches: How many it took.
    """

    values: Mapping[str, Any]
    rate: float | None
    error: str | None
    seconds: float
    batches: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return {
            "values": dict(self.values),
            "samples_per_second": self.rate,
            "error": self.error,
            "trial_seconds": self.seconds,
            "batches": self.batches,
        }


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to."""

    source: str
    space: Mapping[str, tuple[Any, ...]]
    tried: tuple[Try, ...]
    present: Try
    winner: Try | None
    """The best of all that ran; None where the present setting is the best."""
    ratio: Interval | None
    """Samples per second of the winner over the present setting's; None without a winner, or where too few pairs ran."""
    pairs: tuple[tuple[float, float], ...]
    excluded: tuple[tuple[Mapping[str, Any], str], ...]
    cache: str
    notes: tuple[str, ...]
    bound: Bound | None
    changes: tuple[tuple[str, str, Any, Any], ...] = field(default=())
    code_changes: tuple[str, ...] = ()
    """Concept, key, value now, better value."""

    @property
    def gain(self) -> bool:
        """Whether the winner is faster beyond doubt."""
        return self.ratio is not None and self.ratio.low > 1

    def summary(self) -> str:
        """Return the result in one sentence."""
        ran = sum(entry.rate is not None for entry in self.tried)
        told = f"{ran} setting{'s' if ran != 1 else ''} measured"
        failed = len(self.tried) - ran
        told += f", {failed} failed" if failed else ""
        told += f", {len(self.excluded)} left out" if self.excluded else ""
        if self.winner is None:
            return f"{told}; the present setting is the best of them: {setting_text(self.present.values)}"
        best = setting_text(self.winner.values)
        if self.ratio is None:
            return f"{told}; {best} came out best, but it could not be held against the present setting"
        ratio = f"{self.ratio.value:.3g} times the samples/s of the present setting (95 %: {self.ratio.low:.3g} to {self.ratio.high:.3g}, {len(self.pairs)} pairs)"
        if self.gain:
            return f"{told}; {best} gives {ratio}"
        return f"{told}; no gain is proven: the best, {best}, gives {ratio}"

    def as_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return {
            "kind": "search",
            "source": self.source,
            "summary": self.summary(),
            "space": {name: list(values) for name, values in self.space.items()},
            "tried": [entry.as_dict() for entry in self.tried],
            "present": self.present.as_dict(),
            "winner": self.winner.as_dict() if self.winner else None,
            "ratio": self.ratio.as_dict() if self.ratio else None,
            "gain": self.gain,
            "pairs": [list(pair) for pair in self.pairs],
            "excluded": [{"values": dict(values), "reason": reason} for values, reason in self.excluded],
            "cache": self.cache,
            "changes": [
                {"concept": name, "key": key, "from": now, "to": better}
                for name, key, now, better in self.changes
            ],
            "code_changes": list(self.code_changes),
            "notes": list(self.notes),
        }


def setting_text(values: Mapping[str, Any]) -> str:
    """Return a setting in words."""
    return ", ".join(f"{name} {_yaml(value)}" for name, value in values.items())


# the config


def bind(path: str) -> Bound:
    """Return where a config has what can be searched.

    Raises:
        CfgfixError: The file cannot be read or gives no settings.
    """
    from cfgfix.config.dialects.view import View
    from cfgfix.config.document.compose import Kind
    from cfgfix.config.schema.validate import MISSING
    from cfgfix.core.source_file import read_source
    from cfgfix.lint.runner import Request, check_basis
    from cfgfix.settings.reader import Settings, overruled

    def adjust(dialect: str | None) -> Callable[[Settings], Settings]:
        return lambda settings: overruled(settings, dialect=dialect, hardware="none")

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


def _settable(bound: Bound, space: Mapping[str, tuple[Any, ...]]) -> dict[str, str]:
    """Return why the editor cannot set some concepts of a space."""
    found: dict[str, str] = {}
    for name, values in space.items():
        other = [value for value in values if not _same_value(value, bound.present.get(name))]
        if name in bound.paths and other:
            try:
                bound.text_with({name: other[0]})
            except CfgfixError as error:
                found[name] = error.message.removeprefix("--set ")
    return found


# the space


def default_space(cpus: int) -> dict[str, tuple[Any, ...]]:
    """Return what is tried where the user names no values.

    The values lie around the CPUs there are, with tf.data's own choice (-1). Nothing in it changes what the model learns;
    it is a place to start from, the measurements decide.
    """
    return {
        "workers": tuple(sorted({max(1, cpus // 2), cpus, 2 * cpus, -1})),
        "prefetch": (-1, 2),
        "private_threads": tuple(sorted({cpus, 2 * cpus})),
    }


def candidates(space: Mapping[str, tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Return every combination of a space.

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
    """Return why the batches of a setting do not fit into memory, or None.

    None means that they fit or that it is not known.

    Args:
        values: The setting.
        sample_bytes: Of one sample, as measured.
        batch: Samples of a batch where the setting names none.
        prefetch: Batches that wait where the setting names none; what is no count counts as none, since tf.data bounds its own
            choice by the RAM there is.
        ram_mib: What this process may use, in MiB.
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


# running


class _Runner:
    """Runs trials in child processes, through a journal."""

    def __init__(self, plan: Plan, bound: Bound | None, folder: str, journal: str, progress: Any) -> None:
        self._plan = plan
        self._bound = bound
        self._folder = folder
        self._journal = journal
        self._progress = progress
        self._configs: dict[str, str] = {}
        self.reused = 0

    def _config(self, values: Mapping[str, Any]) -> str | None:
        """Return the path of a copy of the config with these values, under the file's own name."""
        if self._bound is None:
            return None
        name = _name(values)
        if name not in self._configs:
            folder = os.path.join(self._folder, str(len(self._configs)))
            os.mkdir(folder)
            assert self._plan.config is not None
            path = os.path.join(folder, os.path.basename(self._plan.config))
            with open(path, "wb") as stream:
                stream.write(self._bound.text_with(values))
            self._configs[name] = path
        return self._configs[name]

    def run(
        self, trials: Sequence[tuple[str, Mapping[str, Any]]], seconds: float, what: str
    ) -> list[dict[str, Any]]:
        """Return the journal's entry of each trial (its stage and its values), running those that have none yet.

        Raises:
            UserCodeError: The user's code fails before any trial begins.
            CfgfixError: The arguments are wrong.
        """
        from cfgfix.measure.sampling import UserCodeError, run_child

        names = [f"{stage}\t{_name(values)}" for stage, values in trials]
        by_name = dict(zip(names, (values for _, values in trials), strict=True))
        done, starts = self._state()
        self.reused += sum(name in done for name in by_name)
        for name in by_name:
            if name not in done and starts.get(name, 0) >= 2:
                self._fail(name, "the search itself ended twice while this ran")
        while pending := [name for name in by_name if name not in self._state()[0]]:
            failed = self._failures()
            if again := [name for name in pending if name.partition("\t")[2] in failed]:
                # What failed once is not tried a second time: it may take minutes to fail.
                for name in again:
                    self._fail(name, failed[name.partition("\t")[2]])
                continue
            part = pending[:PER_CHILD]
            plan = self._plan
            options = {
                **plan.options,
                # Tells the child that there is a config; each trial brings its own copy.
                "config": plan.config,
                "journal": self._journal,
                "cold": plan.cold,
                "by_code": []
                if self._bound is None
                else [name for name in BY_CODE if name not in self._bound.paths],
                "trial_limit": plan.trial_limit + 5 * seconds,
                "what": what,
                "trials": [
                    {
                        "id": name,
                        "values": dict(by_name[name]),
                        "config": self._config(by_name[name]),
                        "seconds": seconds,
                    }
                    for name in part
                ],
            }
            share = 1 - len(pending) / len(by_name)
            scale = len(part) / len(by_name)

            def show(task: str, inner: float, share: float = share, scale: float = scale) -> None:
                self._progress(task, share + inner * scale)

            try:
                run_child(
                    "cfgfix.measure.search:job",
                    options,
                    seconds=120 + len(part) * options["trial_limit"],
                    progress=show,
                )
            except UserCodeError as error:
                ended, started = self._state()
                opened = [name for name in part if started.get(name) and name not in ended]
                if opened:
                    reason = error.message + (f": {error.hint}" if error.hint else "")
                    self._fail(opened[-1], reason, error.trace)
                elif not any(name in ended for name in part):
                    raise
            if not any(name in self._state()[0] for name in part):
                raise CfgfixError(
                    f"{self._journal} was changed while the search ran",
                    hint="name a file of its own with --state",
                )
        ended = self._state()[0]
        return [ended[name] for name in names]

    def _fail(self, name: str, reason: str, trace: str = "") -> None:
        from cfgfix.measure.search import append

        append(self._journal, {"event": "failed", "id": name, "error": reason, "trace": trace[-4000:]})

    def _failures(self) -> dict[str, str]:
        """Return why settings failed, by their text, whatever the stage."""
        return {
            name.partition("\t")[2]: str(entry["error"])
            for name, entry in self._state()[0].items()
            if entry["event"] == "failed"
        }

    def _state(self) -> tuple[dict[str, dict[str, Any]], dict[str, int]]:
        from cfgfix.measure.search import read

        done: dict[str, dict[str, Any]] = {}
        starts: dict[str, int] = {}
        for entry in read(self._journal):
            name = str(entry.get("id"))
            if entry.get("event") == "start":
                starts[name] = starts.get(name, 0) + 1
            elif entry.get("event") in ("result", "failed"):
                done.setdefault(name, entry)
        return done, starts


def _name(values: Mapping[str, Any]) -> str:
    return json.dumps(values, sort_keys=True, default=str)


def fingerprint(plan: Plan, bound: Bound | None) -> str:
    """Return a hash of config, space, code, versions and way of measuring.

    Results of a search belong to it.
    """
    from importlib import metadata

    from cfgfix import __version__
    from cfgfix.hardware.detect import detect

    parts: list[Any] = [
        __version__,
        _version(metadata, "tensorflow"),
        bound.document.source.text if bound else None,
        os.path.abspath(plan.config) if plan.config else None,
        {name: list(values) for name, values in plan.space.items()},
        {name: plan.options.get(name) for name in sorted(plan.options)},
        [_code_of(plan, role) for role in ("dataset", "step", "config_loader")],
        plan.seconds,
        plan.cold,
        str(detect(ask_driver=False).cpu.usable.value),
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:24]


def _version(metadata: Any, name: str) -> str | None:
    try:
        return str(metadata.version(name))
    except metadata.PackageNotFoundError:
        return None


def _code_of(plan: Plan, role: str) -> str | None:
    """Return a digest of the file of a user's function, so that results of other code do not count; it is not imported."""
    spec = plan.options.get(role)
    if not isinstance(spec, str):
        return None
    relative = os.path.join(*spec.partition(":")[0].split("."))
    for root in (os.getcwd(), *plan.options.get("source_roots", ())):
        for ending in (".py", os.sep + "__init__.py"):
            path = os.path.join(root, relative + ending)
            if os.path.isfile(path):
                with open(path, "rb") as stream:
                    return hashlib.sha256(stream.read()).hexdigest()
    return None


def _journal(plan: Plan, mark: str) -> str:
    """Return the path of the journal, begun anew or, on resuming, as it is.

    Raises:
        CfgfixError: There is nowhere to put it, or the one to resume belongs to another search.
    """
    from cfgfix.core.cache import cache_folder
    from cfgfix.measure.search import append, read

    path = plan.state
    if path is None:
        folder = cache_folder()
        if folder is None:
            raise CfgfixError(
                "there is no cache folder for the search's state", hint="name a file with --state"
            )
        path = os.path.join(folder, f"tune-{mark}.jsonl")
    try:
        entries = read(path)
        if plan.resume and entries:
            if entries[0].get("fingerprint") != mark:
                raise CfgfixError(
                    f"{path} holds another search: config, space, code or versions differ",
                    hint="search anew without --resume",
                )
            return path
        used = os.path.isfile(path) and os.path.getsize(path) > 0
        if used and not (entries and entries[0].get("event") == "search"):
            raise CfgfixError(f"{path} is no state of a search; it is left as it is")
        with open(path, "w", encoding="utf-8"):
            pass
        append(path, {"event": "search", "version": 1, "fingerprint": mark})
    except OSError as error:
        raise UnreadableError(f"cannot be used: {error.strerror}", path=path) from error
    return path


def search(plan: Plan, progress: Any) -> Found:
    """Search, and hold the best against the present setting.

    Raises:
        UserCodeError: The user's code fails with the present setting.
        CfgfixError: Nothing can be searched, or the arguments are wrong.
    """
    import tempfile

    bound, plan, present, notes = _prepared(plan)
    cache = _cache(plan, notes)
    with tempfile.TemporaryDirectory(prefix="cfgfix-tune-") as folder:
        journal = _journal(plan, fingerprint(plan, bound))
        runner = _Runner(plan, bound, folder, journal, progress)
        return _searched(plan, bound, present, notes, cache, runner)


def _prepared(plan: Plan) -> tuple[Bound | None, Plan, dict[str, Any], list[str]]:
    """Return the config's keys, the plan with the space that can be searched, the present setting, and notes."""
    notes: list[str] = []
    bound = None
    space = {name: plan.space[name] for name in CONCEPTS if plan.space.get(name)}
    if plan.config is not None:
        bound = bind(plan.config)
        problems = {name: text for name, text in bound.notes.items() if name in space}
        problems.update(_settable(bound, space))
        for name in [name for name in problems if name in BY_CODE and name not in bound.paths]:
            notes.append(f"{name}: {problems.pop(name)}, so it is tried on the dataset as the code makes it")
        for name, text in problems.items():
            if name in plan.wanted:
                raise CfgfixError(f"{name} cannot be searched: {text}", path=plan.config)
            notes.append(f"{name} is not searched: {text}")
            del space[name]
        present = {name: bound.present[name] if name in bound.paths else BY_CODE[name] for name in space}
        for name, values in list(space.items()):
            taken = tuple(
                value for value in values if not any(_same_value(value, one) for one in bound.special[name])
            )
            if len(taken) < len(values):
                notes.append(
                    f"{name}: the program gives some of these values a meaning of its own; they are left out"
                )
            space[name] = taken
        if "mixed_precision" in space and isinstance(present["mixed_precision"], str):
            policies = {True: "mixed_float16", False: "float32"}
            space["mixed_precision"] = tuple(policies.get(value, value) for value in space["mixed_precision"])
    else:
        present = {
            "batch_size": 16,
            "workers": -1,
            "prefetch": -1,
            "private_threads": 0,
            "xla": False,
            "mixed_precision": False,
        }
        present.update(plan.options.get("speech", {}))
        present = {name: present[name] for name in space}
    for name, values in list(space.items()):
        if not any(_same_value(value, present[name]) for value in values):
            space[name] = _sorted((*values, present[name]))
    if not any(len(values) > 1 for values in space.values()):
        told = "; ".join(notes)
        raise CfgfixError(f"there is nothing to search{': ' + told if told else ''}", path=plan.config)
    notes += [text for name, text in LEARNING.items() if len(space.get(name, ())) > 1]
    return bound, replace(plan, space=space), present, notes


def _sorted(values: Sequence[Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(values))
    except TypeError:
        return tuple(values)


def _cache(plan: Plan, notes: list[str]) -> str:
    """Warm the files where the search is a warm one; return what is so of the page cache."""
    from cfgfix.measure import storage

    path = plan.options.get("data_path")
    if plan.cold:
        if path is None:
            raise CfgfixError("--cold needs to know the files", hint="name their folder with --data-path")
        if not storage.supports_eviction():
            raise CfgfixError("this system does not let a file be taken out of the page cache")
        return "cold: the data's files are taken out of the page cache before each trial"
    if path is None:
        return "warm: the pipeline runs once with the present setting before anything counts; which files it reads is not known (--data-path names them)"
    if storage.warm(storage.data_files((), path)):
        return "warm: the data's files were read once before"
    notes.append(
        f"the files are larger than {storage.WARM_LIMIT >> 30} GiB and were not all read before: some reads may be cold"
    )
    return "partly warm: the first part of the data's files was read once before"


def _searched(
    plan: Plan, bound: Bound | None, present: dict[str, Any], notes: list[str], cache: str, runner: _Runner
) -> Found:
    from cfgfix.hardware.detect import detect
    from cfgfix.measure.sampling import UserCodeError

    probe = runner.run([("probe", present)], plan.seconds, "trying the present setting")[0]
    if probe["event"] == "failed":
        raise UserCodeError(
            f"the present setting fails: {probe['error']}",
            trace=str(probe.get("trace", "")),
            hint="a search starts from a setting that runs",
        )
    excluded: list[tuple[Mapping[str, Any], str]] = []
    running: list[dict[str, Any]] = []
    ram = detect(ask_driver=False).memory.total_mib.value
    if ram is None:
        notes.append("how much RAM this process may use is not known: nothing is left out for its memory")
    prefetch = bound.present.get("prefetch") if bound is not None else None
    wrong = _errors_of_values(plan, bound)
    for values in candidates(plan.space):
        bad = [text for name, value in values.items() if (text := wrong.get((name, str(value)))) is not None]
        reason = (
            bad[0]
            if bad
            else too_large(
                values,
                sample_bytes=probe["batch_bytes"] / max(probe["batch_samples"], 1),
                batch=probe["batch_samples"],
                prefetch=prefetch,
                ram_mib=ram,
            )
        )
        if reason is not None and _name(values) != _name(present):
            excluded.append((values, reason))
        else:
            running.append(values)
    chooser = random.Random(0)  # noqa: S311 - the order of trials, no secret
    results: dict[str, Try] = {}
    seconds, turn = plan.seconds, 0
    while running:
        turn += 1
        order = chooser.sample(running, len(running))
        told = f"round {turn}: {len(order)} settings, {seconds:g} s each"
        # There and back, half of the time each: a machine that gets slower meanwhile is slower for all alike.
        there = [(f"round {turn}", values) for values in order]
        back = [(f"round {turn} back", values) for values in reversed(order)]
        entries = runner.run([*there, *back], seconds / 2, told)
        for values, *both in zip(order, entries, reversed(entries), strict=False):
            results[_name(values)] = _try(values, both, seconds)
        ranked = sorted(
            (values for values in order if results[_name(values)].rate is not None),
            key=lambda values: -(results[_name(values)].rate or 0.0),
        )
        if len(ranked) <= 1:
            break
        running = ranked[: max(1, -(-len(ranked) // KEEP))]
        if len(running) == 1:
            break
        seconds *= KEEP
    # Where all of the last round failed, what ran before still counts.
    ran = [results[_name(values)] for values in ranked] or [
        one for one in results.values() if one.rate is not None
    ]
    best = max(ran, key=lambda one: one.rate or 0.0, default=None)
    if best is not None:

        def refused(values: Mapping[str, Any]) -> str | None:
            return too_large(
                values,
                sample_bytes=probe["batch_bytes"] / max(probe["batch_samples"], 1),
                batch=probe["batch_samples"],
                prefetch=prefetch,
                ram_mib=ram,
            )

        best = _search_beyond_edge(plan, best, results, runner, notes, refused)
    mine = results[_name(present)]
    if mine.rate is None:
        notes.append(f"the present setting failed in a round: {mine.error}")
    winner = best if best is not None and _name(best.values) != _name(present) else None
    pairs: list[tuple[float, float]] = []
    ratio = None
    if winner is not None:
        pairs, ratio = _confirmed(plan, present, winner.values, runner, notes)
    if runner.reused:
        notes.append(f"{runner.reused} results were taken over from an earlier search of the same things")
    return Found(
        source=str(
            plan.options.get("dataset") or f"built-in speech pipeline on {plan.options.get('data_path')}"
        ),
        space=plan.space,
        tried=tuple(results.values()),
        present=mine,
        winner=winner,
        ratio=ratio,
        pairs=tuple(pairs),
        excluded=tuple(excluded),
        cache=cache,
        notes=tuple(notes),
        bound=bound,
        changes=_changes(bound, winner.values) if winner is not None and bound is not None else (),
        code_changes=_code_changes(bound, winner.values) if winner is not None and bound is not None else (),
    )


def at_edge(values: Mapping[str, Any], space: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return the concepts whose value is the largest of several that were tried."""
    found = []
    for name, value in values.items():
        tried = [one for one in space.get(name, ()) if type(one) is int and one > 0]
        if type(value) is int and len(space.get(name, ())) > 1 and tried and value >= max(tried):
            found.append(name)
    return found


def _search_beyond_edge(
    plan: Plan,
    best: Try,
    results: dict[str, Try],
    runner: _Runner,
    notes: list[str],
    refused: Callable[[Mapping[str, Any]], str | None],
) -> Try:
    """Go on from a best setting at the edge of what was tried, by doubling, for as long as that gains.

    Values that the user named are the user's bounds: there the edge is only told.
    """
    edge = at_edge(best.values, plan.space)
    notes += [
        f"{name}: the best value, {best.values[name]}, is the largest that was tried; name larger ones to go on from there"
        for name in edge
        if name in plan.wanted
    ]
    edge = [name for name in edge if name not in plan.wanted and name not in LEARNING]
    for turn in range(1, MOST_STEPS_BEYOND + 1):
        further = [
            values
            for name in edge
            if refused(values := {**best.values, name: 2 * best.values[name]}) is None
            and _name(values) not in results
        ]
        if not further:
            break
        order = [dict(best.values), *further]
        # The best runs again beside them: the machine may have changed since.
        there = [(f"beyond {turn}", values) for values in order]
        back = [(f"beyond {turn} back", values) for values in reversed(order)]
        entries = runner.run([*there, *back], plan.seconds, "going on beyond the largest values")
        now = [
            _try(values, both, plan.seconds)
            for values, *both in zip(order, entries, reversed(entries), strict=False)
        ]
        results.update({_name(one.values): one for one in now[1:]})
        better = max(now[1:], key=lambda one: one.rate or 0.0)
        if not better.rate or not now[0].rate or better.rate < WORTH_GOING_ON * now[0].rate:
            break
        edge = [name for name in edge if better.values[name] != best.values[name]]
        notes.append(
            f"the best lay at the edge of what was tried, so {setting_text(better.values)} was tried, too"
        )
        best = better
    return best


def _try(values: Mapping[str, Any], entries: Sequence[Mapping[str, Any]], seconds: float) -> Try:
    """Return a setting's result from its two trials: the samples of both over the time of both, as they took equal times."""
    for entry in entries:
        if entry["event"] == "failed":
            return Try(values, None, str(entry["error"]), seconds)
    rates = [float(entry["samples_per_second"]) for entry in entries]
    return Try(
        values, sum(rates) / len(rates), None, seconds, sum(int(entry["batches"]) for entry in entries)
    )


def _confirmed(
    plan: Plan, present: Mapping[str, Any], winner: Mapping[str, Any], runner: _Runner, notes: list[str]
) -> tuple[list[tuple[float, float]], Interval | None]:
    """Run present and winner in pairs, the order alternating, and return the pairs and the ratio with its interval."""
    from cfgfix.measure.statistics import paired_ratio

    trials: list[tuple[str, Mapping[str, Any]]] = []
    for number in range(plan.pairs):
        pair = [(f"pair {number}", present), (f"pair {number}", winner)]
        trials += pair if number % 2 == 0 else pair[::-1]
    entries = runner.run(trials, KEEP * plan.seconds, "the best against the present setting")
    rates: dict[tuple[str, str], float] = {}
    failures = []
    for (stage, values), entry in zip(trials, entries, strict=True):
        if entry["event"] == "failed":
            failures.append(str(entry["error"]))
        else:
            rates[stage, _name(values)] = float(entry["samples_per_second"])
    if failures:
        notes.append(f"{len(failures)} of the paired runs failed: {failures[0]}")
        return [], None
    pairs = [
        (rates[f"pair {number}", _name(present)], rates[f"pair {number}", _name(winner)])
        for number in range(plan.pairs)
    ]
    return pairs, paired_ratio([pair[0] for pair in pairs], [pair[1] for pair in pairs])


def _changes(bound: Bound, values: Mapping[str, Any]) -> tuple[tuple[str, str, Any, Any], ...]:
    from cfgfix.core.findings import format_key_path

    return tuple(
        (name, format_key_path(bound.paths[name]), bound.present[name], value)
        for name, value in values.items()
        if name in bound.paths and not _same_value(value, bound.present[name])
    )


def _code_changes(bound: Bound, values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what to change in the code for the values that no key of the config gives."""
    return tuple(
        _IN_CODE[name].format("tf.data.AUTOTUNE" if value == -1 else value)
        for name, value in values.items()
        if name not in bound.paths and not _same_value(value, BY_CODE.get(name))
    )


# applying


def write_winner(path: str, found: Found) -> None:
    """Write the winner into the config.

    The editor makes the edit, and the proof shows that it is that and nothing else.

    Raises:
        UnreadableError: The edit cannot be made or proven, would bring a new error, or the file has changed meanwhile; it is
            then as it was.
        ValueError: The search proves no gain.
    """
    from cfgfix.config.document.editor import plan
    from cfgfix.config.document.proof import ProofError, prove
    from cfgfix.config.document.refusals import Refusal
    from cfgfix.core.edits import Change, InsertKey, SetValue, splice
    from cfgfix.core.source_file import read_source, replace_atomically

    if not found.gain or found.winner is None or found.bound is None:
        raise ValueError("only a setting whose gain is proven is written")
    if found.code_changes:
        raise UnreadableError(
            f"the better setting needs a change to the code, so it was left as it is: {'; '.join(found.code_changes)}",
            path=path,
        )
    bound = found.bound
    document = bound.document
    changes: list[Change] = []
    for name, _, _, value in found.changes:
        key = bound.paths[name]
        if document.find(key) is not None:
            changes.append(SetValue(key, value))
        else:
            changes.append(InsertKey(key[:-1], str(key[-1]), value))
    try:
        edits = plan(document, changes)
        text = splice(document.source.text, edits)
        prove(document, text, changes, edits, bound.loader)
    except (Refusal, ProofError) as refusal:
        raise UnreadableError(f"the better setting cannot be written: {refusal}", path=path) from refusal
    data = document.source.encode(text)
    before = _errors(document.source.encode(document.source.text), path)
    if new := sorted(_errors(data, path) - before):
        raise UnreadableError(f"the better setting would bring a new error: {', '.join(new)}", path=path)
    current = read_source(path)
    if current.text != document.source.text or current.stamp is None:
        raise UnreadableError("changed during the search; it was left as it is", path=path)
    replace_atomically(path, data, current.stamp)


def _errors_of_values(plan: Plan, bound: Bound | None) -> dict[tuple[str, str], str]:
    """Return why values of the space would be errors in the config: they could not be written, so they are not tried."""
    found: dict[tuple[str, str], str] = {}
    if bound is None or plan.config is None:
        return found
    before = _errors(bound.text_with({}), plan.config)
    for name, values in plan.space.items():
        for value in values:
            if new := _errors(bound.text_with({name: value}), plan.config) - before:
                found[name, str(value)] = (
                    f"the rules call {name} {_yaml(value)} an error: {', '.join(sorted(new))}"
                )
    return found


def _errors(data: bytes, path: str) -> set[str]:
    """Return what the rules call an error in a text."""
    from cfgfix.core.findings import Severity, format_key_path
    from cfgfix.lint import runner as engine

    report = engine.check(engine.Request(stdin=data, stdin_name=path))
    return {
        f"{found.rule} {format_key_path(found.key_path) if found.key_path else found.message}"
        for found in report.findings()
        if found.severity is Severity.ERROR
    }


__all__ = [
    "OLDER_GRID",
    "Bound",
    "Found",
    "Plan",
    "Try",
    "bind",
    "candidates",
    "default_space",
    "fingerprint",
    "search",
    "setting_text",
    "too_large",
    "write_winner",
]
