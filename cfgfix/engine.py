"""The one place that knows everything: a request becomes a report.

`check` looks, `fix` repairs. Both only return data; nothing is printed, and nothing but proven fixes is written.
"""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Callable, Iterable, Sequence

from cfgfix.baseline import Baseline, Key
from cfgfix.baseline import read as read_baseline
from cfgfix.baseline import split as split_known
from cfgfix.catalog.compiled import files_below
from cfgfix.catalog.load import Catalogue, with_folders
from cfgfix.catalog.rule import Rule
from cfgfix.dialects.detect import detect
from cfgfix.dialects.dialect import Dialect, Pattern, dialects, parse_pattern, schema_data
from cfgfix.discovery import find
from cfgfix.documents.compose import Document, Kind, compose
from cfgfix.documents.resolve import LOADERS, Loader
from cfgfix.edits import Edit, InsertKey, SetValue, splice
from cfgfix.errors import CfgfixError, ExitCode, UnreadableError
from cfgfix.files import SourceFile, read_source, replace_atomically
from cfgfix.findings import Applied, Finding, KeyPath, Location, Refused, Severity, fixable, parse_key_path
from cfgfix.judge import Judge, Skip, Target, ignored_by_path
from cfgfix.records import dataclass, field, replace
from cfgfix.schema.validate import Schema
from cfgfix.settings import Settings, discover

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfgfix.fixing import Outcome
    from cfgfix.schema.infer import Inferred


@dataclass(frozen=True, slots=True)
class Request:
    """What a user asks for."""

    paths: tuple[str, ...] = ()
    settings: Settings | None = None
    """None: discovered from the working folder."""
    fix: bool = False
    unsafe_fixes: bool = False
    diff: bool = False
    """Prove and show the fixes, write nothing."""
    overrides: tuple[tuple[str, str], ...] = ()
    """Key paths and YAML values, as a command line of the program would override them."""
    stdin: bytes | None = None
    stdin_name: str = "-"
    edits: bool = False
    """Work out the edits of every fix, for formats and editors that carry them."""
    baseline: str | None = None
    """A file of known findings that are not shown."""
    add_ignores: str | None = None
    """Write a suppression comment, with this reason, for every finding instead of repairing it."""


@dataclass(frozen=True, slots=True)
class FileReport:
    """What came of one file."""

    path: str
    text: str | None = None
    """The decoded text the findings' places refer to; None where the file could not be read."""
    dialect: str | None = None
    loader: str | None = None
    findings: tuple[Finding, ...] = ()
    hidden: tuple[Finding, ...] = ()
    """Findings that a suppression comment or the baseline silences."""
    edits: tuple[tuple[Edit, ...] | None, ...] = ()
    """The edits of each finding's fix, where they were asked for."""
    applied: tuple[Applied, ...] = ()
    refused: tuple[Refused, ...] = ()
    cycle: tuple[str, ...] = ()
    passed_over: str | None = None
    """Why the file was not checked, where it is no training config."""
    before: str | None = None
    after: str | None = None
    """Texts before and after fixing, where they differ."""
    encoded: bytes | None = None
    """For standard input: the fixed bytes."""
    language: str = "yaml"
    """`yaml`, or `python` for source code."""


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a request."""

    files: tuple[FileReport, ...]
    errors: tuple[CfgfixError, ...]
    skipped: tuple[Skip, ...]
    hardware: str
    """One line: which machine was judged by."""
    settings: Settings
    fixed: bool
    unsafe_fixes: bool
    written: bool
    rules: dict[str, Rule] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    """Every file and folder the answer rests on, for caches."""
    stale: tuple[str, ...] = ()
    """Baseline entries that nothing matches any more."""
    sources: int = 0
    """How many Python files were scanned."""

    def findings(self) -> list[Finding]:
        """Return all findings of all files."""
        return [finding for report in self.files for finding in report.findings]

    def exit_code(self) -> ExitCode:
        """Return the exit code of this report, the same for every output format."""
        if self.errors or any(report.refused or report.cycle for report in self.files):
            return ExitCode.UNREADABLE
        threshold = self.settings.threshold()
        if threshold is not None and any(finding.severity >= threshold for finding in self.findings()):
            return ExitCode.FINDINGS
        return ExitCode.CLEAN


def check(request: Request) -> Report:
    """Look at the files of a request and report what is wrong.

    Raises:
        CfgfixError: The arguments or the settings are wrong.
    """
    return _run(replace(request, fix=False))


def fix(request: Request) -> Report:
    """Repair what can be repaired: each fix proven, all files written only after all are proven.

    Raises:
        CfgfixError: The arguments or the settings are wrong.
    """
    return _run(replace(request, fix=True))


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine to judge by; `profile` is its name where several are checked."""

    lookup: Callable[[str], Any] | None
    label: str | None
    profile: str | None = None


