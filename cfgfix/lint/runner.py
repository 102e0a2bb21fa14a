"""The one place that knows everything: a request becomes a report.

`check` looks, `fix` repairs. Both only return data; nothing is printed, and nothing but proven fixes is written.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from cfgfix.config.compose.overrides import override, shifted
from cfgfix.config.dialects.dialect import Dialect
from cfgfix.config.dialects.foreign import tool_of
from cfgfix.config.document.compose import Document, compose
from cfgfix.config.loaders.scalars import LOADERS, Loader
from cfgfix.core.baseline import split as split_known
from cfgfix.core.edits import Edit
from cfgfix.core.errors import CfgfixError, UnreadableError
from cfgfix.core.findings import Finding, KeyPath, Refused, Severity, fixable, format_key_path
from cfgfix.core.records import dataclass, replace
from cfgfix.core.source_file import SourceFile, excerpt, read_source, replace_atomically
from cfgfix.core.temporary_files import remove_leftovers
from cfgfix.core.writing import require_inside
from cfgfix.lint.document_checker import MAX_FINDINGS, MAX_FIXED, Skip, Target, ignored_by_path
from cfgfix.lint.request import UNKNOWN_CONFIG, FileReport, Read, Report, Request
from cfgfix.lint.session import (
    Machine,
    Run,
    Runs,
    content_stamp,
    dialect_of,
    select,
    target_of,
    told_by_code,
    told_by_code_around,
    told_by_job,
    told_of_ruamel,
    usage_for,
)
from cfgfix.rules.rule import Rule
from cfgfix.settings.discovery import Matcher, find
from cfgfix.settings.reader import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.code.model.given import UnderConfigs
    from cfgfix.code.model.python_files import PythonFile
    from cfgfix.core.fix_loop import Fixed
    from cfgfix.usage.project_code import CodeSays


_UNSOUND = "the settings above it are wrong"
YAML = (".yaml", ".yml")
PYTHON = (".py", ".ipynb")
OPENED_BY_CODE = (".json", ".toml")
"""Endings of configs that are judged by the code that opens them."""
_NEITHER = "neither YAML nor Python"
_NOT_INCLUDED = "no YAML or Python by its name, and no pattern of `include` fits it"
_JSON = "a JSON config is only read"
_NOT_OPENED = "no program here whose imports come to TensorFlow opens it"
COLLECT_EVERY = 512
"""Files after which garbage is looked for. A check leaves no circles behind; this is for what was not thought of."""


def check(request: Request) -> Report:
    """Look at the files of a request and report what is wrong.

    Raises:
        CfgfixError: The arguments or the settings are wrong.
    """
    return _run(replace(request, fix=False))


def fix(request: Request) -> Report:
    """Repair what can be repaired.

    Each fix proven, all files written only after all are proven.

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
    """Return what a check of the request's standard input rests on.

    None where the text is no training config.

    Raises:
        CfgfixError: The settings are wrong, or the text cannot be read.
    """
    assert request.stdin is not None
    runs = Runs(request)
    run = runs.run_for(runs.finder.settings_in(os.path.dirname(request.stdin_name) or "."))
    document = compose(SourceFile.from_bytes(request.stdin, request.stdin_name))
    dialect = dialect_of(document, run, forced=request.force_dialect)
    if dialect is None:
        return None
    return Sight(document, target_of(run, dialect, run.machines[0]), run.checker.rules, run.hardware)


