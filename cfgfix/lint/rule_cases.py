"""Run the cases of rule files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from typing import Any

from cfgfix.core.errors import CfgfixError
from cfgfix.core.records import dataclass
from cfgfix.lint.case_trial import Trial, problems_of
from cfgfix.rules.catalogue import KnownNames, read_folder
from cfgfix.rules.reader import load_yaml
from cfgfix.rules.rule import Rule


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The result of one case; no problems means that the case passed."""

    rule: str
    case: str
    problems: tuple[str, ...]


def run_folder(folder: str, known: KnownNames | None = None) -> Iterator[CaseResult]:
    """Run every case of every rule file below a folder, or those of one file.

    Args:
        folder: A folder with rule files, or a rule file.
        known: The names that the rules may use; None leaves them unchecked.

    Raises:
        CfgfixError: The folder has no rules, or a rule file is wrong.
    """
    only = folder if os.path.isfile(folder) else None
    for rule in read_folder(os.path.dirname(folder) or "." if only else folder, known):
        if only and not os.path.samefile(rule.path, only):
            continue
        data = load_yaml(rule.path)
        for case in data["cases"]:
            yield run_case(rule, case)


def run_case(rule: Rule, case: dict[str, Any]) -> CaseResult:
    """Run one case of a rule, and return the result."""
    try:
        with tempfile.TemporaryDirectory(prefix="cfgfix-case-") as folder:
            problems = list(problems_of(rule, case, _trial_of_case(rule, case, folder)))
    except CfgfixError as error:
        problems = [f"the case itself is wrong: {error}"]
    except (LookupError, TypeError, ValueError) as error:
        problems = [f"the case itself is wrong: {type(error).__name__}: {error}"]
    return CaseResult(rule.id, str(case["name"]), tuple(problems))


def _trial_of_case(rule: Rule, case: dict[str, Any], folder: str) -> Trial:
    """Return a trial of a rule on a case; `folder` is an empty folder for its files."""
    if case.get("opened"):
        from cfgfix.lint.usage_cases import opened_trial

        return opened_trial(rule, case, folder)
    if rule.check is not None and rule.check.startswith("code."):
        from cfgfix.lint.usage_cases import options_trial, usage_trial

        if "config" not in case:
            return options_trial(rule, case, folder)
        return usage_trial(rule, case, folder)
    if "files" in case:
        from cfgfix.lint.code_cases import code_trial

        return code_trial(rule, case, folder)
    from cfgfix.lint.config_cases import config_trial

    return config_trial(rule, case)
