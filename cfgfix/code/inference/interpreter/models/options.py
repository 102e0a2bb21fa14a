"""Options of the command line: argparse, optparse, absl flags, fire, typer, `sys.argv`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cfgfix.code.inference.interpreter.command_line import FLAG_PARSER, OPTIONS, Option
from cfgfix.code.inference.interpreter.events import REQUIRED, Asked
from cfgfix.code.inference.interpreter.objects import (
    ATTRIBUTES,
    NONE,
    UNKNOWN,
    ClassObject,
    ConfigKey,
    External,
    FilePath,
    FunctionObject,
    Instance,
    Made,
    Mapping,
    OpenFile,
    PartialText,
    Scalar,
    Sequence,
    Spot,
    Unknown,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call, Model, Run
from cfgfix.code.inference.interpreter.values import choice, constant_text, held_values, key_of
from cfgfix.core.records import replace

SHELL = "\x00"
"""What stands in a command's arguments for a part that only the shell knows."""
ARGUMENT_PARSER, OPTION_PARSER = "argparse.ArgumentParser", "optparse.OptionParser"
_PARTS = frozenset(
    {"add_option_group", "add_argument_group", "add_mutually_exclusive_group", "add_parser", "add_subparsers"}
)
FLAG_MODULES = frozenset({"absl.flags", "tensorflow.app.flags", "tensorflow.flags", "gflags"})

FLAGS = frozenset(
    {"absl.flags.FLAGS", "tensorflow.app.flags.FLAGS", "tensorflow.flags.FLAGS", "gflags.FLAGS"}
)

MAX_CHOICES = 8
"""Most words of an option that are each tried where it has to be given."""
FLAGS_RUN = "absl.app.run"
"""What parses the command line of a program with flags."""
COMMAND = "click.command"
"""What parses that of a program of click."""
FLAG_HOLDER = "absl.flags.FlagHolder"
"""The name of a flag as an object."""
ON_OR_OFF = "store_either"
"""The action of an option that is there twice: `--jit` and `--no-jit`."""

_CONVERSIONS: dict[str, Callable[[str], Any]] = {
    "builtins.int": int,
    "builtins.float": float,
    "builtins.str": str,
}


def _argument_parser(call: Call) -> Value:
    kind = OPTION_PARSER if call.name == OPTION_PARSER else ARGUMENT_PARSER
    made = Made(kind, call.args, call.keywords, call.spot)
    call.run.parsers[id(made)] = []
    for parent in held_values(call.keywords.get("parents", UNKNOWN), 2):
        call.run.parsers[id(made)] += call.run.parsers.get(id(parent), [])
    call.run.kept.append(made)
    return made


def add_argument(call: Call, parser: Made) -> Value:
    """Note an option that a parser declares."""
    names = tuple(name for name in map(constant_text, call.args) if name)
    if not names or len(names) < len(call.args) or call.opaque:
        # What it declares is not known, or not wholly.
        call.run.open_parsers.add(id(parser))
    if not names:
        return UNKNOWN
    long_names = [name for name in names if name.startswith("--")] or list(names)
    attribute = constant_text(call.keywords.get("dest", NONE)) or long_names[0].lstrip("-").replace("-", "_")
    positional = not names[0].startswith("-")
    action = _action_of(call.keywords.get("action", NONE))
    if action == ON_OR_OFF:
        names += tuple(f"--no-{name[2:]}" for name in names if name.startswith("--"))
    nargs = call.keywords.get("nargs")
    count = nargs.value if type(nargs) is Scalar else None
    default = call.keywords.get("default")
    if default is None and action == "store_true":
        default = Scalar(False)
    elif default is None and action == "store_false":
        default = Scalar(True)
    wanted = call.keywords.get("required")
    required = (positional and count not in ("?", "*")) or (type(wanted) is Scalar and bool(wanted.value))
    kind = call.keywords.get("type")
    option = Option(
        names,
        attribute,
        default,
        required,
        _kind_of(kind),
        action,
        count in ("*", "+") or isinstance(count, int),
        ConfigKey(OPTIONS, (attribute,), call.run.option_section),
        call.spot,
        _texts_in(call.keywords.get("choices")),
    )
    call.run.parsers.setdefault(id(parser), []).append(option)
    call.run.options[attribute] = option
    return Made("argparse.Action", (), {}, call.spot)