def _run(request: Request) -> Report:
    if request.overrides and request.fix:
        raise CfgfixError(
            "--set checks a config as an override would make it; it cannot be combined with fixing"
        )
    runs = Runs(request)
    base = runs.finder.settings_in(".")
    errors: list[CfgfixError] = []
    reports: list[FileReport] = []
    skips: dict[str, Skip] = {}
    left_out: list[str] = []
    """Named files of other endings, which have a report only where code opens them."""
    sources = 0
    collecting = gc.isenabled()
    gc.disable()
    try:
        if request.stdin is not None:
            run = runs.run_for(runs.finder.settings_in(os.path.dirname(request.stdin_name) or "."))
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
                    alone = not run.settings.force_exclude
                    included = Matcher(run.settings).included(request.stdin_name)
                    reports.append(_one(runs, run, source, request, skips, alone=alone, included=included))
        else:
            runs.run_for(base)
            files = find(request.paths or (".",), runs.finder, runs.inputs)
            for found in files:
                if found.path.endswith(YAML) or (
                    found.included and not found.path.endswith((*PYTHON, ".toml"))
                ):
                    own = runs.sound(found.settings)
                    if own is not None:
                        own.files.append(found.path)
            if _scans(runs, base, request):
                from cfgfix.lint.code_run import MAX_CONFIGS

                runs.configs.most = MAX_CONFIGS
            for number, found in enumerate(files):
                if request.progress is not None:
                    request.progress(number, len(files))
                if found.path.endswith(PYTHON):
                    continue
                runs.inputs.append(found.path)
                asked_for = found.included or found.path.endswith(YAML) or len(request.paths) == 1
                if not asked_for or found.path.endswith(".toml"):
                    left_out.append(found.path)
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
                # A hook names files too, one of them where one has changed; it says so with `force-exclude`.
                alone = found.named and len(request.paths) == 1 and not found.settings.force_exclude
                try:
                    own = runs.sound(found.settings)
                    if own is None:
                        reports.append(FileReport(found.path, passed_over=_UNSOUND, settings=base))
                        continue
                    report = _one(runs, own, source, request, skips, alone=alone, included=found.included)
                except CfgfixError as error:
                    if found.settings is base:
                        raise
                    runs.unsound(found.settings, error)
                    reports.append(FileReport(found.path, passed_over=_UNSOUND, settings=base))
                    continue
                if report.passed_over == _NEITHER and report.alone:
                    errors.append(_neither(source))
                    continue
                if request.excerpts and report.text is not None:
                    shown = (*report.findings, *report.hidden)
                    report = replace(report, text=excerpt(report.text, report.path, shown))
                reports.append(report)
                if len(reports) % COLLECT_EVERY == 0:
                    gc.collect(0)
            reports += _other_formats(runs, request, {report.path for report in reports})
            reports += _read_by_named_modules(runs, request, skips, {report.path for report in reports})
            opened = {os.path.normpath(report.path) for report in reports}
            reports += [
                FileReport(
                    path,
                    passed_over=_NOT_OPENED if path.endswith(OPENED_BY_CODE) else _NOT_INCLUDED,
                    settings=base,
                )
                for path in left_out
                if os.path.normpath(path) not in opened
            ]
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
        if one.surroundings is not None:
            runs.inputs += one.surroundings.looked
    for code in runs.codes():
        runs.inputs += code.inputs
    reads = _reads(runs) if request.tell_reads or request.past is not None else {}
    if request.past is not None:
        from cfgfix.lint.past import with_causes

        dead = frozenset(
            rule.id for run in runs.all() if (rule := run.checker.code.get("dead-key")) is not None
        )
        reports = list(with_causes(reports, request.past, reads, dead))
    written = False
    if (request.fix or request.add_ignores is not None) and not request.diff and request.stdin is None:
        written = _write(reports, errors)
    stale = tuple(_stale(runs, reports, skips))
    if not request.each:
        from cfgfix.lint.joining import joined

        reports = joined(reports, {rule.id for run in runs.all() for rule in run.checker.code.values()})
    used = {id(report.settings) for report in reports}
    lines = [run.hardware for run in runs.all() if id(run.settings) in used] or [
        run.hardware for run in runs.all()
    ]
    if runs.jobs:
        lines = [*runs.jobs, *(lines if runs.jobless else ())]
    return Report(
        files=tuple(
            replace(report, encoded=None) if report.encoded is not None and request.stdin is None else report
            for report in reports
        ),
        errors=(*runs.problems, *runs.failures(), *errors),
        skipped=tuple(skips.values()),
        hardware="; ".join(dict.fromkeys(lines)),
        settings=base,
        fixed=request.fix,
        unsafe_fixes=request.unsafe_fixes,
        written=written,
        diff=request.diff,
        rules={rule.id: rule for run in runs.all() for rule in run.checker.rules},
        inputs=(*runs.inputs, *runs.finder.looked),
        stale=stale,
        sources=sources,
        live=any(machine.live for run in runs.all() for machine in run.machines),
        loading=_loading(runs),
        reads=reads,
        since=request.past.revision if request.past is not None else None,
    )


def _reads(runs: Runs) -> dict[str, Read]:
    """Return what the code reads of each config and asks for in vain, by the config's path in its repository."""
    return {
        path: {format_key_path(key): place for key, place in (*says.reads, *says.asked)}
        for code in runs.codes()
        for path, says in code.all().items()
    }


