"""Compile rule files into the catalogue and load it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from cfgfix.core.edits import Safety
from cfgfix.core.errors import CfgfixError, did_you_mean
from cfgfix.core.findings import MYTH, Confidence, Severity
from cfgfix.core.records import dataclass
from cfgfix.rules import compiled
from cfgfix.rules.expression import GLOBALS
from cfgfix.rules.reader import (
    expression_source,
    fixes_of,
    line_of,
    read_rule,
    refuted,
    rule_error,
    template_source,
)
from cfgfix.rules.rule import (
    About,
    Each,
    FixSpec,
    InGuard,
    InTests,
    InTry,
    Notebooks,
    Policy,
    Related,
    Rule,
    YieldsTo,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfgfix.rules.faults import Fault

SCOPE: dict[str, Any] = {
    **GLOBALS,
    "Rule": Rule,
    "Each": Each,
    "FixSpec": FixSpec,
    "Related": Related,
    "Policy": Policy,
    "About": About,
    "Notebooks": Notebooks,
    "InGuard": InGuard,
    "InTests": InTests,
    "InTry": InTry,
    "YieldsTo": YieldsTo,
    "Severity": Severity,
    "Confidence": Confidence,
    "Safety": Safety,
    "frozenset": frozenset,
}


@dataclass(frozen=True, slots=True)
class KnownNames:
    """The names that a rule may use: concepts, and the other operands of an expression."""

    concepts: frozenset[str]
    operands: frozenset[str]


_PLACE_OPERANDS = frozenset({"value", "key", "name", "raw", "section", "comment", "own_schema", "by_code"})
"""Operands that say where a rule is judged, and by what."""


class Catalogue:
    """All rules, by id and by name."""

    __slots__ = ("_by_key", "rules")

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(sorted(rules, key=lambda rule: rule.id))
        self._by_key: dict[str, Rule] = {}
        for rule in self.rules:
            for key in (rule.id, rule.name):
                other = self._by_key.get(key)
                if other is not None:
                    raise CfgfixError(
                        f"{key} is used by two rules", path=rule.path, hint=f"the other is {other.path}"
                    )
                self._by_key[key] = rule

    def find(self, key: str) -> Rule | None:
        """Return the rule with this id (any case) or name."""
        return self._by_key.get(key) or self._by_key.get(key.upper()) or self._by_key.get(key.lower())

    def matching(self, selector: str) -> list[Rule]:
        """Return the rules that a selector names.

        An id, a name, a prefix of ids such as `YML` or `YML01`, or `ALL`.
        """
        if selector.upper() == "ALL":
            return list(self.rules)
        exact = self.find(selector)
        if exact is not None:
            return [exact]
        prefix = selector.upper()
        return [rule for rule in self.rules if prefix and rule.id.startswith(prefix)]

    def explaining(self, *faults: Fault) -> tuple[Rule, ...]:
        """Return the rules that explain the given faults, in the order of the faults."""
        found = {
            rule.id: rule for fault in faults for rule in self.rules if fault.value in rule.policy.explains
        }
        return tuple(found.values())

    def keys(self) -> list[str]:
        """Return every id and name, for suggestions."""
        return list(self._by_key)


_LOADED: Catalogue | None = None


def builtin() -> Catalogue:
    """Return the rules that ship with cfgfix."""
    global _LOADED  # noqa: PLW0603 - loaded once a process
    if _LOADED is None:
        folder = compiled.data_folder("rules")
        names = compiled.namespace(
            "rules",
            lambda: compiled.files_below(folder, (".yaml",)),
            lambda: render(folder),
            SCOPE,
        )
        make: Callable[[str], tuple[Rule, ...]] = names["make"]
        _LOADED = Catalogue(make(folder))
    return _LOADED


def named(*faults: Fault) -> str:
    """Return the ids of the rules that explain the given faults, as text."""
    return ", ".join(rule.id for rule in builtin().explaining(*faults))


def with_folders(folders: Iterable[str], known: KnownNames | None = None) -> Catalogue:
    """Return the built-in rules and those of further folders.

    Args:
        folders: Folders with rule files.
        known: The names that their rules may use; None leaves them unchecked.

    Raises:
        CfgfixError: A folder has no rules, or a rule file is wrong.
    """
    rules = list(builtin().rules)
    for folder in folders:
        rules += read_folder(folder, known)
    return Catalogue(rules) if len(rules) > len(builtin().rules) else builtin()


def read_folder(folder: str, known: KnownNames | None = None) -> tuple[Rule, ...]:
    """Return the rules of one folder, compiled afresh.

    Args:
        folder: A folder with rule files.
        known: The names that the rules may use; None leaves them unchecked.

    Raises:
        CfgfixError: The folder has no rules, or a rule file is wrong.
    """
    paths = compiled.files_below(folder, (".yaml", ".yml"))
    if not paths:
        raise CfgfixError(
            "holds no rule files", path=folder, hint="a rule file ends in .yaml; see docs/rule-format.md"
        )
    names = dict(SCOPE)
    exec(compile(render(folder, known), "<rules>", "exec", dont_inherit=True), names)  # noqa: S102 - generated from checked data
    rules: tuple[Rule, ...] = names["make"](folder)
    checks = {rule.check for rule in builtin().rules}
    for rule in rules:
        # The name of a check says which function runs: only those that ship may be named.
        if rule.check not in checks and rule.check is not None:
            raise rule_error(rule.path, f"`check` {rule.check!r} is none of those that ship with cfgfix")
    return rules


def render(folder: str, known: KnownNames | None = None) -> str:
    """Return Python source that defines all rules of a folder.

    Args:
        folder: A folder with rule files.
        known: The names that the rules may use; None leaves them unchecked.

    Raises:
        CfgfixError: A rule file is wrong.
    """
    lines = ["def make(folder):", "    return ("]
    for path in compiled.files_below(folder, (".yaml", ".yml")):
        relative = path[len(folder) :].lstrip("/\\").replace("\\", "/")
        lines.append(f"        {_render_rule(path, relative, read_rule(path), known)},")
    lines.append("    )")
    return "\n".join(lines) + "\n"


def _render_rule(path: str, relative: str, data: dict[str, Any], known: KnownNames | None) -> str:
    operands: set[str] = set()
    used: dict[str, str] = {}
    """Where each operand is used first."""

    def expression(where: str, value: object, *, counted: bool = False) -> str:
        translated = expression_source(path, where, value)
        if counted:
            operands.update(translated.operands)
        used.update({name: where for name in translated.names if name not in used})
        return f"lambda s: {translated.source}"

    def template(where: str, value: object) -> str:
        translated = template_source(path, where, value)
        used.update({name: where for name in translated.names if name not in used})
        return f"lambda s: {translated.source}"

    lets = {}
    for name, value in (data.get("let") or {}).items():
        lets[str(name)] = expression(f"let.{name}", value, counted=True)
    when = expression("when", data["when"], counted=True) if "when" in data else "None"
    operands -= set(lets)
    if not isinstance(data.get("escalate") or {}, dict):
        raise rule_error(path, "escalate is not a mapping of severities to conditions")
    escalate = [
        (severity, expression(f"escalate.{severity}", value))
        for severity, value in (data.get("escalate") or {}).items()
    ]
    for severity, _ in escalate:
        if severity not in ("info", "warning", "error"):
            raise rule_error(path, f"escalate: {severity!r} is no severity")
    related = [
        f"Related({str(item['at'])!r}, {template('related.label', item.get('label', ''))})"
        for item in data.get("related") or []
    ]
    fixes = []
    for fix in fixes_of(data):
        action = next((key for key in ("set", "delete", "rename") if key in fix), "code")
        to = expression("fix.to", fix["to"]) if "to" in fix else "None"
        text = template("fix.text", fix["text"]) if "text" in fix else "None"
        guard = expression("fix.when", fix["when"]) if "when" in fix else "None"
        fixes.append(
            f"FixSpec({action!r}, {str(fix.get(action, 'value'))!r}, {to}, {text}, {guard}, "
            f"Safety.{fix['safety'].upper()}, {template('fix.title', fix['title'])}, {' '.join(str(fix['why']).split())!r}"
            + (f", Safety.{fix['also'].upper()})" if "also" in fix else ")")
        )
    at = data.get("at") or ()
    notes = [template("notes", note) for note in data.get("notes") or []]
    for item in refuted(data):
        text = f"{MYTH}: {item['claim']} - measured: {item['measured']} - instead: {item['instead']}"
        notes.append(template("folklore", text.replace("{", "{{").replace("}", "}}")))
    dialects = data.get("dialects") or ([data["dialect"]] if data.get("dialect") else [])
    message = template("message", data["message"])
    if known is not None:
        _check_names(path, data, used, known)
    return (
        f"Rule(id={data['id']!r}, name={data['name']!r}, summary={str(data['summary']).strip()!r}, "
        f"severity=Severity.{data['severity'].upper()}, confidence=Confidence.{data.get('confidence', 'high').upper()}, "
        f"confidence_by_code=Confidence.{data.get('confidence_by_code', data.get('confidence', 'high')).upper()}, "
        f"preview={bool(data.get('preview', False))}, together={data.get('together') or ''!r}, dialects=frozenset({sorted(map(str, dialects))!r}), check={data.get('check')!r}, "
        f"at={tuple([at] if isinstance(at, str) else at)!r}, each={_render_each(path, data.get('each'))}, "
        f"lets={{{', '.join(f'{name!r}: {code}' for name, code in lets.items())}}}, when={when}, "
        f"operands=frozenset({sorted(operands)!r}), "
        f"escalate=({''.join(f'(Severity.{severity.upper()}, {code}), ' for severity, code in escalate)}), "
        f"message={message}, related=({''.join(f'{item}, ' for item in related)}), "
        f"fixes=({''.join(f'{item}, ' for item in fixes)}), no_fix={data.get('no_fix') and ' '.join(str(data['no_fix']).split())!r}, "
        f"notes=({''.join(f'({item}), ' for item in notes)}), tables={_plain_data(data.get('tables') or {})!r}, path=folder + '/' + {relative!r}, "
        f"policy={_render_policy(data.get('policy') or {})})"
    )


def _render_policy(policy: Mapping[str, Any]) -> str:
    """Return the Python source of a rule's policy, defaults filled in."""

    def words(key: str) -> str:
        value = policy.get(key) or []
        return f"frozenset({sorted([value] if isinstance(value, str) else value)!r})"

    parts = {
        "about": f"About({policy.get('about', 'run')!r})",
        "notebooks": f"Notebooks({policy.get('notebooks', 'same')!r})",
        "in_try": f"InTry({policy.get('in-try', 'skip')!r})",
        "in_guard": f"InGuard({policy['in-guard']!r})" if "in-guard" in policy else "None",
        "in_tests": f"InTests({policy['in-tests']!r})" if "in-tests" in policy else "None",
        "named": f"Severity.{str(policy['named']).upper()}" if "named" in policy else "None",
        "depends_on": words("depends-on"),
        "refuses_key": repr(bool(policy.get("refuses-key", False))),
        "yields_to": f"YieldsTo({policy.get('yields-to', 'nothing')!r})",
        "told_at_config": repr(bool(policy.get("told-at-config", False))),
        "unneeded": repr(bool(policy.get("unneeded", False))),
        "explains": words("explains"),
    }
    return (
        f"Policy({', '.join(f'{name}={value}' for name, value in parts.items())})" if policy else "Policy()"
    )


