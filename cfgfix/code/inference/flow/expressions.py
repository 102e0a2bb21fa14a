"""The values of expressions in the runs over a program."""

from __future__ import annotations

from cfgfix.code.inference.flow.calls import Calls
from cfgfix.code.inference.flow.run import Frame
from cfgfix.code.inference.flow.symbolic import SYMBOLIC, SYMBOLIC_NAMES, is_end_of_graph, is_symbolic
from cfgfix.code.inference.parameters import is_static
from cfgfix.code.model.canonical_names import canonical_name
from cfgfix.code.model.expressions import MISSING, constant, is_name
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import (
    Assigned,
    Attribute,
    Binary,
    Boolean,
    Call,
    Collection,
    Compare,
    Comprehension,
    Conditional,
    Dictionary,
    Expr,
    FString,
    Lambda,
    Literal,
    Name,
    Slice,
    Starred,
    Subscript,
    Unary,
    Yield,
)
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import (
    UNKNOWN,
    ClassValue,
    Constant,
    Dataset,
    Element,
    Entries,
    Env,
    External,
    Function,
    Instance,
    Items,
    Made,
    Many,
    ModuleValue,
    Series,
    Site,
    Value,
    item_of,
    join,
)

_BUILTINS = frozenset(
    [
        "abs",
        "all",
        "any",
        "bool",
        "bytes",
        "callable",
        "dict",
        "dir",
        "divmod",
        "enumerate",
        "eval",
        "exec",
        "filter",
        "float",
        "format",
        "getattr",
        "globals",
        "hasattr",
        "hash",
        "id",
        "input",
        "int",
        "isinstance",
        "issubclass",
        "iter",
        "len",
        "list",
        "locals",
        "map",
        "max",
        "min",
        "next",
        "object",
        "open",
        "ord",
        "pow",
        "print",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "setattr",
        "slice",
        "sorted",
        "str",
        "sum",
        "super",
        "tuple",
        "type",
        "vars",
        "zip",
    ]
)