def _neither(source: SourceFile) -> UnreadableError:
    """Return the error about a named file that nothing here can read."""
    problem = compose(source).problem
    return UnreadableError(
        f"is {_NEITHER}" + (f": as YAML, {problem.message}" if problem is not None else ""),
        path=source.path,
        line=problem.line if problem is not None else None,
        hint="name a YAML config, a .py or .ipynb file or a folder; --dialect NAME --force-dialect takes it for a config",
    )


def _loading(runs: Runs) -> str:
    """Return how the code loads the configs of all runs, or nothing where that is not known."""
    lines = []
    for run in runs.all():
        if run.usage is not None:
            from cfgfix.usage.checks import loading_summary

            lines.append(loading_summary(run.usage))
    return "; ".join(dict.fromkeys(line for line in lines if line))


def _stale(runs: Runs, reports: Sequence[FileReport], skips: Mapping[str, Skip]) -> Iterator[str]:
    """Yield the baseline entries that nothing matches any more, of rules and files that this run could judge.

    A hook checks one file of many, and a run without a machine judges no rule about one: their entries still stand.
    """
    if runs.baseline is None or runs.past is not None:
        return
    root = os.path.dirname(os.path.abspath(runs.baseline.path))
    judged = {rule.id for run in runs.all() for rule in run.checker.rules}
    known = {rule.id for run in runs.all() for rule in run.checker.catalogue.rules}
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


def _source(runs: Runs, base: Settings, request: Request, reports: list[FileReport]) -> int:
    """Scan the Python files of a run, add their reports, and return how many there are.

    The files are one program, so the settings of the folder that the run starts in hold for what is scanned; what is
    ignored in a file is said by the settings nearest to it.
    """
    if not _scans(runs, base, request):
        return 0
    run = runs.run_for(base)
    from cfgfix.settings.code_files import python_files

    files = python_files(request.paths, base)
    if files:
        runs.inputs += [file.path for file in files]
        runs.scanned = [file.path for file in files]
        reports += _scanned(runs, run, request, files)
    return len(files)


def _scans(runs: Runs, base: Settings, request: Request) -> bool:
    """Tell whether a run looks for Python files."""
    paths = request.paths
    if (
        paths
        and not base.source_roots
        and not any(path.endswith((".py", ".ipynb")) or os.path.isdir(path) for path in paths)
    ):
        return False
    return _source_rules(runs.run_for(base))


def _source_rules(run: Run) -> bool:
    return any(rule.check and rule.check.startswith("source.") for rule in run.checker.rules)


MAX_LOOKED_AT = 500
"""Most YAML files that are looked through for the configs of a program of which one text is checked."""


def _source_text(
    runs: Runs, run: Run, source: SourceFile, request: Request, reports: list[FileReport]
) -> int:
    """Scan one Python text as a part of its project's program, under the project's configs, and add its report."""
    from cfgfix.lint.code_run import MAX_CONFIGS, program_around

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
        own = runs.sound(found.settings)
        dialect = dialect_of(document, own) if own is not None else None
        if own is not None and dialect is not None and document.problem is None:
            own.files.append(found.path)
            runs.configs.items.append((document, target_of(own, dialect, own.machines[0]).loader))
    files, path = program_around(request.stdin_name, place, settings)
    made = list(_scanned(runs, run, request, files, {path: source.text}))
    reports += [replace(report, encoded=report.encoded or same) for report in made] or [empty]
    return 1


def _scanned(
    runs: Runs,
    run: Run,
    request: Request,
    files: Sequence[PythonFile],
    texts: Mapping[str, str] | None = None,
) -> Iterator[FileReport]:
    """Yield the reports of Python files, or of the one whose text is given."""
    from cfgfix.lint.code_run import SourceRun
    from cfgfix.usage.config_facts import facts_of

    scan = SourceRun(
        files,
        catalogue=run.checker.catalogue,
        rules=run.checker.rules,
        configs=[facts_of(document, loader) for document, loader in runs.configs.items],
        severity=run.checker.severity,
        permitted=lambda findings, path: _permitted(
            runs.sound(runs.finder.settings_in(os.path.dirname(path) or ".")) or run, findings, path
        ),
        key=content_stamp(run.checker.rules),
        texts=texts,
        only=_reported(request, run.settings, files, texts),
        progress=request.progress,
        extra=_merged_by_file(
            _in_code(run, runs.configs.items), _about_options(runs, run, request, files) if not texts else {}
        ),
        under=_under_configs(runs),
        tensorflow=run.settings.tensorflow,
    )
    if request.add_ignores is not None:
        found = scan.add_ignores(request.add_ignores)
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
        yield replace(
            item,
            findings=tuple(findings),
            hidden=(*item.hidden, *known),
            edits=_python_edits(item, findings) if request.edits else (),
            settings=run.settings,
        )


