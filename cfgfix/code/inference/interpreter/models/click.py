"""Options, arguments and commands of click, and the commands of typer's apps."""

from __future__ import annotations

from cfgfix.code.inference.interpreter.models.method_names import CONTEXT
from cfgfix.code.inference.interpreter.models.options import (
    COMMAND,
    ON_OR_OFF,
    add_argument,
    keywords_given,
    options_given,
)
from cfgfix.code.inference.interpreter.objects import (
    NONE,
    UNKNOWN,
    External,
    FunctionObject,
    Made,
    Mapping,
    Scalar,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call
from cfgfix.code.inference.interpreter.values import choice, constant_text, name_of, truth

DECLARES = ("click.option", "click.argument")
_KINDS = {
    "click.STRING": "builtins.str",
    "click.Path": "builtins.str",
    "click.INT": "builtins.int",
    "click.IntRange": "builtins.int",
    "click.FLOAT": "builtins.float",
    "click.FloatRange": "builtins.float",
    "builtins.str": "builtins.str",
    "builtins.int": "builtins.int",
    "builtins.float": "builtins.float",
}
"""What a type of click converts a text to; the others are not followed."""
_OTHER = "click.ParamType"
"""A conversion that is not followed: click converts what `bool` and its own types name."""


def values_given(call: Call, declared: tuple[Made, ...]) -> dict[str, Value]:
    """Return the values of a command's parameters from its command line and defaults."""
    parser = Made("click", (), {}, None)
    call.run.kept.append(parser)
    for made in declared:
        add_argument(_as_argument(call, made), parser)
    if call.run.behind is None:
        call.run.parsed.append((id(parser), COMMAND, call.spot))
    return {str(name): value for name, value in options_given(call.run, parser).entries.items()}


def _as_argument(call: Call, made: Made) -> Call:
    """Return the argparse call that is equal to a declaration of click."""
    names: list[Value] = []
    keywords: dict[str, Value] = {
        name: made.keywords[name] for name in ("default", "required") if name in made.keywords
    }
    switches = False
    for value in made.args:
        text = constant_text(value)
        if text is None:
            names.append(value)
            continue
        on, slash, off = text.partition("/")
        switches = switches or bool(slash)
        if text.startswith("-"):
            names += [Scalar(name.strip()) for name in (on, off) if name.strip()]
        elif made.name == "click.option":
            keywords["dest"] = value
        else:
            names.append(Scalar(text.lower().replace("-", "_")))
    default = keywords.get("default")
    if switches or truth(made.keywords.get("is_flag", NONE)) or "flag_value" in made.keywords:
        plain = "flag_value" not in made.keywords
        keywords["action"] = Scalar(ON_OR_OFF if switches else "store_true" if plain else "store_const")
        if default is None and plain:
            keywords["default"] = Scalar(False)
    elif truth(made.keywords.get("count", NONE)):
        keywords["action"] = Scalar("count")
    else:
        keywords["type"] = External(_kind_of(made.keywords.get("type"), default))
    kind = made.keywords.get("type")
    if isinstance(kind, Made) and kind.name == "click.Choice" and kind.args:
        keywords["type"] = External("builtins.str")
        if not _is_no(kind.keywords.get("case_sensitive")):
            keywords["choices"] = kind.args[0]
    if "callback" in made.keywords or _is_no(made.keywords.get("expose_value")):
        # What is made of it, and whether the function gets it, a function of the project says.
        keywords["action"] = Scalar("?")
    number = made.keywords.get("nargs")
    if truth(made.keywords.get("multiple", NONE)):
        keywords["action"] = Scalar("append")
    if type(number) is Scalar and isinstance(number.value, int):
        keywords["nargs"] = Scalar("*") if number.value < 0 else number
    elif made.name == "click.argument" and ("default" in keywords or _is_no(keywords.get("required"))):
        keywords["nargs"] = Scalar("?")
    return Call(call.frame, made, tuple(names), keywords, made.spot or call.spot)


def _is_no(value: Value | None) -> bool:
    return type(value) is Scalar and value.value is False


def _kind_of(kind: Value | None, default: Value | None) -> str:
    """Return the type that click converts a text to; the default's if none is named."""
    if kind is None:
        value = default.value if type(default) is Scalar else None
        return "builtins.str" if value is None else _KINDS.get(f"builtins.{type(value).__name__}", _OTHER)
    return _KINDS.get(name_of(kind), _OTHER)


def run_commands(call: Call, group: Value) -> Value:
    """Call the command of a group or app that the command line names.

    All of its commands are called where the command line names none.
    """
    run = call.run
    commands = run.commands.pop(id(group), [])
    given = run.arguments()
    for number, item in enumerate(given or ()):
        chosen = [(names, command) for names, command in commands if item in names]
        if chosen and given is not None:
            before, run.behind = run.behind, given[number + 1 :]
            try:
                _run_all(call, group, chosen)
            finally:
                run.behind = before
            return NONE
    _run_all(call, group, commands)
    return NONE


def _run_all(call: Call, group: Value, commands: list[tuple[frozenset[str], Value]]) -> None:
    for _, command in commands:
        # What typer gives stands in the parameters; click's stands in the decorators.
        keywords: dict[str, Value] = {}
        if isinstance(group, Made) and isinstance(command, FunctionObject):
            keywords = keywords_given(call.run, command)
        call.then(command, (), keywords, opaque=True)


def names_of_command(name: str, decorator: Value) -> frozenset[str]:
    """Return the names under which a group has a command."""
    given = constant_text(decorator.args[0]) if isinstance(decorator, Made) and decorator.args else None
    if isinstance(decorator, Made) and given is None:
        given = constant_text(decorator.keywords.get("name", NONE))
    return frozenset((given,) if given else (name, name.replace("_", "-")))


def call_command(
    call: Call, plain: FunctionObject, declared: tuple[Made, ...], decorated: tuple[str, ...]
) -> Value:
    """Call a command's function as click does, with its context and options."""
    context = _shared_context(call)
    values = values_given(call, tuple(made for made in declared if made.name in DECLARES))
    mine = context.attributes.get("default_map")
    if isinstance(mine, Mapping) and "click.group" not in decorated:
        name = plain.scope.name
        mine = mine.entries.get(name, mine.entries.get(name.replace("_", "-")))
    for name in values if isinstance(mine, Mapping) else ():
        given = mine.entries.get(name) if isinstance(mine, Mapping) else None
        if given is not None:
            values[name] = choice((call.run.taken(given, call.spot), values[name]))
    if "click.group" in decorated:
        for name in _OF_CONTEXT & call.keywords.keys():
            context.attributes[name] = call.keywords[name]
    first: tuple[Value, ...] = ()
    maker = next((made for made in declared if made.name == MAKES_OBJECT), None)
    if maker is not None:
        first = (_object_of(call, context, maker),)
    elif "click.pass_context" in decorated:
        first = (context,)
    elif "click.pass_obj" in decorated:
        first = (context.attributes.get("obj", UNKNOWN),)
    keywords = {name: value for name, value in call.keywords.items() if name not in _OF_CALL}
    return call.then(plain, first, {**values, **keywords}, opaque=True)


MAKES_OBJECT = "click.make_pass_decorator"
_OF_CONTEXT = frozenset({"obj", "default_map"})
_OF_CALL = _OF_CONTEXT | {
    "args",
    "prog_name",
    "complete_var",
    "standalone_mode",
    "windows_expand_args",
    "auto_envvar_prefix",
}
"""Named arguments of a call of a command that are click's own."""


def _shared_context(call: Call) -> Made:
    """Return the context that all commands of the run share."""
    run = call.run
    if run.context is None:
        run.context = Made(CONTEXT, (), {}, call.spot)
        run.context.attributes["obj"] = NONE
    return run.context


def _object_of(call: Call, context: Made, maker: Made) -> Value:
    """Return the context's object, which is made where it is not there."""
    known = context.attributes.get("obj", NONE)
    if type(known) is Scalar and known.value is None and maker.args:
        known = context.attributes["obj"] = call.then(maker.args[0])
    return known


def context_method(call: Call, context: Made) -> Value | None:
    """Return the result of a method of click's context, or None if not modelled."""
    if call.name == "ensure_object" and call.args:
        known = context.attributes.get("obj", NONE)
        if type(known) is Scalar and known.value is None:
            context.attributes["obj"] = call.then(call.args[0])
        return context.attributes["obj"]
    if call.name == "find_object":
        return context.attributes.get("obj", UNKNOWN)
    if call.name == "invoke" and call.args and isinstance(call.first, FunctionObject):
        return call.then(call.first, call.args[1:], call.keywords)
    return None
