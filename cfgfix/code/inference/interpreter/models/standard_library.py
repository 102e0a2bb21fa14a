"""Functions of the standard library that hand on what they are given: `copy`, `functools`, `importlib`."""

from __future__ import annotations

from cfgfix.code.inference.interpreter.models.builtin_functions import make_dictionary
from cfgfix.code.inference.interpreter.objects import UNKNOWN, FunctionObject, Made, Mapping, Value
from cfgfix.code.inference.interpreter.run import Call, Model
from cfgfix.code.inference.interpreter.values import constant_text, copied


def _copy_deep(call: Call) -> Value:
    return copied(call.args[0], 12) if call.args else UNKNOWN


def _copy_shallow(call: Call) -> Value:
    return copied(call.args[0]) if call.args else UNKNOWN


def _partial(call: Call) -> Value:
    if isinstance(call.first, FunctionObject):
        return call.first.given(call.args[1:], call.keywords)
    for value in call.values:
        call.use(value)
    return Made("functools.partial", call.args, call.keywords, call.spot)


def _import_named(call: Call) -> Value:
    name = constant_text(call.first)
    for value in call.args:
        call.use(value)
    return call.run.imported(name, call.frame.scope.module) if name is not None else UNKNOWN


def _first_argument(call: Call) -> Value:
    return call.first


def _second_argument(call: Call) -> Value:
    return call.args[1] if len(call.args) > 1 else UNKNOWN


def _default_mapping(_: Call) -> Value:
    return Mapping(open=True)


FUNCTIONS: dict[str, Model] = {
    "copy.copy": _copy_shallow,
    "copy.deepcopy": _copy_deep,
    "functools.partial": _partial,
    "importlib.import_module": _import_named,
    "hydra.utils.get_class": _import_named,
    "hydra.utils.get_method": _import_named,
    "typing.cast": _second_argument,
    "collections.OrderedDict": make_dictionary,
    "collections.defaultdict": _default_mapping,
    "io.StringIO": _first_argument,
}