def _python_edits(report: FileReport, findings: Sequence[Finding]) -> tuple[tuple[Edit, ...] | None, ...]:
    from cfgfix.code.language import Python
    from cfgfix.core.fix_loop import planned_edits

    language = Python()
    return tuple(planned_edits(language, report.text or "", finding) for finding in findings)


def _under_configs(runs: Runs) -> list[UnderConfigs]:
    """Return what the configs that were looked at give to calls of the code, as far as the code is known already."""
    from cfgfix.usage.given import under_configs

    return [item for code in runs.codes() for item in under_configs(code)]


def _reported(
    request: Request, settings: Settings, files: Sequence[PythonFile], texts: Mapping[str, str] | None
) -> frozenset[str] | None:
    """Return the Python files that are reported, or None for all: what is written is in the files that are named.

    The source roots belong to the program of any file, so a check reads them with it and tells what it finds there.
    """
    if texts:
        return frozenset(texts)
    if not request.paths or not (request.fix or request.add_ignores is not None):
        return None
    from cfgfix.settings.code_files import python_files

    named = [path for path in request.paths if path.endswith((".py", ".ipynb")) or os.path.isdir(path)]
    wanted = {os.path.abspath(file.path) for file in python_files(named, replace(settings, source_roots=()))}
    return frozenset(file.path for file in files if named and os.path.abspath(file.path) in wanted)


def _in_code(run: Run, configs: Sequence[tuple[Document, Loader]]) -> dict[str, list[Finding]] | None:
    """Return what a config and the code together show in the code; None where no config is known to the code."""
    usage = usage_for(run)
    if usage is None:
        return None
    from cfgfix.usage.checks import findings_in_code

    dialect = next(
        (found for document, _ in configs[:1] if (found := dialect_of(document, run)) is not None), None
    )
    return findings_in_code(usage, run.checker.code, run.checker.severity, dialect, run.inferred)


def _other_formats(runs: Runs, request: Request, known: set[str]) -> Iterator[FileReport]:
    """Yield the reports of configs in JSON and TOML that a program of the code that was looked at opens."""
    for named in request.paths or (".",):
        if os.path.isdir(named):
            runs.code_around(os.path.join(named, "x"))
        elif named.endswith(OPENED_BY_CODE):
            runs.code_around(named)
    for code in runs.codes():
        for path, says in code.all().items():
            shown = os.path.relpath(os.path.join(code.root, path))
            if says.form == "yaml" or not says.framework or shown in known or not _asked_for(shown, request):
                continue
            yield from _of_other_format(runs, shown, says, request)


def _about_options(
    runs: Runs, run: Run, request: Request, files: Sequence[PythonFile]
) -> dict[str, list[Finding]]:
    """Return what is wrong with the options that programs declare, by Python file."""
    if not run.checker.code:
        return {}
    for named in request.paths or (".",):
        if os.path.isdir(named):
            runs.code_around(os.path.join(named, "x"))
        elif named.endswith(PYTHON):
            runs.code_around(named)
    by_path = {os.path.abspath(file.path): file.path for file in files}
    found: dict[str, list[Finding]] = {}
    for code in runs.codes():
        for inside, check, hit in code.options():
            path = by_path.get(os.path.join(code.root, inside))
            if path is None:
                continue
            try:
                source = read_source(path)
            except UnreadableError:
                continue
            found.setdefault(path, []).extend(run.checker.by_runs(((check, hit),), source))
    return found


def _merged_by_file(
    one: dict[str, list[Finding]] | None, other: dict[str, list[Finding]]
) -> dict[str, list[Finding]] | None:
    if one is None:
        return other or None
    return {path: [*one.get(path, ()), *other.get(path, ())] for path in (*one, *other)}


