"""Functions and classes that no code of a project names: what they mention is read by nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from cfgfix.code.model.expressions import children, dotted, walk_own
from cfgfix.code.model.nodes import Attribute, Call, Expr, Literal, Name
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Scope
from cfgfix.core.records import dataclass
from cfgfix.core.source_file import read_regular
from cfgfix.usage.program_runs import ProjectRuns
from cfgfix.usage.project_files import words_of

MAX_TEXT = 400_000
MAX_PARTS = 50_000
"""Most parts of one scope's expressions that are looked at."""
_MODULES = frozenset({"import_module", "__import__", "getmembers", "eval", "exec"})
_TABLES = frozenset({"globals", "locals", "vars"})
"""Functions by which code gets at a function or class whose name stands nowhere."""

_PLAIN = frozenset(
    {
        "ABC",
        "Enum",
        "Exception",
        "Generic",
        "Mapping",
        "MutableMapping",
        "OrderedDict",
        "UserDict",
        "dict",
        "list",
        "object",
        "tuple",
    }
)
"""Bases that call no method of a class derived from them but those with underscores."""
_OF_THE_LANGUAGE = frozenset({"cached_property", "classmethod", "property", "staticmethod", "setter"})
"""Decorators that keep what they get nowhere."""


def uncalled_scopes(project: ProjectRuns) -> frozenset[int]:
    """Return the identities of scopes that nothing calls.

    They belong to functions and classes whose name occurs only where they are defined. Methods that an
    outside base class may call, decorated functions and modules whose names are looked up at run time
    are left out.
    """
    code = _reached_by_name(project.program)
    outside = words_outside(project)
    return frozenset(code.with_inner(item.number for item in code.unnamed() if item.name not in outside))


def unreached_scopes(program: Program, entered: AbstractSet[int], asked: AbstractSet[str]) -> frozenset[int]:
    """Return the identities of scopes that given runs cannot reach.

    A function counts where all code that names it was run without calling it or is itself out of reach.
    A class counts only where no code that was run names it.

    Args:
        program: The program.
        entered: The scopes that the runs went through, on every way, by identity.
        asked: Names that the runs asked of unknown values, or that stand outside the code.
    """
    code = _reached_by_name(program)
    left = [item for item in code.candidates if item.number not in entered and item.name not in asked]
    while True:
        found = {item.number for item in left}
        around = code.with_inner(found)
        kept = [
            item
            for item in left
            if all(
                holder == item.number or holder in around or (holder in entered and not item.is_class)
                for holder in code.holders.get(item.name, ())
            )
        ]
        if len(kept) == len(left):
            return frozenset(around)
        left = kept


@dataclass(frozen=True, slots=True)
class _NameCandidate:
    """A function or class that code can reach only by its name.

    Attributes:
        number: Its scope, by identity.
        name: Its name.
        is_class: Whether it is a class.
    """

    number: int
    name: str
    is_class: bool


@dataclass(frozen=True, slots=True)
class _NamedDefinitions:
    """The functions and classes that code can reach only by their names.

    Attributes:
        candidates: These functions and classes.
        holders: For each name the identities of the scopes that mention it.
        inner: For each scope the scopes directly inside it, by identity.
    """

    candidates: tuple[_NameCandidate, ...]
    holders: dict[str, set[int]]
    inner: dict[int, list[int]]

    def unnamed(self) -> Iterator[_NameCandidate]:
        """Yield the candidates that are named only inside their own definitions."""
        for item in self.candidates:
            if self.holders.get(item.name, set()) <= {item.number}:
                yield item

    def with_inner(self, scopes: Iterable[int]) -> set[int]:
        """Return given scopes together with all scopes inside them, by identity."""
        found: set[int] = set()
        pending = list(scopes)
        while pending:
            number = pending.pop()
            if number not in found:
                found.add(number)
                pending += self.inner.get(number, ())
        return found