@dataclass(slots=True)
class _Run:
    """The parts of a run that are the same for all its files."""

    settings: Settings
    judge: Judge
    dialects: dict[str, Dialect]
    machines: list[Machine]
    schemas: dict[str, Schema | None]
    targets: dict[tuple[str, str | None], Target]
    baseline: Baseline | None
    left: dict[Key, int]
    configs: list[tuple[Document, Loader]]
    """The configs of the run as overridden, for the guards in code."""
    inferred: Inferred | None = None
    """The schema read from a class, where the settings name one."""


def _run(request: Request) -> Report:
    settings = request.settings if request.settings is not None else discover(".")
    if request.overrides and request.fix:
        raise CfgfixError(
            "--set checks a config as an override would make it; it cannot be combined with fixing"
        )
    catalogue = with_folders(_inside(settings, folder) for folder in settings.rules)
    rules = select(catalogue, settings)
    judge = Judge(
        catalogue,
        rules,
        {key: Severity[value.upper()] for key, value in _severities(catalogue, settings).items()},
    )
    machines, line = _machines(settings)
    if len(machines) > 1 and (request.fix or request.add_ignores is not None):
        raise CfgfixError(
            "a fix is made for one machine", hint="name one profile with --hardware instead of all"
        )
    baseline = read_baseline(request.baseline) if request.baseline is not None else None
    run = _Run(
        settings=settings,
        judge=judge,
        dialects=_dialects(settings),
        machines=machines,
        schemas={},
        targets={},
        baseline=baseline,
        left=dict(baseline.counts) if baseline is not None else {},
        configs=[],
    )
    errors: list[CfgfixError] = []
    inputs = [_inside(settings, folder) for folder in settings.rules]
    inputs += [path for folder in inputs for path in files_below(folder, (".yaml", ".yml"))]
    inputs += [_inside(settings, name) for name in (settings.schema, settings.hardware) if name]
    inputs += [request.baseline] if request.baseline is not None else []
    reports: list[FileReport] = []
    skips: dict[str, Skip] = {}
    sources = 0
    collecting = gc.isenabled()
    gc.disable()
    try:
        if request.stdin is not None:
            try:
                source = SourceFile.from_bytes(request.stdin, request.stdin_name)
            except UnreadableError as error:
                errors.append(error)
            else:
                _one(run, source, request, reports, skips)
        else:
            for found in find(request.paths or (".",), settings, inputs):
                if found.named and found.path.endswith((".py", ".ipynb")):
                    continue
                inputs.append(found.path)
                if found.named and not found.path.endswith((".yaml", ".yml")) and len(request.paths) > 1:
                    continue
                try:
                    source = read_source(found.path)
                except UnreadableError as error:
                    if found.named:
                        errors.append(error)
                    else:
                        reports.append(
                            FileReport(found.path, passed_over=f"not readable as YAML text: {error.message}")
                        )
                    continue
                _one(run, source, request, reports, skips)
                if len(reports) % 64 == 0:
                    gc.collect(0)
            sources = _source(run, request, reports, inputs)
    finally:
        if collecting:
            gc.enable()
    if run.inferred is not None:
        inputs += run.inferred.files
    written = False
    if (request.fix or request.add_ignores is not None) and not request.diff and request.stdin is None:
        written = _write(reports, errors)
    return Report(
        files=tuple(
            replace(report, encoded=report.encoded if request.stdin is not None else None)
            for report in reports
        ),
        errors=tuple(errors),
        skipped=tuple(skips.values()),
        hardware=line,
        settings=settings,
        fixed=request.fix,
        unsafe_fixes=request.unsafe_fixes,
        written=written,
        rules={rule.id: rule for rule in judge.rules},
        inputs=tuple(inputs),
        stale=tuple(f"{path}: {rule} {place}" for (path, rule, place), count in run.left.items() if count),
        sources=sources,
    )