def _check_names(path: str, data: Mapping[str, Any], used: Mapping[str, str], known: KnownNames) -> None:
    """Refuse a rule that uses a concept or an operand that does not exist.

    Raises:
        CfgfixError: A concept or an operand does not exist.
    """
    each = data.get("each") or {}
    places = [("at", name) for name in _list_of_texts(data.get("at"))]
    places += [("each.concept", name) for name in _list_of_texts(each.get("concept"))]
    places += [("related", str(item["at"])) for item in data.get("related") or []]
    places += [
        (f"fix.{action}", str(fix[action]))
        for fix in fixes_of(dict(data))
        for action in ("set", "delete", "rename")
        if action in fix and fix[action] != "value"
    ]
    for where, name in places:
        if name not in known.concepts:
            raise _unknown_name(path, where, name, "concept", known.concepts)
    if "check" in data:
        return  # Its operands are those that its function yields.
    own = {*_PLACE_OPERANDS, *map(str, data.get("let") or {}), *(("concept",) if "concept" in each else ())}
    for name, where in used.items():
        if name not in own and name not in known.concepts and name not in known.operands:
            raise _unknown_name(path, where, name, "operand", {*own, *known.concepts, *known.operands})


def _unknown_name(path: str, where: str, name: str, kind: str, known: Iterable[str]) -> CfgfixError:
    return CfgfixError(
        f"`{where}`: no {kind} is called {name!r}",
        path=path,
        line=line_of(path, name),
        hint=did_you_mean(name, sorted(known), "see docs/concepts.md"),
    )


def _list_of_texts(value: Any) -> list[str]:
    return [] if value is None else [value] if isinstance(value, str) else [str(item) for item in value]


def _render_each(path: str, each: object) -> str:
    if each is None:
        return "None"
    if (
        not isinstance(each, dict)
        or not ({"concept", "keys"} & set(each))
        or set(each) - {"concept", "keys", "under"}
    ):
        raise rule_error(path, "`each` needs `concept` or `keys`, and may have `under`")
    keys = sorted(str(key) for key in each.get("keys") or [])
    under = tuple(str(section) for section in each.get("under") or ())
    concept = each.get("concept") or []
    concepts = tuple(str(item) for item in ([concept] if isinstance(concept, str) else concept))
    return f"Each({concepts!r}, frozenset({keys!r}), {under!r})"


def _plain_data(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key if isinstance(key, (int, float)) else str(key): _plain_data(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_plain_data(item) for item in value]
    return value if isinstance(value, (bool, int, float)) or value is None else str(value)