def _action_of(action: Value) -> str:
    """Return the name of an option's action; `?` for an action class of the project."""
    if isinstance(action, External) and action.name == "argparse.BooleanOptionalAction":
        return ON_OR_OFF
    name = constant_text(action)
    return name if name is not None else "" if action is NONE else "?"


def _kind_of(kind: Value | None) -> str:
    """Return the conversion of an option, given as a function or a text."""
    if isinstance(kind, (External, Made)):
        return kind.name
    name = constant_text(kind) if kind is not None else None
    known = {
        "int": "builtins.int",
        "long": "builtins.int",
        "float": "builtins.float",
        "string": "builtins.str",
        "str": "builtins.str",
    }
    return known.get(name, "?") if name is not None else "?" if kind is not None else ""


def _texts_in(value: Value | None) -> tuple[Any, ...] | None:
    """Return the constants that a list holds, or None where they are not all known."""
    if not isinstance(value, Sequence) or value.open:
        return None
    found = [item.value for item in value.items if type(item) is Scalar]
    return tuple(found) if len(found) == len(value.items) else None


def options_given(run: Run, parser: Made) -> Mapping:
    """Return the options of a parser with the values that the command line gives them."""
    options = run.parsers.get(id(parser), [])
    given = run.arguments()
    found = Mapping(access=ATTRIBUTES, absent="AttributeError", flavour="argparse", key=run.option_section)
    run.option_section.size = max(run.option_section.size, len(options))
    values = _texts_given(options, given) if given is not None else {}
    for option in options:
        chosen = run.host.chosen(option.attribute)
        if chosen is not None:
            found.entries[option.attribute] = _value_given(option, [chosen])
        elif option.attribute in values:
            default = key_of(option.default) if option.default is not None else None
            if default is not None:
                # Without the argument of this one command the config's value counts.
                default.reads.append(option.spot)
                default.uses.append(option.spot)
                default.conversions.add(option.kind.rpartition(".")[2])
            found.entries[option.attribute] = _value_given(option, values[option.attribute])
        elif option.default is not None:
            found.entries[option.attribute] = _default_value(option)
        elif given is not None or not option.required:
            found.entries[option.attribute] = Scalar(None, frozenset({option.key}), option.key, optional=True)
        elif option.choices and len(option.choices) <= MAX_CHOICES and not option.many:
            origins = frozenset({option.key})
            found.entries[option.attribute] = choice(
                Scalar(item, origins, option.key, optional=True) for item in option.choices
            )
        else:
            found.entries[option.attribute] = Unknown(frozenset({option.key}))
    if not options or id(parser) in run.open_parsers:
        found.open = True
    return found


def parser_method(call: Call, parser: Made) -> Value:
    """Return the result of a method of a parser."""
    name = call.name
    if name in ("add_argument", "add_option"):
        return add_argument(call, parser)
    if name in ("parse_args", "parse_known_args", "parse_intermixed_args"):
        if call.argument(1, "namespace") is not None:
            call.run.open_parsers.add(id(parser))
        found = options_given(call.run, parser)
        call.run.parsed.append((id(parser), name, call.spot))
        with_rest = name == "parse_known_args" or parser.name == OPTION_PARSER
        return Sequence([found, Sequence([], open=True)], kind="tuple") if with_rest else found
    if name == "set_defaults":
        _set_defaults(call, parser)
        return NONE
    if name in ("error", "exit", "print_help", "print_usage", "format_help", "add_help"):
        return UNKNOWN
    dest = call.keywords.get("dest")
    if name == "add_subparsers" and dest is not None:
        attribute = constant_text(dest)
        if attribute is None:
            call.run.open_parsers.add(id(parser))
            return parser
        option = Option(
            (attribute,), attribute, None, False, "", "?", False,
            ConfigKey(OPTIONS, (attribute,), call.run.option_section), call.spot,
        )  # fmt: skip
        call.run.parsers.setdefault(id(parser), []).append(option)
        call.run.options[attribute] = option
    if name in _PARTS:
        return parser
    call.run.open_parsers.add(id(parser))
    return UNKNOWN