def _stamp(rules: Sequence[Rule]) -> object:
    """Return what changes when cfgfix itself or a source rule does."""
    from cfgfix.catalog.compiled import machinery, manifest
    from cfgfix.source import code_files

    paths = [rule.path for rule in rules if rule.check and rule.check.startswith("source.")]
    return machinery(), manifest(paths), manifest(code_files())


def _source(run: _Run, request: Request, reports: list[FileReport], inputs: list[str]) -> int:
    """Scan the Python files of a run, add their reports, and return how many there are."""
    rules = [rule for rule in run.judge.rules if rule.check and rule.check.startswith("source.")]
    paths = request.paths
    if not rules or (
        paths
        and not run.settings.source_roots
        and not any(path.endswith((".py", ".ipynb")) or os.path.isdir(path) for path in paths)
    ):
        return 0
    from cfgfix.source.configs import facts_of
    from cfgfix.sourcing import SourceRun, edits_of, python_files

    files = python_files(paths, run.settings)
    if not files:
        return 0
    inputs += [file.path for file in files]
    scan = SourceRun(
        files,
        catalogue=run.judge.catalogue,
        rules=run.judge.rules,
        configs=[facts_of(document, loader) for document, loader in run.configs],
        severity=run.judge.severity,
        permitted=lambda findings, path: _permitted(run, findings, path),
        key=_stamp(run.judge.rules),
    )
    if request.add_ignores is not None:
        found = scan.silence(request.add_ignores)
    elif request.fix:
        found = scan.fix(unsafe=request.unsafe_fixes)
    else:
        found = scan.check()
    for item in found:
        findings, known = list(item.findings), []
        if run.baseline is not None:
            findings, known = split_known(findings, run.baseline, run.left)
        reports.append(
            FileReport(
                item.path,
                item.text,
                findings=tuple(findings),
                hidden=(*item.hidden, *known),
                edits=tuple(edits_of(finding) for finding in findings) if request.edits else (),
                applied=item.applied,
                refused=item.refused,
                cycle=item.cycle,
                before=item.before,
                after=item.text if item.before is not None else None,
                encoded=item.encoded,
                language="python",
            )
        )
    return len(files)


def _one(
    run: _Run,
    source: SourceFile,
    request: Request,
    reports: list[FileReport],
    skips: dict[str, Skip],
) -> None:
    """Check or fix one file and add its report."""
    document = compose(source)
    dialect = _dialect_of(document, run)
    if document.problem is not None and document.problem.kind == "template":
        place = f"line {document.problem.line}"
        reports.append(
            FileReport(source.path, passed_over=f"a template, YAML only once it is filled in ({place})")
        )
        return
    if dialect is None:
        reports.append(FileReport(source.path, passed_over="no training config that cfgfix knows"))
        return
    shift: tuple[Edit, ...] = ()
    if request.overrides:
        document, shift = override(document, request.overrides)
    run.configs.append((document, _target(run, dialect, run.machines[0]).loader))
    hidden: list[Finding] = []

    def judge(candidate: Document) -> list[Finding]:
        found: list[list[Finding]] = []
        hidden.clear()
        for machine in run.machines:
            judged = run.judge.document(candidate, _target(run, dialect, machine))
            for skip in judged.skips:
                skips.setdefault(skip.rule, skip)
            hidden.extend(judged.hidden)
            found.append(judged.findings)
        findings = found[0] if len(found) == 1 else _merged(found, run.machines)
        return _permitted(run, findings, source.path)

    loader = _target(run, dialect, run.machines[0]).loader
    if request.add_ignores is not None:
        reports.append(_with_ignores(source, document, dialect, loader, judge, request.add_ignores))
        return
    if not request.fix:
        findings = judge(document)
        if run.baseline is not None:
            findings, known = split_known(findings, run.baseline, run.left)
            hidden += known
        edits = (
            tuple(_edits_of(document, finding) for finding in findings) if request.edits and not shift else ()
        )
        if shift:
            findings = [_shifted(finding, shift, source) for finding in findings]
        reports.append(
            FileReport(
                source.path,
                source.text,
                dialect.name,
                loader.name,
                tuple(findings),
                hidden=tuple(hidden),
                edits=edits,
            )
        )
        return
    from cfgfix.fixing import fix_text

    outcome = fix_text(source, loader, judge, unsafe=request.unsafe_fixes)
    report = replace(_fixed_report(source, dialect, loader, outcome), hidden=tuple(hidden))
    if run.baseline is not None:
        new, known = split_known(report.findings, run.baseline, run.left)
        report = replace(report, findings=tuple(new), hidden=(*report.hidden, *known))
    reports.append(report)


