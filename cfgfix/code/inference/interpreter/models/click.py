"""Options, arguments and commands of click, and the commands of typer's apps."""

from __future__ import annotations

from cfgfix.code.inference.interpreter.command_line import ENVIRONMENT, Option
from cfgfix.code.inference.interpreter.events import DEFAULT, Asked
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
    ConfigKey,
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
COMMANDS = ("click.group", "click.command")
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
    if isinstance(kind, Made) and name_of(kind.keywords.get("path_type", NONE)) == "pathlib.Path":
        return "pathlib.Path"
    return _KINDS.get(name_of(kind), _OTHER)


def add_command(call: Call, owner: Value) -> Value:
    """Add a command, or an app of commands, to a group of click or app of typer."""
    if not call.args:
        return NONE
    command = call.args[0]
    given = constant_text(call.argument(1, "name") or NONE)
    if given is None and isinstance(command, FunctionObject):
        given = command.scope.name
    names = frozenset((given, given.replace("_", "-"))) if given else frozenset[str]()
    call.run.commands.setdefault(id(owner), []).append((names, command))
    return NONE


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
    whole = call.run.context is None
    context = _shared_context(call, _settings_in(declared))
    if "click.group" in decorated:
        for name in _OF_CONTEXT & call.keywords.keys():
            context.attributes[name] = call.keywords[name]
    values = values_given(call, tuple(made for made in declared if made.name in DECLARES))
    _call_back(call, context, declared, values)
    _note_variables(call, context, plain, values, whole=whole)
    mine = context.attributes.get("default_map")
    if isinstance(mine, Mapping) and "click.group" not in decorated:
        name = plain.scope.name
        mine = mine.entries.get(name, mine.entries.get(name.replace("_", "-")))
    if isinstance(mine, Mapping):
        call.run.taken(mine, call.spot)
        _take_defaults(call, mine, values)
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


def _settings_in(declared: tuple[Made, ...]) -> dict[str, Value]:
    """Return the settings of the context that the decorator of a command gives."""
    found: dict[str, Value] = {}
    for made in declared:
        settings = made.keywords.get("context_settings") if made.name in COMMANDS else None
        if isinstance(settings, Mapping):
            found |= {str(name): value for name, value in settings.entries.items() if name in _OF_CONTEXT}
    return found


def _call_back(call: Call, context: Made, declared: tuple[Made, ...], values: dict[str, Value]) -> None:
    """Call the callbacks of options, those of eager ones first, with what they get by default."""
    ready = [made for made in declared if isinstance(made.keywords.get("callback"), FunctionObject)]
    for made in sorted(ready, key=lambda made: not truth(made.keywords.get("is_eager", NONE))):
        names = [text for text in map(constant_text, made.args) if text is not None]
        plain = [text for text in names if not text.startswith("-")] or [
            text.lstrip("-") for text in names if text.startswith("--")
        ]
        name = plain[0].replace("-", "_").lower() if plain else ""
        if name not in values:
            continue
        given = made.keywords.get("default", values[name])
        parameter = Made("click.Parameter", (), {}, call.spot)
        values[name] = call.then(made.keywords["callback"], (context, parameter, given))


def _take_defaults(call: Call, section: Mapping, values: dict[str, Value]) -> None:
    """Put what a default map has for options in the place of their own defaults."""
    run = call.run
    for name, before in values.items():
        option = run.options.get(name)
        given = section.entries.get(name)
        if given is not None:
            taken = _as_option_reads(call, option, run.taken(given, call.spot), name)
            if option is not None and type(taken) is Scalar:
                taken = Scalar(taken.value, taken.origins | {option.key}, taken.key)
            else:
                # Of lists nothing says later that they came by the option.
                call.use(before)
            values[name] = choice((taken, before)) if option is None or option.required else taken
        elif section.sections and not section.open:
            spot = option.spot if option is not None else call.spot
            run.asked.append(
                Asked(section.sections, name, DEFAULT, spot, default=before, conditions=run.conditions)
            )


def _as_option_reads(call: Call, option: Option | None, value: Value, name: str) -> Value:
    """Return a value of a default map as the option's type converts it, noting a refusal."""
    kind = {"builtins.int": int, "builtins.float": float}.get(option.kind if option is not None else "")
    if kind is None or type(value) is not Scalar or not isinstance(value.value, str) or value.key is None:
        return value
    try:
        found = kind(value.value)
    except ValueError:
        takes = (kind.__name__,)
        call.run.refuse(
            "wrong-type", value.key, f"the option {name}", call.spot, "BadParameter", takes, value=value.value
        )
        return value
    value.key.conversions.add(kind.__name__)
    return Scalar(found, value.origins, None)


def _note_variables(
    call: Call, context: Made, plain: FunctionObject, values: dict[str, Value], *, whole: bool
) -> None:
    """Note the variables of the environment that click reads for the options of a command."""
    prefix = constant_text(context.attributes.get("auto_envvar_prefix", NONE))
    for name in values if prefix else ():
        steps = (prefix, name) if whole else (prefix, plain.scope.name, name)
        known = "_".join(step or "" for step in steps).upper().replace("-", "_")
        key = call.run.variables.setdefault(known, ConfigKey(ENVIRONMENT, (known,), None))
        option = call.run.options.get(name)
        key.reads.append(option.spot if option is not None else call.spot)
        key.fallback = key.fallback or values[name]


MAKES_OBJECT = "click.make_pass_decorator"
_OF_CONTEXT = frozenset({"obj", "default_map", "auto_envvar_prefix"})
_OF_CALL = _OF_CONTEXT | {
    "args",
    "prog_name",
    "complete_var",
    "standalone_mode",
    "windows_expand_args",
    "auto_envvar_prefix",
}
"""Named arguments of a call of a command that are click's own."""


def _shared_context(call: Call, settings: dict[str, Value]) -> Made:
    """Return the context that all commands of the run share.

    Args:
        call: The call of a command.
        settings: What its decorator says for the context, where the call makes one.
    """
    run = call.run
    if run.context is None:
        run.context = Made(CONTEXT, (), {}, call.spot)
        run.context.attributes["obj"] = NONE
        for setting, value in settings.items():
            run.context.attributes[setting] = value
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
