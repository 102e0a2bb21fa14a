"""The results of calls of the project's functions and objects, and of libraries."""

from __future__ import annotations

from cfgfix.code.inference.flow.datasets import CONSTRUCTORS, DATASET, Datasets
from cfgfix.code.inference.flow.run import Frame
from cfgfix.code.inference.flow.symbolic import MERGES, SYMBOLIC, as_layer_sees, holds_symbolic
from cfgfix.code.inference.parameters import Parameters
from cfgfix.code.model.canonical_names import canonical_name
from cfgfix.code.model.nodes import Attribute, Call, Expr, Name, Starred
from cfgfix.code.model.program import is_keras_part
from cfgfix.code.model.values import (
    KERAS_TENSOR,
    UNKNOWN,
    ClassValue,
    Constant,
    Element,
    Entries,
    External,
    Function,
    Instance,
    Items,
    Made,
    Many,
    Series,
    Site,
    Value,
    alternatives,
    first_dataset,
    functions_of,
    item_of,
    join,
    with_item,
    without_none,
)

MODEL_METHODS = frozenset({"fit", "fit_generator", "evaluate", "predict"})
"""Methods that say by their names and arguments that they are those of a Keras model."""
_TREATED = frozenset(
    {
        "tensorflow.function",
        "functools.partial",
        "tensorflow_datasets.load",
        "tensorflow_datasets.builder.as_dataset",
    }
)
"""What `_external` knows more of than its name, beside what is built in."""
_SAME_ITEMS = frozenset(
    {
        "builtins.list",
        "builtins.tuple",
        "builtins.sorted",
        "builtins.reversed",
        "builtins.iter",
        "builtins.set",
    }
)
"""What gives the items that it gets, in whatever order."""
_CONTAINERS = (Items, Series, Entries)
_CHANGES = frozenset({"extend", "insert", "pop", "remove", "clear", "update", "setdefault", "popitem"})
_CALLED_BY_KERAS = ("keras.layers.", "keras.Model", "keras.Sequential", "keras.applications.")