def _set_defaults(call: Call, parser: Made) -> None:
    """Give options new defaults, as `parser.set_defaults(**config)` does."""
    options = call.run.parsers.setdefault(id(parser), [])
    if call.opaque or call.args:
        call.run.open_parsers.add(id(parser))
    given = dict(call.keywords)
    for number, option in enumerate(options):
        value = given.pop(option.attribute, None)
        if value is not None:
            options[number] = replace(option, default=value, required=False)
            call.run.options[option.attribute] = options[number]
    for name, value in given.items():
        # It is no option, and an attribute of what is parsed all the same.
        key = ConfigKey(OPTIONS, (name,), call.run.option_section)
        options.append(Option((name,), name, value, False, "", "?", False, key, call.spot))


OPENED = "argparse.FileType"
"""The conversion of an option whose value is an open file."""


PATH = "pathlib.Path"


def _default_value(option: Option) -> Value:
    default = option.default
    origins = frozenset({option.key})
    if option.kind == OPENED and default is not None:
        return OpenFile(_default_value(replace(option, kind="")))
    if type(default) is Scalar:
        value = default.value
        if isinstance(value, str) and option.kind == PATH:
            return FilePath(Scalar(value, origins | default.origins, optional=True))
        if isinstance(value, str) and option.kind and option.kind not in _CONVERSIONS:
            # argparse converts a default that is a text as well, here by a function of the project.
            return Unknown(origins | default.origins)
        if isinstance(value, str) and option.kind in _CONVERSIONS:
            if default.key is not None:
                default.key.conversions.add(option.kind.rpartition(".")[2])
            try:
                value = _CONVERSIONS[option.kind](value)
            except ValueError:
                return Unknown(origins)
        # A default that a config gives is the config's value.
        key = option.key if default.key is None else default.key
        return Scalar(value, origins | default.origins, key, optional=True)
    if isinstance(default, Sequence):
        return Sequence(default.items, open=default.open, kind=default.kind, key=default.key or option.key)
    if isinstance(default, PartialText):
        return PartialText(default.parts, origins | default.origins)
    if isinstance(default, FilePath):
        text = default.text
        return (
            FilePath(Scalar(text.value, origins | text.origins, optional=True))
            if type(text) is Scalar
            else default
        )
    return FilePath(Unknown(origins)) if option.kind == PATH else Unknown(origins)


def _value_given(option: Option, given: list[str]) -> Value:
    origins = frozenset({option.key})
    if option.action in ("store_true", "store_false"):
        return Scalar(option.action == "store_true", origins, option.key)
    if option.kind == OPENED:
        return OpenFile(_value_given(replace(option, kind=""), given))
    convert = _CONVERSIONS.get(option.kind, str)
    values: list[Value] = []
    for item in given:
        if item == SHELL:
            values.append(Unknown(origins))
            continue
        if option.kind == PATH:
            values.append(FilePath(Scalar(item, origins)))
            continue
        try:
            values.append(
                Scalar(convert(item), origins, option.key)
                if option.kind in _CONVERSIONS or not option.kind
                else Unknown(origins)
            )
        except ValueError:
            values.append(Unknown(origins))
    if option.many or option.action == "append":
        return Sequence(values)
    return values[-1] if values else Unknown(origins)


def _texts_given(options: list[Option], arguments: list[str]) -> dict[str, list[str]]:
    """Return the texts that a command's arguments give each option."""
    by_name = {name: option for option in options for name in option.names if name.startswith("-")}
    places = [option for option in options if not option.names[0].startswith("-")]
    found: dict[str, list[str]] = {}
    number = 0
    while number < len(arguments):
        item = arguments[number]
        number += 1
        name, mark, value = item.partition("=")
        option = by_name.get(name if mark else item)
        if option is not None:
            if mark:
                found.setdefault(option.attribute, []).append(value)
            elif option.action.startswith("store_") or option.action in ("help", "version", "count"):
                found[option.attribute] = []
            elif option.many:
                while number < len(arguments) and not arguments[number].startswith("-"):
                    found.setdefault(option.attribute, []).append(arguments[number])
                    number += 1
            elif number < len(arguments):
                found.setdefault(option.attribute, []).append(arguments[number])
                number += 1
        elif not item.startswith("-") and places:
            option = places[0]
            found.setdefault(option.attribute, []).append(item)
            if not option.many:
                places.pop(0)
    return found