def _merged(found: list[list[Finding]], machines: list[Machine]) -> list[Finding]:
    """Return the findings of several machines: one that holds for all of them once, any other with the machine's name."""

    def key(finding: Finding) -> tuple[str, int, int, str]:
        return finding.rule, finding.location.start, finding.location.end, finding.message

    everywhere = set.intersection(*({key(finding) for finding in findings} for findings in found))
    merged = [finding for finding in found[0] if key(finding) in everywhere]
    for machine, findings in zip(machines, found, strict=True):
        merged += [
            replace(finding, profile=machine.profile)
            for finding in findings
            if key(finding) not in everywhere
        ]
    merged.sort(key=lambda finding: (finding.location.start, finding.rule, finding.profile or ""))
    return merged


def _edits_of(document: Document, finding: Finding) -> tuple[Edit, ...] | None:
    from cfgfix.documents.editor import Refusal, plan

    if finding.fix is None:
        return None
    try:
        return tuple(plan(document, finding.fix.changes))
    except Refusal:
        return None


def _with_ignores(
    source: SourceFile,
    document: Document,
    dialect: Dialect,
    loader: Loader,
    judge: Callable[[Document], list[Finding]],
    reason: str,
) -> FileReport:
    """Write a suppression comment for every finding of a file; the comments must change nothing else."""
    from cfgfix.documents.editor import plan
    from cfgfix.documents.proof import ProofError, prove
    from cfgfix.silence import additions

    findings = judge(document)
    text, done, refused = document, [], []
    # From the last line up, one at a time: each is proven by itself, and offsets above stay valid.
    by_line: dict[int, list[Finding]] = {}
    for finding in findings:
        by_line.setdefault(finding.location.line, []).append(finding)
    for line in sorted(by_line, reverse=True):
        group = by_line[line]
        if document.problem is not None:
            refused += [Refused(finding, "the file does not parse; repair that first") for finding in group]
            continue
        changes = additions(text, group, reason)
        edits = plan(text, changes)
        try:
            text = prove(text, splice(text.source.text, edits), changes, edits, loader)
        except ProofError as error:
            refused += [
                Refused(finding, f"a comment cannot stand at the end of its line: {error}")
                for finding in group
            ]
        else:
            done += [Applied(finding, tuple(edits)) for finding in group]
    left = judge(text)
    changed = text.source.text != source.text
    return FileReport(
        source.path,
        text.source.text,
        dialect.name,
        loader.name,
        tuple(left),
        applied=tuple(reversed(done)) if changed else (),
        refused=tuple(refused),
        before=source.text if changed else None,
        after=text.source.text if changed else None,
        encoded=source.encode(text.source.text),
    )


def _fixed_report(source: SourceFile, dialect: Dialect, loader: Loader, outcome: Outcome) -> FileReport:
    after = outcome.document.source.text
    changed = after != source.text
    return FileReport(
        source.path,
        after,
        dialect.name,
        loader.name,
        tuple(outcome.findings),
        applied=tuple(outcome.applied) if changed else (),
        refused=tuple(outcome.refused),
        cycle=outcome.cycle,
        before=source.text if changed else None,
        after=after if changed else None,
        encoded=source.encode(after),
    )


