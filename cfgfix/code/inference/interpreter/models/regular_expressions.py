"""Regular expressions: what a program replaces in a text, or cuts out of it."""

from __future__ import annotations

from cfgfix.code.inference.interpreter.objects import Made, OpenFile, Scalar, Unknown, Value
from cfgfix.code.inference.interpreter.run import Call, Model
from cfgfix.code.inference.interpreter.values import choice, origins_of

PATTERN = "re.compile"


def pattern_method(call: Call) -> Value | None:
    """Return the result of a method of a compiled pattern; None if not modelled."""
    return _replaced(call, call.args) if call.name == "sub" else None


def _replace(call: Call) -> Value | None:
    return _replaced(call, call.args[1:])


def _replaced(call: Call, args: tuple[Value, ...]) -> Value | None:
    """Return a text after a replacement, which may find nothing to replace.

    None where the text is not given by its place.

    Args:
        call: The call.
        args: What replaces, the text, and what else is given.
    """
    source = next((item for item in args if isinstance(item, OpenFile)), None)
    if source is not None:
        return OpenFile(source.path, filled=True)
    if len(args) < 2:
        return None
    text = args[1]
    for value in (args[0], *args[2:], *call.keywords.values()):
        call.use(value, deep=True)
    call.run.hand_over(call.frame, args[:1])
    changed = Unknown(origins_of((text, args[0])))
    return choice((text, changed)) if isinstance(text, Scalar) else changed


def _compile(call: Call) -> Value:
    for value in call.values:
        call.use(value)
    return Made(PATTERN, call.args, call.keywords, call.spot)


FUNCTIONS: dict[str, Model] = {"re.sub": _replace, PATTERN: _compile}
"""Functions of `re` whose result stands for one of their arguments."""