def define_flag(call: Call) -> Value:
    """Declare a flag with `DEFINE_string` or the like, and return its holder."""
    kind = call.name.rpartition(".")[2]
    if kind.startswith("mark_"):
        _mark_required(call, kind)
        return NONE
    if not kind.startswith("DEFINE"):
        return UNKNOWN
    name = constant_text(call.argument(0, "name") or UNKNOWN)
    if name is None or call.opaque:
        # Which flag it declares is not known.
        call.run.open_parsers.add(FLAG_PARSER)
        return UNKNOWN
    default = call.argument(1, "default")
    required = call.keywords.get("required")
    choices = call.argument(2, "enum_values") if kind == "DEFINE_enum" else None
    option = Option(
        (f"--{name}",), name, default, type(required) is Scalar and required.value is True, {"DEFINE_integer": "builtins.int", "DEFINE_float": "builtins.float"}.get(kind, ""),
        "flag", kind in ("DEFINE_list", "DEFINE_multi_string", "DEFINE_spaceseplist"), ConfigKey(OPTIONS, (name,), call.run.option_section), call.spot,
        _texts_in(choices),
    )  # fmt: skip
    call.run.options[name] = option
    call.run.parsers.setdefault(FLAG_PARSER, []).append(option)
    made = Made(FLAG_HOLDER, (Scalar(name),), {}, call.spot)
    made.attributes["value"] = _flag_value(call.run, option)
    made.attributes["default"] = default if default is not None else NONE
    return made


def _mark_required(call: Call, kind: str) -> None:
    """Note the flags of `absl` that a program marks as required."""
    named = call.argument(0, "flag_name" if kind == "mark_flag_as_required" else "flag_names")
    if not call.run.sure:
        return
    for item in [named] if kind == "mark_flag_as_required" else held_values(named or UNKNOWN, 2):
        declared = call.run.parsers.get(FLAG_PARSER, [])
        name = constant_text(item) if item is not None else None
        for number, option in enumerate(declared):
            if option.attribute == name:
                declared[number] = call.run.options[name] = replace(option, required=True)


def flag(run: Run, name: str, spot: Spot) -> Value:
    """Return the value of a flag of `absl`."""
    option = run.options.get(name)
    if option is None and name in run.config_flags:
        return run.config_flags[name]
    if option is None:
        run.parsers.setdefault(FLAG_PARSER, [])
        run.asked.append(
            Asked((run.option_section,), name, REQUIRED, spot, "AttributeError", None, run.conditions)
        )
        return UNKNOWN
    option.key.reads.append(spot)
    return _flag_value(run, option)


def flag_holder(run: Run, index: Value, spot: Spot) -> Value:
    """Return a flag of `absl` itself: `FLAGS[name]`, whose value is an attribute."""
    name = constant_text(index)
    if name is None:
        for each in run.parsers.get(FLAG_PARSER, []):
            each.key.reads.append(spot)
        return UNKNOWN
    option = run.options.get(name)
    if option is None:
        run.asked.append(Asked((run.option_section,), name, REQUIRED, spot, "KeyError", None, run.conditions))
        return UNKNOWN
    made = Made(FLAG_HOLDER, (Scalar(name),), {}, spot)
    made.attributes["value"] = _flag_value(run, option)
    made.attributes["default"] = option.default if option.default is not None else NONE
    made.attributes["present"] = Scalar(option.attribute in _flags_given(run))
    return made


def set_flag(run: Run, name: str | None, value: Value) -> None:
    """Give a flag of `absl` another value.

    `FLAGS.rate = x` and `FLAGS["rate"].value = x` do so.
    """
    before = run.options.get(name) if name is not None else None
    if before is None or name is None:
        return
    old = before.default
    after = replace(before, default=value if run.sure or old is None else choice((old, value)), kind="")
    run.options[name] = after
    declared = run.parsers.get(FLAG_PARSER, [])
    declared[:] = [after if option is before else option for option in declared]


