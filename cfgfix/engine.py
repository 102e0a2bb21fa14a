"""The one place that knows everything: a request becomes a report.

`check` looks, `fix` repairs. Both only return data; nothing is printed, and nothing but proven fixes is written.
"""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from cfgfix.baseline import Baseline, Key
from cfgfix.baseline import read as read_baseline
from cfgfix.baseline import split as split_known
from cfgfix.catalog.compiled import files_below
from cfgfix.catalog.load import Catalogue, with_folders
from cfgfix.catalog.rule import Rule
from cfgfix.dialects.detect import detect
from cfgfix.dialects.dialect import (
    Dialect,
    Pattern,
    dialects,
    files_of,
    from_file,
    parse_pattern,
    schema_data,
)
from cfgfix.discovery import find
from cfgfix.documents.compose import Document, Kind, compose
from cfgfix.documents.resolve import LOADERS, Loader
from cfgfix.edits import Edit, InsertKey, SetValue, splice
from cfgfix.errors import CfgfixError, ExitCode, UnreadableError
from cfgfix.files import SourceFile, excerpt, read_source, replace_atomically
from cfgfix.findings import Applied, Finding, KeyPath, Location, Refused, Severity, fixable, parse_key_path
from cfgfix.judge import Judge, Skip, Target, ignored_by_path
from cfgfix.records import dataclass, field, replace
from cfgfix.schema.validate import Schema
from cfgfix.settings import Finder, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfgfix.fixing import Outcome
    from cfgfix.schema.infer import Inferred
    from cfgfix.source.config_reads import Usage
    from cfgfix.source.discover import PythonFile


COLLECT_EVERY = 512
"""Files after which garbage is looked for. A check leaves no circles behind; this is for what was not thought of."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a user asks for."""

    paths: tuple[str, ...] = ()
    settings: Settings | None = None
    """None: for every file those of the nearest settings file at or above it."""
    adjust: Callable[[Settings], Settings] | None = None
    """What a command line changes in settings that are found."""
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
    excerpts: bool = False
    """Keep of each text only the lines that its findings show, so that a check of many files needs no room for them."""
    baseline: str | None = None
    """A file of known findings that are not shown."""
    add_ignores: str | None = None
    """Write a suppression comment, with this reason, for every finding instead of repairing it."""
    progress: Callable[[int, int], None] | None = None
    """Called with the number of files done and of all files, as often as one is done."""


@dataclass(frozen=True, slots=True)
class FileReport:
    """What came of one file."""

    path: str
    text: str | None = None
    """The decoded text the findings' places refer to, or an excerpt; None where the file could not be read."""
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
    settings: Settings | None = None
    """The settings it was judged by."""
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
    """Those of the working folder; every file carries its own."""
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
    loading: str = ""
    """One line: how the project's code loads its configs, where that is known."""

    def findings(self) -> list[Finding]:
        """Return all findings of all files."""
        return [finding for report in self.files for finding in report.findings]

    def exit_code(self) -> ExitCode:
        """Return the exit code of this report, the same for every output format."""
        if self.errors or any(report.refused or report.cycle for report in self.files):
            return ExitCode.UNREADABLE
        for report in self.files:
            threshold = (report.settings or self.settings).threshold()
            if threshold is not None and any(finding.severity >= threshold for finding in report.findings):
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
class Sight:
    """What a check of one text rests on, for those who answer questions about it."""

    document: Document
    target: Target
    rules: tuple[Rule, ...]
    hardware: str
    """One line: which machine is judged by."""


