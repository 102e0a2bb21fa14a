"""How functions are entered: once on their own, and once more where arguments tell something."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from cfgfix.code.inference.flow.datasets import DATASET
from cfgfix.code.inference.flow.expressions import Expressions
from cfgfix.code.inference.flow.run import MAX_DEPTH, MAX_RUNS, MAX_WAYS, Frame
from cfgfix.code.inference.parameters import is_classmethod, is_static
from cfgfix.code.model.canonical_names import canonical_name
from cfgfix.code.model.expressions import constant, dotted
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import (
    NOWHERE,
    Attribute,
    Binary,
    Collection,
    Expr,
    Literal,
    Name,
    Starred,
    Subscript,
)
from cfgfix.code.model.program import is_keras_part
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import (
    UNKNOWN,
    ClassValue,
    Constant,
    Dataset,
    Env,
    External,
    Function,
    Instance,
    Items,
    Made,
    Many,
    Series,
    Site,
    Value,
    join,
)


class Functions(Expressions):
    """Runs that enter functions."""

    def module_env(self, module: Module) -> Env | None:
        """Return the names of a module after its body has run."""
        scope = module.scope
        if scope is None:
            return None
        env = self._envs.get(id(scope))
        if env is None:
            env = Env(scope, None)
            self._envs[id(scope)] = env
            self._run_body(Frame(scope, env, None, ()))
        return env

    def env_of(self, scope: Scope) -> Env | None:
        """Return the names of a scope after a run on its own."""
        if scope.kind == "module":
            return self.module_env(scope.module)
        self.default(scope)
        return self._envs.get(id(scope))

    def value_of_name(self, scope: Scope, expr: Expr) -> Value:
        """Return the value of a dotted name at the end of a scope."""
        env = self.env_of(scope)
        if env is None or dotted(expr) is None:
            return UNKNOWN
        owner = self.program.owner(scope)
        return self.eval(Frame(scope, env, Instance(owner) if owner is not None else None, ()), expr)

    def default(self, scope: Scope) -> Value:
        """Run a function once without known arguments, and return its result."""
        key = id(scope)
        if key in self._done:
            return self._done[key]
        if len(self._running) > 40:
            return UNKNOWN
        self._done[key] = UNKNOWN
        outer = self.program.outer(scope)
        parent: Env | None = None
        owner: Scope | None = None
        if outer is not None:
            if outer.kind == "class":
                owner = outer
                beyond = self.program.outer(outer)
                parent = self.env_of(beyond) if beyond is not None else None
            else:
                parent = self._envs.get(id(outer)) if id(outer) in self._done else self.env_of(outer)
        env = Env(scope, parent)
        self._envs[key] = env
        instance = Instance(owner) if owner is not None and not is_static(scope) else None
        self._bind_parameters(scope, env, instance)
        self._running.append(key)
        frame = Frame(scope, env, instance, ())
        self._run_body(frame)
        self._running.pop()
        result = self._result_value(scope, frame)
        self._done[key] = result
        return result

    def _result_value(self, scope: Scope, frame: Frame) -> Value:
        if scope.is_async:
            return UNKNOWN
        if scope.generator:
            return Series(functools.reduce(join, frame.yielded)) if frame.yielded else UNKNOWN
        if not frame.returned:
            return self._value_by_annotation(scope.returns, scope)
        result = frame.returned[0]
        for other in frame.returned[1:]:
            result = join(result, other)
        if result is UNKNOWN:
            return self._value_by_annotation(scope.returns, scope)
        return result

    def _bind_parameters(self, scope: Scope, env: Env, instance: Value | None) -> None:
        outer = self.program.outer(scope)
        for position, (name, annotation, _, kind) in enumerate(scope.params):
            if position == 0 and instance is not None and kind == "plain":
                env.names[name] = (
                    ClassValue(instance.scope)
                    if is_classmethod(scope) and isinstance(instance, Instance)
                    else instance
                )
                continue
            env.names[name] = (
                self._value_by_annotation(annotation, outer)
                if kind in ("plain", "keyword") and outer is not None
                else UNKNOWN
            )

    def _value_by_annotation(self, annotation: Expr | None, scope: Scope) -> Value:
        """Return the value that an annotation describes, as far as it is known."""
        if annotation is None:
            return UNKNOWN
        if isinstance(annotation, Literal) and isinstance(annotation.value, str):
            text = annotation.value.strip()
            if not all(part.isidentifier() for part in text.split(".")):
                return UNKNOWN
            expr: Expr = Name(text.split(".")[0], NOWHERE)
            for part in text.split(".")[1:]:
                expr = Attribute(expr, part, NOWHERE)
            annotation = expr
        elif isinstance(annotation, Subscript):
            # Optional[X] and X | None say X.
            name = self.program.static_name(annotation.base, scope)
            if name in ("typing.Optional", "typing.Annotated"):
                inner = annotation.index
                return self._value_by_annotation(
                    inner.items[0] if isinstance(inner, Collection) and inner.items else inner, scope
                )
            return UNKNOWN
        elif isinstance(annotation, Binary) and annotation.operator == "|":
            left, right = annotation.left, annotation.right
            if constant(right) is None:
                return self._value_by_annotation(left, scope)
            return UNKNOWN
        value = self.program.static_value(annotation, scope)
        if isinstance(value, ClassValue):
            return Instance(value.scope)
        if isinstance(value, External):
            name = canonical_name(value.name)
            if name == DATASET:
                found = Dataset("parameter", None)
                self.datasets.append(found)
                return found
            if name.startswith(("tensorflow.", "keras.")):
                return Made(name, None)
        return UNKNOWN

    def enter(
        self, function: Function, site: Site, args: tuple[Value, ...], keywords: Mapping[str, Value]
    ) -> Value:
        """Return the result of calling a function of the project.

        The function is run with the arguments of the call where these are of use.
        """
        scope = function.scope
        telling = any(
            _is_worth_a_run(value) or (type(value) is Instance and is_keras_part(self.program, value.scope))
            for value in (*args, *keywords.values())
        )
        if function.receiver is not None:
            args = (function.receiver, *args)
            telling = telling or _is_worth_a_run(function.receiver)
        if (
            not (telling or self._means_another_class(function))
            or self.exhausted
            or self._runs >= MAX_RUNS
            or len(site.through) >= MAX_DEPTH
            or id(scope) in self._running
            or scope.generator
        ):
            return self.default(scope) if id(scope) not in self._running else UNKNOWN
        key = (
            id(scope),
            *(_identity_of(value) for value in args),
            *sorted((n, _identity_of(v)) for n, v in keywords.items()),
        )
        if key in self._special:
            first = self._entered[key]
            if len(first.also) < MAX_WAYS:
                first.also = (*first.also, site)
            return self._special[key]
        self._runs += 1
        self._special[key] = UNKNOWN
        self._entered[key] = site
        parent = function.env
        owner = self.program.owner(scope)
        if parent is None:
            outer = self.program.outer(scope)
            if outer is not None and outer.kind == "class":
                outer = self.program.outer(outer)
            parent = self.env_of(outer) if outer is not None else None
        env = Env(scope, parent)
        instance = args[0] if owner is not None and args and not is_static(scope) else None
        self._bind_parameters(scope, env, instance)
        star = any(isinstance(item, Starred) for item in site.call.args) and not site.expanded
        plain = [name for name, _, _, kind in scope.params if kind == "plain"]
        if not star:
            for name, value in zip(plain, args, strict=False):
                if value is not UNKNOWN:
                    env.names[name] = value
            for position, (name, _, default, kind) in enumerate(scope.params):
                if kind in ("plain", "keyword") and name not in keywords and default is not None:
                    given = kind == "plain" and position < len(args)
                    if not given and not site.call.opaque and isinstance(default, Literal):
                        env.names[name] = Constant(default.value)
            rest = next((name for name, _, _, kind in scope.params if kind == "*"), None)
            if rest is not None:
                env.names[rest] = Items(tuple(args[len(plain) :]))
        names = {name for name, _, _, kind in scope.params if kind in ("plain", "keyword")}
        for name, value in keywords.items():
            if name in names and value is not UNKNOWN:
                env.names[name] = value
        self._running.append(id(scope))
        frame = Frame(scope, env, instance, (*site.through, site))
        self._run_body(frame)
        self._running.pop()
        result = self._result_value(scope, frame)
        self._special[key] = result
        return result

    def _run_where_made(self, function: Function, site: Site) -> None:
        """Run a function again whose enclosing run had arguments of its own.

        Its free names then have the values of that run.
        """
        scope, env = function.scope, function.env
        key = (id(scope), id(env))
        if (
            env is None
            or key in self._made
            or env.scope.kind not in ("function", "lambda")
            or self._envs.get(id(env.scope)) is env
            or self.exhausted
            or self._runs >= MAX_RUNS
            or len(site.through) >= MAX_DEPTH
            or id(scope) in self._running
        ):
            return
        self._runs += 1
        self._made[key] = (site, env)
        self._made_at.add(id(site))
        inner = Env(scope, env)
        self._bind_parameters(scope, inner, None)
        self._running.append(id(scope))
        self._run_body(Frame(scope, inner, None, (*site.through, site)))
        self._running.pop()

    def _means_another_class(self, function: Function) -> bool:
        """Tell whether a method's object is of a subclass that overrides called methods.

        These are methods that the method's own class calls on `self`.
        """
        owner = self.program.owner(function.scope)
        receiver = function.receiver
        if owner is None or type(receiver) is not Instance or receiver.scope is owner:
            return False
        key = (id(receiver.scope), id(owner))
        known = self._replaces.get(key)
        if known is None:
            classes = self.program.bases(receiver.scope).classes
            known = False
            if owner in classes:
                nearer = classes[: classes.index(owner)]
                replaced = {name for scope in nearer for name in scope.children} - {"__init__"}
                known = not replaced.isdisjoint(self._own_members(owner))
            self._replaces[key] = known
        return known

    def _own_members(self, owner: Scope) -> set[str]:
        """Return the attributes of `self` that a class's methods call or pass to calls.

        `self.parse(x)` and `map(self.parse)` give `parse`.
        """
        names: set[str] = set()
        scopes = owner.module.summary.scopes
        for number in owner.children.values():
            method = scopes[number]
            if method.kind != "function" or not method.params:
                continue
            own = method.params[0].name
            # Lambdas and functions inside see the same object.
            for scope in scopes[number:]:
                if scope.line > method.end_line:
                    break
                for call in scope.calls:
                    for part in (call.func, *call.args, *(value for _, value in call.keywords)):
                        if (
                            isinstance(part, Attribute)
                            and isinstance(part.base, Name)
                            and part.base.name == own
                        ):
                            names.add(part.attribute)
        return names


def _is_worth_a_run(value: Value) -> bool:
    """Tell whether an argument is worth another run of the called function."""
    if isinstance(value, (Dataset, Function)):
        return True
    if isinstance(value, Made):
        return (
            value.name.startswith(("tensorflow.data", "tensorflow.distribute", "keras."))
            or value.name == "iterator"
        )
    if isinstance(value, Many):
        return any(_is_worth_a_run(item) for item in value.values)
    if isinstance(value, Items):
        return any(isinstance(item, (Dataset, Function)) for item in value.items)
    return False


def _identity_of(value: Value) -> object:
    if isinstance(value, Constant):
        return (type(value.value).__name__, repr(value.value))
    if isinstance(value, (Function, Instance, ClassValue)):
        return ("s", id(value.scope))
    if isinstance(value, (External, Made)):
        return ("e", value.name)
    if isinstance(value, Dataset):
        return ("d", id(value))
    if isinstance(value, (Many, Items)):
        inner = value.values if isinstance(value, Many) else value.items
        return ("m", *[str(_identity_of(item)) for item in inner])
    return "?"
