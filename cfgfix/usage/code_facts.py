"""What the code of a repository says of its configs, as it is used and as it is kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cfgfix.code.model import nodes
from cfgfix.config.dialects.parameters import Branch, Reached
from cfgfix.core.edits import Change, RenameKey, SetValue
from cfgfix.core.findings import Location
from cfgfix.core.records import dataclass
from cfgfix.rules.hit import Hit, Span, span_of
from cfgfix.usage.config_files import KeyPath, Place
from cfgfix.usage.job_limits import Job, Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.usage.unopened import FollowedCode


@dataclass(frozen=True, slots=True)
class CodeFacts:
    """What the code says of one config.

    Attributes:
        loader: The name in `LOADERS` of the loader that reads the config.
        form: `yaml`, `json` or `toml`.
        evidence: One line for each program that opens the config, with how that is known.
        framework: Whether a program that uses TensorFlow or Keras opens the config.
        another: Whether only programs that use another framework open the config.
        hits: The hits in the config, each with the name of the rule's check.
        converted: Names of keys whose value the code converts to a number itself.
        digest: The digest of the config's text.
        reached: The parameters of TensorFlow that its values or constants of its programs reach.
        job: The job that runs a program with the config under limits, or None.
        branches: The branches of the code that the config decides.
        fallbacks: The defaults, in words, that the code takes for absent keys.
        release: The newest TensorFlow that the code may be run with, as `Api.newest`; 0 for none.
        known_words: Names of keys with a word for nothing that the code knows: it compares the value with it.
    """

    loader: str
    form: str
    evidence: tuple[str, ...]
    framework: bool
    another: bool
    hits: tuple[tuple[str, Hit], ...]
    converted: frozenset[str]
    digest: bytes
    programs: tuple[str, ...] = ()
    """The programs that open it, as paths relative to the repository."""
    modules: frozenset[str] = frozenset()
    """The Python files that load it or read its keys, as paths relative to the repository."""
    reads: tuple[tuple[KeyPath, Place], ...] = ()
    """Where each key is read first: a path relative to the repository, and a line."""
    asked: tuple[tuple[KeyPath, Place], ...] = ()
    """The keys that the code asks for and the file lacks, with where."""
    ways: tuple[tuple[str, ...], ...] = ()
    """For each line of the evidence, the calls on the way to the one that loads the file, and that one."""
    reached: tuple[Reached, ...] = ()
    job: Job | None = None
    branches: tuple[Branch, ...] = ()
    fallbacks: tuple[tuple[KeyPath, str], ...] = ()
    release: int = 0
    known_words: tuple[tuple[str, str], ...] = ()


OptionHit = tuple[str, str, Hit]
"""What is wrong with an option or a batch in the code: the Python file, relative to the repository, the name of the rule's check, the place."""


@dataclass(frozen=True, slots=True)
class KnownCode:
    """What the code of a repository says of all its configs.

    Attributes:
        configs: The facts about every config that the code opens, by path relative to the repository.
        followed: What was found of the code, for configs that no code opens.
        options: The hits on options of programs; None where they were not asked for.
        modules: The Python files that hold settings, each with the programs that import it, as paths relative to the repository.
        classes: The classes with fields that load their objects from a file, as `path:Class`.
    """

    configs: dict[str, CodeFacts]
    followed: FollowedCode
    options: tuple[OptionHit, ...] | None
    modules: tuple[tuple[str, tuple[str, ...]], ...] = ()
    classes: tuple[str, ...] = ()


def packed(known: KnownCode) -> Any:
    """Return the known code as data that `marshal` can write."""
    configs = [
        (
            path,
            item.loader,
            item.form,
            item.evidence,
            item.framework,
            item.another,
            [(name, _packed_hit(hit)) for name, hit in item.hits],
            sorted(item.converted),
            item.digest,
            item.programs,
            sorted(item.modules),
            item.reads,
            item.asked,
            item.ways,
            [_packed_reached(one) for one in item.reached],
            _packed_job(item.job) if item.job is not None else None,
            [(one.module, one.place.plain, one.taken, one.path) for one in item.branches],
            item.fallbacks,
            item.release,
            item.known_words,
        )
        for path, item in known.configs.items()
    ]
    followed = known.followed
    calls = [(call.place, call.endings, call.names) for call in followed.calls]
    options = (
        None
        if known.options is None
        else [(path, check, _packed_hit(hit)) for path, check, hit in known.options]
    )
    return (
        configs,
        options,
        (
            followed.modules,
            followed.programs,
            followed.framework,
            followed.cut_off,
            calls,
            followed.mentions,
        ),
        known.modules,
        known.classes,
    )