def _write(reports: list[FileReport], errors: list[CfgfixError]) -> bool:
    """Write all proven results; the file must still be what was read."""
    written = False
    for position, report in enumerate(reports):
        if report.after is None or report.encoded is None or report.before is None:
            continue
        try:
            current = read_source(report.path)
            if current.text != report.before:
                errors.append(_changed(report.path))
                reports[position] = replace(report, text=report.before, applied=(), after=None, before=None)
                continue
            assert current.stamp is not None
            replace_atomically(report.path, report.encoded, current.stamp)
            written = True
        except UnreadableError as error:
            errors.append(error)
            reports[position] = replace(report, text=report.before, applied=(), after=None, before=None)
    return written


def _changed(path: str) -> UnreadableError:
    return UnreadableError(
        "changed while it was being fixed; it was left as it is", path=path, hint="run cfgfix again"
    )


def _inside(settings: Settings, path: str) -> str:
    return path if os.path.isabs(path) else os.path.join(settings.root, path)


def select(catalogue: Catalogue, settings: Settings) -> list[Rule]:
    """Return the rules that the settings ask for.

    Raises:
        CfgfixError: A selector names no rule.
    """
    chosen: dict[str, Rule] = {}
    for selector in (*settings.select, *settings.extend_select):
        exact = catalogue.find(selector) is not None
        for rule in _selected(catalogue, selector):
            if exact or settings.preview or not rule.preview:
                chosen[rule.id] = rule
    for selector in settings.ignore:
        for rule in _selected(catalogue, selector):
            chosen.pop(rule.id, None)
    return list(chosen.values())


def _selected(catalogue: Catalogue, selector: str) -> Sequence[Rule]:
    found = catalogue.matching(selector)
    if not found:
        import difflib

        near = difflib.get_close_matches(selector, [*catalogue.keys(), "ALL"], 1)
        raise CfgfixError(
            f"no rule is called {selector!r}",
            hint=f"did you mean {near[0]!r}?" if near else "see `cfgfix rules`",
        )
    return found


def _severities(catalogue: Catalogue, settings: Settings) -> dict[str, str]:
    return {
        rule.id: value
        for selector, value in settings.severity.items()
        for rule in _selected(catalogue, selector)
    }


def _machines(settings: Settings) -> tuple[list[Machine], str]:
    """Return the machines to judge by and one line about them."""
    request = settings.hardware
    if request == "all":
        if not settings.profiles:
            raise CfgfixError(
                "--hardware all needs profiles",
                path=settings.origin,
                hint="name them under [tool.cfgfix.hardware.profiles]",
            )
        machines = [
            replace(_machine(text, settings)[0], profile=name) for name, text in settings.profiles.items()
        ]
        return machines, f"hardware: {', '.join(settings.profiles)}"
    machine, line = _machine(settings.profiles.get(request or "", request), settings)
    return [machine], line


def _machine(request: str | None, settings: Settings) -> tuple[Machine, str]:
    if request == "none":
        return Machine(None, None), "hardware: none, as asked: rules about the machine are skipped"
    from cfgfix.hardware.presets import resolve_hardware

    hardware, line = resolve_hardware(
        request, environ=os.environ, base_dir=None if settings.command_hardware else settings.root
    )
    if hardware is None:
        return Machine(None, None), line

    def look(name: str) -> Any:
        found = hardware.lookup(name)
        return None if found is None else found.value

    return Machine(look, hardware.label), line


def _dialects(settings: Settings) -> dict[str, Dialect]:
    """Return the known dialects, with the settings' own key paths in front."""
    known = dict(dialects())
    if settings.keys:
        extra: dict[str, tuple[Pattern, ...]] = {}
        for concept, paths in settings.keys.items():
            try:
                extra[concept] = tuple(parse_pattern(path) for path in paths)
            except ValueError as error:
                raise CfgfixError(f"keys.{concept}: {error}", path=settings.origin) from error
        _check_concepts(extra, known, settings)
        for name, dialect in known.items():
            concepts = dict(dialect.concepts)
            for concept, patterns in extra.items():
                concepts[concept] = (
                    *patterns,
                    *(old for old in concepts.get(concept, ()) if old not in patterns),
                )
            known[name] = replace(dialect, concepts=concepts)
    if settings.dialect is not None and settings.dialect not in known:
        import difflib

        near = difflib.get_close_matches(settings.dialect, known, 1)
        raise CfgfixError(
            f"no dialect is called {settings.dialect!r}",
            path=settings.origin,
            hint=f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known))}",
        )
    if settings.loader is not None and settings.loader not in LOADERS:
        raise CfgfixError(
            f"no loader is called {settings.loader!r}",
            path=settings.origin,
            hint=f"known: {', '.join(sorted(LOADERS))}",
        )
    return known


