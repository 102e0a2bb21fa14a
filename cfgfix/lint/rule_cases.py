"""Run the cases of rule files, four ways: found as said, fixed as said, clean after the fix, and stable."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any

from cfgfix.config.dialects.dialect import Dialect, dialects, schema_data
from cfgfix.config.document.compose import Document, compose
from cfgfix.config.document.language import Yaml
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.config.schema.validate import Schema
from cfgfix.core.edits import Safety
from cfgfix.core.errors import CfgfixError
from cfgfix.core.findings import Finding, format_key_path
from cfgfix.core.fix_loop import Fixed, fix_file
from cfgfix.core.records import dataclass
from cfgfix.core.source_file import SourceFile
from cfgfix.lint.document_checker import Judge, Target
from cfgfix.rules.catalogue import Catalogue, KnownNames, builtin, read_folder
from cfgfix.rules.expression import UNKNOWN
from cfgfix.rules.reader import load_yaml
from cfgfix.rules.rule import Rule

DEFAULT_DIALECT = "myxtts"


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What came of one case; no problems means it passed."""

    rule: str
    case: str
    problems: tuple[str, ...]


def run_folder(folder: str, known: KnownNames | None = None) -> Iterator[CaseResult]:
    """Run every case of every rule file below a folder.

    Args:
        folder: A folder with rule files.
        known: The names that the rules may use; None leaves them unchecked.

    Raises:
        CfgfixError: The folder has no rules, or a rule file is wrong.
    """
    for rule in read_folder(folder, known):
        data = load_yaml(rule.path)
        for case in data["cases"]:
            yield run_case(rule, case)


def run_case(rule: Rule, case: dict[str, Any]) -> CaseResult:
    """Run one case of a rule."""
    try:
        if case.get("opened") or (rule.check is not None and rule.check.startswith("code.")):
            from cfgfix.lint.usage_cases import run_code_case

            problems = run_code_case(rule, case, case_hardware(case.get("hardware")))
        elif "files" in case:
            from cfgfix.lint.code_cases import run_source_case

            problems = run_source_case(rule, case)
        else:
            problems = list(_config_case(rule, case))
    except CfgfixError as error:
        problems = [f"the case itself is wrong: {error}"]
    except (LookupError, TypeError, ValueError) as error:
        problems = [f"the case itself is wrong: {type(error).__name__}: {error}"]
    return CaseResult(rule.id, str(case["name"]), tuple(problems))


def _config_case(rule: Rule, case: dict[str, Any]) -> Iterator[str]:
    raw = base64.b64decode(case["config_base64"]) if "config_base64" in case else str(case["config"]).encode()
    source = SourceFile.from_bytes(raw, str(case.get("path", "config.yaml")))
    check = case_check(rule, case)
    if case.get("set"):
        from cfgfix.config.compose.overrides import override

        overrides = [tuple(str(item).split("=", 1)) for item in case["set"]]
        document, _ = override(compose(source), [(key, value) for key, value in overrides])
        source = document.source
    findings = check(compose(source))
    found = [_place(finding) for finding in findings]
    wanted = [str(place) for place in case["finds"] or []]
    if found != wanted:
        yield f"finds {found}, not {wanted}" + "".join(f"\n    {finding.message}" for finding in findings)
        return
    if "severity" in case:
        for finding in findings:
            if finding.severity.label != case["severity"]:
                yield f"severity is {finding.severity.label}, not {case['severity']}"
    if "message" in case and not any(str(case["message"]) in finding.message for finding in findings):
        yield f"no message has {case['message']!r}: {[finding.message for finding in findings]}"
    for finding in findings:
        if finding.fix is not None and not rule.states(finding.fix.safety):
            yield f"a fix is {finding.fix.safety.label}, which the rule does not state"
        if UNKNOWN in finding.message:
            yield f"the message has an unknown operand: {finding.message}"
    yield from _fix(source, case, check, findings)


