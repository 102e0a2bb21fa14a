"""Read rule files: YAML to checked data. A rule file may come from an untrusted repository."""

from __future__ import annotations

import math
import os
import re

from cfgfix.core.errors import CfgfixError, ExitCode, did_you_mean
from cfgfix.core.source_file import read_regular
from cfgfix.rules.expression import MAX_INTEGER, ExpressionError, Translated, translate, translate_template
from cfgfix.rules.rule import DEPENDS_ON, About, InGuard, InTests, InTry, Notebooks, YieldsTo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_BYTES = 256 * 1024
"""Largest accepted rule file; the longest one of the catalogue is under 20 kB."""

SEVERITIES = ("info", "warning", "error")
CONFIDENCES = ("low", "medium", "high")
SAFETIES = ("display", "unsafe", "safe")
TOGETHER = ("file", "project", "unpinned")

KEYS = frozenset(
    [
        "id",
        "name",
        "summary",
        "severity",
        "confidence",
        "confidence_by_code",
        "preview",
        "together",
        "dialects",
        "dialect",
        "check",
        "at",
        "each",
        "let",
        "when",
        "escalate",
        "message",
        "related",
        "fix",
        "no_fix",
        "notes",
        "why",
        "evidence",
        "false_positives",
        "folklore",
        "tables",
        "cases",
        "references",
        "formula",
        "policy",
    ]
)
_CHOSEN = re.compile(r"\{'([^'{}]*)' if [^{}]* else '([^'{}]*)'\}")
_FIX_KEYS = frozenset(["set", "delete", "rename", "to", "text", "when", "safety", "also", "title", "why"])
_CASE_KEYS = frozenset(
    [
        "name",
        "config",
        "config_base64",
        "files",
        "hardware",
        "dialect",
        "loader",
        "schema",
        "set",
        "class",
        "opened",
        "finds",
        "severity",
        "message",
        "fixed",
        "refused",
        "fixed_files",
        "path",
        "state",
        "states",
    ]
)


def rule_error(path: str, message: str, hint: str | None = None) -> CfgfixError:
    """Return the error for a faulty rule file."""
    return CfgfixError(message, code=ExitCode.USAGE, path=path, hint=hint)


