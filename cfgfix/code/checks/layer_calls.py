"""Calls of Keras layers and models with positional arguments that Keras 3 refuses."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.callees import head
from cfgfix.code.inference.entry_points import has_all_callers
from cfgfix.code.inference.eras import release_in_words, written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.references import api, is_bound_twice
from cfgfix.code.inference.releases import (
    keras_of_release,
    keras_three,
    passed_over_for_keras_2,
    refused_by_three,
)
from cfgfix.code.model.canonical_names import canonical_name
from cfgfix.code.model.expressions import constant, is_name, text, walk
from cfgfix.code.model.hit import Calls, Rewrite, hit_in
from cfgfix.code.model.nodes import (
    Attribute,
    Call,
    Collection,
    Comprehension,
    Expr,
    Literal,
    Name,
    Place,
    Starred,
    Subscript,
)
from cfgfix.code.model.program import Program, is_keras_model, is_keras_part, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import (
    UNKNOWN,
    ClassValue,
    Constant,
    External,
    Instance,
    Made,
    Many,
    Site,
    Value,
    alternatives,
    join,
)
from cfgfix.core.records import dataclass
from cfgfix.rules.hit import Hit

passed_over = passed_over_for_keras_2
"""Which modules these checks say nothing of."""


_FUNCTIONAL = ("inputs", "training", "mask")
"""Parameters of `call` of a functional or sequential model, in Keras 2 and 3."""
_NO_LAYERS = frozenset({"Input", "InputLayer", "InputSpec", "Layer", "Wrapper"})
_HARMLESS = ("abc.ABC", "builtins.object", "tensorflow.Module", "typing.Generic", "typing.Protocol")


@dataclass(frozen=True, slots=True)
class _CalledLayer:
    """A called layer or model, and the positional arguments it takes in Keras 3.

    Attributes:
        params: The parameters of its `call`, without the object; None where they are not known for certain.
        functional: Whether it is called as functional models are: nothing but a truth value for `training` is refused.
    """

    params: tuple[str, ...] | None
    functional: bool = False


class Parts:
    """The values and classes that are certainly Keras layers or models."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._table = api(program)
        self._classes: dict[int, _CalledLayer | None] = {}
        self._subclasses: dict[int, list[Scope]] | None = None

    def callee(self, value: Value) -> _CalledLayer | None:
        """Return the layer or model that a value is, or None."""
        if isinstance(value, Instance):
            key = id(value.scope)
            if key not in self._classes:
                self._classes[key] = self._of_class(value.scope)
            return self._classes[key]
        if isinstance(value, Made) and value.site is not None:
            return self._of_made(value.name, value.site)
        return None

    def is_part(self, scope: Scope) -> bool:
        """Tell whether a class is certainly a layer or model of Keras."""
        return is_keras_part(self._program, scope) and self._is_plain(scope)

    def _of_made(self, name: str, site: Site) -> _CalledLayer | None:
        if not site.raw.startswith(("tensorflow.", "keras.")) or not self._is_ours(site.raw, site.scope):
            return None
        if is_bound_twice(site.scope, head(site.call.func)):
            return None
        last = name.rpartition(".")[2]
        if name == "keras.Sequential":
            return _CalledLayer(_FUNCTIONAL)
        if name == "keras.Model" or (name.startswith("keras.applications.") and last[:1].isupper()):
            return _CalledLayer(_FUNCTIONAL, functional=True)
        if name.startswith("keras.layers.") and name.count(".") == 2 and last[:1].isupper():
            if last in _NO_LAYERS or not self._is_in_newest(name):
                return None
            known = self._table.layer_call(last)
            if not known.takes_any:
                return _CalledLayer(known.params)
            if known.own and "training" in (known.params or ()):
                return _CalledLayer(known.params, functional=True)
        return None

    def _is_in_newest(self, name: str) -> bool:
        """Tell whether the newest release has a Keras name."""
        found = self._table.presence(f"tensorflow.{name}")
        return found is not None and not found.rest and bool(found.mask & self._table.newest)

    def _is_ours(self, raw: str, scope: Scope) -> bool:
        # The copy of Keras inside TensorFlow is never Keras 3.
        return not raw.startswith(("tensorflow.python.", "tensorflow.compat.v1.")) and keras_of_release(
            self._program, scope
        )

    def _is_plain(self, scope: Scope) -> bool:
        """Tell whether all bases of a class are known and only Keras defines `__call__`."""
        classes, _ = self._program.bases(scope)
        for item in classes:
            if "__call__" in item.names or "__call__" in item.children or "__new__" in item.children:
                return False
            outer = self._program.outer(item) or item
            for base in item.bases:
                if is_name(base, "object"):
                    continue
                # `Generic[T]` is Generic.
                value = self._program.static_value(base.base if isinstance(base, Subscript) else base, outer)
                if isinstance(value, ClassValue):
                    continue
                if not isinstance(value, External):
                    return False
                name = canonical_name(value.name)
                if name.startswith("keras."):
                    if not self._is_ours(value.name, item):
                        return False
                    if self._table.layer_call(name.rpartition(".")[2]).takes_any:
                        return False
                    if name not in ("keras.Layer", "keras.Model") and not self._is_in_newest(name):
                        return False
                elif name not in _HARMLESS:
                    return False
        return True

    def _of_class(self, scope: Scope) -> _CalledLayer | None:
        if not self.is_part(scope):
            return None
        functional = self._begins_functional(scope)
        method = self._program.method(scope, "call")
        if method is not None:
            # What a functional model's own `call` takes is not looked at.
            return None if functional else _CalledLayer(self._parameters(scope, method))
        base = self._program.bases(scope).outside[0]
        if base in ("keras.Model", "keras.Sequential"):
            return _CalledLayer(_FUNCTIONAL, functional=base == "keras.Model")
        return _CalledLayer(self._table.layer_call(base.rpartition(".")[2]).params)

    def _begins_functional(self, scope: Scope) -> bool:
        """Tell whether a class may be a functional model: it passes inputs and outputs on."""
        for item in self._program.bases(scope).classes if is_keras_model(self._program, scope) else ():
            number = item.children.get("__init__")
            if number is None:
                continue
            for call in item.module.summary.scopes[number].calls:
                if call.method == "__init__" and (
                    len(call.args) > 1 or any(name in ("inputs", "outputs") for name, _ in call.keywords)
                ):
                    return True
        return False

    def _parameters(self, scope: Scope, method: Scope) -> tuple[str, ...] | None:
        """Return the parameters that a class's `call` shares with all subclasses, or None."""
        _, outside = self._program.bases(scope)
        if any(self._table.layer_call(name.rpartition(".")[2]).own_before for name in outside):
            return None
        found = _callable_parameters(self._program, method)
        for below in self.below(scope):
            number = below.children.get("call")
            if number is None or found is None:
                continue
            other = _callable_parameters(self._program, below.module.summary.scopes[number])
            found = None if other is None else _common_beginning(found, other)
        return found

    def below(self, scope: Scope) -> list[Scope]:
        """Return the project's subclasses of a class."""
        if self._subclasses is None:
            self._subclasses = {}
            for module in self._program.modules:
                for item in module.summary.scopes:
                    if item.kind == "class":
                        for above in self._program.bases(item).classes[1:]:
                            self._subclasses.setdefault(id(above), []).append(item)
        return self._subclasses.get(id(scope), [])