def _fix(
    source: SourceFile,
    case: dict[str, Any],
    check: Callable[[Document], list[Finding]],
    findings: list[Finding],
) -> Iterator[str]:
    def fixed(text: SourceFile) -> Fixed:
        language = Yaml(compose(text), LOADERS[_loader(case)])
        return fix_file(source.path, text.text, check, language, unsafe=True)

    outcome = fixed(source)
    reasons = [refused.reason for refused in outcome.refused.get(source.path, ())]
    if "refused" in case:
        if not any(str(case["refused"]) in reason for reason in reasons):
            yield f"the fix is not refused with {case['refused']!r}: {reasons}"
        return
    for reason in reasons:
        yield f"the fix is refused: {reason}"
    if outcome.cycles:
        yield "the fix never ends"
        return
    after = outcome.texts.get(source.path, source.text)
    wanted = str(case["fixed"]) if "fixed" in case else source.text
    if after != wanted:
        yield f"the fix gives {after!r}, not {wanted!r}"
        return
    left = [
        finding
        for finding in outcome.findings[source.path]
        if finding.fix is not None and finding.fix.safety > Safety.DISPLAY
    ]
    if left:
        yield f"still found after the fix: {[_place(finding) for finding in left]}"
    if fixed(SourceFile.from_bytes(source.encode(after), source.path)).texts:
        yield "a second fix changes the text again"
    if "fixed" in case and not findings:
        yield "`fixed` in a case that finds nothing"


def _place(finding: Finding) -> str:
    return format_key_path(finding.key_path) if finding.key_path is not None else f"#{finding.location.line}"


def _dialect(rule: Rule | None, case: dict[str, Any]) -> Dialect:
    name = case.get("dialect") or (
        min(rule.dialects) if rule is not None and rule.dialects else DEFAULT_DIALECT
    )
    known = dialects()
    if name not in known:
        raise CfgfixError(f"no dialect is called {name!r}")
    return known[name]


def _loader(case: dict[str, Any]) -> str:
    name = str(case.get("loader") or _dialect(None, case).loader)
    if name not in LOADERS:
        raise CfgfixError(f"no loader is called {name!r}")
    return name


def case_check(rule: Rule, case: dict[str, Any]) -> Callable[[Document], list[Finding]]:
    """Return the function that applies a rule under the circumstances of a case.

    Raises:
        CfgfixError: The case names what does not exist.
    """
    dialect = _dialect(rule, case)
    loader = LOADERS[str(case.get("loader") or dialect.loader)]
    if "schema" in case:
        schema: Schema | None = Schema.load(case["schema"], "case") if case["schema"] else None
    else:
        data = schema_data(dialect)
        schema = Schema.load(data, dialect.name) if data is not None else None
    hardware = case_hardware(case.get("hardware"))

    def look(name: str) -> Any:
        value = hardware.lookup(name)
        return None if value is None else value.value

    target = Target(
        dialect,
        loader,
        schema,
        look if hardware is not None else None,
        hardware.label if hardware is not None else None,
        own_schema=bool(case.get("schema")),
    )
    if rule.check is not None and rule.check.startswith("engine."):
        # A rule about suppressions needs the rules that they speak of.
        others = [other for other in builtin().rules if other.id != rule.id and not other.preview]
        judge = Judge(builtin(), [*others, rule], {})
    else:
        judge = Judge(Catalogue([rule]), [rule], {})
    return lambda document: [
        finding for finding in judge.document(document, target).findings if finding.rule == rule.id
    ]


def case_hardware(stated: Any) -> Any:
    """Return the machine a case names: none, a profile, or a mapping with `gpu`, `cpus`, `ram` (GiB), `storage`, `shm`.

    Raises:
        CfgfixError: It is no machine.
    """
    from cfgfix.hardware.presets import parse_profile

    if stated in (None, "none"):
        return None
    if isinstance(stated, str):
        return parse_profile(stated)
    if not isinstance(stated, dict):
        raise CfgfixError(f"hardware {stated!r} is neither a profile nor a mapping")
    parts = [str(stated.get("gpu", "cpu"))]
    for name in ("cpus", "ram", "storage", "shm"):
        if name in stated:
            parts.append(f"{name}={stated[name]}")
    return parse_profile(",".join(parts))