def _check_concepts(extra: Iterable[str], known: dict[str, Dialect], settings: Settings) -> None:
    concepts = {concept for dialect in known.values() for concept in dialect.concepts}
    for name in extra:
        if name not in concepts:
            import difflib

            near = difflib.get_close_matches(name, concepts, 1)
            raise CfgfixError(
                f"keys: {name!r} is no concept",
                path=settings.origin,
                hint=f"did you mean {near[0]!r}?" if near else "see docs/concepts.md",
            )


_KEY_LINE = r"(?m)^[ \t]*[\"']?([A-Za-z_][\w.-]*)[\"']?[ \t]*:"
_MIN_NAMES = 3
"""Telling names a text must have before a file that is no YAML is taken for a broken training config."""


def _dialect_of(document: Document, run: _Run) -> Dialect | None:
    if run.settings.dialect is not None:
        return run.dialects[run.settings.dialect]
    if document.problem is not None:
        return _dialect_by_text(document.source.text, run.dialects)
    for root in document.roots:
        found = detect(root, run.dialects.values())
        if found is not None:
            return found
    if run.settings.schema and names_class(run.settings.schema) and _fits_class(document, run):
        return run.dialects.get("generic")
    if run.settings.keys or run.settings.schema:
        generic = run.dialects.get("generic")
        if generic is not None and _has_own_keys(document, run, generic):
            return generic
    return None


def _has_own_keys(document: Document, run: _Run, generic: Dialect) -> bool:
    from cfgfix.dialects.detect import exists

    patterns = [pattern for concept in run.settings.keys for pattern in generic.concepts.get(concept, ())]
    return any(exists(root, pattern) for root in document.roots for pattern in patterns)


def _fits_class(document: Document, run: _Run) -> bool:
    """Tell whether a document has, at its top, half of its keys or more from the class that the settings name."""
    run.inferred = run.inferred or _infer(run.settings)
    known = run.inferred.schema.get("properties", {})
    for root in document.roots:
        if root.kind == Kind.MAPPING and root.items:
            found = sum(1 for key, _ in root.items if key.kind == Kind.SCALAR and key.text in known)
            if found and 2 * found >= len(root.items):
                return True
    return False


def _dialect_by_text(text: str, known: dict[str, Dialect]) -> Dialect | None:
    """Guess the dialect of a text that does not parse, by the names that stand before a colon."""
    names = set(re.findall(_KEY_LINE, text[:200_000]))
    best, found = 0, None
    for dialect in known.values():
        telling = {
            step
            for pattern in (
                *dialect.signature.any_of,
                *(item for group in dialect.signature.every for item in group),
            )
            for step in pattern
            if isinstance(step, str)
        }
        count = len(names & telling)
        if count >= _MIN_NAMES and count > best:
            best, found = count, dialect
    return found


def _target(run: _Run, dialect: Dialect, machine: Machine) -> Target:
    key = (dialect.name, machine.profile)
    target = run.targets.get(key)
    if target is None:
        loader = LOADERS[run.settings.loader or dialect.loader]
        if dialect.name not in run.schemas:
            run.schemas[dialect.name] = _schema(run, dialect)
        target = Target(dialect, loader, run.schemas[dialect.name], machine.lookup, machine.label)
        run.targets[key] = target
    return target


def _schema(run: _Run, dialect: Dialect) -> Schema | None:
    if run.settings.schema is not None:
        path = _inside(run.settings, run.settings.schema)
        if names_class(run.settings.schema):
            inferred = run.inferred or _infer(run.settings)
            run.inferred = inferred
            return Schema.load(inferred.schema, run.settings.schema)
        import json

        source = read_source(path)
        try:
            data = json.loads(source.text)
        except (ValueError, RecursionError) as error:
            raise CfgfixError(f"is not JSON: {error}", path=path) from error
        return Schema.load(data, path, base_dir=os.path.dirname(os.path.abspath(path)))
    data = schema_data(dialect)
    return Schema.load(data, f"{dialect.name}/schema.json") if data is not None else None


