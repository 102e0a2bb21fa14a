"""Options whose default or conversion something refuses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from cfgfix.code.inference.interpreter.command_line import OPTIONS, Option
from cfgfix.code.inference.interpreter.models.options import SHELL
from cfgfix.code.inference.interpreter.objects import Scalar, Spot
from cfgfix.core.records import replace
from cfgfix.usage.arguments import VALUE, WORD, Arguments, Fault
from cfgfix.usage.declared_options import (
    NUMBER_READERS,
    Declared,
    OptionVerdict,
    is_absl,
    option_text,
)
from cfgfix.usage.option_commands import WrongCommand, shown_path
from cfgfix.usage.program_runs import ProjectRuns
from cfgfix.usage.run_results import RunResult
from cfgfix.usage.sinks import Sinks
from cfgfix.usage.spelling import nearest_name, number_text, value_in_words

_TEXTS = frozenset({"name", "filepath", "path", "log_dir"})
_CONSTRUCTORS = {
    "builtins.bool": "bool() of any text but the empty one is true, `False` too",
    "builtins.list": "list() makes a list of its letters",
    "builtins.tuple": "tuple() makes a tuple of its letters",
    "builtins.dict": "dict() takes no text",
}


# How what is given is read


def wrong_conversions(declared: Sequence[Declared]) -> Iterator[OptionVerdict]:
    """Yield verdicts on options whose `type` does not suit their name or default."""
    for item in declared:
        option = item.option
        if option.action or option.many:
            continue
        default = option.default.value if type(option.default) is Scalar else None
        how = _CONSTRUCTORS.get(option.kind)
        if how is not None:
            yield OptionVerdict("option-conversion", option.spot, {"option": option_text(option), "how": how})
        elif (
            option.kind == ""
            and option.names[0].startswith("-")
            and isinstance(default, (bool, int, float))
            and not is_absl(option)
            and not any(key.conversions for key in item.keys)
            and any(key.uses for key in item.keys)
            and (option.choices is None or all(isinstance(choice, str) for choice in option.choices))
        ):
            kind = "any text is true" if isinstance(default, bool) else f"its default {default!r} is a number"
            yield OptionVerdict(
                "option-conversion",
                option.spot,
                {
                    "option": option_text(option),
                    "how": f"without `type`, what is given stays a text, and {kind}",
                },
                next(spot for key in item.keys for spot in key.uses),
                "uses it",
            )


# Defaults that something refuses


def refused_defaults(
    project: ProjectRuns, declared: Sequence[Declared], results: Sequence[RunResult]
) -> Iterator[OptionVerdict]:
    """Yield verdicts on options whose default something refuses."""
    for item in declared:
        option = item.option
        default = option.default
        if type(default) is not Scalar or default.key is not None:
            continue
        reader = NUMBER_READERS.get(option.kind)
        if reader is not None and isinstance(default.value, str):
            try:
                reader(default.value)
            except ValueError:
                yield OptionVerdict(
                    "refused-option",
                    option.spot,
                    {
                        "option": option_text(option),
                        "value": repr(default.value),
                        "by": f"{option.kind.rpartition('.')[2]}()",
                        "effect": "the program stops where it parses its arguments",
                    },
                )
        elif (
            option.choices
            and default.value is not None
            and default.value not in option.choices
            and not option.many
        ):
            near = nearest_name(str(default.value), [str(choice) for choice in option.choices])
            of_flags = option.action == "flag"
            yield OptionVerdict(
                "refused-option",
                option.spot,
                {
                    "option": option_text(option),
                    "value": repr(default.value),
                    "by": "`choices`",
                    "effect": (
                        "absl stops where the flag is defined"
                        if of_flags
                        else "the default is taken unchecked"
                    )
                    + (f"; is {near!r} meant?" if near else ""),
                },
                severity=None if of_flags else "warning",
            )
    options = {id(key): item for item in declared for key in item.keys}
    arguments = Arguments(project, Sinks(project))
    for result in results:
        for fault in arguments.faults_in(result, OPTIONS, frozenset()) if options else ():
            found = options.get(id(fault.key))
            if found is None or fault.kind not in (WORD, VALUE) or fault.computed or fault.bound.conditions:
                continue
            if not _is_written(result, found.option):
                given = _given_by(project, result, found.option)
                if given is not None and fault.severity == "error":
                    wrong, argument = given
                    where = f"{project.relative(fault.bound.spot.path)}:{fault.bound.spot.line}"
                    takes = f", it takes {fault.takes}" if fault.takes else ""
                    effect = f"{fault.by} in {where} does not take it ({fault.error or 'not known'}{takes})"
                    yield replace(wrong.verdict(found.option.spot, argument, effect), other=fault.bound.spot)
                continue
            yield _refused_by_sink(project, found.option, fault)
        for refusal in result.run.refusals:
            found = options.get(id(refusal.key))
            if found is None or refusal.conditions or refusal.kind not in ("wrong-type", "no-number"):
                continue
            yield _refusal_of_option(
                project, found.option, refusal.value, refusal.by, refusal.says, refusal.spot
            )
        for call in result.run.calls:
            if not call.name.startswith(("keras.", "tensorflow.")) or call.conditions:
                continue
            for name, value in [(None, value) for value in call.args] + list(call.keywords.items()):
                if type(value) is not Scalar or value.key is None or name in _TEXTS:
                    continue
                found = options.get(id(value.key))
                if found is None or not isinstance(value.value, str) or not _is_number(value.value):
                    continue
                callee = f"{call.name.rpartition('.')[2]}()"
                yield _refusal_of_option(
                    project, found.option, value.value, callee, "a text is no number", call.spot
                )


def _given_by(project: ProjectRuns, result: RunResult, option: Option) -> tuple[WrongCommand, str] | None:
    """Return the place where a run's command gives an option, and the argument.

    None where the command does not give the option, or only a placeholder.
    """
    command = result.command
    if command is None or not command.is_said or option.many:
        return None
    for number, argument in enumerate(command.arguments):
        name, mark, value = argument.partition("=")
        if name not in option.names:
            continue
        given = value if mark else "".join(command.arguments[number + 1 : number + 2])
        if not given or given.isupper() or SHELL in given:
            return None
        line = command.lines[number] if command.lines else command.line
        return WrongCommand(shown_path(project, command), line), f"{name} {given}"
    return None


def _is_number(text: str) -> bool:
    if number_text(text) is not None:
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True


def _refusal_of_option(
    project: ProjectRuns, option: Option, value: Any, by: str, says: str, spot: Spot
) -> OptionVerdict:
    return OptionVerdict(
        "refused-option",
        option.spot,
        {
            "option": option_text(option),
            "value": value_in_words(Scalar(value)),
            "by": by,
            "effect": f"{says} in {project.relative(spot.path)}:{spot.line}",
        },
        spot,
        f"{by} does not take it",
    )


def _is_written(result: RunResult, option: Option) -> bool:
    """Tell whether an option has a known default in the code.

    False for None, and where a file or unknown call may replace the default.
    """
    default = option.default
    if type(default) is not Scalar or default.value is None:
        return False
    return not any(
        parser in result.run.open_parsers and any(item.attribute == option.attribute for item in options)
        for parser, options in result.run.parsers.items()
    )


def _refused_by_sink(project: ProjectRuns, option: Option, fault: Fault) -> OptionVerdict:
    """Return the verdict on an option's default that a library call refuses."""
    spot = fault.bound.spot
    meant = f" (is {fault.meant!r} meant?)" if fault.meant else ""
    takes = f", it takes {fault.takes}" if fault.takes else ""
    return OptionVerdict(
        "refused-option",
        option.spot,
        {
            "option": option_text(option),
            "value": value_in_words(fault.value),
            "by": fault.by,
            "effect": f"{fault.error or 'it is not known'} in {project.relative(spot.path)}:{spot.line}{takes}{meant}",
        },
        spot,
        f"goes to `{fault.parameter}`",
        severity="warning" if fault.severity == "warning" else None,
    )