def _of_other_format(runs: Runs, path: str, says: CodeSays, request: Request) -> Iterator[FileReport]:
    """Yield the report of a config in JSON or TOML that a program opens, where it can be read."""
    run = runs.run_for(runs.finder.settings_in(os.path.dirname(path) or "."))
    if not run.checker.code:
        return
    try:
        source = read_source(path)
    except UnreadableError:
        return
    runs.inputs.append(path)
    found = run.checker.by_runs(says.hits, source)
    if says.form == "json":
        meant = _by_meaning(runs, run, source, says)
        found = run.checker.unless_meant(found, meant)
        told = {item.key_path for item in found}
        found += [item for item in meant if item.key_path not in told]
    findings = _permitted(run, found, path)
    known: list[Finding] = []
    if run.baseline is not None:
        findings, known = split_known(findings, run.baseline, run.left)
    yield FileReport(
        path,
        source.text,
        "generic",
        says.form,
        tuple(findings),
        hidden=tuple(known),
        edits=tuple(None for _ in findings) if request.edits else (),
        opened_by=says.programs,
        settings=run.settings,
        language=says.form,
    )


def _read_by_named_modules(
    runs: Runs, request: Request, skips: dict[str, Skip], known: set[str]
) -> Iterator[FileReport]:
    """Yield the configs that named Python files read, with what the code there makes wrong in them.

    A hook is given the files that changed. A trainer that reads another key than before changes what each of its
    configs means, and none of them is named.
    """
    if request.add_ignores is not None:
        return
    looking = replace(request, fix=False)
    seen = {os.path.abspath(path) for path in known}
    for named in request.paths:
        if not named.endswith(PYTHON) or not os.path.isfile(named):
            continue
        code = runs.code_around(named)
        module = os.path.relpath(os.path.abspath(named), code.root).replace(os.sep, "/")
        for path, says in code.all().items():
            whole = os.path.join(code.root, path)
            if not says.framework or module not in says.modules or whole in seen:
                continue
            shown = os.path.relpath(whole)
            run = runs.sound(runs.finder.settings_in(os.path.dirname(shown) or "."))
            if run is None or not run.checker.code or Matcher(run.settings).outside(shown):
                continue
            seen.add(whole)
            for report in _by_code(runs, run, shown, says, looking, skips):
                yield replace(
                    report,
                    findings=tuple(item for item in report.findings if _caused_in(item, run, named)),
                    edits=(),
                )


def _by_code(
    runs: Runs, run: Run, path: str, says: CodeSays, request: Request, skips: dict[str, Skip]
) -> Iterator[FileReport]:
    """Yield the report of a config that a program opens, where it can be read."""
    if says.form != "yaml":
        yield from _of_other_format(runs, path, says, request)
        return
    try:
        source = read_source(path)
    except UnreadableError:
        return
    runs.inputs.append(path)
    yield _one(runs, run, source, request, skips, alone=False, included=True)


def _caused_in(finding: Finding, run: Run, module: str) -> bool:
    """Tell whether what the code does with a config is wrong, and a module is where it does so."""
    if all(rule.id != finding.rule for rule in run.checker.code.values()):
        return False
    in_code = [place.path for place in finding.related if place.path.endswith(PYTHON)]
    return not in_code or os.path.abspath(module) in map(os.path.abspath, in_code)


def _by_meaning(runs: Runs, run: Run, source: SourceFile, says: CodeSays) -> list[Finding]:
    """Return what the rules about settings and the machine find in a JSON config, of whose keys the code says what they are."""
    document = compose(source)
    generic = run.dialects.get("generic")
    if document.problem is not None or generic is None or not says.reached:
        return []
    found: list[list[Finding]] = []
    rules = {rule.id for rule in run.checker.rules if rule.check is None}
    for machine in run.machines:
        target = told_by_code(
            replace(target_of(run, generic, machine), loader=LOADERS["ruamel"]), says.reached
        )
        if says.job is not None and run.settings.hardware is None:
            target, line = told_by_job(target, says.job)
            runs.jobs += [line] if line not in runs.jobs else []
        else:
            runs.jobless = True
        known = {path for _, path in target.told.keys} if target.told is not None else set()
        found.append(
            [
                replace(finding, fix=None, no_fix_reason=finding.no_fix_reason or _JSON)
                for finding in run.checker.document(document, target).findings
                if finding.rule in rules and finding.key_path in known
            ]
        )
    return found[0] if len(found) == 1 else _merged(found, run.machines)