def _packed_job(job: Job) -> tuple[object, ...]:
    limits = job.limits
    return job.kind, job.path, job.line, limits.cpus, limits.ram_mib, limits.card, limits.said, limits.gpus


def _packed_place(place: Location) -> Any:
    return (
        place.path,
        place.start,
        place.end,
        place.line,
        place.column,
        place.end_line,
        place.end_column,
        place.label,
    )


def _packed_reached(item: Reached) -> Any:
    return (
        item.call,
        item.parameter,
        item.path,
        item.unchanged,
        item.value,
        item.known,
        item.always,
        item.alone,
        _packed_place(item.location),
        item.place.plain if item.place is not None else None,
        item.argument,
    )


def _packed_hit(hit: Hit) -> Any:
    changes = [
        ("rename", change.path, change.new)
        if isinstance(change, RenameKey)
        else ("set", change.path, change.value, change.text)
        for change in hit.changes
        if isinstance(change, (RenameKey, SetValue))
    ]
    places = [_packed_place(item) for item in hit.related if isinstance(item, Location)]
    span = span_of(hit)
    return (
        span.start,
        span.end,
        span.key_path,
        dict(hit.values),
        changes,
        hit.severity,
        hit.safety,
        hit.notes,
        places,
        hit.title,
    )


def unpacked(data: Any) -> KnownCode:
    """Return the known code from the data that `packed` made."""
    from cfgfix.usage.unopened import FollowedCode, OpenCall

    found, options, (modules, programs, framework, cut_off, calls, mentions), held, classes = data
    followed = FollowedCode(
        modules,
        programs,
        framework,
        cut_off,
        tuple(OpenCall(place, tuple(endings), tuple(names)) for place, endings, names in calls),
        mentions,
    )
    configs = {
        path: CodeFacts(
            loader,
            form,
            tuple(evidence),
            framework,
            another,
            tuple((name, _unpacked_hit(hit)) for name, hit in hits),
            frozenset(converted),
            digest,
            tuple(openers),
            frozenset(readers),
            reads,
            asked,
            ways,
            tuple(_unpacked_reached(one) for one in reached),
            Job(job[0], job[1], job[2], Limits(*job[3:])) if job is not None else None,
            tuple(
                Branch(module, nodes.Place(*place), taken, path) for module, place, taken, path in branches
            ),
            tuple(fallbacks),
            release,
            tuple((name, word) for name, word in words),
        )
        for path, loader, form, evidence, framework, another, hits, converted, digest, openers, readers, reads, asked, ways, reached, job, branches, fallbacks, release, words in found
    }
    return KnownCode(
        configs,
        followed,
        None if options is None else tuple((path, check, _unpacked_hit(hit)) for path, check, hit in options),
        tuple((path, tuple(importing)) for path, importing in held),
        tuple(classes),
    )


def _unpacked_reached(data: Any) -> Reached:
    call, parameter, path, unchanged, value, known, always, alone, location, place, argument = data
    return Reached(
        call,
        parameter,
        path,
        unchanged,
        value,
        known,
        always,
        alone,
        Location(*location),
        nodes.Place(*place) if place is not None else None,
        argument,
    )


def _unpacked_hit(data: Any) -> Hit:
    start, end, path, values, changes, severity, safety, notes, places, title = data
    return Hit(
        Span(start, end, path),
        values=values,
        changes=tuple(_changes_of_data(changes)),
        severity=severity,
        safety=safety,
        title=title,
        notes=tuple(notes),
        related=tuple(Location(*place) for place in places),
    )


def _changes_of_data(data: Any) -> Iterator[Change]:
    for kind, path, *rest in data:
        if kind == "rename":
            yield RenameKey(tuple(path), rest[0])
        else:
            yield SetValue(tuple(path), rest[0], rest[1])