class Expressions(Calls):
    """The part of the runs that evaluates expressions."""

    def eval(self, frame: Frame, expr: Expr) -> Value:
        """Return the value of an expression, noting the calls in it."""
        self._steps += 1
        if isinstance(expr, Name):
            value = frame.env.names.get(expr.name)
            return value if value is not None else self._name_value(frame, expr.name)
        if isinstance(expr, Call):
            return self._result_of_call(frame, expr.number)
        if isinstance(expr, Attribute):
            return self._attribute_value(frame, expr)
        if isinstance(expr, Literal):
            return Constant(expr.value)
        if isinstance(expr, Collection):
            return Items(tuple([self.eval(frame, item) for item in expr.items]))
        if isinstance(expr, Lambda):
            scope = frame.scope.module.summary.scopes[expr.number]
            return Function(scope, env=frame.env)
        if isinstance(expr, Conditional):
            self.eval(frame, expr.test)
            return join(self.eval(frame, expr.then), self.eval(frame, expr.otherwise))
        if isinstance(expr, Boolean):
            values = [self.eval(frame, item) for item in expr.operands]
            result = values[0]
            for value in values[1:]:
                result = join(result, value)
            return result
        if isinstance(expr, Subscript):
            return self._subscript_value(frame, expr)
        if isinstance(expr, Assigned):
            value = self.eval(frame, expr.value)
            frame.env.names[expr.name] = value
            return value
        if isinstance(expr, Binary):
            left, right = self.eval(frame, expr.left), self.eval(frame, expr.right)
            if (type(left) is Made and left.name in SYMBOLIC_NAMES) or (
                type(right) is Made and right.name in SYMBOLIC_NAMES
            ):
                return SYMBOLIC
        elif isinstance(expr, Unary):
            if is_symbolic(self.eval(frame, expr.operand)):
                return SYMBOLIC
        elif isinstance(expr, Compare):
            self.eval(frame, expr.left)
            for side in expr.rights:
                self.eval(frame, side.right)
        elif isinstance(expr, Dictionary):
            return self._dictionary_value(frame, expr)
        elif isinstance(expr, FString):
            if expr.calls:
                for part in expr.parts:
                    self.eval(frame, part)
        elif isinstance(expr, Yield):
            frame.yielded.append(self.eval(frame, expr.value))
        elif isinstance(expr, Starred):
            self.eval(frame, expr.value)
        elif isinstance(expr, Comprehension):
            return self._comprehension_value(frame, expr)
        return UNKNOWN

    def _dictionary_value(self, frame: Frame, expr: Dictionary) -> Value:
        found: dict[object, Value] = {}
        known = True
        for key, value_expr in expr.entries:
            name = constant(key) if key is not None else MISSING
            if key is not None:
                self.eval(frame, key)
            value = self.eval(frame, value_expr)
            known = known and isinstance(name, (str, int))
            if type(value) not in (Value, Constant):
                found[name] = value
        return Entries(found) if known and found else UNKNOWN

    def _comprehension_value(self, frame: Frame, expr: Comprehension) -> Value:
        names = frame.env.names
        frame.env.names = dict(names)
        for target, source, conditions in expr.generators:
            value = self.eval(frame, source)
            if type(value) is Dataset and expr.kind == "list" and is_same_name(target, expr.parts[-1]):
                self.consumed.extend(
                    ("list", value, frame.scope, number)
                    for number, block in enumerate(frame.scope.blocks)
                    if block.kind == "comprehension" and block.test is source
                )
            self._assign_target(frame, target, self._turn_value(value))
            for condition in conditions:
                self.eval(frame, condition)
        count = 2 if expr.kind == "dict" else 1
        given = [self.eval(frame, part) for part in expr.parts[-count:]]
        frame.env.names = names
        return Series(given[0]) if count == 1 and given[0] is not UNKNOWN else UNKNOWN

    def _turn_value(self, value: Value, depth: int = 3) -> Value:
        """Return what a turn of a loop over a value gives, without noting what is gone over."""
        if type(value) is Dataset:
            return Element(value)
        if type(value) is Made and value.site is not None and depth:
            given = value.site.args
            if value.name == "builtins.enumerate" and given:
                item = self._turn_value(given[0], depth - 1)
                return Items((UNKNOWN, item)) if item is not UNKNOWN else UNKNOWN
            if value.name == "builtins.zip" and given:
                items = tuple(self._turn_value(item, depth - 1) for item in given)
                return Items(items) if any(item is not UNKNOWN for item in items) else UNKNOWN
            return UNKNOWN
        return item_of(value)

    def _name_value(self, frame: Frame, name: str) -> Value:
        env: Env | None = frame.env
        while env is not None:
            value = env.names.get(name)
            if value is not None:
                return value
            if name in env.scope.names and env.scope.kind != "module" and name not in env.scope.outer:
                return UNKNOWN
            env = env.parent
        module = frame.scope.module
        scope = module.scope
        child = scope.children.get(name)
        if child is not None:
            inner = module.summary.scopes[child]
            module_env = self.module_env(module)
            known = module_env.names.get(name) if module_env is not None else None
            if known is not None:
                return known
            top = Frame(scope, module_env or Env(scope, None), None, ())
            return self._defined_value(top, inner)
        imported = self.program.imported(frame.scope, name)
        if imported is not None:
            return imported
        if name in scope.names:
            return UNKNOWN
        for star in scope.stars:
            found = self.program.find(star, module)
            if isinstance(found, ModuleValue):
                value = self._member_value(found.module, name)
                if not isinstance(value, External):
                    return value
        return External(f"builtins.{name}") if name in _BUILTINS and not scope.stars else UNKNOWN

    def _member_value(self, module: Module, name: str) -> Value:
        """Return the value of a module's top-level name after its body has run."""
        scope = module.scope
        if scope is not None and name in scope.names and name not in scope.children:
            env = self.module_env(module)
            value = env.names.get(name) if env is not None else None
            return value if value is not None else UNKNOWN
        if scope is not None and name in scope.children:
            env = self.module_env(module)
            value = env.names.get(name) if env is not None else None
            if value is not None:
                return value
        value = self.program.member(module, name)
        if isinstance(value, Function) and value.scope.module is not module:
            return self._member_value(value.scope.module, value.scope.name)
        return value

    def _attribute_value(self, frame: Frame, expr: Attribute) -> Value:
        return self._attribute_among(frame, self.eval(frame, expr.base), expr.attribute)

    def _attribute_among(self, frame: Frame, base: Value, name: str) -> Value:
        """Return an attribute of a value with several alternatives."""
        if type(base) is not Many:
            return self._attribute_of(frame, base, name)
        ways = base.values
        result = self._attribute_of(frame, ways[0], name)
        for item in ways[1:]:
            result = join(result, self._attribute_of(frame, item, name))
        return result

    def _attribute_of(self, frame: Frame, base: Value, name: str) -> Value:
        # By type, since no class is derived from these: `isinstance` takes three times as long to say no.
        if type(base) is External:
            return base.member(name)
        if type(base) is ModuleValue:
            return self._member_value(base.module, name)
        if type(base) is Instance:
            return self._instance_attribute(base, name)
        if type(base) is ClassValue:
            method = self.program.method(base.scope, name)
            if method is not None:
                return self._method_value(method, None)
            return self._attributes.get((id(base.scope), name), UNKNOWN)
        if type(base) is Made:
            stored = frame.env.names.get(f"<{id(base)}>.{name}")
            if stored is not None:
                return stored
            return SYMBOLIC if is_end_of_graph(base, name) else External(f"{base.name}.{name}")
        return UNKNOWN

    def _method_value(self, method: Scope, receiver: Value | None) -> Value:
        outer = self.program.outer(method)
        beyond = self.program.outer(outer) if outer is not None else None
        env = self.env_of(beyond) if beyond is not None and beyond.kind == "module" else None
        top = Frame(outer or method, env or Env(outer or method, None), None, ())
        names = {self.program.static_name(item, method) for item in method.decorators}
        value: Value = Function(method, None if is_static(method) else receiver, env=env)
        if (
            "property" in {item.name for item in method.decorators if isinstance(item, Name)}
            or "functools.cached_property" in names
        ):
            return self.default(method)
        for decorator in reversed(method.decorators):
            if isinstance(decorator, Name) and decorator.name in ("staticmethod", "classmethod", "property"):
                continue
            value = self._decorated_quietly(top, decorator, value)
        return value

    def _decorated_quietly(self, frame: Frame, decorator: Expr, value: Value) -> Value:
        """Apply a method's decorator without noting its call again."""
        name = self.program.static_name(
            decorator.func if isinstance(decorator, Call) else decorator, frame.scope
        )
        if name is None or not isinstance(value, Function):
            return value
        if canonical_name(name) == "tensorflow.function":
            call = decorator if isinstance(decorator, Call) else decorator_call(decorator, frame.scope)
            site = Site(frame.scope, call, ())
            site.name, site.raw = "tensorflow.function", name
            return Function(value.scope, value.receiver, site, value.env)
        return value

    def _instance_attribute(self, base: Instance, name: str) -> Value:
        classes, outside = self.program.bases(base.scope)
        for scope in classes:
            child = scope.children.get(name)
            if child is not None:
                method = self._method_value(scope.module.summary.scopes[child], base)
                # A method may be replaced on the object: `agent.train = tf.function(agent.train)`.
                replaced = self._attributes.get((id(base.scope), name))
                return method if replaced is None else join(method, replaced)
        result: Value | None = None
        for scope in classes:
            value = self._stored_in_attribute(scope, base, name)
            if value is not None:
                result = value if result is None else join(result, value)
        if result is not None:
            return result
        for outer in outside:
            if outer.startswith(("keras.", "tensorflow.")):
                return External(f"{outer}.{name}")
        return UNKNOWN

    def _stored_in_attribute(self, scope: Scope, base: Instance, name: str) -> Value | None:
        """Return the values that methods of a class assign to an attribute.

        The methods are run first.
        """
        key = (id(base.scope), name)
        if key in self._resolving:
            return self._attributes.get(key) or self._attributes.get((id(scope), name))
        writers = self._writers.get(id(scope))
        if writers is None:
            writers = {}
            for child in scope.module.summary.scopes[scope.number + 1 :]:
                if child.parent == scope.number and child.kind == "function" and child.params:
                    own = child.params[0].name
                    for event in child.events():
                        for target in event.targets:
                            for part in target.items if isinstance(target, Collection) else (target,):
                                if (
                                    isinstance(part, Attribute)
                                    and isinstance(part.base, Name)
                                    and part.base.name == own
                                ):
                                    found = writers.setdefault(part.attribute, [])
                                    if child not in found:
                                        found.append(child)
                elif child.line > scope.end_line:
                    break
            self._writers[id(scope)] = writers
        named = writers.get(name)
        if named is not None:
            done = self._done
            for writer in named:
                if id(writer) not in done:
                    self._resolving.add(key)
                    self.default(writer)
                    self._resolving.discard(key)
        if scope is not base.scope:
            inherited = self._attributes.get((id(scope), name))
            if inherited is not None:
                return inherited
        found_value = self._attributes.get(key)
        if found_value is None and name in writers:
            return UNKNOWN
        if found_value is UNKNOWN and name not in writers:
            # A base class stores it; what it stores for this class is not known, and what it stores as a rule is.
            return None
        return found_value

    def _subscript_value(self, frame: Frame, expr: Subscript) -> Value:
        base = self.eval(frame, expr.base)
        self.eval(frame, expr.index)
        index = constant(expr.index)
        if isinstance(base, Items) and isinstance(index, int) and -len(base.items) <= index < len(base.items):
            return base.items[index]
        if type(base) is Entries:
            return base.values.get(index, UNKNOWN) if isinstance(index, (str, int)) else UNKNOWN
        if type(base) is Series:
            return base if isinstance(expr.index, Slice) else base.item
        if isinstance(base, Element):
            return base
        if (
            type(base) is Made
            and base.name == "tfds.splits"
            and isinstance(index, str)
            and base.site is not None
        ):
            return self._dataset_made(base.site, "tfds.load")
        return SYMBOLIC if is_symbolic(base) else UNKNOWN


def is_same_name(first: Expr, second: Expr) -> bool:
    """Tell whether two expressions are the same plain name."""
    return isinstance(first, Name) and is_name(second, first.name)


def decorator_call(decorator: Expr, scope: Scope) -> Call:
    """Return a call in place of a decorator that is written without brackets."""
    place = decorator.place if isinstance(decorator, (Name, Attribute)) else scope.place
    return Call(decorator, (), (), 0, place, -1)
