"""Run a case of a source rule: files in a temporary folder, found as said, fixed as said, clean after, stable."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from cfgfix.code.language import Python
from cfgfix.code.model.python_files import find_python
from cfgfix.code.scan import ConfigFacts, scan
from cfgfix.config.document.compose import Document, compose
from cfgfix.config.loaders.scalars import LOADERS, Loader
from cfgfix.core.errors import CfgfixError
from cfgfix.core.findings import Finding, parse_key_path
from cfgfix.core.fix_loop import fix_files
from cfgfix.core.source_file import SourceFile
from cfgfix.rules.rule import Rule
from cfgfix.usage.config_facts import facts_of


def run_source_case(rule: Rule, case: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with a case; nothing means it passed.

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
        return list(_problems(rule, case, folder))


def _configs(case: Mapping[str, Any]) -> list[ConfigFacts]:
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


def _problems(rule: Rule, case: Mapping[str, Any], folder: str) -> Iterator[str]:
    configs = _configs(case)
    python = find_python([folder], lambda _path: False)

    def check(texts: Mapping[str, str]) -> dict[str, list[Finding]]:
        overlay = {path: text.encode() for path, text in texts.items()}
        return scan(
            python,
            [rule],
            configs,
            severity=lambda _, value: value,
            key="case",
            overlay=overlay,
            use_cache=False,
        ).findings

    found = check({})
    flat = [
        (os.path.relpath(path, folder).replace(os.sep, "/"), item)
        for path, items in sorted(found.items())
        for item in items
    ]
    alone = len(case["files"]) == 1
    places = [f"#{item.location.line}" if alone else f"{name}#{item.location.line}" for name, item in flat]
    wanted = [str(place) for place in case["finds"] or []]
    if places != wanted:
        yield f"finds {places}, not {wanted}" + "".join(f"\n    {item.message}" for _, item in flat)
        return
    states = case.get("states") or ([case["state"]] * len(flat) if "state" in case else None)
    if states is not None and [item.state.value for _, item in flat] != list(states):
        yield f"states are {[item.state.value for _, item in flat]}, not {list(states)}"
    for _, item in flat:
        if item.fix is not None and not rule.states(item.fix.safety):
            yield f"a fix is {item.fix.safety.label}, which the rule does not state"
        if "severity" in case and item.severity.label != case["severity"]:
            yield f"severity is {item.severity.label}, not {case['severity']}"
        if "unknown" in item.message and "unknown" not in str(case.get("message", "unknown")):
            yield f"the message has an unknown operand: {item.message}"
    if "message" in case and not any(str(case["message"]) in item.message for _, item in flat):
        yield f"no message has {case['message']!r}: {[item.message for _, item in flat]}"
    yield from _fixes(case, folder, check)


def _fixes(case: Mapping[str, Any], folder: str, check: Any) -> Iterator[str]:
    def text_of(path: str) -> str:
        with open(path, encoding="utf-8", newline="") as stream:
            return stream.read()

    language = Python()
    outcome = fix_files(text_of, check, lambda _path: language, unsafe=True)
    refusals = [item.reason for items in outcome.refused.values() for item in items]
    if "refused" in case:
        if not any(str(case["refused"]) in reason for reason in refusals):
            yield f"the fix is not refused with {case['refused']!r}: {refusals}"
        return
    for reason in refusals:
        yield f"the fix is refused: {reason}"
    if outcome.cycles:
        yield "the fix never ends"
        return
    fixed = case.get("fixed_files")
    if fixed is None and "fixed" in case:
        fixed = {next(iter(case["files"])): case["fixed"]}
    for name, before in case["files"].items():
        path = os.path.join(folder, *str(name).split("/"))
        after = outcome.texts.get(path, before)
        expected = (fixed or {}).get(name, before)
        if after != expected:
            yield f"the fix gives for {name}:\n{after}\nnot:\n{expected}"
            return
    if not outcome.texts:
        return
    again = fix_files(
        lambda path: outcome.texts.get(path) or text_of(path),
        lambda texts: check({**outcome.texts, **texts}),
        lambda _path: language,
        unsafe=True,
    )
    if again.texts:
        yield "a second fix changes the text again"
