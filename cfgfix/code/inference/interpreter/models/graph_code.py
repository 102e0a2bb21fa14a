"""Idioms of TensorFlow 1: argument scopes, which give functions defaults."""

from __future__ import annotations

from cfgfix.code.inference.interpreter.objects import FunctionObject, Mapping, Sequence, Value
from cfgfix.code.inference.interpreter.run import Call, Model
from cfgfix.code.inference.interpreter.values import choice


def _arg_scope(call: Call) -> Value | None:
    """Give the functions of a list new defaults: `with arg_scope([conv], training=flag)`."""
    if not isinstance(call.first, Sequence):
        return None
    own = [item for item in call.first.items if isinstance(item, FunctionObject)]
    for name, value in call.keywords.items():
        for function in own:
            if any(param.name == name for param in function.scope.params):
                known = function.defaults.get(name)
                function.defaults[name] = value if known is None else choice((known, value))
        if not isinstance(value, Mapping) or len(own) < len(call.first.items):
            call.use(value, deep=True)
    return call.first


FUNCTIONS: dict[str, Model] = dict.fromkeys(
    (
        "tensorflow.contrib.framework.arg_scope",
        "tensorflow.contrib.framework.python.ops.arg_scope",
        "tensorflow.contrib.slim.arg_scope",
        "tf_slim.arg_scope",
    ),
    _arg_scope,
)