def sight(request: Request) -> Sight | None:
    """Return what a check of the request's standard input rests on, or None where the text is no training config.

    Raises:
        CfgfixError: The settings are wrong, or the text cannot be read.
    """
    assert request.stdin is not None
    runs = _Runs(request)
    run = runs.of(runs.finder.of(os.path.dirname(request.stdin_name) or "."))
    document = compose(SourceFile.from_bytes(request.stdin, request.stdin_name))
    dialect = _dialect_of(document, run)
    if dialect is None:
        return None
    return Sight(document, _target(run, dialect, run.machines[0]), run.judge.rules, run.hardware)


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine to judge by; `profile` is its name where several are checked."""

    lookup: Callable[[str], Any] | None
    label: str | None
    profile: str | None = None


@dataclass(slots=True)
class _Run:
    """The parts of a run that are the same for all files of the same settings."""

    settings: Settings
    hardware: str
    judge: Judge
    dialects: dict[str, Dialect]
    machines: list[Machine]
    schemas: dict[str, Schema | None]
    targets: dict[tuple[str, str | None], Target]
    baseline: Baseline | None
    left: dict[Key, int]
    configs: _Kept
    files: list[str]
    """The configs that are checked, whose keys are asked for where no class is known."""
    inferred: Inferred | None = None
    """The schema read from a class, where the settings name one."""
    usage: Usage | None = None
    usage_known: bool = False
    sources: tuple[str, ...] = ()
    """The Python files that the usage rests on."""


class _Kept:
    """The first configs of a run as overridden, for the guards in code; none where no code is looked at."""

    __slots__ = ("items", "most")

    def __init__(self) -> None:
        self.items: list[tuple[Document, Loader]] = []
        self.most = 0

    def full(self) -> bool:
        return len(self.items) >= self.most


class _Runs:
    """One run for each settings file that the checked files lie under; a plain class, since it grows."""

    __slots__ = ("_made", "_request", "baseline", "configs", "finder", "inputs", "left", "scanned")

    def __init__(self, request: Request) -> None:
        self.finder = Finder(request.settings, request.adjust)
        self.inputs: list[str] = [request.baseline] if request.baseline is not None else []
        self._request = request
        self._made: dict[int, _Run] = {}
        self.baseline = read_baseline(request.baseline) if request.baseline is not None else None
        self.left: dict[Key, int] = dict(self.baseline.counts) if self.baseline is not None else {}
        self.configs = _Kept()
        self.scanned: list[str] = []
        """Python files; those without findings have no report."""

    def of(self, settings: Settings) -> _Run:
        """Return the run of these settings.

        Raises:
            CfgfixError: The settings name something that is not there.
        """
        run = self._made.get(id(settings))
        if run is None:
            run = self._made[id(settings)] = self._make(settings)
        return run

    def all(self) -> list[_Run]:
        """Return all runs that were made."""
        return list(self._made.values())

    def _make(self, settings: Settings) -> _Run:
        request = self._request
        catalogue = with_folders(_inside(settings, folder) for folder in settings.rules)
        rules = select(catalogue, settings)
        for selectors in settings.per_file_ignores.values():
            for selector in selectors:
                _selected(catalogue, selector)
        severities = {key: Severity[value.upper()] for key, value in _severities(catalogue, settings).items()}
        machines, line = _machines(settings)
        if len(machines) > 1 and (request.fix or request.add_ignores is not None):
            raise CfgfixError(
                "a fix is made for one machine", hint="name one profile with --hardware instead of all"
            )
        folders = [_inside(settings, folder) for folder in settings.rules]
        self.inputs += folders
        self.inputs += [path for folder in folders for path in files_below(folder, (".yaml", ".yml"))]
        self.inputs += [_inside(settings, name) for name in (settings.schema, settings.hardware) if name]
        self.inputs += _own_dialects(settings)
        return _Run(
            settings=settings,
            hardware=line,
            judge=Judge(catalogue, rules, severities),
            dialects=_dialects(settings),
            machines=machines,
            schemas={},
            targets={},
            baseline=self.baseline,
            left=self.left,
            configs=self.configs,
            files=[],
        )


def _run(request: Request) -> Report:
    if request.overrides and request.fix:
        raise CfgfixError(
            "--set checks a config as an override would make it; it cannot be combined with fixing"
        )
    runs = _Runs(request)
    base = runs.finder.of(".")
    errors: list[CfgfixError] = []
    reports: list[FileReport] = []
    skips: dict[str, Skip] = {}
    sources = 0
    collecting = gc.isenabled()
    gc.disable()
    try:
        if request.stdin is not None:
            run = runs.of(runs.finder.of(os.path.dirname(request.stdin_name) or "."))
            try:
                source = SourceFile.from_bytes(request.stdin, request.stdin_name)
            except UnreadableError as error:
                errors.append(error)
            else:
                if os.path.isfile(request.stdin_name) and not request.stdin_name.endswith(".py"):
                    run.files.append(request.stdin_name)
                if request.stdin_name.endswith(".py"):
                    sources = _source_text(runs, run, source, request, reports)
                else:
                    reports.append(_one(run, source, request, skips))
        else:
            runs.of(base)
            files = find(request.paths or (".",), runs.finder, runs.inputs)
            for found in files:
                if found.path.endswith((".yaml", ".yml")):
                    runs.of(found.settings).files.append(found.path)
            if _scans(runs, base, request):
                from cfgfix.sourcing import MAX_CONFIGS

                runs.configs.most = MAX_CONFIGS
            for number, found in enumerate(files):
                if request.progress is not None:
                    request.progress(number, len(files))
                if found.named and found.path.endswith((".py", ".ipynb")):
                    continue
                runs.inputs.append(found.path)
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
                report = _one(runs.of(found.settings), source, request, skips)
                if request.excerpts and report.text is not None:
                    shown = (*report.findings, *report.hidden)
                    report = replace(report, text=excerpt(report.text, report.path, shown))
                reports.append(report)
                if len(reports) % COLLECT_EVERY == 0:
                    gc.collect(0)
            if request.progress is not None:
                request.progress(len(files), len(files))
            sources = _source(runs, base, request, reports)
    finally:
        if collecting:
            gc.enable()
    for one in runs.all():
        if one.inferred is not None:
            runs.inputs += one.inferred.files
        runs.inputs += one.sources
    written = False
    if (request.fix or request.add_ignores is not None) and not request.diff and request.stdin is None:
        written = _write(reports, errors)
    used = {id(report.settings) for report in reports}
    lines = [run.hardware for run in runs.all() if id(run.settings) in used] or [
        run.hardware for run in runs.all()
    ]
    return Report(
        files=tuple(
            replace(report, encoded=None) if report.encoded is not None and request.stdin is None else report
            for report in reports
        ),
        errors=tuple(errors),
        skipped=tuple(skips.values()),
        hardware="; ".join(dict.fromkeys(lines)),
        settings=base,
        fixed=request.fix,
        unsafe_fixes=request.unsafe_fixes,
        written=written,
        rules={rule.id: rule for run in runs.all() for rule in run.judge.rules},
        inputs=(*runs.inputs, *runs.finder.looked),
        stale=tuple(_stale(runs, reports, skips)),
        sources=sources,
        loading=_loading(runs),
    )


def _loading(runs: _Runs) -> str:
    """Return how the code loads the configs of all runs, or nothing where that is not known."""
    lines = []
    for run in runs.all():
        if run.usage is not None:
            from cfgfix.crossref import told

            lines.append(told(run.usage))
    return "; ".join(dict.fromkeys(line for line in lines if line))


def _stale(runs: _Runs, reports: Sequence[FileReport], skips: Mapping[str, Skip]) -> Iterator[str]:
    """Yield the baseline entries that nothing matches any more, of rules and files that this run could judge.

    A hook checks one file of many, and a run without a machine judges no rule about one: their entries still stand.
    """
    if runs.baseline is None:
        return
    root = os.path.dirname(os.path.abspath(runs.baseline.path))
    judged = {rule.id for run in runs.all() for rule in run.judge.rules}
    known = {rule.id for run in runs.all() for rule in run.judge.catalogue.rules}
    checked = {
        os.path.relpath(path, root).replace(os.sep, "/")
        for path in (*(report.path for report in reports if report.text is not None), *runs.scanned)
    }
    for (path, rule, place), count in runs.left.items():
        if not count:
            continue
        if path in checked:
            told = rule not in known or (rule in judged and rule not in skips)
        else:
            told = not os.path.lexists(os.path.join(root, path))
        if told:
            yield f"{path}: {rule} {place}"


def _stamp(rules: Sequence[Rule]) -> object:
    """Return what changes when cfgfix itself or a source rule does."""
    from cfgfix.catalog.compiled import machinery, manifest
    from cfgfix.source import code_files

    paths = [rule.path for rule in rules if rule.check and rule.check.startswith("source.")]
    return machinery(), manifest(paths), manifest(code_files())


def _source(runs: _Runs, base: Settings, request: Request, reports: list[FileReport]) -> int:
    """Scan the Python files of a run, add their reports, and return how many there are.

    The files are one program, so the settings of the folder that the run starts in hold for what is scanned; what is
    ignored in a file is said by the settings nearest to it.
    """
    if not _scans(runs, base, request):
        return 0
    run = runs.of(base)
    from cfgfix.sourcing import python_files

    files = python_files(request.paths, base)
    if files:
        runs.inputs += [file.path for file in files]
        runs.scanned = [file.path for file in files]
        reports += _scanned(runs, run, request, files)
    return len(files)


def _scans(runs: _Runs, base: Settings, request: Request) -> bool:
    """Tell whether a run looks for Python files."""
    paths = request.paths
    if (
        paths
        and not base.source_roots
        and not any(path.endswith((".py", ".ipynb")) or os.path.isdir(path) for path in paths)
    ):
        return False
    return _source_rules(runs.of(base))


def _source_rules(run: _Run) -> bool:
    return any(rule.check and rule.check.startswith("source.") for rule in run.judge.rules)


MAX_LOOKED_AT = 500
"""Most YAML files that are looked through for the configs of a program of which one text is checked."""


def _source_text(
    runs: _Runs, run: _Run, source: SourceFile, request: Request, reports: list[FileReport]
) -> int:
    """Scan one Python text as a part of its project's program, under the project's configs, and add its report."""
    from cfgfix.sourcing import MAX_CONFIGS, program_around

    runs.configs.most = MAX_CONFIGS
    settings = run.settings
    place = settings.root if settings.origin else os.path.dirname(os.path.abspath(request.stdin_name))
    # Standard input is given back as it came where there is nothing to repair.
    same = source.encode(source.text)
    empty = FileReport(source.path, source.text, encoded=same, language="python", settings=settings)
    if not _source_rules(run):
        reports.append(empty)
        return 1
    for found in find((place,), runs.finder, runs.inputs)[:MAX_LOOKED_AT]:
        if runs.configs.full():
            break
        try:
            document = compose(read_source(found.path))
        except UnreadableError:
            continue
        own = runs.of(found.settings)
        dialect = _dialect_of(document, own)
        if dialect is not None and document.problem is None:
            own.files.append(found.path)
            runs.configs.items.append((document, _target(own, dialect, own.machines[0]).loader))
    files, path = program_around(request.stdin_name, place, settings)
    made = list(_scanned(runs, run, request, files, {path: source.text}))
    reports += [replace(report, encoded=report.encoded or same) for report in made] or [empty]
    return 1


def _scanned(
    runs: _Runs,
    run: _Run,
    request: Request,
    files: Sequence[PythonFile],
    texts: Mapping[str, str] | None = None,
) -> Iterator[FileReport]:
    """Yield the reports of Python files, or of the one whose text is given."""
    from cfgfix.source.configs import facts_of
    from cfgfix.sourcing import SourceRun, edits_of

    scan = SourceRun(
        files,
        catalogue=run.judge.catalogue,
        rules=run.judge.rules,
        configs=[facts_of(document, loader) for document, loader in runs.configs.items],
        severity=run.judge.severity,
        permitted=lambda findings, path: _permitted(
            runs.of(runs.finder.of(os.path.dirname(path) or ".")), findings, path
        ),
        key=_stamp(run.judge.rules),
        texts=texts,
        only=next(iter(texts)) if texts else None,
        progress=request.progress,
        extra=_in_code(run, runs.configs.items),
        tensorflow=run.settings.tensorflow,
    )
    if request.add_ignores is not None:
        found = scan.silence(request.add_ignores)
    elif request.fix:
        found = scan.fix(unsafe=request.unsafe_fixes)
    else:
        found = scan.check(excerpts=request.excerpts)
    runs.inputs += scan.looked_in
    for item in found:
        findings = list(item.findings)
        known: list[Finding] = []
        if runs.baseline is not None:
            findings, known = split_known(findings, runs.baseline, runs.left)
        yield FileReport(
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
            settings=run.settings,
        )


def _in_code(run: _Run, configs: Sequence[tuple[Document, Loader]]) -> dict[str, list[Finding]] | None:
    """Return what a config and the code together show in the code; None where no config is known to the code."""
    usage = _usage(run)
    if usage is None:
        return None
    from cfgfix.crossref import findings_in_code

    dialect = next(
        (found for document, _ in configs[:1] if (found := _dialect_of(document, run)) is not None), None
    )
    return findings_in_code(usage, run.judge.code, run.judge.severity, dialect, run.inferred)


def _one(
    run: _Run,
    source: SourceFile,
    request: Request,
    skips: dict[str, Skip],
) -> FileReport:
    """Check or fix one file."""
    report = _judged(run, source, request, skips)
    return report if report.settings is not None else replace(report, settings=run.settings)


def _judged(run: _Run, source: SourceFile, request: Request, skips: dict[str, Skip]) -> FileReport:
    document = compose(source)
    dialect = _dialect_of(document, run)
    if document.problem is not None and document.problem.kind == "template":
        place = f"line {document.problem.line}"
        return FileReport(source.path, passed_over=f"a template, YAML only once it is filled in ({place})")
    if dialect is None:
        return FileReport(
            source.path, passed_over="no training config that cfgfix knows", settings=run.settings
        )
    shift: tuple[Edit, ...] = ()
    if request.overrides:
        document, shift = override(document, request.overrides)
    if not run.configs.full():
        run.configs.items.append((document, _target(run, dialect, run.machines[0]).loader))
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
        return _permitted(run, _of_tests(run, findings, source.path), source.path)

    loader = _target(run, dialect, run.machines[0]).loader
    if request.add_ignores is not None:
        return _with_ignores(source, document, dialect, loader, judge, request.add_ignores)
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
        return FileReport(
            source.path,
            source.text,
            dialect.name,
            loader.name,
            tuple(findings),
            hidden=tuple(hidden),
            edits=edits,
            settings=run.settings,
        )
    from cfgfix.fixing import fix_text

    outcome = fix_text(source, loader, judge, unsafe=request.unsafe_fixes)
    report = replace(_fixed_report(source, dialect, loader, outcome), hidden=tuple(hidden))
    if run.baseline is not None:
        new, known = split_known(report.findings, run.baseline, run.left)
        report = replace(report, findings=tuple(new), hidden=(*report.hidden, *known))
    return report


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
    try:
        machine, line = _machine(settings.profiles.get(request or "", request), settings)
    except CfgfixError as error:
        if request is None or not settings.profiles or request in settings.profiles:
            raise
        import difflib

        near = difflib.get_close_matches(request, settings.profiles, 1)
        listed = f"profiles of the settings: {', '.join(settings.profiles)}"
        raise CfgfixError(
            error.message,
            path=error.path,
            hint=f"did you mean {near[0]}? {listed}" if near else f"{error.hint}; {listed}",
        ) from error
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


def known_dialects(settings: Settings) -> dict[str, Dialect]:
    """Return the dialects of cfgfix and of a project, with the project's own key paths in front.

    Raises:
        CfgfixError: A setting about dialects is wrong.
    """
    return _dialects(settings)


def _dialects(settings: Settings) -> dict[str, Dialect]:
    """Return the known dialects, with the settings' own key paths in front."""
    known = dict(dialects())
    for place in settings.dialects:
        for path in files_of(_inside(settings, place)):
            own = from_file(path)
            known[own.name] = own
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


