"""The cases of rules about code: Python files, judged under the config that the case states."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from cfgfix.code.language import Python
from cfgfix.code.model.python_files import find_python
from cfgfix.code.scan import ConfigFacts, scan
from cfgfix.config.document.compose import Document, compose
from cfgfix.config.loaders.scalars import LOADERS, Loader
from cfgfix.core.errors import CfgfixError
from cfgfix.core.findings import Finding, parse_key_path
from cfgfix.core.source_file import SourceFile
from cfgfix.lint.case_trial import Trial, trial_project, write_case_files
from cfgfix.lint.project_findings import hits_in_program
from cfgfix.rules.rule import Rule
from cfgfix.usage.config_facts import facts_of


def code_trial(rule: Rule, case: Mapping[str, Any], folder: str) -> Trial:
    """Return a trial of a rule on the Python files of a case.

    Raises:
        CfgfixError: The case itself is wrong.
    """
    texts = write_case_files(case, folder)
    configs = _configs_of_case(case)
    python = find_python([folder], lambda _path: False)
    language = Python()
    alone = len(texts) == 1
    project = trial_project([rule])

    def check(changed: Mapping[str, str]) -> dict[str, list[Finding]]:
        found = scan(
            python,
            [rule],
            configs,
            severity=lambda _, value: value,
            key="case",
            overlay={path: text.encode() for path, text in changed.items()},
            use_cache=False,
            hits=lambda program: hits_in_program(project, program),
        ).findings
        return {path: found[path] for path in sorted(found)}

    def place_of(path: str, finding: Finding) -> str:
        return f"#{finding.location.line}" if alone else place_in_code(path, finding, folder)

    fixed = case.get("fixed_files") or {}
    if "fixed" in case:
        fixed = {next(iter(case["files"])): case["fixed"], **fixed}
    return Trial(
        texts,
        {os.path.join(folder, *str(name).split("/")): str(text) for name, text in fixed.items()},
        check,
        lambda _path: language,
        place_of,
    )


def place_in_code(path: str, finding: Finding, folder: str) -> str:
    """Return the place of a finding as cases write it: relative path, `#` and line."""
    return f"{os.path.relpath(path, folder).replace(os.sep, '/')}#{finding.location.line}"


def _configs_of_case(case: Mapping[str, Any]) -> list[ConfigFacts]:
    if "config" not in case:
        return []
    loader: Loader = LOADERS[str(case.get("loader") or "pyyaml")]
    document: Document = compose(SourceFile.from_bytes(str(case["config"]).encode(), "config.yaml"))
    facts = facts_of(document, loader)
    leaves = dict(facts.leaves)
    for item in case.get("set") or []:
        key, sign, value = str(item).partition("=")
        if not sign:
            raise CfgfixError(f"set: {item!r} is not KEY=VALUE")
        from cfgfix.config.loaders.scalars import resolve

        leaves[tuple(str(step) for step in parse_key_path(key))] = resolve(value, loader).value
    return [ConfigFacts("config.yaml", leaves)]