def _callable_parameters(program: Program, method: Scope) -> tuple[str, ...] | None:
    """Return the plain parameters of a method without `self`.

    None where a decorator may change them.
    """
    outer = program.outer(method) or method
    for decorator in method.decorators:
        func = decorator.func if isinstance(decorator, Call) else decorator
        if canonical_name(program.static_name(func, outer) or "") != "tensorflow.function":
            return None
    return tuple(name for name, _, _, kind in method.params if kind == "plain")[1:]


def _common_beginning(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """Return the common beginning of two parameter lists.

    The first parameter, the inputs, always counts as common.
    """
    found = list(first[:1])
    for one, other in zip(first[1:], second[1:], strict=False):
        if one != other:
            break
        found.append(one)
    return tuple(found)


def methods(owner: Scope) -> Iterator[Scope]:
    """Yield the methods that a class itself defines."""
    for scope in owner.module.summary.scopes[owner.number + 1 :]:
        if scope.parent == owner.number and scope.kind == "function" and scope.params:
            yield scope


_REFUSED = (bool, int, float, complex, str, bytes)


class _NonTensors:
    """The arguments of calls that are certainly no tensors."""

    def __init__(self, program: Program, parts: Parts) -> None:
        self._program = program
        self._parts = parts
        self._flags: dict[int, str] = {}

    def positions(self, site: Site) -> list[int]:
        """Return the positions of a call's arguments that Keras 3 refuses."""
        args = site.call.args
        found = [
            position
            for position, expr in enumerate(args)
            if self.refused(expr, site.args[position] if position < len(site.args) else None, site)
        ]
        return found if found and all(not isinstance(item, Starred) for item in args) else []

    def refused(self, expr: Expr, value: Value | None, site: Site) -> bool:
        """Tell whether Keras 3 refuses an expression as a positional argument."""
        if isinstance(expr, Collection):
            # What a list holds that stands elsewhere may have changed since.
            return any(self.refused(item, None, site) for item in expr.items)
        if isinstance(expr, Literal):
            return isinstance(expr.value, _REFUSED)
        if isinstance(expr, Name) and self.flag(site.scope) == expr.name:
            return True
        if value is None or (isinstance(expr, Name) and _changes_in_loop(site, expr.name)):
            return False
        found = alternatives(value)
        return bool(found) and all(
            isinstance(item, Constant) and isinstance(item.value, _REFUSED) for item in found
        )

    def flag(self, scope: Scope) -> str:
        """Return the name of the parameter of `call` that is a bool, or empty text."""
        key = id(scope)
        if key not in self._flags:
            self._flags[key] = self._training_flag(scope)
        return self._flags[key]

    def _training_flag(self, scope: Scope) -> str:
        owner = self._program.owner(scope)
        if scope.name != "call" or owner is None or not self._parts.is_part(owner):
            return ""
        if any(isinstance(item, Call) for item in scope.decorators):
            # `@tf.function(input_signature=...)` makes tensors of its arguments.
            return ""
        for name, annotation, default, kind in scope.params:
            if name not in _FLAGS or kind not in ("plain", "keyword"):
                continue
            if annotation is not None and "Tensor" in text(annotation):
                continue
            # Keras fills in `training` alone, and with None only where nothing trains or evaluates.
            given = default is not None and isinstance(default, Literal) and isinstance(default.value, bool)
            if name == "training" and (
                default is None or (isinstance(default, Literal) and default.value is None)
            ):
                given = True
            if given and all(
                event.kind == "assign"
                and event.value is not None
                and isinstance(event.value, Literal)
                and isinstance(event.value.value, bool)
                for event in scope.binding(name)
            ):
                return name
        return ""


MANY = 8
"""From so many on, what a value may be is not all kept."""
_FLAGS = ("training", "is_training", "train")


def _changes_in_loop(site: Site, name: str) -> bool:
    """Tell whether a name is bound in a loop around a call."""
    scope = site.scope
    loops = {
        number
        for number in scope.block_numbers(site.call.block)
        if scope.blocks[number].kind in ("for", "while")
    }
    return bool(loops) and any(
        not loops.isdisjoint(scope.block_numbers(event.block)) for event in scope.binding(name)
    )


def by_position(program: Program) -> Iterator[Hit]:
    """Find Keras 3 layers and models given other positional arguments than tensors."""
    if not keras_three(program):
        return
    table = api(program)
    parts = Parts(program)
    arguments = _NonTensors(program, parts)
    switched: bool | None = None
    for site, found in _suspect_calls(program, parts, arguments):
        callees = _callees_of_value(parts, site.callee)
        # A functional model takes whatever stands for its inputs; `training` it gets twice.
        functional = any(item.functional for item in callees)
        refused = [position for position in found if position == 1] if functional else found
        if not callees or not refused:
            continue
        told = refused_by_three(program, site.scope)
        if told is None:
            continue
        if switched is None:
            switched = _is_switched(program)
        if switched:
            return
        rewrites, why = _fix_by_names(callees, site, refused[0])
        given = [text(site.call.args[position]) for position in refused]
        yield hit_in(
            site.scope,
            _call_place(site),
            site.call.block,
            {
                "layer": text(site.call.func),
                "given": " and ".join(given),
                "what": "raises TypeError for that"
                if all(item.functional for item in callees)
                else "takes only tensors so, and raises ValueError",
                "asked": release_in_words(table),
            },
            entry=Calls(site),
            # Of a parameter that is None wherever the program runs Keras 3 takes None.
            severity="info"
            if given == ["training"]
            and has_all_callers(program, site.scope.module)
            and _training_never_given(program)
            else told[0],
            rewrites=rewrites,
            no_fix=why,
        )


_TELLS_TRAINING = frozenset(
    {"fit", "fit_generator", "train_on_batch", "test_on_batch", "evaluate", "predict", "predict_on_batch"}
)
"""Methods of a model that call its layers with `training` set (Keras 3.15.1, `keras/src/backend/tensorflow/trainer.py`)."""


@once
def _training_never_given(program: Program) -> bool:
    """Tell whether no call of a program trains a model or passes `training`."""
    return not any(
        call.method in _TELLS_TRAINING or _is_given_flag(call.keyword("training"))
        for module in program.modules
        if module.scope is None or not written_for_one(program, module.scope)
        for scope in module.summary.scopes
        for call in scope.calls
    )


def _is_given_flag(value: Expr | None) -> bool:
    return value is not None and constant(value) is not None and not is_name(value, "training")


def _call_place(site: Site) -> Place:
    """Return the place of a call to show in a finding."""
    func = site.call.func
    if isinstance(func, Subscript):
        place: Place = func.place
        return place
    return func.name_place if isinstance(func, Call) else site.call.name_place


def _suspect_calls(
    program: Program, parts: Parts, arguments: _NonTensors
) -> Iterator[tuple[Site, list[int]]]:
    """Yield calls with non-tensor positional arguments, and their positions."""
    for site in flow_of(program).sites:
        if type(site.callee) is External:
            # Most calls are: no layer, nor a model.
            continue
        # What the flow knows of a list is how it was written down.
        if (
            site.call.args
            and _may_be_layer_or_model(site.callee)
            and not site.open
            and not isinstance(site.call.func, Subscript)
        ):
            refused = arguments.positions(site)
            if refused and not _replaced_below(program, parts, site):
                yield site, refused
    lists = _LayerLists(program, parts)
    for module in program.modules:
        for scope in module.summary.scopes:
            if program.owner(scope) is None:
                continue
            for call in scope.calls:
                func = call.func
                if (
                    not (isinstance(func, Subscript) or (isinstance(func, Name) and func.name in scope.names))
                    or not call.args
                ):
                    continue
                site = Site(scope, call, ())
                refused = arguments.positions(site)
                if refused:
                    site.callee = lists.item(func, scope)
                    if site.callee is not UNKNOWN:
                        yield site, refused


def _may_be_layer_or_model(value: Value) -> bool:
    """Tell whether a callee may be a layer or model."""
    kind = type(value)
    return kind is Instance or kind is Many or (isinstance(value, Made) and value.name.startswith("keras."))


def _replaced_below(program: Program, parts: Parts, site: Site) -> bool:
    """Tell whether a subclass binds the attribute that a method calls as a layer."""
    func, scope = site.call.func, site.scope
    owner = program.owner(scope)
    if (
        owner is None
        or not isinstance(func, Attribute)
        or not scope.params
        or not is_name(func.base, scope.params[0].name)
    ):
        return False
    return any(
        func.attribute in below.names
        or any(
            isinstance(part, Attribute) and part.attribute == func.attribute
            for method in methods(below)
            for event in method.events()
            for target in event.targets
            for part in walk(target)
        )
        for below in parts.below(owner)
    )


class _LayerLists:
    """The layers in lists that classes keep as attributes."""

    def __init__(self, program: Program, parts: Parts) -> None:
        self._program = program
        self._parts = parts
        self._held: dict[tuple[int, str], Value] = {}

    def item(self, expr: Expr, scope: Scope) -> Value:
        """Return the value of a list item: `self.blocks[2]`, or `block` in a loop."""
        if isinstance(expr, Subscript):
            return self._value_of_items(expr.base, scope)
        if not isinstance(expr, Name):
            return UNKNOWN
        events = scope.binding(expr.name)
        if not events or any(event.kind != "for" for event in events):
            return UNKNOWN
        found: Value | None = None
        for event in events:
            value = self._value_in_loop(event, expr.name, scope)
            found = value if found is None else join(found, value)
        return found or UNKNOWN

    def _value_in_loop(self, event: Event, name: str, scope: Scope) -> Value:
        """Return the value that a loop over lists binds to a name."""
        source, target = event.value, event.targets[0]
        if source is None:
            return UNKNOWN
        if is_name(target, name):
            return self._value_of_items(source, scope)
        if not isinstance(target, Collection) or not isinstance(source, Call):
            return UNKNOWN
        call = source
        position = next(
            (number for number, item in enumerate(target.items) if is_name(item, name)), len(target.items)
        )
        if is_name(call.func, "enumerate"):
            position -= 1
        elif not is_name(call.func, "zip"):
            return UNKNOWN
        if call.opaque or not 0 <= position < len(call.args):
            return UNKNOWN
        return self._value_of_items(call.args[position], scope)

    def _value_of_items(self, expr: Expr, scope: Scope) -> Value:
        owner = self._program.owner(scope)
        if (
            owner is None
            or not isinstance(expr, Attribute)
            or not scope.params
            or not is_name(expr.base, scope.params[0].name)
        ):
            return UNKNOWN
        key = id(owner), expr.attribute
        if key not in self._held:
            self._held[key] = self._items_put_in(owner, expr.attribute)
        return self._held[key]

    def _items_put_in(self, owner: Scope, name: str) -> Value:
        """Return the value of the items that methods put into a list attribute.

        It is unknown where a method does anything else with the list.
        """
        found: Value | None = None
        for item in (*self._program.bases(owner).classes, *self._parts.below(owner)):
            for method in methods(item):
                for value in self._values_put(method, name):
                    if value is UNKNOWN:
                        return UNKNOWN
                    found = value if found is None else join(found, value)
        return found or UNKNOWN

    def _values_put(self, method: Scope, name: str) -> Iterator[Value]:
        """Yield the values that a method puts into a list attribute."""

        def is_list(expr: Expr) -> bool:
            return (
                isinstance(expr, Attribute)
                and expr.attribute == name
                and is_name(expr.base, method.params[0].name)
            )

        for event in method.events():
            for target in event.targets:
                if any(is_list(part) for part in walk(target)):
                    plain = is_list(target) and event.kind in ("assign", "annotate", "augment")
                    if plain and event.value is not None:
                        yield from self._made(event.value, method)
                    elif event.kind != "annotate":
                        yield UNKNOWN
        for call in method.calls:
            if isinstance(call.func, Attribute) and is_list(call.func.base) and call.method in _CHANGES:
                if call.method == "append" and len(call.args) == 1:
                    yield self._value_of_call(call.args[0], method)
                else:
                    yield UNKNOWN

    def _made(self, expr: Expr, scope: Scope) -> Iterator[Value]:
        """Yield the values of the items in a list expression."""
        if isinstance(expr, Comprehension) and expr.kind == "list":
            yield self._value_of_call(expr.parts[-1], scope)
        elif isinstance(expr, Collection):
            for item in expr.items:
                yield self._value_of_call(item, scope)
        else:
            yield UNKNOWN

    def _value_of_call(self, expr: Expr, scope: Scope) -> Value:
        """Return the value that a call makes."""
        if not isinstance(expr, Call):
            return UNKNOWN
        call = expr
        found: Value | None = None
        for site in flow_of(self._program).within(scope):
            if site.call is call:
                value = UNKNOWN if site.open else site.result
                found = value if found is None else join(found, value)
        if found is None:
            # The flow notes no call of a class without a constructor.
            made = self._program.static_value(call.func, scope)
            found = Instance(made.scope) if isinstance(made, ClassValue) else UNKNOWN
        return found


_CHANGES = frozenset({"append", "extend", "insert", "__setitem__", "__iadd__"})


def _callees_of_value(parts: Parts, value: Value) -> list[_CalledLayer]:
    """Return all callees that a value may be, or an empty list.

    It is empty where one of them may not be Keras's.
    """
    found: list[_CalledLayer] = []
    ways = alternatives(value)
    if len(ways) >= MANY:
        return []
    for item in ways:
        if isinstance(item, Constant) and item.value is None:
            continue
        callee = parts.callee(item)
        if callee is None:
            return []
        found.append(callee)
    return found


def _fix_by_names(
    callees: list[_CalledLayer], site: Site, first: int
) -> tuple[tuple[Rewrite, ...], str | None]:
    """Return the fix that passes all arguments after the inputs by name, or why not.

    Arguments before the first non-tensor are named too, since they may be no tensors either.
    """
    if first == 0:
        return (), "the inputs go by position: make a tensor of it, or an argument of its own"
    names: list[str] = []
    for position in range(1, len(site.call.args)):
        found = {
            item.params[position] if item.params is not None and position < len(item.params) else None
            for item in callees
        }
        name = found.pop() if len(found) == 1 else None
        if name is None or site.call.keyword(name) is not None:
            return (), "the name of the parameter is not known for certain"
        names.append(name)
    return (
        tuple(
            Rewrite("name-argument", site.scope, site.call.place, str(position), name)
            for position, name in enumerate(names, 1)
        ),
        None,
    )


def _is_switched(program: Program) -> bool:
    """Tell whether the program lets layers take any positional arguments."""
    return any(
        isinstance(target, Attribute) and target.attribute == "_allow_non_tensor_positional_args"
        for module in program.modules
        for scope in module.summary.scopes
        for event in scope.events()
        for target in event.targets
    )