def _own_dialects(settings: Settings) -> list[str]:
    """Return what a run's answer rests on by the setting `dialects`: files, folders and schemas."""
    found: list[str] = []
    for place in settings.dialects:
        inside = _inside(settings, place)
        files = files_of(inside)
        folders = {os.path.dirname(path) for path in files}
        found += [inside, *files, *folders, *files_below(inside, (".json",))]
        found += [os.path.join(folder, name) for folder in folders for name in sorted(os.listdir(folder))]
    return list(dict.fromkeys(found))


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
    """Guess the dialect of a text that does not parse, by the names that stand before a colon.

    A key path counts as there when all its names are; the rest is as in a text that parses.
    """
    names = set(re.findall(_KEY_LINE, text[:200_000]))

    def there(pattern: Pattern) -> bool:
        return all(step in names for step in pattern if isinstance(step, str))

    best, found = 0, None
    for dialect in known.values():
        signature = dialect.signature
        if any(map(there, signature.none_of)) or not all(any(map(there, group)) for group in signature.every):
            continue
        telling = {
            step
            for pattern in (*signature.any_of, *(item for group in signature.every for item in group))
            if there(pattern)
            for step in pattern
            if isinstance(step, str)
        }
        if sum(map(there, signature.any_of)) >= signature.least and len(telling) >= max(_MIN_NAMES, best + 1):
            best, found = len(telling), dialect
    return found


