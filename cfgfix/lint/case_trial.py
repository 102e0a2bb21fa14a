"""What every case of a rule file must show: found as said, fixed as said, clean after the fix, and stable."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from cfgfix.core.edits import Safety
from cfgfix.core.errors import CfgfixError
from cfgfix.core.findings import Confidence, Finding
from cfgfix.core.fix_loop import Check, fix_files
from cfgfix.core.records import dataclass
from cfgfix.lint.checkers.registry import checkers_for
from cfgfix.lint.project import Project
from cfgfix.lint.rule_set import RuleSet
from cfgfix.rules.catalogue import Catalogue
from cfgfix.rules.expression import UNKNOWN
from cfgfix.rules.rule import Rule
from cfgfix.settings.reader import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.core.fix_loop import Language


@dataclass(frozen=True, slots=True)
class Trial:
    """The files of a case, and how a rule is applied to them."""

    texts: Mapping[str, str]
    """The text of each file, by its path."""
    fixed: Mapping[str, str]
    """What the fix makes of the files that it changes."""
    check: Check
    """What the rule finds in all files when some have other texts, by file, in the order of the case."""
    language_of: Callable[[str], Language]
    """The mechanics of a file."""
    place_of: Callable[[str, Finding], str]
    """How a case names the place of a finding in a file."""
    confidence: Confidence | None = None
    """How sure all that is found is, where the kind of case says so."""


def trial_project(rules: Sequence[Rule], catalogue: Catalogue | None = None) -> Project:
    """Return a project judged by the given rules.

    The catalogue holds the same rules unless another is given.
    """
    project = Project(Settings(root="."), RuleSet(catalogue or Catalogue(rules), rules, {}))
    project.checkers = checkers_for(project)
    return project


def write_case_files(case: Mapping[str, Any], folder: str) -> dict[str, str]:
    """Write the files of a case below a folder and return their texts by path.

    Raises:
        CfgfixError: The case names no files, or one outside the folder.
    """
    files = case["files"]
    if not isinstance(files, dict) or not files:
        raise CfgfixError("`files` is no mapping of path to text")
    texts: dict[str, str] = {}
    for name, text in files.items():
        place = os.path.normpath(os.path.join(folder, str(name)))
        if not place.startswith(folder + os.sep):
            raise CfgfixError(f"{name!r} leads out of the case's folder")
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="utf-8", newline="") as stream:
            stream.write(str(text))
        texts[place] = str(text)
    return texts


def problems_of(rule: Rule, case: Mapping[str, Any], trial: Trial) -> Iterator[str]:
    """Yield the ways in which a case fails; a case that passes yields nothing."""
    found = trial.check({})
    places = [trial.place_of(path, item) for path, items in found.items() for item in items]
    findings = [item for items in found.values() for item in items]
    wanted = [str(place) for place in case["finds"] or []]
    if places != wanted:
        yield f"finds {places}, not {wanted}" + "".join(f"\n    {item.message}" for item in findings)
        return
    states = case.get("states") or ([case["state"]] * len(findings) if "state" in case else None)
    if states is not None and [item.state.value for item in findings] != list(states):
        yield f"states are {[item.state.value for item in findings]}, not {list(states)}"
    for item in findings:
        if "severity" in case and item.severity.label != case["severity"]:
            yield f"severity is {item.severity.label}, not {case['severity']}"
        if item.fix is not None and not rule.states(item.fix.safety):
            yield f"a fix is {item.fix.safety.label}, which the rule does not state"
        if trial.confidence not in (None, item.confidence):
            yield f"confidence is {item.confidence.label}, not {trial.confidence.label}"
        if UNKNOWN in item.message:
            yield f"the message has an unknown operand: {item.message}"
        if item.fix is not None and UNKNOWN in item.fix.title:
            yield f"the title of the fix has an unknown operand: {item.fix.title}"
    if "message" in case and not any(str(case["message"]) in item.message for item in findings):
        yield f"no message has {case['message']!r}: {[item.message for item in findings]}"
    if trial.fixed and not findings:
        yield "`fixed` in a case that finds nothing"
    yield from _problems_of_fix(case, trial)


def _problems_of_fix(case: Mapping[str, Any], trial: Trial) -> Iterator[str]:
    outcome = fix_files(trial.texts.__getitem__, trial.check, trial.language_of, unsafe=True)
    reasons = [item.reason for items in outcome.refused.values() for item in items]
    if "refused" in case:
        if not any(str(case["refused"]) in reason for reason in reasons):
            yield f"the fix is not refused with {case['refused']!r}: {reasons}"
        return
    for reason in reasons:
        yield f"the fix is refused: {reason}"
    if outcome.cycles:
        yield "the fix never ends"
        return
    for path, before in trial.texts.items():
        after = outcome.texts.get(path, before)
        expected = trial.fixed.get(path, before)
        if after != expected:
            yield f"the fix gives for {os.path.basename(path)}:\n{after}\nnot:\n{expected}"
            return
    left = [
        trial.place_of(path, item)
        for path, items in outcome.findings.items()
        for item in items
        if item.fix is not None and item.fix.safety > Safety.DISPLAY
    ]
    if left and not reasons:
        yield f"still found after the fix: {left}"
    if not outcome.texts:
        return
    texts = {**trial.texts, **outcome.texts}
    again = fix_files(
        texts.__getitem__,
        lambda other: trial.check({**outcome.texts, **other}),
        trial.language_of,
        unsafe=True,
    )
    if again.texts:
        yield "a second fix changes the text again"
