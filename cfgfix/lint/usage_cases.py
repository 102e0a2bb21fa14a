"""The cases of rules about configs and the code that reads them: files and a config in a folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from cfgfix.code.language import Python
from cfgfix.config.dialects.dialect import dialects
from cfgfix.config.document.compose import compose
from cfgfix.config.document.language import Yaml
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.config.schema.infer import infer
from cfgfix.config.schema.validate import Schema
from cfgfix.core.errors import CfgfixError
from cfgfix.core.findings import Finding
from cfgfix.core.records import replace
from cfgfix.core.source_file import SourceFile
from cfgfix.lint.case_trial import Trial, trial_project, write_case_files
from cfgfix.lint.code_cases import place_in_code
from cfgfix.lint.config_cases import machine_of, place_in_config
from cfgfix.lint.project import Machine, Target
from cfgfix.lint.project_findings import findings_in_config, findings_in_project
from cfgfix.lint.targets import with_meanings
from cfgfix.rules.rule import Rule
from cfgfix.settings.reader import Settings
from cfgfix.usage.checks import key_paths, project_files, usage_of


def usage_trial(rule: Rule, case: Mapping[str, Any], folder: str) -> Trial:
    """Return a trial of a rule on the config and the code of a case.

    Raises:
        CfgfixError: The case itself is wrong.
    """
    texts = write_case_files(case, folder)
    settings = Settings(root=folder, tensorflow="requirements")
    source = SourceFile.from_bytes(str(case["config"]).encode(), "config.yaml")
    document = compose(source)
    inferred = infer(str(case["class"]), folder) if case.get("class") else None
    usage = usage_of(
        project_files(settings), settings, inferred, key_paths(document), "case", use_cache=False
    )
    known = dialects()
    named = str(case["dialect"]) if case.get("dialect") else ""
    if named and named not in known:
        raise CfgfixError(f"no dialect is called {named!r}")
    loader = LOADERS[usage.loader if usage.loader in LOADERS else "pyyaml"]
    schema = Schema.load(inferred.schema, "case") if inferred is not None else None
    target = Target(known["generic"], loader, schema, None, None, usage)
    project = trial_project([rule])
    project.usage, project.usage_known, project.inferred = usage, True, inferred
    if named:
        project.settings = replace(project.settings, dialect=named)
        project.dialects = known
        project.configs.items.append((document, loader))
    in_code = {
        path: sorted(items, key=lambda item: item.location.start)
        for path, items in findings_in_project(project).items()
    }
    config, code = Yaml(document, loader), Python()

    def check(changed: Mapping[str, str]) -> dict[str, list[Finding]]:
        candidate = config.parse(changed.get(source.path, source.text))
        findings = [
            item for item in findings_in_config(project, candidate, target).findings if item.rule == rule.id
        ]
        return {source.path: findings, **{path: in_code[path] for path in sorted(in_code)}}

    def place_of(path: str, finding: Finding) -> str:
        return place_in_config(finding) if path == source.path else place_in_code(path, finding, folder)

    return Trial(
        {source.path: source.text, **texts},
        {source.path: str(case["fixed"])} if "fixed" in case else {},
        check,
        lambda path: config if path == source.path else code,
        place_of,
    )


def opened_trial(rule: Rule, case: Mapping[str, Any], folder: str) -> Trial:
    """Return a trial of a rule on a config that the programs of a case open.

    Raises:
        CfgfixError: The case itself is wrong, or none of its programs opens the config.
    """
    from cfgfix.usage.project_code import ProjectCode

    write_case_files(case, folder)
    path = os.path.join(folder, str(case["opened"]))
    text = str(case["config"])
    with open(path, "w", encoding="utf-8", newline="") as stream:
        stream.write(text)
    code = ProjectCode(folder, lambda _path: False, keep=False, follows_models="hardware" in case)
    project = trial_project([rule])
    source = SourceFile.from_bytes(text.encode(), path)
    code_facts = code.facts_about(path, source)
    if code_facts is None:
        raise CfgfixError("no program of the case opens the config")
    machine, label = machine_of(case)
    target = with_meanings(
        Target(dialects()["generic"], LOADERS[code_facts.loader], None, machine, label), code_facts.reached
    )
    language = Yaml(compose(source), target.loader)

    def check(changed: Mapping[str, str]) -> dict[str, list[Finding]]:
        candidate = language.parse(changed.get(path, text))
        found = findings_in_config(
            project, candidate, target, code_facts=code.facts_about(path, candidate.source)
        )
        return {path: [item for item in found.findings if item.rule == rule.id]}

    return Trial(
        {path: text},
        {path: str(case["fixed"])} if "fixed" in case else {},
        check,
        lambda _path: language,
        lambda _path, finding: place_in_config(finding),
        rule.confidence_by_code if rule.check is None else None,
    )


def options_trial(rule: Rule, case: Mapping[str, Any], folder: str) -> Trial:
    """Return a trial of a rule on programs of a case that declare options."""
    from cfgfix.usage.project_code import ProjectCode

    texts = write_case_files(case, folder)
    machine, label = machine_of(case)
    code = ProjectCode(folder, lambda _path: False, keep=False, follows_models=machine is not None)
    project = trial_project([rule])
    project.machines = [Machine(machine, label)]
    project.codes = lambda: [code]
    project.scanned = list(texts)
    found = findings_in_project(project)
    language = Python()
    return Trial(
        texts,
        {},
        lambda _changed: found,
        lambda _path: language,
        lambda path, finding: place_in_code(path, finding, folder),
    )