class Calls(Datasets):
    """The part of the runs that evaluates calls."""

    def _result_of_call(self, frame: Frame, number: int) -> Value:
        call = frame.scope.calls[number]
        site = Site(frame.scope, call, frame.through)
        func = call.func
        method = ""
        receiver: Value | None = None
        callee: Value = UNKNOWN
        if isinstance(func, Attribute):
            base = func.base
            # Most are names, which need no step of their own.
            receiver = frame.env.names.get(base.name) if isinstance(base, Name) else None
            if receiver is None:
                receiver = self.eval(frame, base)
            if type(receiver) is Many:
                receiver = without_none(receiver)
            method = func.attribute
            if type(receiver) is External:
                dataset = None
                callee = receiver.member(method)
            else:
                dataset = first_dataset(receiver)
                if dataset is None:
                    callee = self._attribute_among(frame, receiver, method)
        else:
            dataset = None
            callee = self.eval(frame, func)
        if type(callee) is Many:
            callee = without_none(callee)
        site.args = self._positional_values(frame, site) if call.args else ()
        if call.keywords:
            keywords = {}
            for name, expr in call.keywords:
                value = self.eval(frame, expr)
                if name is not None:
                    keywords[name] = value
            site.keywords = keywords
        site.receiver, site.callee = receiver, callee
        if type(receiver) in _CONTAINERS:
            return self._of_container(frame, site)
        if dataset is not None:
            site.name = site.raw = f"{DATASET}.{method}"
            site.result = self._dataset_method(site, dataset, method)
            self._note_site(site)
            return site.result
        if type(callee) is Value:
            site.open = True
        elif type(callee) is Many:
            ways = callee.values
            site.open = any(type(item) is Value for item in ways)
            result = self._value_of_callee(frame, site, ways[0])
            for item in ways[1:]:
                result = join(result, self._value_of_callee(frame, site, item))
            site.result = result
        else:
            site.result = self._value_of_callee(frame, site, callee)
        if site.name or site.targets:
            self._note_site(site)
        elif method in MODEL_METHODS:
            self.unresolved.append(site)
        return site.result

    def _of_container(self, frame: Frame, site: Site) -> Value:
        """Return the result of a method of a list or dictionary, noting what it changes."""
        held, method, args = site.receiver, site.call.method, site.args
        base = site.call.receiver
        assert base is not None
        assert held is not None
        if type(held) is Entries:
            if method == "values":
                return Items(tuple(held.values.values()))
            if method == "items":
                inside = item_of(Items(tuple(held.values.values())))
                return Series(Items((UNKNOWN, inside))) if inside is not UNKNOWN else UNKNOWN
            if method == "get" and args and isinstance(args[0], Constant):
                return held.values.get(args[0].value, UNKNOWN)
            if method in _CHANGES:
                self._assign_target(frame, base, UNKNOWN)
        elif method in ("append", "add") and len(args) == 1:
            self._hold_value(frame, base, with_item(held, args[0]))
        elif method in _CHANGES:
            self._hold_value(frame, base, UNKNOWN)
        return UNKNOWN

    def _hold_value(self, frame: Frame, target: Expr, value: Value) -> None:
        """Set what a name or an attribute holds from now on."""
        if isinstance(target, Name):
            if target.name in frame.env.names:
                frame.env.names[target.name] = value
        elif isinstance(target, Attribute):
            owner = self.eval(frame, target.base)
            if type(owner) is Instance:
                self._attributes[(id(owner.scope), target.attribute)] = value

    def _positional_values(self, frame: Frame, site: Site) -> tuple[Value, ...]:
        """Return the values of the positional arguments, with a known `*items` unpacked."""
        args = site.call.args
        if len(args) == 1 and not isinstance(args[0], Starred):
            expr = args[0]
            known = frame.env.names.get(expr.name) if isinstance(expr, Name) else None
            return (known if known is not None else self.eval(frame, expr),)
        values: list[Value] = []
        for expr in args:
            if not isinstance(expr, Starred):
                values.append(self.eval(frame, expr))
                continue
            value = self.eval(frame, expr.value)
            if not isinstance(value, Items):
                site.expanded = False
                return (*values, UNKNOWN)
            site.expanded = True
            values += value.items
        return tuple(values)

    def _value_of_callee(self, frame: Frame, site: Site, callee: Value) -> Value:
        if type(callee) is External:
            result = self._external_value(frame, site, callee.name)
            if site.name in MERGES and any(map(holds_symbolic, site.args)):
                return Made(KERAS_TENSOR, site)
            return result
        if type(callee) is Function:
            if not self._takes_arguments(callee, site.call):
                return UNKNOWN
            site.targets = (*site.targets, callee)
            return self.enter(callee, site, site.args, site.keywords)
        if type(callee) is ClassValue:
            instance = Instance(callee.scope)
            init = self.program.method(callee.scope, "__init__")
            if init is not None:
                function = Function(init, instance)
                if not self._takes_arguments(function, site.call):
                    return UNKNOWN
                site.targets = (*site.targets, function)
                self.enter(function, site, site.args, site.keywords)
            if self.program.is_subclass(callee.scope, frozenset({DATASET})):
                return UNKNOWN
            return instance
        if type(callee) is Instance:
            args, keywords = site.args, site.keywords
            symbolic = any(map(holds_symbolic, (*args, *keywords.values()))) and is_keras_part(
                self.program, callee.scope
            )
            if symbolic:
                # What Keras calls is given tensors, whatever stands for them outside.
                args = tuple(map(as_layer_sees, args))
                keywords = {name: as_layer_sees(value) for name, value in keywords.items()}
            for name in ("__call__", "call"):
                inner = self.program.method(callee.scope, name)
                if inner is not None:
                    function = Function(inner, callee)
                    site.targets = (*site.targets, function)
                    result = self.enter(function, site, args, keywords)
                    return SYMBOLIC if symbolic and name == "call" else result
            outside = self.program.bases(callee.scope).outside
            if outside:
                site.name = site.raw = f"{outside[0]}.__call__"
            return SYMBOLIC if symbolic else UNKNOWN
        if type(callee) is Made:
            site.name = site.raw = f"{callee.name}.__call__"
            if callee.name == "tensorflow.function" and site.args:
                return self._compiled_value(callee.site or site, site.args[0])
            if callee.name.startswith(_CALLED_BY_KERAS) and any(map(holds_symbolic, site.args)):
                return Made(KERAS_TENSOR, site)
        return UNKNOWN

    def _takes_arguments(self, function: Function, call: Call) -> bool:
        """Tell whether a function takes the arguments of a call.

        Where decorators or starred arguments hide that, the answer is True.
        """
        if function.partial or function.fixed or call.opaque:
            return True
        scope = function.scope
        known = self._parameters.get(id(scope))
        if known is None:
            known = self._parameters[id(scope)] = Parameters(scope)
        if known.changed:
            return True
        return known.take(call, int(function.receiver is not None or known.classmethod))

    def _compiled_value(self, site: Site, value: Value) -> Value:
        for item in alternatives(value):
            if isinstance(item, Function):
                return Function(item.scope, item.receiver, site, item.env)
        return Made("tensorflow.function.result", site)

    def _external_value(self, frame: Frame, site: Site, raw: str) -> Value:
        name = canonical_name(raw)
        if not site.name or (
            name.startswith(("tensorflow", "keras")) and (_is_of_class(name) or not _is_of_class(site.name))
        ):
            # What a function such as `load_model` gives is told by the class that it may be as well.
            site.name, site.raw = name, raw
        args = site.args
        if name in CONSTRUCTORS:
            return self._dataset_made(site, name.rsplit(".", 1)[1])
        if not name.startswith("builtins.") and name not in _TREATED:
            return self._result_with_datasets(site, name)
        if name == "tensorflow.function":
            value = site.argument(0, "func")
            if value is not None:
                return self._compiled_value(site, value)
            return Made(name, site)
        if name == "functools.partial" and args:
            for function in functions_of(args[0]):
                return Function(
                    function.scope,
                    function.receiver,
                    function.compiled,
                    function.env,
                    function.partial + len(args) - 1,
                    _constants_of_partial(function, site),
                )
            return Made(name, site) if type(args[0]) is External else UNKNOWN
        if name == "builtins.iter" and args:
            dataset = first_dataset(args[0])
            if dataset is not None:
                dataset.uses.append(("iter", site))
                return Made("iterator", site)
        elif name == "builtins.next" and args:
            item = args[0]
            if type(item) is Series:
                return item.item
            if (
                isinstance(item, Made)
                and item.name == "iterator"
                and item.site is not None
                and item.site.args
            ):
                dataset = first_dataset(item.site.args[0])
                if dataset is not None:
                    return Element(dataset)
        elif name == "builtins.getattr" and len(args) >= 2 and isinstance(args[1], Constant):
            if isinstance(args[1].value, str):
                found = UNKNOWN
                for item in alternatives(args[0]):
                    found = self._attribute_of(frame, item, args[1].value)
                return found
        elif name == "builtins.super":
            owner = self.program.owner(site.scope)
            outer = site.scope
            while owner is None and outer.parent >= 0:
                outer = outer.module.summary.scopes[outer.parent]
                owner = self.program.owner(outer)
            if owner is not None:
                classes, outside = self.program.bases(owner)
                if len(classes) > 1:
                    return Instance(classes[1])
                if outside:
                    return Made(outside[0], None)
            return UNKNOWN
        elif name in ("tensorflow_datasets.load", "tensorflow_datasets.builder.as_dataset"):
            return self._tfds_result(site)
        elif name in ("builtins.min", "builtins.max") and args:
            return Made(name, site)
        elif name.startswith("builtins.") and name.count(".") == 1:
            for value in args:
                dataset = first_dataset(value)
                if dataset is not None:
                    dataset.uses.append((name, site))
            if name in _SAME_ITEMS and args and type(args[0]) in (Items, Series):
                return args[0] if name != "builtins.set" else Series(item_of(args[0]))
            return (
                Made(name, site)
                if name in ("builtins.enumerate", "builtins.zip", "builtins.range")
                else UNKNOWN
            )
        return self._result_with_datasets(site, name)


def _is_of_class(name: str) -> bool:
    """Tell whether a dotted name is that of a class's member: `keras.Model.fit`."""
    return name.rpartition(".")[0].rpartition(".")[2][:1].isupper()


def _constants_of_partial(function: Function, site: Site) -> tuple[tuple[str, object], ...]:
    """Return the constants that a `functools.partial` binds, by parameter.

    Those that the function has bound before are included.
    """
    if site.call.opaque:
        return ()
    plain = [name for name, _, _, kind in function.scope.params if kind == "plain"]
    names = plain[int(function.receiver is not None) + function.partial :]
    given = {**dict(function.fixed), **dict(zip(names, site.args[1:], strict=False)), **site.keywords}
    return tuple(
        (name, value.value if isinstance(value, Constant) else value)
        for name, value in given.items()
        if isinstance(value, Constant) or not isinstance(value, Value)
    )
