"""Run the selected source rules over a project's Python files: files in, findings out, kept for the next run."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from cfgfix.code.finding_maker import MAX_CONFIG_SETS, ConfigFacts, FindingMaker
from cfgfix.code.inference.conditions import Conditions
from cfgfix.code.inference.flow.flow import Flow
from cfgfix.code.model.given import GivenByConfigs, Substitution, substitute
from cfgfix.code.model.hit import place_in_code
from cfgfix.code.model.program import Program
from cfgfix.code.model.python_files import PythonFile, clear_package_cache
from cfgfix.code.model.scanning import FRAMEWORKS
from cfgfix.code.model.summary_cache import SummaryStore
from cfgfix.code.tensorflow.requirement import FILES, Requirement
from cfgfix.code.tensorflow.requirements import find_requirement
from cfgfix.core import cache
from cfgfix.core.finding_data import pack_finding, unpack_finding
from cfgfix.core.findings import Finding, Severity
from cfgfix.core.records import dataclass, replace
from cfgfix.rules.hit import Hit
from cfgfix.rules.rule import About, Rule

TYPE_CHECKING = False

PREFIX = "source."


@dataclass(frozen=True, slots=True)
class ScanResult:
    """What a scan came to.

    Attributes:
        findings: By path, ordered by place.
        scanned: How many files were read as Python or known from before.
        cached: Whether all of it was known from the run before.
        marked: Files with suppression comments.
        looked_in: Requirement files that were looked for.
    """

    findings: dict[str, list[Finding]]
    scanned: int
    cached: bool
    marked: tuple[str, ...] = ()
    looked_in: tuple[str, ...] = ()


def source_rules(rules: Iterable[Rule]) -> list[Rule]:
    """Return the rules whose check reads Python source."""
    return [rule for rule in rules if rule.check is not None and rule.check.startswith(PREFIX)]


@dataclass(frozen=True, slots=True)
class Check:
    """What carries a source rule out.

    Attributes:
        function: Yields what the rule finds in a program.
        passed_over: Which modules, by identity, the function's group says nothing of; None for no such group.
    """

    function: Callable[[Program], Iterable[Hit]]
    passed_over: Callable[[Program, object], frozenset[int]] | None


def check_function(rule: Rule) -> Check:
    """Return what carries a source rule out."""
    assert rule.check is not None
    name, _, function = rule.check[len(PREFIX) :].partition(".")
    module = importlib.import_module(f"cfgfix.code.checks.{name}")
    return Check(
        getattr(module, function or "check"),
        getattr(module, "passed_over", None),
    )


def _write_key(leaf: tuple[Any, Any]) -> str:
    """Return a key with its value as a text; Python writes no integer of more than 4,300 digits in decimal."""
    path, value = leaf
    return f"{path!r} {hex(value) if type(value) is int else repr(value)}"


def scan(
    files: Sequence[PythonFile],
    rules: Iterable[Rule],
    configs: Sequence[ConfigFacts],
    *,
    severity: Callable[[Rule, Severity], Severity],
    key: object,
    overlay: Mapping[str, bytes] | None = None,
    use_cache: bool = True,
    progress: Callable[[int, int], None] | None = None,
    tensorflow: str = FILES,
    hits: Callable[[Program], Iterable[tuple[Rule, Hit]]],
    under: Sequence[GivenByConfigs] = (),
    under_now: bool = False,
) -> ScanResult:
    """Return what the rules find in the files under the configs.

    Args:
        files: The files, as discovered.
        rules: The selected rules; those that do not read source are passed over.
        configs: What the guards are judged under; none means every key is unknown.
        severity: A rule's severity as the settings want it.
        key: What else the result depends on (the rules' content, the tool's version), for the caches.
        overlay: Contents that stand for those on disk, by path.
        use_cache: Whether to keep and use results between runs.
        progress: Called with the number of files read and of all files.
        tensorflow: Which TensorFlow is meant: a release, or where to look for it (the setting of this name).
        hits: Yields what is wrong in the linked program.
        under: What configs give to calls; what is found only then says under which.
        under_now: Whether that is so of the contents in `overlay`; else nothing is known of it there.
    """
    chosen = source_rules(rules)
    if not chosen or not files:
        return ScanResult({}, len(files), cached=False)
    # A text that is being typed is judged with what is known of the other files, and nothing is kept of it.
    keep, use_cache = use_cache, use_cache and not overlay
    requirement = find_requirement([file.path for file in files], tensorflow)
    name, question = "", None
    if keep:
        name = cache.name_of(file.path for file in files)
    if use_cache:
        facts = cache.key_of(
            (
                [(file.path, file.stamp, file.named) for file in files],
                [(rule.id, int(severity(rule, rule.severity))) for rule in chosen],
                [(config.path, sorted(map(_write_key, config.leaves.items()))) for config in configs],
                repr(key),
                repr(replace(requirement, looked_in=())),
                [item.question for item in under],
            )
        )
        question = facts
        known = cache.load(f"scan-{name}", question)
        if known is not None:
            kept, marked = known
            return ScanResult(
                {path: [unpack_finding(item) for item in items] for path, items in kept.items()},
                len(files),
                cached=True,
                marked=marked,
                looked_in=requirement.looked_in,
            )
    clear_package_cache()
    with contextlib.closing(
        SummaryStore(name or "none", FRAMEWORKS, enabled=keep, writes=use_cache)
    ) as store:
        folder = os.path.commonpath([os.path.dirname(os.path.abspath(file.path)) for file in files])
        edited = {os.path.abspath(path) for path in overlay or ()} if not under_now else set()

        def judged(given: GivenByConfigs | None) -> tuple[FindingMaker, list[Substitution]]:
            program = Program(files, store, FRAMEWORKS, overlay or {})
            program.requirement = requirement
            program.configs = tuple(configs)
            program.scan(_process_count(), progress if given is None else None)
            replaced = substitute(program, given, edited) if given is not None else []
            if given is not None and not replaced:
                return FindingMaker(program, [], severity, folder), []
            Flow(program).run()
            conditions: list[tuple[ConfigFacts | None, Conditions]] = [
                (config, Conditions(program, config.lookup()))
                for config in configs
                if given is None
                or os.path.abspath(config.path) in {os.path.abspath(path) for path in given.configs}
            ]
            conditions = conditions or [(None, Conditions(program, None))]
            maker = FindingMaker(program, conditions, severity, folder)
            maker.take(hits(program))
            return maker, replaced

        maker, _ = judged(None)
        program = maker.program
        maker.add_given_by_configs(
            [(*judged(item), item) for item in under[:MAX_CONFIG_SETS]],
            frozenset(rule.id for rule in chosen if rule.policy.told_at_config),
            whole=len(under) <= MAX_CONFIG_SETS,
        )
        findings = maker.in_order()
        marked = tuple(module.path for module in program.linked if module.summary.suppressions)
        if use_cache:
            store.keep_only(set(program.files))
            program.save()
            packed = {path: [pack_finding(item) for item in items] for path, items in findings.items()}
            cache.store(f"scan-{name}", question, (packed, marked))
    if progress is not None:
        progress(len(files), len(files))
    return ScanResult(findings, len(files), cached=False, marked=marked, looked_in=requirement.looked_in)


MAX_PROJECTS = 12
"""Most projects of a collection that are judged by requirements of their own."""


def _projects_below(program: Program, requirement: Requirement) -> list[tuple[Requirement, frozenset[int]]]:
    """Return the projects below with requirements of their own: what each asks for, and its modules by identity."""
    below = dict(requirement.below)
    found: dict[str, set[int]] = {}
    for module in program.modules:
        folder = os.path.dirname(os.path.abspath(module.path))
        while folder not in below and folder != os.path.dirname(folder):
            folder = os.path.dirname(folder)
        if folder in below:
            found.setdefault(folder, set()).add(id(module))
    largest = sorted(found, key=lambda folder: (-len(found[folder]), folder))[:MAX_PROJECTS]
    return [(below[folder], frozenset(found[folder])) for folder in sorted(largest)]


def source_hits(rules: Iterable[Rule], program: Program) -> Iterator[tuple[Rule, Hit]]:
    """Yield what rules whose check reads Python source find in a program.

    Args:
        rules: The rules; others are passed over.
        program: The program; what it requires is, at the end, what the last project of a collection does.
    """
    checks = [(rule, check_function(rule)) for rule in source_rules(rules)]
    if not checks:
        return
    projects = _projects_below(program, program.requirement)
    elsewhere = frozenset().union(*(modules for _, modules in projects))
    yield from _hits_of(checks, program, elsewhere)
    about = [item for item in checks if item[0].policy.about is About.RELEASE]
    for asked, modules in projects:
        # Each project of a collection has its own releases: what depends on them is asked again.
        program.requirement = asked
        program.answers = {}
        others = frozenset(id(module) for module in program.modules) - modules
        yield from _hits_of(about, program, others)


def _hits_of(
    checks: Iterable[tuple[Rule, Check]], program: Program, apart: frozenset[int]
) -> Iterator[tuple[Rule, Hit]]:
    """Yield what checks find in a program.

    Args:
        checks: The rules with what carries each out.
        program: The program.
        apart: Modules, by identity, of which rules about releases say nothing.
    """
    for rule, check in checks:
        passed_over = check.passed_over(program, check.function) if check.passed_over else frozenset()
        if rule.policy.about is About.RELEASE:
            passed_over |= apart
        for hit in check.function(program):
            if id(place_in_code(hit).scope.module) not in passed_over:
                yield rule, hit


def _process_count() -> int:
    """Return how many processes may read files: one, or `CFGFIX_JOBS`.

    One is the default by measurement (`benchmarks/scan.py`): linking and judging stay in this process, and handing the
    summaries over costs more CPU than reading them elsewhere saves on machines that share their CPUs.
    """
    wanted = os.environ.get("CFGFIX_JOBS", "")
    return max(1, min(int(wanted), 64)) if wanted.isdigit() else 1


__all__ = ["ConfigFacts", "ScanResult", "check_function", "scan", "source_hits", "source_rules"]
