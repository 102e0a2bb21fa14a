"""What becomes of a value: is it used, or only logged, stored and passed on?

A value is followed from the place where it is read: through local names, arguments, attributes, containers, what
functions return, until something uses it. Only printing it, storing it where nothing reads it, and checking it before
raising are no uses. Whatever is not understood is a use.

On the way the guards are collected: settings without which the place is not reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from cfgfix.code.inference.config_values import AS_DICT, OTHER, UNKNOWN, Atom, Atoms, Follower, Path
from cfgfix.code.model.expressions import constant, dotted, place_of, walk
from cfgfix.code.model.summary import (
    ASSIGNED,
    ATTRIBUTE,
    BINARY,
    BOOLEAN,
    CALL,
    CHOICE,
    COMPARE,
    COMPREHENSION,
    CONSTANT,
    FORMAT,
    ITEMS,
    LAMBDA,
    MAPPING,
    NAME,
    STARRED,
    SUBSCRIPT,
    UNARY,
    YIELD,
    Call,
    Event,
    Expr,
    Place,
    Scope,
)
from cfgfix.code.model.summary import UNKNOWN as NOT_KEPT
from cfgfix.core.records import dataclass

USED, LOGGED, COPIED = "used", "logged", "copied"
MAX_VISITS = 4_000
"""Places one value is followed to; beyond it the value counts as used."""

NAMING = frozenset({NAME, ATTRIBUTE, SUBSCRIPT, CALL, BOOLEAN, CHOICE, ASSIGNED})
"""Kinds of expressions that may stand for a section."""

Guard = tuple[Path, str, Any]
"""A setting that a place needs: its key path, `true`, `false`, `==` or `!=`, and what it is compared with."""
Guards = frozenset[Guard]
_NO_GUARDS: Guards = frozenset()

HARMLESS = frozenset(
    {
        "isinstance", "issubclass", "type", "id", "len", "repr", "str", "bool", "hash", "callable", "print", "super",
        "dataclasses.fields", "dataclasses.is_dataclass", "attr.fields", "hasattr", "getattr", "setattr", "delattr",
        "yaml.dump", "yaml.safe_dump", "json.dump", "json.dumps", "pickle.dump", "pickle.dumps", "pprint.pprint",
        "pprint.pformat", "wandb.init", "wandb.config.update", "wandb.log", "mlflow.log_params", "mlflow.log_param",
        "ruamel.yaml.dump", "omegaconf.OmegaConf.to_yaml", "omegaconf.OmegaConf.save", "tqdm.tqdm.write",
        "numpy.save", "joblib.dump", "sorted", "enumerate", "typing.cast", "tensorflow.print", "inspect.signature",
        "warnings.warn", "tensorflow.summary.text", "tensorflow.summary.scalar", "rich.print", "logging.log",
    }
)  # fmt: skip
"""Calls that do not use what a config says: they look at the object, print it or store it."""
_KEEPING = frozenset({"yaml.dump", "yaml.safe_dump", "json.dump", "pickle.dump", "numpy.save", "joblib.dump", "ruamel.yaml.dump", "omegaconf.OmegaConf.save", "wandb.init"})  # fmt: skip
"""Calls that write what something may read again."""
_PRINTING = HARMLESS - _KEEPING - {"json.dumps", "pickle.dumps", "pprint.pformat", "omegaconf.OmegaConf.to_yaml", "setattr", "delattr", "super", "isinstance", "issubclass", "type", "id", "len", "repr", "str", "bool", "hash", "callable", "hasattr", "getattr", "sorted", "enumerate", "typing.cast"}  # fmt: skip
_PASSING = frozenset(
    {
        "int", "float", "str", "bool", "bytes", "abs", "max", "min", "round", "list", "tuple", "dict", "set", "frozenset",
        "sorted", "len", "repr", "sum", "reversed", "enumerate", "zip", "isinstance", "format", "pathlib.Path", "type",
        "os.path.join", "os.path.abspath", "os.path.expanduser", "os.fspath", "copy.copy", "copy.deepcopy", "any", "all",
        "json.dumps", "pickle.dumps", "pprint.pformat", "omegaconf.OmegaConf.to_yaml", "hash", "collections.OrderedDict", "getattr", "math.ceil", "math.floor", "math.log",
    }
)  # fmt: skip
"""Calls whose result stands for their argument."""
_TAKING_APART = frozenset({"vars", "asdict", "astuple"})
_LOG_METHODS = frozenset({"debug", "info", "warning", "warn", "error", "critical", "exception", "log", "success", "add_text", "add_hparams"})  # fmt: skip
_LOG_WORDS = ("log", "logger", "logging", "console", "writer", "print")
_PLAIN_METHODS = frozenset({"items", "keys", "values", "get", "format", "join", "lower", "upper", "strip", "split", "copy"})  # fmt: skip
_ADDING = frozenset({"append", "add", "extend", "update", "insert", "setdefault", "appendleft"})
STORING = frozenset(
    {
        "get_config", "to_dict", "as_dict", "asdict", "to_yaml", "to_json", "to_json_string", "save_config",
        "dump_config", "__repr__", "__str__", "__getstate__", "serialize", "export_config", "write_config",
    }
)  # fmt: skip
"""Methods that write an object down, also where something outside calls them."""


@dataclass(frozen=True, slots=True)
class Sink:
    """Where a value ends.

    Attributes:
        kind: `used`, `logged`, or `copied` where the key itself is given its value again.
        scope: The scope of the place.
        place: Its span.
        guards: What must hold for it to be reached.
    """

    kind: str
    scope: Scope
    place: Place
    guards: Guards


class Default:
    """A parameter of which an expression is the default."""

    __slots__ = ("name", "scope")

    def __init__(self, scope: Scope, name: str) -> None:
        self.scope = scope
        self.name = name


class Loads:
    """Every expression of a program with what is around it."""

    def __init__(self, follower: Follower) -> None:
        self.follower = follower
        self.around: dict[int, tuple[Any, Any]] = {}
        """For each expression by id the expression, event or default it is part of, and as which part."""
        self.names: dict[int, dict[str, list[Expr]]] = {}
        self.attributes: dict[str, list[tuple[Expr, Scope]]] = {}
        self.calls: dict[tuple[int, int], Expr] = {}
        self.scope_of: dict[int, Scope] = {}
        """The scope of each call's expression, by the expression's id."""
        self.inner: dict[int, list[Scope]] = {}
        self.imported: set[str] = set()
        self.subscripts: list[tuple[Expr, Scope]] = []
        self.containers: list[tuple[Expr, Scope]] = []
        """Tuples, lists and mappings written out."""
        self.texts: dict[str, list[tuple[Expr, Scope]]] = {}
        self.loose: list[tuple[Expr, Scope]] = []
        """What may be a section and stands where nothing follows one."""
        self.by_locals: list[Scope] = []
        """Scopes whose local names are taken all at once."""
        for module in follower.modules:
            scopes = module.summary.scopes
            for scope in scopes:
                self.names[id(scope)] = {}
                if scope.parent >= 0:
                    self.inner.setdefault(id(scopes[scope.parent]), []).append(scope)
                self.imported.update(source.rsplit(".", 1)[-1] for source in scope.imports.values())
            for scope in scopes:
                self._scope(scope)

    def _scope(self, scope: Scope) -> None:
        for event in scope.events():
            for target in event.targets:
                self._target(target, event, scope)
            if event.kind == "augment":
                self._visit(event.targets[0], event, "augmented", scope)
            if event.value is not None:
                self._visit(event.value, event, "value", scope)
            if event.kind == "with":
                for manager in event.extra or ():
                    self._visit(manager, event, "manager", scope)
            elif event.kind in ("match", "assert"):
                for part in event.extra or ():
                    self._visit(part, event, "guard" if event.kind == "match" else "message", scope)
            if event.kind == "define":
                inner = scope.module.summary.scopes[event.extra]
                for param in inner.params:
                    if param[2] is not None:
                        self._visit(param[2], Default(inner, param[0]), "default", scope)
                for decorator in (*inner.decorators, *inner.bases):
                    self._visit(decorator, event, "decorator", scope)
        for number, call in enumerate(scope.calls):
            # Calls that no kept expression leads to, such as those in keywords of a class.
            if (id(scope), number) not in self.calls:
                self._visit((CALL, number), None, "lost", scope)
                del call

    def _target(self, target: Expr, event: Event, scope: Scope) -> None:
        if target[0] == ITEMS:
            for item in target[2]:
                self._target(item, event, scope)
        elif target[0] == STARRED:
            self._target(target[1], event, scope)
        elif target[0] == ATTRIBUTE:
            self._visit(target[1], event, "owner", scope)
        elif target[0] == SUBSCRIPT:
            self._visit(target[1], event, "owner", scope)
            self._visit(target[2], event, "index", scope)

    def _visit(self, top: Expr, parent: Any, role: Any, scope: Scope) -> None:
        around = self.around
        names = self.names[id(scope)]
        pending: list[tuple[Expr, Any, Any]] = [(top, parent, role)]
        while pending:
            expr, parent, role = pending.pop()
            kind = expr[0]
            if kind == NOT_KEPT:
                continue
            around[id(expr)] = (parent, role)
            if kind in NAMING and _loose(parent, role, scope):
                self.loose.append((expr, scope))
            if kind == NAME:
                names.setdefault(expr[1], []).append(expr)
            elif kind == CONSTANT:
                if isinstance(expr[1], str) and len(expr[1]) < 80:
                    self.texts.setdefault(expr[1], []).append((expr, scope))
            elif kind == ATTRIBUTE:
                self.attributes.setdefault(expr[2], []).append((expr, scope))
                pending.append((expr[1], expr, "base"))
            elif kind == CALL:
                self.calls[(id(scope), expr[1])] = expr
                self.scope_of[id(expr)] = scope
                call = scope.calls[expr[1]]
                if _takes_locals(call):
                    self.by_locals.append(scope)
                pending.append((call.func, expr, "func"))
                for position, item in enumerate(call.args):
                    pending.append((item, expr, position))
                for name, value in call.keywords:
                    pending.append((value, expr, name if name is not None else "**"))
            elif kind == SUBSCRIPT:
                self.subscripts.append((expr, scope))
                pending.append((expr[1], expr, "base"))
                pending.append((expr[2], expr, "index"))
            elif kind == CHOICE:
                pending.append((expr[1], expr, "test"))
                pending.append((expr[2], expr, "then"))
                pending.append((expr[3], expr, "else"))
            elif kind == BOOLEAN:
                for position, item in enumerate(expr[2]):
                    pending.append((item, expr, position))
            elif kind == MAPPING:
                self.containers.append((expr, scope))
                for key, value in expr[1]:
                    if key is not None:
                        pending.append((key, expr, "key"))
                    pending.append((value, expr, "part" if key is not None else "**"))
            elif kind in (STARRED, YIELD):
                pending.append((expr[1], expr, "part"))
            elif kind in (UNARY, ASSIGNED):
                pending.append((expr[2], expr, "part"))
            elif kind == COMPARE:
                pending.append((expr[1], expr, "left"))
                for operator, right in expr[2]:
                    pending.append((right, expr, operator))
            elif kind in (ITEMS, COMPREHENSION):
                if kind == ITEMS:
                    self.containers.append((expr, scope))
                for item in expr[2]:
                    pending.append((item, expr, "part"))
            elif kind == FORMAT:
                for item in expr[1]:
                    pending.append((item, expr, "part"))
            elif kind == "b":
                pending.append((expr[2], expr, expr[1]))
                pending.append((expr[3], expr, expr[1]))
            elif kind == "x":
                for item in expr[1:]:
                    if item is not None:
                        pending.append((item, expr, "part"))

    def of_name(self, name: str, scope: Scope) -> Iterator[tuple[Expr, Scope]]:
        """Yield the places where a name of a scope is loaded, in functions inside too."""
        pending = [scope]
        while pending:
            here = pending.pop()
            for expr in self.names[id(here)].get(name, ()):
                yield expr, here
            for inner in self.inner.get(id(here), ()):
                if name not in inner.names or name in inner.outer:
                    pending.append(inner)


class Uses:
    """Follows values of a config to where they end.

    Args:
        follower: What names stand for.
        loads: Where names are used.
    """

    def __init__(self, follower: Follower, loads: Loads) -> None:
        self.follower = follower
        self.loads = loads
        self.aside: frozenset[str] = frozenset()
        """Files of tests and tools: a value of the program that reaches them goes no further."""
        self._guards: dict[tuple[int, int], Guards] = {}
        self._entry: dict[int, Guards] = {}
        self._opened: list[tuple[Atoms, frozenset[str] | None, Expr, Scope]] | None = None
        self.escaped: dict[int, Scope] = {}
        """Classes whose objects go to calls that are not followed, by id."""
        self.by_locals = {id(scope) for scope in loads.by_locals}

    # Reads

    def given_away(self, owner: Scope) -> bool:
        """Tell whether an object of a class, or of one made from it, goes to a call that is not followed."""
        bases = self.follower.program.bases
        return any(
            other is owner or owner in bases(other)[0] or other in bases(owner)[0]
            for other in self.escaped.values()
        )

    def paths_of(self, atoms: Atoms) -> set[Path]:
        """Return the key paths of the sections that an object may be."""
        sections = self.follower.sections
        found: set[Path] = set()
        for atom in atoms:
            if atom[0] == "m":
                found.add(atom[1])
            elif atom[0] in ("c", "d") and sections is not None:
                found.update(sections.by_class[atom[1]][1])
        return found

    def access(self, expr: Expr, scope: Scope) -> tuple[Expr, str] | None:
        """Return the object and the name of a read such as `cfg.x`, `cfg["x"]`, `cfg.get("x")`, `getattr(cfg, "x")`."""
        if expr[0] == ATTRIBUTE:
            return expr[1], expr[2]
        if expr[0] == SUBSCRIPT:
            key = constant(expr[2])
            return (expr[1], key) if isinstance(key, str) else None
        if expr[0] == CALL:
            call = scope.calls[expr[1]]
            func = call.func
            if func[0] == ATTRIBUTE and func[2] in ("get", "pop", "setdefault") and call.args:
                key = constant(call.args[0])
                return (func[1], key) if isinstance(key, str) else None
            if func[0] == NAME and func[1] == "getattr" and len(call.args) >= 2:
                key = constant(call.args[1])
                return (call.args[0], key) if isinstance(key, str) else None
        return None

    def key_of(self, expr: Expr | None, scope: Scope, depth: int = 0) -> Path | None:
        """Return the key whose value an expression is, through a name or attribute given once; or None."""
        if expr is None or depth > 6:
            return None
        found = self.access(expr, scope)
        if found is not None:
            paths = self.paths_of(self.follower.atoms_of(found[0], scope))
            if paths:
                return (*min(paths), found[1])
        if expr[0] == CALL:
            call = scope.calls[expr[1]]
            if (
                call.func[0] == NAME
                and call.func[1] in ("bool", "int", "float", "str")
                and len(call.args) == 1
            ):
                return self.key_of(call.args[0], scope, depth + 1)
            return None
        if expr[0] == NAME:
            given = self.given(expr[1], scope)
            if given is not None and len(given[0]) == 1 and given[0][0][1] == "=":
                return self.key_of(given[0][0][0], given[1], depth + 1)
            return None
        if expr[0] == ATTRIBUTE and expr[1][0] == NAME:
            atoms = self.follower.atoms_of(expr[1], scope)
            if len(atoms) == 1:
                atom = next(iter(atoms))
                if atom[0] == "i":
                    stores = self.follower.stores(expr[2], atom[1])
                    if len(stores) == 1:
                        return self.key_of(stores[0][0], stores[0][1], depth + 1)
        return None

    def given(self, name: str, scope: Scope) -> tuple[list[tuple[Expr, str]], Scope] | None:
        """Return what a local name is given, and in which scope; None for a parameter or an outside name."""
        here: Scope | None = scope
        while here is not None:
            if here.kind in ("function", "lambda") and any(param[0] == name for param in here.params):
                return None
            found = self.follower.assignments(here).get(name)
            if found:
                return found, here
            if name in here.names:
                return None
            here = self.follower.program.outer(here)
        return None

    # Guards

    def guards(self, scope: Scope, block: int) -> Guards:
        """Return the settings that the blocks around a place need."""
        key = (id(scope), block)
        known = self._guards.get(key)
        if known is None:
            self._guards[key] = _NO_GUARDS
            found: set[Guard] = set()
            for around in scope.block_chain(block):
                if around.kind in ("if", "while") and around.test is not None:
                    found |= self.tested(around.test, around.branch, scope)
            known = self._guards[key] = frozenset(found)
        return known

    def entry(self, scope: Scope, depth: int = 0) -> Guards:
        """Return the settings that every known call of a function needs."""
        known = self._entry.get(id(scope))
        if known is not None or depth > 4:
            return known or _NO_GUARDS
        self._entry[id(scope)] = _NO_GUARDS
        result: Guards | None = None
        if scope.kind == "function" and scope.name not in self.follower.referenced():
            inside = scope.module.path not in self.aside
            for where, call in self.follower.callers(scope.name):
                if inside and where.module.path in self.aside:
                    continue
                here = self.guards(where, call.block) | self.entry(where, depth + 1)
                result = here if result is None else result & here
                if not result:
                    break
        self._entry[id(scope)] = result or _NO_GUARDS
        return self._entry[id(scope)]

    def tested(self, test: Expr, holds: bool, scope: Scope) -> set[Guard]:
        """Return the settings that must have certain values where a test holds, or does not."""
        if test[0] == UNARY and test[1] == "not":
            return self.tested(test[2], not holds, scope)
        if test[0] == BOOLEAN:
            if (test[1] == "and") == holds:
                return {guard for part in test[2] for guard in self.tested(part, holds, scope)}
            return set()
        if test[0] == COMPARE:
            if len(test[2]) != 1:
                return set()
            operator, right = test[2][0]
            if operator not in ("==", "!=", "is", "is not") or right[0] != CONSTANT:
                return set()
            path = self.key_of(test[1], scope)
            if path is None or right[1] is None:
                return set()
            same = (operator in ("==", "is")) == holds
            return {(path, "==" if same else "!=", right[1])}
        if test[0] == CALL and scope.calls[test[1]].func[:2] == (NAME, "hasattr"):
            return set()
        path = self.key_of(test, scope)
        return {(path, "true" if holds else "false", None)} if path is not None else set()

    def opened(self, owner: Scope, name: str, *, passed_on: bool = True) -> list[tuple[Expr, Scope]] | None:
        """Return where an attribute is read by a name that a loop goes through; None where all attributes are taken at once.

        That is `vars(x)`, `x.__dict__`, `asdict(x)`, and `getattr(x, n)` where nothing tells what `n` may be.

        Args:
            owner: The class whose objects have the attribute.
            name: The attribute.
            passed_on: Whether `__getattr__` of an object around counts: what it gives is read there by its name.
        """
        if self._opened is None:
            self._opened = self._find_opened()
        found: list[tuple[Expr, Scope]] = []
        inside = owner.module.path not in self.aside
        for atoms, names, expr, scope in self._opened:
            if (names is not None and name not in names) or (inside and scope.module.path in self.aside):
                continue
            if not passed_on and scope.name == "__getattr__":
                continue
            if any(
                atom[0] == "i" and (atom[1] is owner or owner in self.follower.program.bases(atom[1])[0])
                for atom in atoms
            ):
                if names is None:
                    return None
                found.append((expr, scope))
        return found

    def _find_opened(self) -> list[tuple[Atoms, frozenset[str] | None, Expr, Scope]]:
        found: list[tuple[Atoms, frozenset[str] | None, Expr, Scope]] = []
        for (_, number), expr in self.loads.calls.items():
            scope = self.loads.scope_of[id(expr)]
            call = scope.calls[number]
            func = call.func
            last = func[2] if func[0] == ATTRIBUTE else func[1] if func[0] == NAME else ""
            if not call.args or scope.name in STORING:
                continue
            if last in _TAKING_APART:
                found.append((self.follower.atoms_of(call.args[0], scope), None, expr, scope))
            elif func[:2] == (NAME, "getattr") and len(call.args) > 1 and call.args[1][0] != CONSTANT:
                names = self.names_in_loop(call.args[1], scope)
                known = frozenset(names) if names is not None else None
                found.append((self.follower.atoms_of(call.args[0], scope), known, expr, scope))
        for expr, scope in self.loads.attributes.get("__dict__", ()):
            if scope.name not in STORING:
                found.append((self.follower.atoms_of(expr[1], scope), None, expr, scope))
        return found

    def names_in_loop(self, name: Expr, scope: Scope) -> list[str] | None:
        """Return the texts that a loop's variable goes through, or None where they are not known."""
        items = self.items_in_loop(name, scope)
        return [item[1] for item in items] if items is not None else None

    def items_in_loop(self, name: Expr, scope: Scope) -> list[Expr] | None:
        """Return the constants that a loop's variable goes through, or None where they are not known or no texts."""
        if name[0] != NAME:
            return None
        given = self.given(name[1], scope)
        if given is None or len(given[0]) == 0 or any(how != "for" for _, how in given[0]):
            return None
        found: list[Expr] = []
        for value, _ in given[0]:
            items: Expr | None = value
            if value[0] == NAME:
                source = self.given(value[1], given[1])
                items = (
                    source[0][0][0]
                    if source is not None and len(source[0]) == 1 and source[0][0][1] == "="
                    else None
                )
            if items is None or items[0] != ITEMS:
                return None
            for item in items[2]:
                if item[0] != CONSTANT or not isinstance(item[1], str):
                    return None
                found.append(item)
        return found

    # Following

    def sinks(self, starts: Iterable[tuple[Expr, Scope]], origin: Path, *, whole: bool = False) -> list[Sink]:
        """Return where the values of some expressions end, each place once.

        Args:
            starts: Expressions that have the value, each with its scope.
            origin: The key whose value it is: giving the key itself a value is no use of it.
            whole: Whether it is a whole section, which a program writes to a file as a record of the run.
        """
        trace = _Trace(self, origin, whole=whole)
        for expr, scope in starts:
            trace.begin(expr, scope)
        return trace.run()

    def sinks_of_parameters(self, slots: Iterable[tuple[Scope, str]], origin: Path) -> list[Sink]:
        """Return where the values of some parameters end."""
        trace = _Trace(self, origin)
        for scope, name in slots:
            trace.slot(("v", scope, name), _NO_GUARDS)
        return trace.run()

    def sinks_of_attribute(self, owner: Scope, name: str, origin: Path) -> list[Sink]:
        """Return where the values of an attribute end."""
        trace = _Trace(self, origin)
        trace.slot(("a", owner, name), _NO_GUARDS)
        return trace.run()

    def logs(self, call: Call, scope: Scope) -> bool:
        """Tell whether a call only prints, logs or stores its arguments."""
        func = call.func
        if func[0] == ATTRIBUTE and func[2] in _LOG_METHODS:
            name = (dotted(func[1]) or "").rsplit(".", 1)[-1].lower()
            if any(name.endswith(word) for word in _LOG_WORDS):
                return True
        names = {atom[1] for atom in self.follower.atoms_of(func, scope) if atom[0] == "x"}
        return bool(names) and all(
            name in _PRINTING or name.startswith(("logging.", "absl.logging.")) for name in names
        )

    def inert(self, events: Iterable[Event], scope: Scope, origin: Path) -> bool:
        """Tell whether statements only log, raise, or give a key itself another value."""
        for event in events:
            if event.kind in ("pass", "raise"):
                continue
            if event.kind == "expr" and event.value is not None:
                if event.value[0] == CONSTANT:
                    continue
                if event.value[0] == CALL and self.logs(scope.calls[event.value[1]], scope):
                    continue
            elif event.kind in ("assign", "augment") and len(event.targets) == 1:
                target = self.access(event.targets[0], scope)
                if target is not None:
                    paths = self.paths_of(self.follower.atoms_of(target[0], scope))
                    if paths and all((*path, target[1]) == origin for path in paths):
                        continue
            elif event.kind in ("if", "for") and all(
                self.inert(body, scope, origin) for _, body in event.bodies
            ):
                continue
            return False
        return True

    def decided(
        self, events: Iterable[Event], scope: Scope, origin: Path, *, handler: bool = False
    ) -> list[Expr] | None:
        """Return what statements only give values to, by expressions without effects; None where they do more."""
        found: list[Expr] = []
        for event in events:
            if self.inert([event], scope, origin) or (event.kind == "continue" and handler):
                continue
            if event.kind in ("assign", "annotate", "augment") and event.value is not None:
                if not self._plain(event.value, scope):
                    return None
                found.extend(event.targets)
                continue
            if event.kind in ("if", "try"):
                for block, body in event.bodies:
                    inside = self.decided(
                        body, scope, origin, handler=handler or scope.blocks[block].kind == "except"
                    )
                    if inside is None:
                        return None
                    found += inside
                continue
            return None
        return found

    def idle(self, expr: Expr, scope: Scope) -> bool:
        """Tell whether an expression calls nothing but plain conversions and what prints or logs."""
        return self._plain(expr, scope, logging=True)

    def _plain(self, expr: Expr, scope: Scope, *, logging: bool = False) -> bool:
        """Tell whether an expression calls nothing but plain conversions."""
        for part in walk(expr, scope):
            if part[0] == CALL:
                call = scope.calls[part[1]]
                func = call.func
                if logging and self.logs(call, scope):
                    continue
                if func[0] == ATTRIBUTE and (func[1][0] in (CONSTANT, FORMAT) or func[2] in _PLAIN_METHODS):
                    continue
                names = {atom[1] if atom[0] == "x" else "?" for atom in self.follower.atoms_of(func, scope)}
                if not names or not names <= _PASSING:
                    return False
            elif part[0] in (YIELD, NOT_KEPT):
                return False
        return True