def load_yaml(path: str) -> Any:
    """Return the content of a small YAML file, read safely.

    No tags, no aliases, bounded size.

    Raises:
        CfgfixError: The file cannot be read or is not such YAML.
    """
    import yaml

    try:
        data = read_regular(path, MAX_BYTES + 1)
    except OSError as error:
        raise rule_error(path, f"cannot be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise rule_error(path, f"is larger than {MAX_BYTES // 1024} kB")
    loader_class: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        text = data.decode("utf-8")
        for event in yaml.parse(text, Loader=loader_class):
            if isinstance(event, yaml.AliasEvent):
                raise rule_error(path, "uses a YAML alias, which rule files may not")
        return yaml.load(text, Loader=loader_class)  # noqa: S506 - a safe loader
    except UnicodeDecodeError as error:
        raise rule_error(path, "is not UTF-8") from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "is not YAML"
        raise CfgfixError(
            str(problem),
            path=path,
            line=mark.line + 1 if mark else None,
            column=mark.column + 1 if mark else None,
        ) from error


def read_rule(path: str) -> dict[str, Any]:
    """Return the data of one rule file after checking the types of its values.

    Raises:
        CfgfixError: Something in the file is not as docs/rule-format.md says.
    """
    data = load_yaml(path)
    if not isinstance(data, dict):
        raise rule_error(path, "is not a mapping")
    for key in data:
        if key not in KEYS:
            raise rule_error(path, f"has the unknown key {key!r}", did_you_mean(str(key), KEYS))
    for key in ("id", "name", "summary", "severity", "message", "why", "evidence", "cases"):
        if not data.get(key):
            raise rule_error(path, f"lacks {key!r}")
    identifier = data["id"]
    if not (
        isinstance(identifier, str)
        and len(identifier) >= 4
        and identifier.rstrip("0123456789").isupper()
        and identifier[-1].isdigit()
    ):
        raise rule_error(path, f"id {identifier!r} is not letters and digits such as ABC001")
    if not (
        isinstance(data["name"], str)
        and data["name"].replace("-", "").isalnum()
        and data["name"] == data["name"].lower()
    ):
        raise rule_error(path, f"name {data['name']!r} is not lower-case words joined by hyphens")
    _one_of(path, "severity", data["severity"], SEVERITIES)
    _one_of(path, "confidence", data.get("confidence", "high"), CONFIDENCES)
    _one_of(path, "confidence_by_code", data.get("confidence_by_code", "high"), CONFIDENCES)
    if "check" in data:
        for key in ("when", "at", "each", "let"):
            if key in data:
                raise rule_error(path, f"has both `check` and `{key}`")
    elif "when" not in data:
        raise rule_error(path, "has neither `when` nor `check`")
    elif "at" not in data and "each" not in data:
        raise rule_error(path, "has neither `at` nor `each`")
    _check_shapes(path, data)
    _check_policy(path, data.get("policy") or {})
    for fix in fixes_of(data):
        _check_fix(path, fix, code="check" in data)
    if not fixes_of(data) and not data.get("no_fix"):
        raise rule_error(path, "has no fix and no reason for it (`no_fix`)")
    if not isinstance(data["cases"], list):
        raise rule_error(path, "`cases` is not a list")
    for case in data["cases"]:
        if not isinstance(case, dict) or "name" not in case or "finds" not in case:
            raise rule_error(path, "a case lacks `name` or `finds`")
        unknown = set(case) - _CASE_KEYS
        if unknown:
            raise rule_error(path, f"case {case['name']!r} has the unknown key {min(map(str, unknown))!r}")
        if sum(key in case for key in ("config", "config_base64", "files")) == 0:
            raise rule_error(path, f"case {case['name']!r} has no input")
    finds = [bool(case["finds"]) for case in data["cases"]]
    if not (any(finds) and not all(finds)):
        raise rule_error(path, "needs a case that finds and a case that does not")
    return data


POLICY: dict[str, tuple[str, ...]] = {
    "about": tuple(item.value for item in About),
    "notebooks": tuple(item.value for item in Notebooks),
    "in-guard": tuple(item.value for item in InGuard),
    "in-tests": tuple(item.value for item in InTests),
    "in-try": tuple(item.value for item in InTry),
    "named": ("info", "warning", "error"),
    "depends-on": DEPENDS_ON,
    "refuses-key": ("true", "false"),
    "yields-to": tuple(item.value for item in YieldsTo),
    "told-at-config": ("true", "false"),
    "unneeded": ("true", "false"),
}
"""The keys of `policy` and the words that each takes, but for `explains`, which takes the faults."""
_SEVERAL_WORDS = ("depends-on", "explains")


def _check_policy(path: str, policy: object) -> None:
    if not isinstance(policy, dict):
        raise rule_error(path, "`policy` is not a mapping")
    for key, value in policy.items():
        known = _words_of(key)
        if known is None:
            near = did_you_mean(str(key), [*POLICY, "explains"])
            raise rule_error(path, f"`policy` has the unknown key {key!r}", near)
        for word in value if isinstance(value, list) and key in _SEVERAL_WORDS else [value]:
            text = str(word).lower() if isinstance(word, bool) else word
            _one_of(path, f"policy {key}", text, known)


def _words_of(key: object) -> tuple[str, ...] | None:
    """Return the words allowed for a key of `policy`.

    None where `policy` has no such key, or the key takes no words.
    """
    if key == "explains":
        from cfgfix.rules.faults import Fault

        return tuple(fault.value for fault in Fault)
    return POLICY.get(key) if isinstance(key, str) else None


_TEXT_KEYS = ("summary", "message", "why", "dialect", "check", "no_fix", "formula", "false_positives")
_SCALARS = (str, int, float, bool)


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, _SCALARS)


def _is_texts(value: object) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(item, str) for item in value)
    )


def _check_shapes(path: str, data: dict[str, Any]) -> None:
    """Check the type of every value of a rule file.

    Raises:
        CfgfixError: A value is not of the kind that docs/rule-format.md gives.
    """
    for key in _TEXT_KEYS:
        if data.get(key) is not None and not isinstance(data[key], str):
            raise rule_error(path, f"`{key}` is not text")
    if not isinstance(data.get("preview", False), bool):
        raise rule_error(path, "`preview` is not true or false")
    if data.get("together", "file") not in TOGETHER:
        raise rule_error(path, f"`together` is none of {', '.join(TOGETHER)}")
    for key in ("at", "dialects", "references"):
        if data.get(key) is not None and not _is_texts(data[key]):
            raise rule_error(path, f"`{key}` is not a list of texts")
    if not _is_scalar(data.get("when")):
        raise rule_error(path, "`when` is not an expression")
    for key in ("let", "escalate"):
        table = data.get(key) or {}
        if not isinstance(table, dict) or not all(
            isinstance(name, str) and _is_scalar(value) for name, value in table.items()
        ):
            raise rule_error(path, f"`{key}` is not a mapping of names to expressions")
    for item in _as_list(path, "related", data.get("related")):
        if not isinstance(item, dict) or not isinstance(item.get("at"), str):
            raise rule_error(path, "an entry of `related` lacks `at`")
    if not all(isinstance(item, str) for item in _as_list(path, "notes", data.get("notes"))):
        raise rule_error(path, "`notes` is not a list of texts")
    folklore = data.get("folklore") or []
    for item in [folklore] if isinstance(folklore, dict) else _as_list(path, "folklore", folklore):
        if not isinstance(item, dict) or not {"claim", "measured", "instead"} <= set(item):
            raise rule_error(path, "`folklore` needs claim, measured and instead")
    each = data.get("each")
    if each is not None and not (
        isinstance(each, dict) and all(_is_texts(value) for value in each.values() if value is not None)
    ):
        raise rule_error(path, "`each` is not a mapping of lists of texts")
    tables = data.get("tables") or {}
    if not isinstance(tables, dict) or not all(
        _is_table(table) for table in tables.values() if table is not None
    ):
        raise rule_error(path, "`tables` holds something else than tiers of plain values")