def names_class(schema: str) -> bool:
    """Tell whether a `schema` setting names a class in the code and not a JSON Schema file."""
    place, sign, name = schema.rpartition(":")
    return (
        bool(sign)
        and len(place) > 1
        and not name.endswith(".json")
        and "/" not in name
        and os.sep not in name
    )


def _infer(settings: Settings) -> Inferred:
    from cfgfix.schema.infer import infer

    assert settings.schema is not None
    return infer(settings.schema, settings.root, settings.source_roots)


def _permitted(run: _Run, findings: list[Finding], path: str) -> list[Finding]:
    patterns = run.settings.per_file_ignores
    if not patterns:
        return findings
    return [
        finding
        for finding in findings
        if not ignored_by_path(finding.rule, finding.name, path, run.settings.root, patterns)
    ]


def override(document: Document, overrides: Iterable[tuple[str, str]]) -> tuple[Document, tuple[Edit, ...]]:
    """Return the document as a command line's overrides would make it, and the edits that made it so.

    Raises:
        CfgfixError: A key path is wrong or cannot be set.
    """
    from cfgfix.documents.editor import Refusal, plan

    if document.problem is not None or not document.roots:
        return document, ()
    edits: list[Edit] = []
    for key, text in overrides:
        try:
            path = parse_key_path(key)
        except ValueError as error:
            raise CfgfixError(f"--set {key}: {error}") from error
        present = document.find(path) is not None
        value = _override_value(text)
        if present:
            change: SetValue | InsertKey = SetValue(path, value, text if _is_plain(text) else None)
        else:
            last = path[-1] if path else 0
            if not isinstance(last, str):
                raise CfgfixError(f"--set {key}: there is no such place in {document.source.path}")
            change = InsertKey(path[:-1], last, value)
        try:
            edits += plan(document, [change])
        except Refusal as refusal:
            raise CfgfixError(f"--set {key}: {refusal}", path=document.source.path) from refusal
    try:
        text = splice(document.source.text, edits)
    except ValueError as error:
        raise CfgfixError(f"--set: {error}; give each key once") from error
    source = SourceFile.from_bytes(document.source.encode(text), document.source.path)
    return compose(source), tuple(edits)


def _is_plain(text: str) -> bool:
    return (
        bool(text)
        and "\n" not in text
        and "#" not in text
        and text[0] not in "&*!|>%@`{}[],'\""
        and ": " not in text
    )


def _override_value(text: str) -> Any:
    from cfgfix.documents.resolve import resolve

    return resolve(text, LOADERS["pyyaml"]).value


def _shifted(finding: Finding, edits: Sequence[Edit], source: SourceFile) -> Finding:
    """Return a finding with its places in the file as it is, not as the overrides made it."""
    ordered = sorted(edits, key=lambda edit: edit.start)

    def back(offset: int, *, end: bool) -> int:
        moved = 0
        for edit in ordered:
            new_start = edit.start + moved
            new_end = new_start + len(edit.new)
            if offset <= new_start and not (end and offset == new_start == new_end):
                break
            if offset <= new_end:
                return edit.end if end else edit.start
            moved += len(edit.new) - (edit.end - edit.start)
        return offset - moved

    def place(location: Location) -> Location:
        start = back(location.start, end=False)
        stop = max(start, back(location.end, end=True))
        return source.location(start, min(stop, len(source.text)), location.label)

    return replace(
        finding,
        location=place(finding.location),
        related=tuple(place(location) for location in finding.related),
        fix=None,
        no_fix_reason="the value comes from --set",
    )


def applicable(finding: Finding, *, unsafe: bool) -> bool:
    """Tell whether `--fix` would repair a finding."""
    return fixable(finding, unsafe=unsafe)


__all__ = [
    "Applied",
    "FileReport",
    "KeyPath",
    "Refused",
    "Report",
    "Request",
    "applicable",
    "check",
    "fix",
    "select",
]