class _Trace:
    """The way of one value."""

    def __init__(self, uses: Uses, origin: Path, *, whole: bool = False) -> None:
        self.whole = whole
        self.uses = uses
        self.follower = uses.follower
        self.loads = uses.loads
        self.origin = origin
        self.best: dict[tuple[str, int, str], Guards] = {}
        self.pending: list[tuple[Expr, Scope, Guards]] = []
        self.found: dict[tuple[int, Place, str], Sink] = {}
        self.visits = 0

    def begin(self, expr: Expr, scope: Scope) -> None:
        self.pending.append((expr, scope, self.uses.entry(scope)))

    def run(self) -> list[Sink]:
        aside = self.uses.aside
        inside = not self.pending or any(scope.module.path not in aside for _, scope, _ in self.pending)
        while self.pending:
            expr, scope, guards = self.pending.pop()
            if inside and scope.module.path in aside:
                self.end(USED, scope, expr, guards)
                continue
            self.visits += 1
            if self.visits > MAX_VISITS:
                self.end(USED, scope, expr, _NO_GUARDS)
                break
            self.climb(expr, scope, guards)
        return list(self.found.values())

    def end(self, kind: str, scope: Scope, expr: Expr, guards: Guards) -> None:
        place = place_of(expr, scope) or scope.place
        key = (id(scope), place, kind)
        known = self.found.get(key)
        if known is not None:
            guards = guards & known.guards
        self.found[key] = Sink(kind, scope, place, guards)

    def climb(self, expr: Expr, scope: Scope, guards: Guards) -> None:
        """Go up from an expression that has the value, until the value goes somewhere."""
        here = expr
        for _ in range(200):
            around = self.loads.around.get(id(here))
            if around is None:
                self.end(USED, scope, expr, guards)
                return
            parent, role = around
            if isinstance(parent, Event):
                self.statement(here, parent, role, scope, guards, expr)
                return
            if isinstance(parent, Default):
                self.slot(("v", parent.scope, parent.name), guards)
                return
            if parent is None:
                if role != "lambda":
                    self.end(USED, scope, expr, guards)
                return
            kind = parent[0]
            if kind == CALL:
                call = scope.calls[parent[1]]
                guards = guards | self.uses.guards(scope, call.block)
                if not self.argument(here, call, role, scope, guards, expr):
                    return
            elif self.decides(here, parent, role, scope):
                self.end(USED, scope, expr, guards)
                return
            elif kind == CHOICE and role in ("then", "else"):
                guards = guards | self.uses.tested(parent[1], role == "then", scope)
            elif kind == BOOLEAN and role:
                for before in parent[2][:role]:
                    guards = guards | self.uses.tested(before, parent[1] == "and", scope)
            elif kind == ASSIGNED:
                self.slot(("v", scope, parent[1]), guards)
            elif kind == YIELD:
                self.end(USED, scope, expr, guards)
                return
            here = parent
        self.end(USED, scope, expr, guards)

    def decides(self, here: Expr, parent: Expr, role: Any, scope: Scope) -> bool:
        """Tell whether a part of an expression settles whether another part is run that does something."""
        kind = parent[0]
        if kind == CHOICE and role == "test":
            after: Iterable[Expr] = parent[2:4]
        elif kind == BOOLEAN:
            after = parent[2][role + 1 :]
        elif kind == COMPREHENSION:
            parts = parent[2]
            after = parts[next((n for n, part in enumerate(parts) if part is here), len(parts)) + 1 :]
        else:
            return False
        return not all(self.uses.idle(part, scope) for part in after)

    def statement(
        self, here: Expr, event: Event, role: Any, scope: Scope, guards: Guards, expr: Expr
    ) -> None:
        guards = guards | self.uses.guards(scope, event.block)
        kind = event.kind
        if role == "owner":
            # The value is an object that something is stored in: a container of one's own is no use of it.
            return
        if role == "augmented":
            # `x += 1` gives the name itself a new value; what becomes of it is found where the name is loaded.
            if here[0] not in (NAME, ATTRIBUTE):
                self.end(USED, scope, expr, guards)
            return
        if role == "value" and kind in ("assign", "annotate", "augment"):
            for target in event.targets:
                self.target(target, scope, guards, expr)
            return
        if role == "value" and kind == "return":
            self.slot(("r", scope, ""), guards)
            return
        if role == "value" and kind == "expr":
            return
        if kind in ("if", "for") and role == "value":
            bodies = [item for _, body in event.bodies for item in body]
            if self.uses.inert(bodies, scope, self.origin):
                self.end(LOGGED, scope, expr, guards)
                return
            targets = self.uses.decided(bodies, scope, self.origin) if kind == "if" else None
            if targets is None:
                self.end(USED, scope, expr, guards)
                return
            for target in targets:
                self.target(target, scope, guards, expr)
            return
        if kind == "raise" or role == "message":
            self.end(LOGGED, scope, expr, guards)
            return
        if kind == "delete" and role != "index":
            return
        self.end(USED, scope, expr, guards)

    def target(self, target: Expr, scope: Scope, guards: Guards, expr: Expr) -> None:
        kind = target[0]
        if kind == ITEMS:
            for item in target[2]:
                self.target(item, scope, guards, expr)
            return
        if kind == STARRED:
            self.target(target[1], scope, guards, expr)
            return
        found = self.uses.access(target, scope)
        if found is not None and kind in (ATTRIBUTE, SUBSCRIPT):
            atoms = self.follower.atoms_of(found[0], scope)
            paths = self.uses.paths_of(atoms)
            if paths:
                own = all((*path, found[1]) == self.origin for path in paths)
                self.end(COPIED if own else USED, scope, expr, guards)
                return
        if kind == NAME:
            if scope.kind == "class":
                self.slot(("a", scope, target[1]), guards)
            elif target[1] in scope.outer:
                self.end(USED, scope, expr, guards)
            else:
                self.slot(("v", scope, target[1]), guards)
            return
        if kind == ATTRIBUTE:
            owners = self.owners(target[1], scope)
            if not owners:
                self.end(USED, scope, expr, guards)
            for owner in owners:
                self.slot(("a", owner, target[2]), guards)
            return
        if kind == SUBSCRIPT:
            self.container(target[1], scope, guards, expr)
            return
        self.end(USED, scope, expr, guards)

    def owners(self, base: Expr, scope: Scope) -> list[Scope]:
        """Return the classes whose object something may be; empty where that is not known."""
        atoms = self.follower.atoms_of(base, scope)
        if atoms and all(atom[0] == "i" for atom in atoms):
            return [atom[1] for atom in atoms]
        return []

    def container(self, base: Expr, scope: Scope, guards: Guards, expr: Expr) -> None:
        """Follow the container that the value is put in."""
        while base[0] == SUBSCRIPT:
            base = base[1]
        if base[0] == NAME and self.uses.given(base[1], scope) is not None:
            given = self.uses.given(base[1], scope)
            assert given is not None
            if given[1].kind == "function":
                self.slot(("v", given[1], base[1]), guards)
                return
        if base[0] == ATTRIBUTE:
            owners = self.owners(base[1], scope)
            for owner in owners:
                self.slot(("a", owner, base[2]), guards)
            if owners:
                return
        self.end(USED, scope, expr, guards)

    def argument(self, here: Expr, call: Call, role: Any, scope: Scope, guards: Guards, expr: Expr) -> bool:
        """Follow a value into a call; return whether the call's result stands for the value."""
        func = call.func
        if role == "func":
            # `value.lower()` stands for the value; calling the value itself uses it.
            if here[0] == ATTRIBUTE:
                return True
            self.end(USED, scope, expr, guards)
            return False
        if self.uses.logs(call, scope):
            self.end(LOGGED, scope, expr, guards)
            return False
        if func[0] == ATTRIBUTE and func[1][0] in (CONSTANT, FORMAT):
            return True
        if func[:2] == (NAME, "setattr") and len(call.args) == 3 and role in (1, 2):
            name = constant(call.args[1])
            owners = self.owners(call.args[0], scope) if isinstance(name, str) and role == 2 else []
            for owner in owners:
                self.slot(("a", owner, name), guards)
            if not owners:
                self.end(USED, scope, expr, guards)
            return False
        atoms = self.follower.atoms_of(func, scope)
        names = {atom[1] for atom in atoms if atom[0] == "x"}
        if names:
            # None stands for a module that is not installed.
            atoms = atoms - {OTHER}
        if names and len(names) == len(atoms):
            if names <= _PASSING or names <= AS_DICT:
                return True
            if names <= (HARMLESS if self.whole else HARMLESS - _KEEPING):
                return False
        functions = [atom for atom in atoms if atom[0] in ("f", "b", "C")]
        if functions and len(functions) == len(atoms):
            for atom in functions:
                self.into(atom, role, scope, guards, expr)
            return False
        if func[0] == ATTRIBUTE and func[2] in _ADDING:
            self.container(func[1], scope, guards, expr)
            return False
        self.end(USED, scope, expr, guards)
        return False

    def into(self, atom: Atom, role: Any, scope: Scope, guards: Guards, expr: Expr) -> None:
        sections = self.follower.sections
        if atom[0] == "C" and sections is not None:
            config = next(
                (
                    above
                    for above in self.follower.program.bases(atom[1])[0]
                    if id(above) in sections.by_class
                ),
                None,
            )
            if config is not None:
                paths = sections.by_class[id(config)][1]
                own = isinstance(role, str) and all((*path, role) == self.origin for path in paths)
                self.end(COPIED if own else USED, scope, expr, guards)
                return
        slots = parameters(self.follower, atom, role)
        if slots is None:
            self.end(USED, scope, expr, guards)
            return
        for slot in slots:
            self.slot(slot, guards)

    def slot(self, slot: tuple[str, Scope, str], guards: Guards) -> None:
        """Go on from everywhere a name, an attribute or a result is used."""
        kind, scope, name = slot
        key = (kind, id(scope), name)
        known = self.best.get(key)
        if known is not None:
            guards = guards & known
            if guards == known:
                return
        self.best[key] = guards
        self.visits += 1
        if kind == "v":
            if id(scope) in self.uses.by_locals:
                self.end(USED, scope, (NAME, name, scope.place), guards)
                return
            if scope.kind == "module" and (name in self.loads.imported or name in self.loads.attributes):
                self.end(USED, scope, (NAME, name, scope.place), guards)
                return
            for expr, where in self.loads.of_name(name, scope):
                self.pending.append((expr, where, guards))
        elif kind == "a":
            self.attribute(scope, name, guards)
        else:
            self.result(scope, guards)

    def attribute(self, owner: Scope, name: str, guards: Guards) -> None:
        bases, outside = self.follower.program.bases(owner)
        opened = self.uses.opened(owner, name)
        if opened is None or self.uses.given_away(owner):
            self.end(USED, owner, (NAME, name, owner.place), guards)
            return
        for expr, where in opened:
            self.pending.append((expr, where, guards))
        texts = self.loads.texts.get(name, ())
        read = bool(opened)
        for expr, where in self.loads.attributes.get(name, ()):
            atoms = self.follower.atoms_of(expr[1], where)
            mine = [
                atom
                for atom in atoms
                if (atom[0] == "i" and (atom[1] in bases or owner in self.follower.program.bases(atom[1])[0]))
                or (atom[0] == "C" and atom[1] in bases)
            ]
            if mine or UNKNOWN in atoms or not atoms:
                read = True
                self.pending.append((expr, where, guards))
        for expr, where in texts:
            around = self.loads.around.get(id(expr))
            if around is not None and around[0] is not None and not isinstance(around[0], (Event, Default)):
                parent, role = around
                if parent[0] == CALL and role == 1 and where.calls[parent[1]].func[:2] == (NAME, "getattr"):
                    read = True
                    self.pending.append((parent, where, guards))
        if not read and any(base not in INERT_BASES for base in outside):
            # A framework may read what its subclass stores.
            self.end(USED, owner, (NAME, name, owner.place), guards)

    def result(self, scope: Scope, guards: Guards) -> None:
        program = self.follower.program
        owner = program.owner(scope)
        if scope.kind != "function":
            self.end(USED, scope, (NAME, "", scope.place), guards)
            return
        seen = False
        if owner is not None and any(
            (dotted(decorator) or "").rsplit(".", 1)[-1] in ("property", "cached_property")
            for decorator in scope.decorators
        ):
            self.slot(("a", owner, scope.name), guards)
            return
        for where, call in self.follower.callers(scope.name):
            atoms = self.follower.atoms_of(call.func, where)
            if atoms and not any(
                atom == UNKNOWN
                or (atom[0] == "f" and atom[1] is scope)
                or (atom[0] == "b" and atom[1] is scope)
                for atom in atoms
            ):
                continue
            seen = True
            expr = self.loads.calls.get((id(where), call.number))
            if expr is not None:
                self.pending.append((expr, where, guards))
        if scope.name in self.follower.referenced() or (not seen and scope.name not in STORING):
            self.end(USED, scope, (NAME, scope.name, scope.place), guards)