def _target(run: _Run, dialect: Dialect, machine: Machine) -> Target:
    key = (dialect.name, machine.profile)
    target = run.targets.get(key)
    if target is None:
        usage = _usage(run)
        found = usage.loader if usage is not None else None
        loader = LOADERS[run.settings.loader or dialect.loader]
        if run.settings.loader is None and found in LOADERS:
            # A dialect knows its own program better than which function is called, unless that reads other YAML.
            assert found is not None
            if dialect.name == "generic" or LOADERS[found].yaml_version != loader.yaml_version:
                loader = LOADERS[found]
        if dialect.name not in run.schemas:
            run.schemas[dialect.name] = _schema(run, dialect)
        target = Target(
            dialect,
            loader,
            run.schemas[dialect.name],
            machine.lookup,
            machine.label,
            usage,
            run.settings.schema is not None,
        )
        run.targets[key] = target
    return target


def _usage(run: _Run) -> Usage | None:
    """Return what the code does with the configs; None where no class and no source root is known."""
    if run.usage_known:
        return run.usage
    run.usage_known = True
    settings = run.settings
    by_class = settings.schema is not None and names_class(settings.schema)
    if not run.judge.code or not (by_class or settings.source_roots):
        return None
    from cfgfix.crossref import key_paths, project_files, usage_of

    files = project_files(settings)
    if not files:
        return None
    run.sources = tuple(file.path for file in files)
    if by_class:
        run.inferred = run.inferred or _infer(settings)
    paths: list[tuple[str, ...]] = []
    if not by_class:
        for path in run.files:
            try:
                paths += key_paths(compose(read_source(path)))
            except UnreadableError:
                continue
    run.usage = usage_of(
        files,
        settings,
        run.inferred if by_class else None,
        paths,
        _stamp(()),
        shared=run.judge.rules,
    )
    return run.usage


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
    if data is None:
        return None
    own = dialect.schema is not None and os.path.isabs(dialect.schema)
    if own and dialect.schema is not None:
        return Schema.load(data, dialect.schema, base_dir=os.path.dirname(dialect.schema))
    return Schema.load(data, f"{dialect.name}/schema.json")


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
    found = infer(settings.schema, settings.root, settings.source_roots)
    if settings.unknown_keys is not None:
        from cfgfix.crossref import overruled

        found = replace(found, schema=overruled(found.schema, settings.unknown_keys))
    return found


_TEST_FOLDERS = frozenset({"tests", "testdata", "test_data", "fixtures"})


def _of_tests(run: _Run, findings: list[Finding], path: str) -> list[Finding]:
    """Return the findings of a file; in a config of the project's tests those about chosen values are information.

    A test sets a batch size of 0 or eager mode because nothing trains with it. What cannot be loaded stays what it is.
    """
    folders = os.path.dirname(os.path.relpath(path, run.settings.root)).split(os.sep)
    if _TEST_FOLDERS.isdisjoint(folders):
        return findings
    return [
        replace(finding, severity=Severity.INFO)
        if finding.rule.startswith("CFG")
        and finding.severity is not Severity.INFO
        and not run.judge.severity_is_set(finding.rule)
        else finding
        for finding in findings
    ]


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
    "Sight",
    "applicable",
    "check",
    "fix",
    "known_dialects",
    "select",
    "sight",
]
