"""Python's built-in functions."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable
from typing import Any

from cfgfix.code.inference.interpreter import classes, iterating, reading, writing
from cfgfix.code.inference.interpreter.command_line import OPTIONS
from cfgfix.code.inference.interpreter.events import GUARD, Asked
from cfgfix.code.inference.interpreter.models.method_names import CLASS_OF_FLAVOUR, CLASSES_OF_ARRAYS, GROWING
from cfgfix.code.inference.interpreter.models.operators import NUMBERS, refuse_text
from cfgfix.code.inference.interpreter.models.outside import FRAMEWORK, note
from cfgfix.code.inference.interpreter.models.paths import opens_for_writing
from cfgfix.code.inference.interpreter.models.texts import MAX_RANGE, MAX_TEXT, is_text, text_of
from cfgfix.code.inference.interpreter.objects import (
    NONE,
    NOTHING,
    UNKNOWN,
    Choice,
    ClassObject,
    External,
    FilePath,
    Instance,
    Made,
    Mapping,
    ModuleObject,
    OpenFile,
    PartialText,
    Scalar,
    Sequence,
    Unknown,
    Value,
)
from cfgfix.code.inference.interpreter.run import MAX_TURNS, Call, Run
from cfgfix.code.inference.interpreter.values import (
    all_origins,
    alternatives,
    choice,
    constant_of,
    constant_text,
    copied,
    held_values,
    key_of,
    names_held,
    origins_of,
    truth,
)

_Function = Callable[[Call], Value]
_NAMES = re.compile(r"[A-Za-z_]\w*")
BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_")) | {"__import__"}

_REDUCED: dict[str, Callable[[list[Any]], Any]] = {
    "min": min,
    "max": max,
    "sum": sum,
    "abs": lambda numbers: abs(numbers[0]),
    "round": lambda numbers: round(*numbers[:2]),
}


def builtin(call: Call) -> Value:
    """Return the result of a built-in function."""
    function = _FUNCTIONS.get(call.name.removeprefix("builtins."))
    if function is not None:
        return function(call)
    call.escape()
    return Unknown(origins_of(call.values))


def _call_print(call: Call) -> Value:
    shows_results = any(not isinstance(value, Scalar) for value in call.args)
    for value in call.values:
        if shows_results and any(
            is_text(item) and (key_of(item) is not None or len(item.origins) > 1)
            for item in alternatives(value)
        ):
            # A name that stands beside results says which they are.
            call.use(value)
        call.run.log(value, call.spot)
    return Unknown(origins_of(call.values))


def _call_open(call: Call) -> Value:
    path = call.argument(0, "file") or UNKNOWN
    mode = call.argument(1, "mode")
    call.use(path)
    known = constant_text(path)
    if known is not None and call.frame.catches("FileNotFoundError"):
        call.run.tested_paths.add(known)
    if known is not None and opens_for_writing(mode):
        call.run.written_paths.add(known)
    elif path.origins:
        call.run.read_paths.append((path, call.spot, call.run.conditions))
    if isinstance(path, Choice):
        return choice(OpenFile(text_of(item), writing=opens_for_writing(mode)) for item in path.values)
    if type(path) is Scalar and not isinstance(path.value, str):
        # An option that is not given: which file it is, the command line says.
        return OpenFile(Unknown(path.origins), writing=opens_for_writing(mode))
    return OpenFile(text_of(path), writing=opens_for_writing(mode))


def _convert_to(kind: type) -> _Function:
    def convert(call: Call) -> Value:
        if not call.args:
            return Scalar(kind())
        return choice(_call_converter(call, kind, item) for item in alternatives(call.args[0]))

    return convert


def _call_converter(call: Call, kind: type, value: Value) -> Value:
    key = value.key if isinstance(value, Scalar) else None
    if key is not None:
        key.conversions.add(kind.__name__)
    if type(value) is Scalar:
        if isinstance(value.value, (str, int, float)) and len(str(value.value)) < 400:
            try:
                return Scalar(kind(value.value), value.origins, optional=value.optional)
            except (ValueError, OverflowError):
                if key is not None and not call.frame.catches("ValueError"):
                    call.run.refuse(
                        "no-number", key, f"{kind.__name__}()", call.spot, "ValueError", value=value.value
                    )
                return Unknown(value.origins)
        if value.value is None and key is not None:
            call.run.refuse("wrong-type", key, f"{kind.__name__}()", call.spot, "TypeError", value=None)
    if isinstance(value, (Mapping, Instance, Sequence)):
        return UNKNOWN
    return Unknown(value.origins)


def _call_bool(call: Call) -> Value:
    if not call.args:
        return Scalar(False)
    key = call.first.key if isinstance(call.first, Scalar) else None
    if key is not None:
        key.conversions.add("bool")
    call.run.ask_truth(call.first, "bool()", call.spot)
    call.use(call.args[0])
    holds = truth(call.args[0])
    return Unknown(call.args[0].origins) if holds is None else Scalar(holds, call.args[0].origins)


def _call_str(call: Call) -> Value:
    if not call.args:
        return Scalar("")
    value = call.args[0]
    if isinstance(value, (FilePath, OpenFile)):
        return value.text if isinstance(value, FilePath) else value
    if isinstance(value, PartialText):
        return value
    if type(value) is Scalar:
        return Scalar(str(value.value)[:MAX_TEXT], value.origins, optional=value.optional)
    return Unknown(origins_of(held_values(value, 3)))


def make_dictionary(call: Call) -> Value:
    """Return the mapping that `dict(...)` makes."""
    result = Mapping()
    for value in call.args[:1]:
        if isinstance(value, Mapping):
            result = copied(value)
            result.access, result.absent, result.flavour = "items", "KeyError", "dict"
        else:
            writing.update(call.frame, result, value, call.spot)
    if call.opaque:
        result.open = True
    for name, value in call.keywords.items():
        writing.write_entry(call.run, result, name, value, call.spot)
    written = call.run.code_settings
    if written is not None and call.keywords and call.spread is None and not result.sections:
        written.arguments(result, call.spot)
    return result


def _sequence_function(kind: str) -> _Function:
    def convert(call: Call) -> Value:
        if not call.args:
            return Sequence([], kind=kind)
        items = iterating.items_of(call.frame, call.args[0], call.spot)
        if items is None:
            inner: list[Value] = (
                list(call.args[0].items)
                if isinstance(call.args[0], Sequence)
                else [Unknown(call.args[0].origins)]
            )
            return Sequence(inner, open=True, kind=kind)
        given = call.args[0]
        found = Sequence(items, kind=kind, key=given.key if isinstance(given, Sequence) else None)
        found.names_of = given.names_of if isinstance(given, Sequence) else None
        if isinstance(given, Mapping):
            found.names_of = given
        return found

    return convert


def _call_getattr(call: Call) -> Value:
    if len(call.args) < 2:
        return UNKNOWN
    default = call.args[2] if len(call.args) > 2 else None
    call.use(call.args[1])
    name = constant_text(call.args[1])
    if name is None:
        call.run.walk(call.args[0], call.spot)
        if isinstance(call.args[0], (External, Made)):
            return Made(f"{call.args[0].name}.*", call.args[1:2], {}, call.spot)
        return UNKNOWN
    owners = alternatives(call.args[0])
    if default is None and any(
        isinstance(item, External) and f"{item.name}.".startswith(FRAMEWORK) for item in owners
    ):
        note(call, "builtins.getattr")
    for item in owners:
        if default is None and isinstance(item, ModuleObject) and not reading.may_have(call.run, item, name):
            why = f"looks it up in {item.module.name}, which has no such name"
            call.run.refuse_choice(call.frame, call.args[1], "AttributeError", why, call.spot)
    return choice(reading.attribute(call.frame, item, name, call.spot, default) for item in owners)


def _call_setattr(call: Call) -> Value:
    if len(call.args) == 3:
        name = constant_text(call.args[1])
        for item in alternatives(call.args[0]):
            if name is not None:
                if isinstance(item, Mapping) and any(key.source == OPTIONS for key in call.args[1].origins):
                    # The command line says what is laid over: that is what the file is for.
                    call.use(item.entries.get(name, UNKNOWN), deep=True)
                writing.set_attribute(call.frame, item, name, call.args[2], call.spot)
            elif isinstance(item, Instance):
                item.open = True
                call.run.walk(call.args[2], call.spot)
    return NONE


def _call_hasattr(call: Call) -> Value:
    if len(call.args) == 2:
        name = constant_text(call.args[1])
        owner = call.args[0]
        if name is not None and isinstance(owner, Mapping) and not owner.open:
            there = name in owner.entries or owner.flavour in GROWING
            if not there and owner.sections:
                call.run.asked.append(
                    Asked(owner.sections, name, GUARD, call.spot, conditions=call.run.conditions)
                )
            return Scalar(there)
        if name is not None and isinstance(owner, Instance):
            if name in owner.attributes or classes.member(owner.cls, name) is not None:
                return Scalar(True)
            if not owner.open and not classes.outside_bases(owner.cls):
                if owner.sections:
                    call.run.asked.append(
                        Asked(owner.sections, name, GUARD, call.spot, conditions=call.run.conditions)
                    )
                lacks = Scalar(False)
                call.run.test_name(call.args[1], names_held(owner), lacks)
                return lacks
    return UNKNOWN


_CLASSES: dict[str, tuple[type, ...]] = {
    "builtins.str": (str,),
    "builtins.int": (int,),
    "builtins.float": (float,),
    "builtins.bool": (bool,),
    "numbers.Number": (int, float),
}


def _call_isinstance(call: Call) -> Value:
    if len(call.args) != 2:
        return UNKNOWN
    wanted = call.args[1].items if isinstance(call.args[1], Sequence) else [call.args[1]]
    of_each = [{_is_a(call.run, one, item) for item in wanted} for one in alternatives(call.args[0])]
    told = {True if True in answers else False if answers == {False} else None for answers in of_each}
    if len(told) > 1 or None in told:
        return UNKNOWN
    found = Scalar(True in told)
    call.run.decide(found)
    return found


def _is_single_option(run: Run, value: Value) -> bool:
    """Tell whether a value comes from a command-line option for a single value."""
    if type(value) is not Unknown or len(value.origins) != 1:
        return False
    (key,) = value.origins
    option = run.options.get(key.name) if key.source == OPTIONS else None
    return option is not None and not option.many and option.action == "" and option.kind in _SINGLE


_SINGLE = frozenset({"", "builtins.float", "builtins.int", "builtins.str"})
"""Conversions of options after which a value is no list."""


def _is_a(run: Run, value: Value, cls: Value) -> bool | None:
    if isinstance(cls, ClassObject):
        if isinstance(value, Instance):
            return any(item is cls for item in classes.lineage(value.cls)) or (
                None if classes.outside_bases(value.cls) else False
            )
        return False if isinstance(value, (Scalar, Mapping, Sequence)) else None
    if not isinstance(cls, External):
        return None
    name = cls.name
    if name in (
        "builtins.dict",
        "collections.abc.Mapping",
        "typing.Mapping",
        "collections.OrderedDict",
        "typing.Dict",
        "collections.Mapping",
    ):
        if isinstance(value, Mapping):
            return value.flavour not in {"namespace", "argparse"}
        if isinstance(value, Instance) and value.entries is not None:
            return True
        if isinstance(value, (Scalar, Sequence, PartialText)):
            return False
        # What the command line gives is no mapping, whatever it is.
        of_options = bool(value.origins) and all(key.source == OPTIONS for key in value.origins)
        return False if type(value) is Unknown and of_options else None
    if name in (
        "builtins.list",
        "builtins.tuple",
        "builtins.set",
        "collections.abc.Sequence",
        "collections.abc.Iterable",
        "omegaconf.ListConfig",
    ):
        if isinstance(value, Sequence):
            return value.kind == name.rpartition(".")[2] or not name.startswith("builtins.")
        return False if isinstance(value, (Scalar, Mapping)) or _is_single_option(run, value) else None
    if name in CLASSES_OF_ARRAYS:
        return False if isinstance(value, (Scalar, Mapping, Sequence)) else None
    kinds = _CLASSES.get(name)
    if kinds is not None:
        if type(value) is Scalar:
            return isinstance(value.value, kinds) and (
                bool in kinds or int in kinds or not isinstance(value.value, bool)
            )
        if isinstance(value, PartialText):
            return str in kinds
        return False if isinstance(value, (Mapping, Sequence, Instance)) else None
    if isinstance(value, Mapping) and value.flavour != "dict":
        return None
    return (
        False if isinstance(value, (Scalar, Mapping, Sequence)) and not name.startswith("builtins.") else None
    )


def _call_len(call: Call) -> Value:
    if not call.args:
        return UNKNOWN
    value = call.args[0]
    if isinstance(value, Instance) and value.entries is not None:
        value = value.entries
    key = value.key if isinstance(value, (Sequence, Scalar)) else None
    origins = value.origins | ({key} if key is not None else NOTHING)
    if isinstance(value, Sequence):
        for item in value.items:
            call.run.taken(item, call.spot)
            call.use(item)
        if not value.open and not value.uncounted:
            return Scalar(len(value.items), origins)
    elif isinstance(value, Mapping) and not value.open:
        call.run.walk(value, call.spot)
        return Scalar(len(value.entries))
    elif type(value) is Scalar and isinstance(value.value, str):
        return Scalar(len(value.value), value.origins)
    elif type(value) is Scalar and key is not None and isinstance(value.value, (int, float)):
        run = call.run
        if run.sure and not run.every_way and not call.frame.catches("TypeError"):
            run.refuse("wrong-type", key, "len()", call.spot, "TypeError", value=value.value)
    return Unknown(origins)


def _call_range(call: Call) -> Value:
    for value in call.values:
        call.use(value)
    for value in call.args:
        if type(value) is Scalar and value.key is not None and not isinstance(value.value, int):
            call.run.refuse("wrong-type", value.key, "range()", call.spot, "TypeError", value=value.value)
    return Made("builtins.range", call.args, call.keywords, call.spot)


def _call_enumerate(call: Call) -> Value:
    items = iterating.items_of(call.frame, call.args[0], call.spot) if call.args else None
    if items is None:
        item = iterating.item_of(call.args[0]) if call.args else UNKNOWN
        return Sequence([Sequence([UNKNOWN, item], kind="tuple")], open=True)
    return Sequence([Sequence([Scalar(number), item], kind="tuple") for number, item in enumerate(items)])


def _call_zip(call: Call) -> Value:
    lists = [iterating.items_of(call.frame, value, call.spot) for value in call.args]
    if any(items is None for items in lists):
        return Sequence(
            [Sequence([iterating.item_of(value) for value in call.args], kind="tuple")], open=True
        )
    return Sequence(
        [Sequence(list(row), kind="tuple") for row in zip(*(items or [] for items in lists), strict=False)]
    )


def _call_map(call: Call) -> Value:
    if len(call.args) < 2:
        return UNKNOWN
    items = iterating.items_of(call.frame, call.args[1], call.spot)
    if items is not None and len(items) <= MAX_RANGE and len(call.args) == 2:
        return Sequence([call.then(call.args[0], (item,)) for item in items])
    return Sequence(
        [call.then(call.args[0], tuple(iterating.item_of(value) for value in call.args[1:]))], open=True
    )


def _call_filter(call: Call) -> Value:
    if len(call.args) == 2:
        items = iterating.items_of(call.frame, call.args[1], call.spot) or []
        for item in items[:MAX_RANGE]:
            call.use(call.then(call.args[0], (item,)))
        return Sequence(items, open=True)
    return UNKNOWN


def _call_reversed(call: Call) -> Value:
    """Return the items of a list from the last to the first."""
    found = _sequence_function("list")(call)
    if isinstance(found, Sequence):
        found.items.reverse()
    return found


def _call_sorted(call: Call) -> Value:
    made = _in_order(call)
    made.uncounted = bool(call.args) and isinstance(call.args[0], Sequence) and call.args[0].uncounted
    return made


def _in_order(call: Call) -> Sequence:
    items = iterating.items_of(call.frame, call.args[0], call.spot) if call.args else None
    if items is None:
        return Sequence([iterating.item_of(call.args[0])] if call.args else [], open=True)
    known = [item.value for item in items if type(item) is Scalar]
    if len(known) == len(items) and len({type(item) for item in known}) <= 1:
        try:
            return Sequence(sorted(items, key=lambda item: item.value))  # type: ignore[attr-defined]
        except TypeError:
            pass
    return Sequence(items)


def _reduce_by(name: str) -> _Function:
    def compute(call: Call) -> Value:
        values: list[Value] = []
        for value in call.args:
            if isinstance(value, Choice):
                # Which of several lists it is is not known, and so no number.
                values.append(Unknown(frozenset(all_origins(value))))
                continue
            values += value.items if isinstance(value, Sequence) else [value]
        numbers = [
            item.value
            for item in values
            if type(item) is Scalar and isinstance(item.value, NUMBERS) and not item.optional
        ]
        origins = origins_of(values)
        for item in values:
            if (
                type(item) is Scalar
                and isinstance(item.value, str)
                and item.key is not None
                and len(values) > 1
                and numbers
            ):
                refuse_text(call.run, item, call.spot, f"`{name}()`")
        if (
            len(numbers) == len(values)
            and numbers
            and not any(isinstance(v, Sequence) and v.open for v in call.args)
        ):
            try:
                result = _REDUCED[name](numbers)
            except (TypeError, ValueError, OverflowError):
                return Unknown(origins)
            if isinstance(result, Value):
                return Unknown(origins)
            return Scalar(result, origins)
        return Unknown(origins)

    return compute


def _class_of(call: Call) -> Value:
    if len(call.args) == 1 and isinstance(call.args[0], Instance):
        return call.args[0].cls
    value = call.first
    name: str | None = None
    if type(value) is Scalar and value.value is not None:
        name = f"builtins.{type(value.value).__name__}"
    elif isinstance(value, Mapping):
        name = CLASS_OF_FLAVOUR.get(value.flavour)
    elif isinstance(value, Sequence) and value.kind in _SEQUENCES:
        name = f"builtins.{value.kind}"
    if len(call.args) != 1 or name is None:
        return UNKNOWN
    return call.run.class_of(value, External(name))


_SEQUENCES = frozenset({"list", "tuple", "set"})


def _call_super(call: Call) -> Value:
    return Made("builtins.super", (call.frame.receiver or UNKNOWN, call.frame.owner or UNKNOWN), {}, None)


def _call_import(call: Call) -> Value:
    """Return the module that `__import__` returns.

    That is the outermost package, or with `fromlist` the module itself.
    """
    call.use(call.first)
    name = constant_text(call.first)
    if name is None:
        return UNKNOWN
    importer = call.frame.scope.module
    taken = call.argument(3, "fromlist")
    found = call.run.imported(name, importer)
    if taken is None or truth(taken) is False:
        return call.run.imported(name.partition(".")[0], importer)
    return found if truth(taken) else UNKNOWN


def _call_iter(call: Call) -> Value:
    if len(call.args) == 2:
        return _items_until(call)
    return call.first


def _items_until(call: Call) -> Value:
    """Return the items of `iter(function, sentinel)`, as far as they are known."""
    items: list[Value] = []
    end = constant_of(call.args[1])
    for _ in range(MAX_TURNS):
        item = call.then(call.args[0])
        if type(item) is Scalar and item.value == end:
            return Sequence(items, kind="list")
        if item is UNKNOWN:
            break
        items.append(item)
    return Sequence(items, open=True, kind="list") if items else UNKNOWN


def _next_item(call: Call) -> Value:
    items = iterating.items_of(call.frame, call.args[0], call.spot) if call.args else None
    if items:
        return items[0]
    return iterating.item_of(call.args[0]) if call.args else UNKNOWN


def _call_vars(call: Call) -> Value:
    if call.args and isinstance(call.args[0], Instance):
        return reading.attributes_of(call.args[0])
    if call.args and isinstance(call.args[0], Mapping):
        made = copied(call.args[0])
        made.entries = call.args[0].entries
        made.access, made.absent, made.flavour = "items", "KeyError", "dict"
        return made
    if not call.args:
        return Mapping(call.frame.names.names, open=True)
    if call.run.code_settings is not None:
        call.run.code_settings.escaped(call.args[0], call.spot)
    return UNKNOWN


def _module_variables(call: Call) -> Value:
    names = call.frame.names
    while names.parent is not None:
        names = names.parent
    return Mapping(names.names, open=True)


def _evaluate_text(call: Call) -> Value:
    """Return the value of a dotted name in a text: `eval("args." + name)`.

    Any other text gives an unknown value, and may read all variables that it names.
    """
    call.escape()
    if len(call.args) != 1:
        return UNKNOWN
    found: list[Value] = []
    for text in alternatives(call.args[0]):
        first, *attributes = (constant_text(text) or "").strip().split(".")
        value = reading.variable(call.frame, first)
        if value is None or not all(map(str.isidentifier, attributes)):
            if not text.origins:
                # What a user writes into an option or a config is a value, such as `[64, 32]`, and names no variable.
                _walk_what_is_named(call, text)
            value, attributes = Unknown(text.origins), []
        for name in attributes:
            value = reading.attribute(call.frame, value, name, call.spot)
        found.append(value)
    return choice(found)


def _walk_what_is_named(call: Call, text: Value) -> None:
    """Note that evaluated code may read all of each variable that it names.

    Where the code is not known, it may read all variables.
    """
    parts = text.parts if isinstance(text, PartialText) else (constant_text(text),)
    words = {word for part in parts if part is not None for word in _NAMES.findall(part)}
    is_open = not any(parts) and None in parts
    for name in call.frame.names.names if is_open else words:
        value = reading.variable(call.frame, name)
        if value is not None:
            call.use(value, deep=True)
            call.run.walk(value, call.spot)


def _any_or_all(call: Call) -> Value:
    for value in call.args:
        for item in held_values(value, 2):
            call.use(item)
    origins = origins_of(item for value in call.args for item in held_values(value, 2))
    given = call.first
    if isinstance(given, Sequence):
        found = {truth(item) for item in given.items}
        decides = call.name == "builtins.any"
        if decides in found:
            return Scalar(decides, origins)
        if None not in found and not given.open:
            return Scalar(not decides, origins)
    return Unknown(origins)


def _call_round(call: Call) -> Value:
    digits = call.argument(1, "ndigits")
    if digits is not None:
        # How a figure is written shows in what is written.
        call.use(digits)
    return _reduce_by("round")(call)


_FUNCTIONS: dict[str, _Function] = {
    "open": _call_open,
    "print": _call_print,
    "repr": _call_print,
    "format": _call_print,
    "input": _call_print,
    "id": _call_print,
    "hash": _call_print,
    "dir": _call_print,
    "__import__": _call_import,
    "int": _convert_to(int),
    "float": _convert_to(float),
    "bool": _call_bool,
    "str": _call_str,
    "dict": make_dictionary,
    "list": _sequence_function("list"),
    "tuple": _sequence_function("tuple"),
    "set": _sequence_function("set"),
    "frozenset": _sequence_function("set"),
    "reversed": _call_reversed,
    "getattr": _call_getattr,
    "setattr": _call_setattr,
    "hasattr": _call_hasattr,
    "isinstance": _call_isinstance,
    "len": _call_len,
    "range": _call_range,
    "enumerate": _call_enumerate,
    "zip": _call_zip,
    "map": _call_map,
    "filter": _call_filter,
    "sorted": _call_sorted,
    "min": _reduce_by("min"),
    "max": _reduce_by("max"),
    "sum": _reduce_by("sum"),
    "abs": _reduce_by("abs"),
    "round": _call_round,
    "type": _class_of,
    "super": _call_super,
    "iter": _call_iter,
    "next": _next_item,
    "vars": _call_vars,
    "globals": _module_variables,
    "locals": _call_vars,
    "eval": _evaluate_text,
    "exec": _evaluate_text,
    "any": _any_or_all,
    "all": _any_or_all,
}