def _loose(parent: Any, role: Any, scope: Scope) -> bool:
    """Tell whether an expression stands where nothing follows the section that it may be."""
    if isinstance(parent, Event):
        kind = parent.kind
        if role == "manager":
            return True
        if role != "value":
            return False
        if kind in ("assign", "annotate"):
            return any(
                target[0] == ATTRIBUTE or (target[0] == NAME and target[1] in scope.outer)
                for target in parent.targets
            )
        return kind in ("return", "yield", "augment", "match")
    if not isinstance(parent, tuple):
        return False
    if parent[0] == COMPARE:
        return not all(operator in ("is", "is not") for operator, _ in parent[2])
    return parent[0] in (BINARY, COMPREHENSION, FORMAT, YIELD, STARRED)


def _takes_locals(call: Call) -> bool:
    """Tell whether a call takes all local names at once."""
    func = call.func
    if func[0] == NAME:
        return func[1] in ("locals", "eval", "exec") or (func[1] == "vars" and not call.args)
    return bool(func[0] == ATTRIBUTE and func[2] == "save_hyperparameters" and not call.args)


INERT_BASES = frozenset(
    {
        "object",
        "abc.ABC",
        "typing.Generic",
        "typing.Protocol",
        "typing.NamedTuple",
        "enum.Enum",
        "Exception",
        "ValueError",
    }
)


