"""Run a case of a rule about config and code: files and a config in a temporary folder, found as said, fixed, clean."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from cfgfix.config.dialects.dialect import dialects
from cfgfix.config.document.compose import Document, compose
from cfgfix.config.document.language import Yaml
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.config.schema.infer import infer
from cfgfix.config.schema.validate import Schema
from cfgfix.core.errors import CfgfixError
from cfgfix.core.findings import Finding, format_key_path
from cfgfix.core.fix_loop import fix_file
from cfgfix.core.source_file import SourceFile
from cfgfix.hardware.model import Hardware
from cfgfix.lint.document_checker import Judge, Target
from cfgfix.lint.session import told_by_code
from cfgfix.rules.catalogue import Catalogue
from cfgfix.rules.rule import Rule
from cfgfix.settings.reader import Settings
from cfgfix.usage.checks import findings_in_code, key_paths, project_files, usage_of


def run_code_case(rule: Rule, case: Mapping[str, Any], hardware: Hardware | None = None) -> list[str]:
    """Return what is wrong with a case; nothing means it passed.

    Args:
        rule: The rule.
        case: The case.
        hardware: The machine that it names.

    Raises:
        CfgfixError: The case itself is wrong.
    """
    files = case["files"]
    if not isinstance(files, dict) or not files:
        raise CfgfixError("`files` is no mapping of path to text")
    with tempfile.TemporaryDirectory(prefix="cfgfix-case-") as folder:
        for name, text in files.items():
            place = os.path.normpath(os.path.join(folder, str(name)))
            if not place.startswith(folder + os.sep):
                raise CfgfixError(f"{name!r} leads out of the case's folder")
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "w", encoding="utf-8", newline="") as stream:
                stream.write(str(text))
        return list(_problems(rule, case, folder, hardware))


def _problems(rule: Rule, case: Mapping[str, Any], folder: str, hardware: Hardware | None) -> Iterator[str]:
    settings = Settings(root=folder, tensorflow="requirements")
    if "config" not in case:
        yield from _problems_of_options(rule, case, folder)
        return
    if case.get("opened"):
        yield from _problems_of_runs(rule, case, folder, hardware)
        return
    source = SourceFile.from_bytes(str(case["config"]).encode(), "config.yaml")
    document = compose(source)
    inferred = infer(str(case["class"]), folder) if case.get("class") else None
    usage = usage_of(
        project_files(settings), settings, inferred, key_paths(document), "case", use_cache=False
    )
    known = dialects()
    loader = LOADERS[usage.loader if usage.loader in LOADERS else "pyyaml"]
    schema = Schema.load(inferred.schema, "case") if inferred is not None else None
    target = Target(known["generic"], loader, schema, None, None, usage)
    judge = Judge(Catalogue([rule]), [rule], {})

    def check(candidate: Document) -> list[Finding]:
        return [item for item in judge.document(candidate, target).findings if item.rule == rule.id]

    findings = check(document)
    places = [format_key_path(item.key_path) for item in findings if item.key_path is not None]
    named = str(case["dialect"]) if case.get("dialect") else ""
    if named and named not in known:
        raise CfgfixError(f"no dialect is called {named!r}")
    in_code = findings_in_code(usage, judge.code, judge.severity, known.get(named), inferred)
    for path in sorted(in_code):
        for item in in_code[path]:
            findings.append(item)
            shown = os.path.relpath(path, folder).replace(os.sep, "/")
            places.append(f"{shown}#{item.location.line}")
    wanted = [str(place) for place in case["finds"] or []]
    if places != wanted:
        yield f"finds {places}, not {wanted}" + "".join(f"\n    {item.message}" for item in findings)
        return
    for item in findings:
        if item.fix is not None and not rule.states(item.fix.safety):
            yield f"a fix is {item.fix.safety.label}, which the rule does not state"
        if "severity" in case and item.severity.label != case["severity"]:
            yield f"severity is {item.severity.label}, not {case['severity']}"
        if "unknown" in item.message:
            yield f"the message has an unknown operand: {item.message}"
    if "message" in case and not any(str(case["message"]) in item.message for item in findings):
        yield f"no message has {case['message']!r}: {[item.message for item in findings]}"
    outcome = fix_file(source.path, source.text, check, Yaml(document, loader), unsafe=True)
    for refused in outcome.refused.get(source.path, ()):
        yield f"the fix is refused: {refused.reason}"
    after = outcome.texts.get(source.path, source.text)
    expected = str(case["fixed"]) if "fixed" in case else source.text
    if after != expected:
        yield f"the fix gives {after!r}, not {expected!r}"
    elif outcome.texts and any(item.fix is not None for item in outcome.findings[source.path]):
        yield "still found after the fix"


def _problems_of_runs(
    rule: Rule, case: Mapping[str, Any], folder: str, hardware: Hardware | None
) -> Iterator[str]:
    """Yield what is wrong with a case whose programs open the config by themselves."""
    from cfgfix.usage.project_code import ProjectCode

    path = os.path.join(folder, str(case["opened"]))
    with open(path, "w", encoding="utf-8", newline="") as stream:
        stream.write(str(case["config"]))
    code = ProjectCode(folder, lambda _path: False, keep=False)
    judge = Judge(Catalogue([rule]), [rule], {})
    source = SourceFile.from_bytes(str(case["config"]).encode(), path)
    says = code.of(path, source)
    if says is None:
        yield "no program of the case opens the config"
        return

    def look(name: str) -> Any:
        value = hardware.lookup(name) if hardware is not None else None
        return None if value is None else value.value

    target = told_by_code(
        Target(
            dialects()["generic"],
            LOADERS[says.loader],
            None,
            look if hardware is not None else None,
            hardware.label if hardware is not None else None,
        ),
        says.reached,
    )

    def check(candidate: Document) -> list[Finding]:
        found = code.of(path, candidate.source)
        return [
            item for item in judge.document(candidate, target, says=found).findings if item.rule == rule.id
        ]

    document = compose(source)
    findings = check(document)
    places = [format_key_path(item.key_path) for item in findings if item.key_path is not None]
    wanted = [str(place) for place in case["finds"] or []]
    if places != wanted:
        yield f"finds {places}, not {wanted}" + "".join(f"\n    {item.message}" for item in findings)
        return
    for item in findings:
        if rule.check is None and item.confidence is not rule.confidence_by_code:
            yield f"confidence is {item.confidence.label}, not {rule.confidence_by_code.label}"
    if "severity" in case and any(item.severity.label != case["severity"] for item in findings):
        yield f"severity is {findings[0].severity.label}, not {case['severity']}"
    if "message" in case and not any(str(case["message"]) in item.message for item in findings):
        yield f"no message has {case['message']!r}: {[item.message for item in findings]}"
    outcome = fix_file(source.path, source.text, check, Yaml(document, target.loader), unsafe=True)
    for refused in outcome.refused.get(source.path, ()):
        yield f"the fix is refused: {refused.reason}"
    after = outcome.texts.get(source.path, source.text)
    expected = str(case["fixed"]) if "fixed" in case else source.text
    if after != expected:
        yield f"the fix gives {after!r}, not {expected!r}"


def _problems_of_options(rule: Rule, case: Mapping[str, Any], folder: str) -> Iterator[str]:
    """Yield what is wrong with a case about the options of programs."""
    from cfgfix.core.source_file import read_source
    from cfgfix.usage.project_code import ProjectCode

    judge = Judge(Catalogue([rule]), [rule], {})
    found = [
        (inside, item)
        for inside, check, hit in ProjectCode(folder, lambda _path: False, keep=False).options()
        for item in judge.by_runs(((check, hit),), read_source(os.path.join(folder, inside)))
    ]
    places = [f"{inside}#{item.location.line}" for inside, item in found]
    wanted = [str(place) for place in case["finds"] or []]
    if places != wanted:
        yield f"finds {places}, not {wanted}" + "".join(f"\n    {item.message}" for _, item in found)
    elif "severity" in case and any(item.severity.label != case["severity"] for _, item in found):
        yield f"severity is {found[0][1].severity.label}, not {case['severity']}"
    elif "message" in case and not any(str(case["message"]) in item.message for _, item in found):
        yield f"no message has {case['message']!r}: {[item.message for _, item in found]}"