def _asked_for(path: str, request: Request) -> bool:
    whole = os.path.abspath(path)
    return any(
        whole == os.path.abspath(named) or whole.startswith(os.path.abspath(named).rstrip(os.sep) + os.sep)
        for named in request.paths or (".",)
    )


def _one(
    runs: Runs,
    run: Run,
    source: SourceFile,
    request: Request,
    skips: dict[str, Skip],
    *,
    alone: bool,
    included: bool,
) -> FileReport:
    """Check or fix one file; `alone` where a person names this one, `included` where an include pattern fits it."""
    readable = source.path.endswith((*YAML, ".json")) or (included and not source.path.endswith(".toml"))
    report = _judged(runs, run, source, request, skips, alone=alone, readable=readable)
    if report.passed_over is not None and request.stdin is not None:
        # What comes from an editor goes back to it as it came.
        report = replace(report, encoded=request.stdin)
    return report if report.settings is not None else replace(report, settings=run.settings)


def _says(runs: Runs, run: Run, source: SourceFile) -> CodeSays | None:
    """Return what the code around a config says of it, where some rule asks for that."""
    if not run.checker.code or source.path == "-":
        return None
    return runs.code_says(source.path, source)


def _lacking(runs: Runs, run: Run, document: Document) -> str | None:
    """Return why no code is known to open a file, where code was looked at."""
    path = document.source.path
    if not run.checker.code or path == "-":
        return None
    from cfgfix.usage.unopened import top_names

    followed = runs.code_around(path).followed()
    return followed.why_not(path, top_names(document)) if followed.modules else None