def _as_list(path: str, key: str, value: object) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise rule_error(path, f"`{key}` is not a list")
    return value


def _is_table(table: object) -> bool:
    """Tell whether a value is a table of plain data, its tiers rows by size in GiB.

    A table need not have tiers.
    """
    if not isinstance(table, dict) or not _is_data(table, 0):
        return False
    rows = table.get("tiers", {})
    return isinstance(rows, dict) and all(isinstance(row, dict) for row in rows.values())


_MAX_TABLE_DEPTH = 8
"""Nesting of a table; those that ship use three levels."""


def _is_data(value: object, depth: int) -> bool:
    if depth > _MAX_TABLE_DEPTH:
        return False
    if isinstance(value, dict):
        return all(_is_plain(key) and _is_data(item, depth + 1) for key, item in value.items())
    if isinstance(value, list):
        return all(_is_data(item, depth + 1) for item in value)
    return _is_plain(value)


def _is_plain(value: object) -> bool:
    """Tell whether a value is text, a bool, null, or a number within limits."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return abs(value) <= MAX_INTEGER
    return value is None or isinstance(value, str)


def fixes_of(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the fixes in a rule's data as a list, empty where there are none."""
    fix = data.get("fix")
    if fix is None:
        return []
    return fix if isinstance(fix, list) else [fix]


def safeties(fix: dict[str, Any]) -> str:
    """Return the safety of a fix in words.

    Where the check decides for each finding, both words are given: `safe or unsafe`.
    """
    return f"{fix['safety']} or {fix['also']}" if "also" in fix else str(fix["safety"])


def plain_title(title: str) -> str:
    """Return the title of a fix for readers of the rule.

    Where an expression chooses between two texts, both are given.
    """
    return _CHOSEN.sub(lambda found: f"{found[1]}, or: {found[2]}", title)


def refuted(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the `folklore` of a rule, claims that measurement refutes, as a list."""
    found = data.get("folklore") or []
    return found if isinstance(found, list) else [found]


def _one_of(path: str, key: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise rule_error(path, f"{key} {value!r} is not one of {', '.join(allowed)}")


def _check_fix(path: str, fix: object, *, code: bool) -> None:
    if not isinstance(fix, dict):
        raise rule_error(path, "`fix` is not a mapping")
    unknown = set(fix) - _FIX_KEYS
    if unknown:
        raise rule_error(path, f"`fix` has the unknown key {min(map(str, unknown))!r}")
    for key in ("safety", "title", "why"):
        if not fix.get(key):
            raise rule_error(path, f"`fix` lacks {key!r}")
    for key, value in fix.items():
        if not (_is_scalar(value) if key in ("to", "when") else isinstance(value, str)):
            raise rule_error(path, f"`fix.{key}` is not text")
    _one_of(path, "fix safety", fix["safety"], SAFETIES)
    if "also" in fix:
        _one_of(path, "fix safety", fix["also"], SAFETIES)
        if not code or fix["also"] == fix["safety"]:
            raise rule_error(path, "`fix.also` is a second safety that the check of a code rule gives")
    actions = [key for key in ("set", "delete", "rename") if key in fix]
    if code:
        if actions:
            raise rule_error(path, "`fix` of a code rule says only safety, also, title and why")
    elif len(actions) != 1:
        raise rule_error(path, "`fix` needs exactly one of set, delete and rename")
    elif actions[0] != "delete" and "to" not in fix:
        raise rule_error(path, f"`fix.{actions[0]}` needs `to`")


def expression_source(path: str, where: str, value: object) -> Translated:
    """Return an expression of a rule file as Python source, with the operands it uses.

    Raises:
        CfgfixError: It is no expression of the rule language.
    """
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    try:
        return translate(text)
    except ExpressionError as error:
        raise rule_error(path, f"`{where}`: {error}") from error


def template_source(path: str, where: str, value: object) -> Translated:
    """Return a template of a rule file as Python source, with the operands it uses.

    Raises:
        CfgfixError: It is no template.
    """
    try:
        return translate_template(str(value).strip())
    except ExpressionError as error:
        raise rule_error(path, f"`{where}`: {error}") from error


def line_of(path: str, word: str) -> int | None:
    """Return the number of the first line of a rule file that holds a word.

    None where no line does, or the file cannot be read.
    """
    import re

    try:
        text = read_regular(path, MAX_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    found = re.search(rf"(?<![\w.]){re.escape(word)}(?![\w.])", text)
    return text.count("\n", 0, found.start()) + 1 if found else None


def relative_name(path: str, folder: str) -> str:
    """Return a rule file's path below its folder, with forward slashes."""
    return os.path.relpath(path, folder).replace(os.sep, "/")