def parameters(follower: Follower, atom: Atom, role: Any) -> list[tuple[str, Scope, str]] | None:
    """Return what an argument, by position or name, becomes in a function or class; None where that is not known.

    These are parameters (`v`), or attributes (`a`) of a class without `__init__`.
    """
    shift = 0
    if atom[0] == "C":
        method = follower.program.method(atom[1], "__init__")
        if method is None:
            if isinstance(role, str) and role != "**" and not follower.program.bases(atom[1])[1]:
                return [("a", atom[1], role)]
            return None
        scope, shift = method, 1
    elif atom[0] == "b":
        scope = atom[1]
        static = any(dotted(decorator) == "staticmethod" for decorator in scope.decorators)
        shift = 0 if static else 1
    else:
        scope = atom[1]
    if scope.kind not in ("function", "lambda"):
        return None
    if isinstance(role, int):
        plain = [param for param in scope.params if param[3] == "plain"]
        if role + shift < len(plain):
            return [("v", scope, plain[role + shift][0])]
        return None
    if (
        isinstance(role, str)
        and role != "**"
        and any(param[0] == role and param[3] in ("plain", "keyword") for param in scope.params)
    ):
        return [("v", scope, role)]
    return None


__all__ = [
    "COPIED",
    "INERT_BASES",
    "LAMBDA",
    "LOGGED",
    "NAMING",
    "OTHER",
    "STORING",
    "USED",
    "Guard",
    "Guards",
    "Loads",
    "Sink",
    "Uses",
    "parameters",
]