def _judged(
    runs: Runs,
    run: Run,
    source: SourceFile,
    request: Request,
    skips: dict[str, Skip],
    *,
    alone: bool,
    readable: bool,
) -> FileReport:
    document = compose(source)
    forced = alone and request.force_dialect
    dialect = dialect_of(document, run, forced=forced)
    says = _says(runs, run, source)
    another = says is not None and says.another
    if says is not None and not says.framework:
        # What no program of TensorFlow opens is judged by its keys.
        says = None
    if says is not None and dialect is None:
        dialect = run.dialects.get("generic")
    elif another and not forced:
        return FileReport(
            source.path,
            passed_over="only programs of another framework open it",
            settings=run.settings,
        )
    if document.problem is not None and document.problem.kind == "template":
        place = f"line {document.problem.line}"
        return FileReport(source.path, passed_over=f"a template, YAML only once it is filled in ({place})")
    unread = document.problem is not None and document.problem.kind != "limit"
    if unread and not (readable or forced or (says is not None and says.form == "yaml")):
        return FileReport(source.path, passed_over=_NEITHER, alone=alone, settings=run.settings)
    if dialect is None:
        tool = tool_of(document)
        if tool is not None:
            reason = f"{tool}, no training config"
            return FileReport(source.path, passed_over=reason, alone=alone, settings=run.settings)
        return FileReport(
            source.path,
            passed_over=UNKNOWN_CONFIG,
            lacking=_lacking(runs, run, document),
            alone=alone,
            settings=run.settings,
        )
    shift: tuple[Edit, ...] = ()
    if request.overrides:
        document, shift = override(document, request.overrides)
    hidden: list[Finding] = []
    targets = [target_of(run, dialect, machine) for machine in run.machines]
    if says is not None and run.settings.loader is None and dialect.name == "generic":
        targets = [replace(target, loader=LOADERS[says.loader]) for target in targets]
    if says is not None and says.reached:
        targets = [told_by_code(target, says.reached) for target in targets]
    if says is not None and says.job is not None and run.settings.hardware is None:
        by_job = [told_by_job(target, says.job) for target in targets]
        targets = [target for target, _ in by_job]
        runs.jobs += [line for _, line in by_job if line not in runs.jobs]
    else:
        runs.jobless = True

    cut: set[str] = set()
    judged_text = ""
    most = MAX_FIXED if request.fix else MAX_FINDINGS

    def check_document(candidate: Document) -> list[Finding]:
        found: list[list[Finding]] = []
        nonlocal judged_text
        judged_text = candidate.source.text
        hidden.clear()
        again = runs.code_says(source.path, candidate.source) if says is not None and not shift else None
        cut.clear()
        for target in targets:
            judged = run.checker.document(candidate, target, most, says=again)
            cut.update(judged.cut)
            for skip in judged.skips:
                skips.setdefault(skip.rule, skip)
            hidden.extend(judged.hidden)
            found.append(judged.findings)
        findings = found[0] if len(found) == 1 else _merged(found, run.machines)
        return _permitted(run, _of_tests(run, findings, source.path), source.path)

    findings: list[Finding] | None = None
    # Only a dialect of a known program tells which loader reads the file.
    unknown = ("loader", "framework", "other-readers")[0 if dialect.name == "generic" else 1 :]
    doubtful = run.checker.depending_on(*unknown)
    if not request.fix or dialect.name == "generic":
        findings = check_document(document)
        found_now = {finding.rule for finding in findings}
        told = targets
        if not doubtful.isdisjoint(found_now):
            told = [told_by_code_around(run, dialect, source, target) for target in targets]
            if says is not None:
                # Which loader reads the file is known.
                told = [
                    replace(new, loader=old.loader) if new is not old else old
                    for new, old in zip(told, targets, strict=True)
                ]
        elif not run.checker.depending_on("other-readers").isdisjoint(found_now):
            told = [told_of_ruamel(run, source, target) for target in targets]
        if any(new is not old for new, old in zip(told, targets, strict=True)):
            targets, findings = told, None
    loader = targets[0].loader
    opened_by = says.programs if says is not None else ()
    lacking = _lacking(runs, run, document) if says is None and not forced else None
    if not run.configs.full():
        run.configs.items.append((document, loader))
    if request.add_ignores is not None:
        return _with_ignores(source, document, dialect, loader, check_document, request.add_ignores)
    if not request.fix:
        findings = check_document(document) if findings is None else findings
        if run.baseline is not None:
            findings, known = split_known(findings, run.baseline, run.left)
            hidden += known
        edits: tuple[tuple[Edit, ...] | None, ...] = ()
        if request.edits and not shift:
            from cfgfix.config.document.language import Yaml
            from cfgfix.core.fix_loop import planned_edits

            language = Yaml(document, loader)
            edits = tuple(planned_edits(language, document, finding) for finding in findings)
        if shift:
            findings = [shifted(finding, shift, source) for finding in findings]
        return FileReport(
            source.path,
            source.text,
            dialect.name,
            loader.name,
            tuple(findings),
            hidden=tuple(hidden),
            edits=edits,
            lacking=lacking,
            opened_by=opened_by,
            settings=run.settings,
        )
    from cfgfix.config.document.language import Yaml
    from cfgfix.core.fix_loop import fix_file

    if findings is None:
        findings = check_document(document)
    language = Yaml(document, loader)
    fixed = _too_many(source.path, findings, cut, request)
    failures = len(runs.failures())
    if fixed is None:
        fixed = fix_file(
            source.path, source.text, check_document, language, unsafe=request.unsafe_fixes, findings=findings
        )
        if len(runs.failures()) > failures:
            fixed = _unproven(source.path, findings, request)
    report = _fixed_report(source, dialect, loader, fixed)
    if judged_text != report.text:
        # The last text that was judged is one that was not kept.
        check_document(language.parse(report.text or ""))
    report = replace(report, hidden=tuple(hidden), lacking=lacking, opened_by=opened_by)
    if run.baseline is not None:
        new, known = split_known(report.findings, run.baseline, run.left)
        report = replace(report, findings=tuple(new), hidden=(*report.hidden, *known))
    return report


def _too_many(path: str, findings: list[Finding], cut: Collection[str], request: Request) -> Fixed | None:
    """Return what to say of a file with too many findings to repair it, or None where there are not.

    Args:
        path: The file.
        findings: What is wrong with it.
        cut: Rules of which that is only a part.
        request: What is asked for.
    """
    # What a fix brings cannot be told from what was there.
    refused: dict[str, Refused] = {}
    repairs = False
    for finding in findings if cut else ():
        repaired = fixable(finding, unsafe=request.unsafe_fixes)
        repairs = repairs or repaired
        if finding.rule in cut and (repaired or finding.severity is Severity.ERROR):
            reason = f"the file has more than {MAX_FIXED:,} findings of this rule, too many to repair it; split the file"
            refused.setdefault(finding.rule, Refused(finding, reason))
    if not refused or not repairs:
        return None
    from cfgfix.core.fix_loop import Fixed

    return Fixed({}, {path: findings}, {}, {path: list(refused.values())}, {})


