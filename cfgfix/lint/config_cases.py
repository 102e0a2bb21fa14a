"""The cases of rules about one config: its text, and the circumstances that the case states."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from cfgfix.config.dialects.dialect import Dialect, dialects, schema_data
from cfgfix.config.document.compose import Document, compose
from cfgfix.config.document.language import Yaml
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.config.schema.validate import Schema
from cfgfix.core.errors import CfgfixError
from cfgfix.core.findings import Finding, format_key_path
from cfgfix.core.source_file import SourceFile
from cfgfix.hardware.model import Hardware
from cfgfix.lint.case_trial import Trial, trial_project
from cfgfix.lint.project import Target
from cfgfix.lint.project_findings import findings_in_config
from cfgfix.rules.catalogue import builtin
from cfgfix.rules.rule import Rule

DEFAULT_DIALECT = "myxtts"


def config_trial(rule: Rule, case: dict[str, Any]) -> Trial:
    """Return a trial of a rule on the config of a case.

    Raises:
        CfgfixError: The case itself is wrong.
    """
    raw = base64.b64decode(case["config_base64"]) if "config_base64" in case else str(case["config"]).encode()
    document = compose(SourceFile.from_bytes(raw, str(case.get("path", "config.yaml"))))
    if case.get("set"):
        from cfgfix.config.compose.overrides import override

        overrides = [tuple(str(item).split("=", 1)) for item in case["set"]]
        document, _ = override(document, [(key, value) for key, value in overrides])
    check = case_check(rule, case)
    language = Yaml(document, LOADERS[_loader_of_case(case)])
    path, text = document.source.path, document.source.text

    def findings(texts: Mapping[str, str]) -> dict[str, list[Finding]]:
        return {path: check(language.parse(texts.get(path, text)))}

    return Trial(
        {path: text},
        {path: str(case["fixed"])} if "fixed" in case else {},
        findings,
        lambda _path: language,
        lambda _path, finding: place_in_config(finding),
    )


def place_in_config(finding: Finding) -> str:
    """Return the place of a finding as cases write it.

    That is its key path, or its line in a file that does not load.
    """
    return format_key_path(finding.key_path) if finding.key_path is not None else f"#{finding.location.line}"


def _dialect_of_case(rule: Rule | None, case: dict[str, Any]) -> Dialect:
    name = case.get("dialect") or (
        min(rule.dialects) if rule is not None and rule.dialects else DEFAULT_DIALECT
    )
    known = dialects()
    if name not in known:
        raise CfgfixError(f"no dialect is called {name!r}")
    return known[name]


def _loader_of_case(case: dict[str, Any]) -> str:
    name = str(case.get("loader") or _dialect_of_case(None, case).loader)
    if name not in LOADERS:
        raise CfgfixError(f"no loader is called {name!r}")
    return name


def case_check(rule: Rule, case: dict[str, Any]) -> Callable[[Document], list[Finding]]:
    """Return a function from document to a rule's findings, set up as a case says.

    Raises:
        CfgfixError: The case names what does not exist.
    """
    dialect = _dialect_of_case(rule, case)
    loader = LOADERS[str(case.get("loader") or dialect.loader)]
    if "schema" in case:
        schema: Schema | None = Schema.load(case["schema"], "case") if case["schema"] else None
    else:
        data = schema_data(dialect)
        schema = Schema.load(data, dialect.name) if data is not None else None
    machine, label = machine_of(case)
    target = Target(dialect, loader, schema, machine, label, own_schema=bool(case.get("schema")))
    if rule.check is not None and rule.check.startswith("engine."):
        # A rule about suppressions needs the rules that they speak of.
        others = [other for other in builtin().rules if other.id != rule.id and not other.preview]
        project = trial_project([*others, rule], builtin())
    else:
        project = trial_project([rule])
    return lambda document: [
        finding
        for finding in findings_in_config(project, document, target).findings
        if finding.rule == rule.id
    ]


def machine_of(case: Mapping[str, Any]) -> tuple[Callable[[str], Any] | None, str | None]:
    """Return a function that looks up facts of a case's machine, and its label.

    Both are None where the case names no machine.

    Raises:
        CfgfixError: It is no machine.
    """
    hardware = _hardware_of_case(case.get("hardware"))
    if hardware is None:
        return None, None

    def look(name: str) -> Any:
        value = hardware.lookup(name)
        return None if value is None else value.value

    return look, hardware.label


def _hardware_of_case(stated: Any) -> Hardware | None:
    """Return the machine that a case names, or None where the case names none.

    A case names a profile, or gives a mapping with `gpu`, `cpus`, `ram` (GiB), `storage` and `shm`.

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