@once
def _reached_by_name(program: Program) -> _NamedDefinitions:
    """Return the functions and classes that code can reach only by their names."""
    scopes = [scope for module in program.all_modules() for scope in module.summary.scopes]
    classes: dict[str, list[Scope]] = {}
    holders: dict[str, set[int]] = {}
    inner: dict[int, list[int]] = {}
    looking_up: set[str] = set()
    for scope in scopes:
        if scope.kind == "class":
            classes.setdefault(scope.name, []).append(scope)
        if scope.parent >= 0:
            inner.setdefault(id(scope.module.summary.scopes[scope.parent]), []).append(id(scope))
        if any(_looks_up(call, scope, program) for call in scope.calls):
            looking_up.add(scope.module.path)
        holder = id(_function_of(scope))
        for name in set(_names_referenced(scope)):
            holders.setdefault(name, set()).add(holder)
    found: list[_NameCandidate] = []
    for scope in scopes:
        above = scope.module.summary.scopes[scope.parent] if scope.parent >= 0 else None
        if (
            scope.kind not in ("function", "class")
            or any(_last_step(item) not in _OF_THE_LANGUAGE for item in scope.decorators)
            or scope.name.startswith("__")
        ):
            continue
        if above is not None and above.kind == "class":
            if any(
                _last_step(base) not in classes and _last_step(base) not in _PLAIN
                for base in _all_bases(above, classes)
            ):
                continue
        elif looking_up or scope.module.path.endswith(".ipynb"):
            continue
        if scope.module.path in looking_up:
            continue
        found.append(_NameCandidate(id(scope), scope.name, scope.kind == "class"))
    names = {item.name for item in found}
    return _NamedDefinitions(
        tuple(found), {name: places for name, places in holders.items() if name in names}, inner
    )


def _function_of(scope: Scope) -> Scope:
    """Return the scope that is not a lambda or comprehension around a scope.

    Any other scope is returned as it is.
    """
    while scope.kind in ("lambda", "comprehension") and scope.parent >= 0:
        scope = scope.module.summary.scopes[scope.parent]
    return scope


def _all_bases(scope: Scope, classes: dict[str, list[Scope]]) -> Iterator[Expr]:
    """Yield the bases of a class and of its base classes in the project."""
    pending, seen = [scope], set()
    while pending:
        here = pending.pop()
        if id(here) in seen:
            continue
        seen.add(id(here))
        for base in here.bases:
            yield base
            pending += classes.get(_last_step(base), ())


def _last_step(expr: Expr) -> str:
    """Return the last step of a dotted name; empty for any other expression."""
    if isinstance(expr, Attribute):
        return str(expr.attribute)
    return str(expr.name) if isinstance(expr, Name) else ""


def _looks_up(call: Call, scope: Scope, program: Program) -> bool:
    """Tell whether a call looks up names of the project that are made at run time."""
    name = _last_step(call.func)
    if name in _MODULES and (name not in ("eval", "exec") or isinstance(call.func, Name)):
        return not call.args or not isinstance(call.args[0], Literal)
    if not isinstance(call.func, Name):
        return False
    if name == "getattr":
        if len(call.args) < 2 or isinstance(call.args[1], Literal):
            return len(call.args) < 2
        head = (dotted(call.args[0]) or "").partition(".")[0]
        source = next(
            (found for here in (scope, scope.module.summary.scopes[0]) if (found := here.imports.get(head))),
            None,
        )
        # What is looked up in a package outside is no code of the project.
        return source is None or program.module(source, scope.module) is not None
    return name in _TABLES and not call.args


def _names_referenced(scope: Scope) -> Iterator[str]:
    """Yield the names by which a scope may reach a function or class.

    These are variables, attributes and words in texts, imports under another name and, in a package,
    all imports.
    """
    is_package = os.path.basename(scope.module.path) == "__init__.py"
    pending: list[Expr] = [*scope.bases, *scope.decorators]
    pending += [param.default for param in scope.params if param.default is not None]
    events = list(scope.body)
    while events:
        event = events.pop()
        if event.kind == "import":
            for bound, source in event.imports:
                last = source.rpartition(".")[2]
                if is_package or bound != last:
                    yield last
        pending += event.targets
        if event.value is not None:
            pending.append(event.value)
        for expr in event.extra_nodes():
            pending += children(expr) if event.kind == "annotate" else (expr,)
        for _, inner in event.bodies or ():
            events += inner
    for call in scope.calls:
        pending += [call.func, *call.args, *(value for _, value in call.keywords)]
    for count, expr in enumerate(walk_own(pending)):
        if count > MAX_PARTS:
            return
        if isinstance(expr, Name):
            yield expr.name
        elif isinstance(expr, Attribute):
            yield expr.attribute
        elif isinstance(expr, Literal) and isinstance(expr.value, str) and len(expr.value) < 200:
            yield from re.findall(r"[A-Za-z_]\w*", expr.value)


def words_outside(project: ProjectRuns) -> set[str]:
    """Return the words of configs, scripts and unparsable Python files."""
    found: set[str] = set()
    for path in (*project.files.data, *project.files.texts):
        try:
            found |= words_of(path, read_regular(os.path.join(project.root, path), MAX_TEXT))
        except OSError:
            continue
    for path in project.unread:
        found |= words_of("", project.program.content_of(path))
    return found


def unnamed_names(program: Program) -> frozenset[str]:
    """Return the names of functions and classes that no other code mentions."""
    return frozenset(item.name for item in _reached_by_name(program).unnamed())