def _unproven(path: str, findings: list[Finding], request: Request) -> Fixed:
    """Return what to say of a file whose fixes could not be judged, by a fault of cfgfix."""
    from cfgfix.core.fix_loop import Fixed

    reason = "an internal error kept its effect from being judged"
    refused = [
        Refused(finding, reason) for finding in findings if fixable(finding, unsafe=request.unsafe_fixes)
    ]
    return Fixed({}, {path: findings}, {}, {path: refused}, {})


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


def _with_ignores(
    source: SourceFile,
    document: Document,
    dialect: Dialect,
    loader: Loader,
    check_document: Callable[[Document], list[Finding]],
    reason: str,
) -> FileReport:
    """Write a suppression comment for every finding of a file; the comments must change nothing else."""
    from cfgfix.config.document.language import Yaml
    from cfgfix.lint.suppressing import add_ignores

    after, done, refused = add_ignores(Yaml(document, loader), document, check_document(document), reason)
    left = check_document(after)
    changed = after.source.text != source.text
    return FileReport(
        source.path,
        after.source.text,
        dialect.name,
        loader.name,
        tuple(left),
        applied=tuple(done) if changed else (),
        refused=tuple(refused),
        before=source.text if changed else None,
        after=after.source.text if changed else None,
        encoded=source.encode(after.source.text),
    )


def _fixed_report(source: SourceFile, dialect: Dialect, loader: Loader, fixed: Fixed) -> FileReport:
    path = source.path
    after = fixed.texts.get(path, source.text)
    changed = after != source.text
    return FileReport(
        path,
        after,
        dialect.name,
        loader.name,
        tuple(_listed(fixed.findings[path])),
        applied=tuple(fixed.applied.get(path, ())) if changed else (),
        refused=tuple(fixed.refused.get(path, ())),
        cycle=fixed.cycles.get(path, ()),
        before=source.text if changed else None,
        after=after if changed else None,
        encoded=source.encode(after),
    )


def _listed(findings: list[Finding]) -> Iterator[Finding]:
    """Yield as many findings of each rule as a check lists."""
    counts: dict[str, int] = {}
    for finding in findings:
        counts[finding.rule] = counts.get(finding.rule, 0) + 1
        if counts[finding.rule] <= MAX_FINDINGS:
            yield finding


def _write(reports: list[FileReport], errors: list[CfgfixError]) -> bool:
    """Write all proven results; the file must still be what was read."""
    for folder in sorted({os.path.dirname(report.path) for report in reports}):
        _clean(folder)
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


def _clean(folder: str) -> None:
    """Remove what a killed run has left in a folder that no link outside of the project leads to."""
    try:
        inside = os.path.dirname(require_inside(os.path.join(folder, "x")))
    except (OSError, UnreadableError):
        return
    remove_leftovers(inside)


def _changed(path: str) -> UnreadableError:
    return UnreadableError(
        "changed while it was being fixed; it was left as it is", path=path, hint="run cfgfix again"
    )


_TEST_FOLDERS = frozenset({"tests", "testdata", "test_data", "fixtures"})


def _of_tests(run: Run, findings: list[Finding], path: str) -> list[Finding]:
    """Return the findings of a file, with the severity that their rules give them in a config of the project's tests.

    A test sets a batch size of 0 or eager mode because nothing trains with it. What cannot be loaded stays what it is.
    """
    folders = os.path.dirname(os.path.relpath(path, run.settings.root)).split(os.sep)
    if _TEST_FOLDERS.isdisjoint(folders):
        return findings

    def lowered(finding: Finding) -> Finding:
        severity = run.checker.policy(finding).in_tests
        if severity is None or finding.severity <= severity or run.checker.severity_is_set(finding.rule):
            return finding
        return replace(finding, severity=severity)

    return [lowered(finding) for finding in findings]


def _permitted(run: Run, findings: list[Finding], path: str) -> list[Finding]:
    patterns = run.settings.per_file_ignores
    if not patterns:
        return findings
    return [
        finding
        for finding in findings
        if not ignored_by_path(finding.rule, finding.name, path, run.settings.root, patterns)
    ]


def applicable(finding: Finding, *, unsafe: bool) -> bool:
    """Tell whether `--fix` would repair a finding."""
    return fixable(finding, unsafe=unsafe)


__all__ = [
    "FileReport",
    "KeyPath",
    "Refused",
    "Report",
    "Request",
    "Sight",
    "applicable",
    "check",
    "fix",
    "select",
    "sight",
]
