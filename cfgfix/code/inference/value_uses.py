"""What becomes of a value: is it used, or only logged, stored and passed on?

A value is followed from the place where it is read: through local names, arguments, attributes, containers, what
functions return, until something uses it. Only printing it, storing it where nothing reads it, and checking it before
raising are no uses. Whatever is not understood is a use.

On the way the guards are collected: settings without which the place is not reached.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from cfgfix.code.inference.config_atoms import (
    Atoms,
    BoundMethod,
    Callee,
    ClassItself,
    ConfigMapping,
    ConfigObject,
    Loaded,
    ObjectOf,
    Outside,
    Path,
    Role,
    names_outside,
)
from cfgfix.code.inference.config_values import Follower
from cfgfix.code.inference.name_uses import Loads
from cfgfix.code.model.expressions import constant, dotted, is_name, walk
from cfgfix.code.model.nodes import (
    Attribute,
    Boolean,
    Call,
    Collection,
    Compare,
    Expr,
    FString,
    Literal,
    Name,
    NotKept,
    Subscript,
    Unary,
    Yield,
)
from cfgfix.code.model.summary import Event, Scope

USED, LOGGED, COPIED = "used", "logged", "copied"
Guard = tuple[Path, str, Any]
"""A setting that a place needs: its key path, `true`, `false`, `==` or `!=`, and what it is compared with."""
Guards = frozenset[Guard]
NO_GUARDS: Guards = frozenset()
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
KEEPING = frozenset({"yaml.dump", "yaml.safe_dump", "json.dump", "pickle.dump", "numpy.save", "joblib.dump", "ruamel.yaml.dump", "omegaconf.OmegaConf.save", "wandb.init"})  # fmt: skip
"""Calls that write what something may read again."""
_PRINTING = HARMLESS - KEEPING - {"json.dumps", "pickle.dumps", "pprint.pformat", "omegaconf.OmegaConf.to_yaml", "setattr", "delattr", "super", "isinstance", "issubclass", "type", "id", "len", "repr", "str", "bool", "hash", "callable", "hasattr", "getattr", "sorted", "enumerate", "typing.cast"}  # fmt: skip
PASSING = frozenset(
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
STORING = frozenset(
    {
        "get_config", "to_dict", "as_dict", "asdict", "to_yaml", "to_json", "to_json_string", "save_config",
        "dump_config", "__repr__", "__str__", "__getstate__", "serialize", "export_config", "write_config",
    }
)  # fmt: skip
"""Methods that write an object down, also where something outside calls them."""


class Access(NamedTuple):
    """A read of an object by a name: `cfg.x`, `cfg["x"]`."""

    base: Expr
    name: str


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
        """Tell whether an object of a class goes to a call that is not followed.

        Classes made from it count, and those it is made from.
        """
        bases = self.follower.program.bases
        return any(
            other is owner or owner in bases(other).classes or other in bases(owner).classes
            for other in self.escaped.values()
        )

    def paths_of(self, atoms: Atoms) -> set[Path]:
        """Return the key paths of the sections that an object may be."""
        sections = self.follower.sections
        found: set[Path] = set()
        for atom in atoms:
            if isinstance(atom, Loaded):
                found.add(atom.path)
            elif isinstance(atom, (ConfigObject, ConfigMapping)) and sections is not None:
                found.update(sections.by_class[atom.config][1])
        return found

    def access(self, expr: Expr) -> Access | None:
        """Return the object and the name of a read, or None.

        Reads are `cfg.x`, `cfg["x"]`, `cfg.get("x")`, `getattr(cfg, "x")`.
        """
        if isinstance(expr, Attribute):
            return Access(expr.base, expr.attribute)
        if isinstance(expr, Subscript):
            key = constant(expr.index)
            return Access(expr.base, key) if isinstance(key, str) else None
        if isinstance(expr, Call):
            call = expr
            func = call.func
            if isinstance(func, Attribute) and func.attribute in ("get", "pop", "setdefault") and call.args:
                key = constant(call.args[0])
                return Access(func.base, key) if isinstance(key, str) else None
            if isinstance(func, Name) and func.name == "getattr" and len(call.args) >= 2:
                key = constant(call.args[1])
                return Access(call.args[0], key) if isinstance(key, str) else None
        return None

    def key_of(self, expr: Expr | None, scope: Scope, depth: int = 0) -> Path | None:
        """Return the key whose value an expression is, or None.

        It is found through a name or attribute that is given once.
        """
        if expr is None or depth > 6:
            return None
        found = self.access(expr)
        if found is not None:
            paths = self.paths_of(self.follower.atoms_of(found.base, scope))
            if paths:
                return (*min(paths), found.name)
        if isinstance(expr, Call):
            call = expr
            if (
                isinstance(call.func, Name)
                and call.func.name in ("bool", "int", "float", "str")
                and len(call.args) == 1
            ):
                return self.key_of(call.args[0], scope, depth + 1)
            return None
        if isinstance(expr, Name):
            given = self.given(expr.name, scope)
            if given is not None and len(given[0]) == 1 and given[0][0][1] == "=":
                return self.key_of(given[0][0][0], given[1], depth + 1)
            return None
        if isinstance(expr, Attribute) and isinstance(expr.base, Name):
            atoms = self.follower.atoms_of(expr.base, scope)
            if len(atoms) == 1:
                atom = next(iter(atoms))
                if isinstance(atom, ObjectOf):
                    stores = self.follower.stores(expr.attribute, atom.scope)
                    if len(stores) == 1:
                        return self.key_of(stores[0][0], stores[0][1], depth + 1)
        return None

    def given(self, name: str, scope: Scope) -> tuple[list[tuple[Expr, str]], Scope] | None:
        """Return the values assigned to a name and the scope that assigns them.

        None for a parameter, or a name that is not assigned.
        """
        here: Scope | None = scope
        while here is not None:
            if here.kind in ("function", "lambda") and any(param.name == name for param in here.params):
                return None
            found = self.follower.names.assignments(here).get(name)
            if found:
                return found, here
            if name in here.names:
                return None
            here = self.follower.program.outer(here)
        return None

    # Guards

    def guards(self, scope: Scope, block: int) -> Guards:
        """Return the config values that the tests around a block require."""
        key = (id(scope), block)
        known = self._guards.get(key)
        if known is None:
            self._guards[key] = NO_GUARDS
            found: set[Guard] = set()
            for around in scope.block_chain(block):
                if around.kind in ("if", "while") and around.test is not None:
                    found |= self.tested(around.test, around.branch, scope)
            known = self._guards[key] = frozenset(found)
        return known

    def entry(self, scope: Scope, depth: int = 0) -> Guards:
        """Return the config values that the tests around every known call require.

        Args:
            scope: The function that is called.
            depth: How many callers deep the search is.
        """
        known = self._entry.get(id(scope))
        if known is not None or depth > 4:
            return known or NO_GUARDS
        self._entry[id(scope)] = NO_GUARDS
        result: Guards | None = None
        if scope.kind == "function" and scope.name not in self.follower.names.referenced():
            inside = scope.module.path not in self.aside
            for where, call in self.follower.names.callers(scope.name):
                if inside and where.module.path in self.aside:
                    continue
                here = self.guards(where, call.block) | self.entry(where, depth + 1)
                result = here if result is None else result & here
                if not result:
                    break
        self._entry[id(scope)] = result or NO_GUARDS
        return self._entry[id(scope)]

    def tested(self, test: Expr, holds: bool, scope: Scope) -> set[Guard]:
        """Return the config values that a test requires to hold, or not to hold."""
        if isinstance(test, Unary) and test.operator == "not":
            return self.tested(test.operand, not holds, scope)
        if isinstance(test, Boolean):
            if (test.operator == "and") == holds:
                return {guard for part in test.operands for guard in self.tested(part, holds, scope)}
            return set()
        if isinstance(test, Compare):
            if len(test.rights) != 1:
                return set()
            operator, right = test.rights[0].operator, test.rights[0].right
            if operator not in ("==", "!=", "is", "is not") or not isinstance(right, Literal):
                return set()
            path = self.key_of(test.left, scope)
            if path is None or right.value is None:
                return set()
            same = (operator in ("==", "is")) == holds
            return {(path, "==" if same else "!=", right.value)}
        if isinstance(test, Call) and is_name(test.func, "hasattr"):
            return set()
        path = self.key_of(test, scope)
        return {(path, "true" if holds else "false", None)} if path is not None else set()

    def opened(self, owner: Scope, name: str, *, passed_on: bool = True) -> list[tuple[Expr, Scope]] | None:
        """Return the expressions that read an attribute by a name from a loop.

        None where the program takes all attributes at once: by `vars(x)`, `x.__dict__`, `asdict(x)`, or `getattr(x, n)` with
        an unknown `n`.

        Args:
            owner: The class whose objects have the attribute.
            name: The attribute.
            passed_on: Whether reads in the `__getattr__` of a wrapper count, which hands on an attribute of any name.
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
                isinstance(atom, ObjectOf)
                and (atom.scope is owner or owner in self.follower.program.bases(atom.scope).classes)
                for atom in atoms
            ):
                if names is None:
                    return None
                found.append((expr, scope))
        return found

    def _find_opened(self) -> list[tuple[Atoms, frozenset[str] | None, Expr, Scope]]:
        found: list[tuple[Atoms, frozenset[str] | None, Expr, Scope]] = []
        for call in self.loads.calls.values():
            scope = self.loads.scope_of[id(call)]
            func = call.func
            last = (
                func.attribute if isinstance(func, Attribute) else func.name if isinstance(func, Name) else ""
            )
            if not call.args or scope.name in STORING:
                continue
            if last in _TAKING_APART:
                found.append((self.follower.atoms_of(call.args[0], scope), None, call, scope))
            elif is_name(func, "getattr") and len(call.args) > 1 and not isinstance(call.args[1], Literal):
                names = self.names_in_loop(call.args[1], scope)
                known = frozenset(names) if names is not None else None
                found.append((self.follower.atoms_of(call.args[0], scope), known, call, scope))
        for expr, scope in self.loads.attributes.get("__dict__", ()):
            if scope.name not in STORING:
                found.append((self.follower.atoms_of(expr.base, scope), None, expr, scope))
        return found

    def names_in_loop(self, name: Expr, scope: Scope) -> list[str] | None:
        """Return the texts that a loop's variable takes; None if they are not known."""
        items = self.items_in_loop(name, scope)
        return [str(item.value) for item in items] if items is not None else None

    def items_in_loop(self, name: Expr, scope: Scope) -> list[Literal] | None:
        """Return the constants that a loop's variable takes, or None.

        None means that they are not known or no texts.
        """
        if not isinstance(name, Name):
            return None
        given = self.given(name.name, scope)
        if given is None or len(given[0]) == 0 or any(how != "for" for _, how in given[0]):
            return None
        found: list[Literal] = []
        for value, _ in given[0]:
            items: Expr | None = value
            if isinstance(value, Name):
                source = self.given(value.name, given[1])
                items = (
                    source[0][0][0]
                    if source is not None and len(source[0]) == 1 and source[0][0][1] == "="
                    else None
                )
            if items is None or not isinstance(items, Collection):
                return None
            for item in items.items:
                if not isinstance(item, Literal) or not isinstance(item.value, str):
                    return None
                found.append(item)
        return found

    def logs(self, call: Call, scope: Scope) -> bool:
        """Tell whether a call only prints, logs or stores its arguments."""
        func = call.func
        if isinstance(func, Attribute) and func.attribute in _LOG_METHODS:
            name = (dotted(func.base) or "").rsplit(".", 1)[-1].lower()
            if any(name.endswith(word) for word in _LOG_WORDS):
                return True
        names = names_outside(self.follower.atoms_of(func, scope))
        return bool(names) and all(
            name in _PRINTING or name.startswith(("logging.", "absl.logging.")) for name in names
        )

    def inert(self, events: Iterable[Event], scope: Scope, origin: Path) -> bool:
        """Tell whether statements only log, raise, or set the given key itself."""
        for event in events:
            if event.kind in ("pass", "raise"):
                continue
            if event.kind == "expr" and event.value is not None:
                if isinstance(event.value, Literal):
                    continue
                if isinstance(event.value, Call) and self.logs(event.value, scope):
                    continue
            elif event.kind in ("assign", "augment") and len(event.targets) == 1:
                target = self.access(event.targets[0])
                if target is not None:
                    paths = self.paths_of(self.follower.atoms_of(target.base, scope))
                    if paths and all((*path, target.name) == origin for path in paths):
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
        """Return the targets of statements that only assign values without effects.

        None where the statements do more.
        """
        found: list[Expr] = []
        for event in events:
            if self.inert([event], scope, origin) or (event.kind == "continue" and handler):
                continue
            if event.kind in ("assign", "annotate", "augment") and event.value is not None:
                if not self._is_plain(event.value, scope):
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
        """Tell whether an expression makes no calls but to convert, print or log."""
        return self._is_plain(expr, scope, logging=True)

    def _is_plain(self, expr: Expr, scope: Scope, *, logging: bool = False) -> bool:
        """Tell whether an expression calls nothing but plain conversions."""
        for part in walk(expr):
            if isinstance(part, Call):
                call = part
                func = call.func
                if logging and self.logs(call, scope):
                    continue
                if isinstance(func, Attribute) and (
                    isinstance(func.base, (Literal, FString)) or func.attribute in _PLAIN_METHODS
                ):
                    continue
                names = {
                    atom.name if isinstance(atom, Outside) else "?"
                    for atom in self.follower.atoms_of(func, scope)
                }
                if not names or not names <= PASSING:
                    return False
            elif isinstance(part, (Yield, NotKept)):
                return False
        return True


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


def parameters(follower: Follower, atom: Callee, role: Role) -> list[tuple[str, Scope, str]] | None:
    """Return the parameters or attributes that an argument is bound to in a callee.

    Each is a kind, `v` for a parameter or `a` for an attribute of a class without `__init__`, with its scope and name. None
    where that is not known.
    """
    shift = 0
    if isinstance(atom, ClassItself):
        method = follower.program.method(atom.scope, "__init__")
        if method is None:
            if isinstance(role, str) and role != "**" and not follower.program.bases(atom.scope).outside:
                return [("a", atom.scope, role)]
            return None
        scope, shift = method, 1
    elif isinstance(atom, BoundMethod):
        scope = atom.scope
        static = any(dotted(decorator) == "staticmethod" for decorator in scope.decorators)
        shift = 0 if static else 1
    else:
        scope = atom.scope
    if scope.kind not in ("function", "lambda"):
        return None
    if isinstance(role, int):
        plain = [param for param in scope.params if param.kind == "plain"]
        if role + shift < len(plain):
            return [("v", scope, plain[role + shift].name)]
        return None
    if role != "**" and any(
        param.name == role and param.kind in ("plain", "keyword") for param in scope.params
    ):
        return [("v", scope, role)]
    return None