def note_holder(run: Run, holder: Made, spot: Spot) -> None:
    """Note that a flag is read by its holder, as in `RATE.value`.

    The holder is the result of `RATE = DEFINE_float(...)`.
    """
    name = constant_text(holder.args[0]) if holder.args else None
    option = run.options.get(name) if name is not None else None
    if option is not None:
        option.key.reads.append(spot)


def _flags_given(run: Run) -> dict[str, list[str]]:
    """Return the flags by name, with their values on the command line."""
    given = run.arguments()
    if given is None:
        return {}
    return _texts_given(
        run.parsers.get(FLAG_PARSER, []),
        [f"-{item}" if item.startswith("-") and not item.startswith("--") else item for item in given],
    )


def _flag_value(run: Run, option: Option) -> Value:
    values = _flags_given(run)
    chosen = run.host.chosen(option.attribute)
    if chosen is not None:
        return _value_given(option, [chosen])
    if option.attribute in values:
        return _value_given(option, values[option.attribute])
    if option.default is None and option.kind != PATH:
        return Unknown(frozenset({option.key}))
    return _default_value(option)


def command_argument(run: Run, index: Value) -> Value:
    """Return an item of `sys.argv`."""
    number = index.value if type(index) is Scalar else None
    given = run.arguments()
    if isinstance(number, int) and not isinstance(number, bool) and given is not None:
        if 1 <= number <= len(given) and given[number - 1] != SHELL:
            return Scalar(given[number - 1])
        if number == -1 and given and given[-1] != SHELL:
            return Scalar(given[-1])
    return UNKNOWN


def _run_main(call: Call) -> Value | None:
    main = call.argument(0, "main") or call.frame.names.names.get("main")
    if call.name == FLAGS_RUN and "flags_parser" not in call.keywords:
        call.run.parsed.append((FLAG_PARSER, FLAGS_RUN, call.spot))
    if isinstance(main, FunctionObject):
        return call.then(main, (UNKNOWN,) if main.scope.params else ())
    return None


def _run_command(call: Call) -> Value | None:
    value = call.first
    if isinstance(value, FunctionObject):
        return call.then(value, (), keywords_given(call.run, value), opaque=True)
    if isinstance(value, (ClassObject, Instance)):
        if isinstance(value, ClassObject):
            value = call.then(value, opaque=True)
        call.run.hand_over(call.frame, (value,))
        return UNKNOWN
    return None


def keywords_given(run: Run, function: FunctionObject) -> dict[str, Value]:
    """Return the parameter values that a command line gives: `--rate 0.1`."""
    given = run.arguments()
    if given is None:
        return {}
    names = {name for name, *_ in function.scope.params}
    found: dict[str, Value] = {}
    for number, item in enumerate(given):
        name, mark, value = item.lstrip("-").partition("=")
        name = name.replace("-", "_")
        if item.startswith("--") and name in names:
            if not mark and number + 1 < len(given):
                value = given[number + 1]
            found[name] = literal(value) if value != SHELL else UNKNOWN
    plain = [
        item
        for number, item in enumerate(given)
        if not item.startswith("-")
        and not (number and given[number - 1].startswith("--") and "=" not in given[number - 1])
    ]
    for name, item in zip([name for name, *_ in function.scope.params], plain, strict=False):
        found.setdefault(name, literal(item))
    return found


def literal(text: str) -> Scalar:
    """Return a text of the command line as a number or constant where it is one."""
    for kind in (int, float):
        try:
            return Scalar(kind(text))
        except ValueError:
            continue
    return Scalar({"True": True, "False": False, "None": None}.get(text, text))


FUNCTIONS: dict[str, Model] = {
    ARGUMENT_PARSER: _argument_parser,
    OPTION_PARSER: _argument_parser,
    "configargparse.ArgumentParser": _argument_parser,
    "configargparse.ArgParser": _argument_parser,
    FLAGS_RUN: _run_main,
    "tensorflow.app.run": _run_main,
    "fire.Fire": _run_command,
    "typer.run": _run_command,
}
