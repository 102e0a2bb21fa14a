"""What the runs of programs show of the options of their command lines: argparse and absl flags are settings, too."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from cfgfix.code.inference.interpreter.command_line import FLAG_PARSER, OPTIONS, Option
from cfgfix.code.inference.interpreter.events import REQUIRED, Asked
from cfgfix.code.inference.interpreter.models.options import COMMAND, FLAGS_RUN, SHELL
from cfgfix.code.inference.interpreter.objects import ConfigKey, Scalar, Spot
from cfgfix.code.model.expressions import dotted
from cfgfix.code.model.module import absolute
from cfgfix.code.model.nodes import Attribute, Call
from cfgfix.code.model.summary import Scope
from cfgfix.core.records import dataclass, replace
from cfgfix.core.source_file import read_regular
from cfgfix.usage.arguments import VALUE, WORD, Arguments, Fault
from cfgfix.usage.commands import Command
from cfgfix.usage.entrances import imported_names
from cfgfix.usage.mentions import MentionIndex
from cfgfix.usage.program_runs import ProjectRuns, made_again
from cfgfix.usage.project_files import JOB_FILE
from cfgfix.usage.run_host import counts_as_read
from cfgfix.usage.run_results import RunResult
from cfgfix.usage.sinks import Sinks
from cfgfix.usage.spelling import nearest_name, number_text, value_in_words

MAX_GIVEN = 400
"""Most arguments of one command that are looked at, with those in files of flags."""
MAX_FLAGS = 100_000
"""Largest file of flags, in bytes."""
_OF_FLAGS = frozenset(
    {"absl", "cv2", "h5py", "keras", "matplotlib", "numpy", "pandas", "PIL", "scipy", "seaborn", "six", "skimage", "sklearn",
     "tensorflow", "tqdm", "yaml"}
)  # fmt: skip
"""Packages that declare no flags of absl, or only those that are known: others may declare any."""
MAX_STEPS = 150_000
"""Most steps of the runs that are made again to learn which options no way reads."""
_OF_LAUNCHERS = frozenset({"local_rank", "local-rank", "f", "node_rank", "rank", "world_size"})
"""Options that what starts a program gives it, whether it reads them or not."""
_OF_ABSL = frozenset(
    {"verbosity", "v", "logtostderr", "alsologtostderr", "log_dir", "stderrthreshold", "showprefixforinfo", "help", "flagfile",
     "undefok", "run_with_pdb", "pdb_post_mortem", "only_check_args", "profile_file", "run_with_profiling", "logger_levels",
     "helpshort", "helpfull", "helpxml", "pdb", "use_cprofile_for_profiling", "xml_output_file", "test_srcdir", "test_tmpdir", "test_random_seed",
     "test_randomize_ordering_seed", "hbm_oom_exit", "runtime_oom_exit", "delta_threshold", "tt_check_filter", "tt_single_core_summaries",
     "op_conversion_fallback_to_while_loop"}
)  # fmt: skip
_SCRIPTS = (".sh", ".bash", ".slurm", ".sbatch", ".pbs", ".job", ".mk")
_DOUBTFUL = frozenset("\"'`%()\x00")
"""Letters in arguments that stand for what is not known, or are left of what was not understood."""
_IDLE_ACTIONS = frozenset({"help", "version", "?"})
_TEXTS = frozenset({"name", "filepath", "path", "log_dir"})
_CONSTRUCTORS = {
    "builtins.bool": "bool() of any text but the empty one is true, `False` too",
    "builtins.list": "list() makes a list of its letters",
    "builtins.tuple": "tuple() makes a tuple of its letters",
    "builtins.dict": "dict() takes no text",
}
_READERS = {"builtins.int": int, "builtins.float": float}


@dataclass(frozen=True, slots=True)
class OptionVerdict:
    """One thing that is wrong with an option of a program.

    Attributes:
        check: Name of the rule's check.
        spot: The place of the verdict in the code.
        values: Operands of the message.
        other: The place in the code that shows it, or None.
        label: What happens at that place.
        notes: Further lines.
        severity: The severity; None for the rule's own.
        said: The path and line of a wrong command, relative to the project; None for none.
    """

    check: str
    spot: Spot
    values: dict[str, Any]
    other: Spot | None = None
    label: str = ""
    notes: tuple[str, ...] = ()
    severity: str | None = None
    said: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Declared:
    """An option, together with all runs that declare it.

    Attributes:
        option: The option, as the first run declares it.
        keys: The record that each run has of the option.
        runs: The runs that declare the option.
    """

    option: Option
    keys: list[ConfigKey]
    runs: list[RunResult]


_PLAIN_ACTIONS = frozenset({"", "store", "store_true", "store_false", "store_const"})
_PLAIN_KINDS = frozenset({"", "builtins.int", "builtins.float", "builtins.str", "builtins.bool"})
"""Conversions that give one value of which each use is noted; what a list holds may be used item by item."""


def option_verdicts(project: ProjectRuns) -> list[OptionVerdict]:
    """Return the verdicts on the options of a project's programs."""
    results = [result for result in (*project.results, *project.without_config) if result.entrance.framework]
    index = MentionIndex(project)
    declared = _declared_options(results)
    found = [
        *_conversions(declared),
        *_refused_defaults(project, declared, results),
        *_absent_options(project, results),
        *_unread(project, declared, index),
        *_of_commands(project, results),
    ]
    told: set[tuple[str, str, Any]] = set()
    unique = []
    for verdict in found:
        # A name that none defines is one cause, wherever it is read.
        subject = verdict.values.get("name", (verdict.spot.place, verdict.said))
        place = (verdict.check, verdict.spot.path, subject)
        if place not in told:
            told.add(place)
            unique.append(verdict)
    return unique


def _declared_options(results: Sequence[RunResult]) -> list[Declared]:
    """Return the options that the runs declare, one for each declaration."""
    found: dict[Any, Declared] = {}
    for result in results:
        seen: set[int] = set()
        for options in result.run.parsers.values():
            for option in options:
                if id(option) in seen:
                    continue
                seen.add(id(option))
                place = (option.spot.path, option.spot.place, option.attribute)
                entry = found.setdefault(place, Declared(option, [], []))
                entry.keys.append(option.key)
                if result not in entry.runs:
                    entry.runs.append(result)
    return list(found.values())


def _option_text(option: Option) -> str:
    return next((name for name in option.names if name.startswith("--")), option.names[0])


# How what is given is read


def _conversions(declared: Sequence[Declared]) -> Iterator[OptionVerdict]:
    """Yield verdicts on options whose `type` does not suit their name or default."""
    for item in declared:
        option = item.option
        if option.action or option.many:
            continue
        default = option.default.value if type(option.default) is Scalar else None
        how = _CONSTRUCTORS.get(option.kind)
        if how is not None:
            yield OptionVerdict(
                "option-conversion", option.spot, {"option": _option_text(option), "how": how}
            )
        elif (
            option.kind == ""
            and option.names[0].startswith("-")
            and isinstance(default, (bool, int, float))
            and not _is_absl(option)
            and not any(key.conversions for key in item.keys)
            and any(key.uses for key in item.keys)
            and (option.choices is None or all(isinstance(choice, str) for choice in option.choices))
        ):
            kind = "any text is true" if isinstance(default, bool) else f"its default {default!r} is a number"
            yield OptionVerdict(
                "option-conversion",
                option.spot,
                {
                    "option": _option_text(option),
                    "how": f"without `type`, what is given stays a text, and {kind}",
                },
                next(spot for key in item.keys for spot in key.uses),
                "uses it",
            )


def _is_absl(option: Option) -> bool:
    return option.key.source == OPTIONS and option.action == "flag"


# Defaults that something refuses


def _refused_defaults(
    project: ProjectRuns, declared: Sequence[Declared], results: Sequence[RunResult]
) -> Iterator[OptionVerdict]:
    for item in declared:
        option = item.option
        default = option.default
        if type(default) is not Scalar or default.key is not None:
            continue
        reader = _READERS.get(option.kind)
        if reader is not None and isinstance(default.value, str):
            try:
                reader(default.value)
            except ValueError:
                yield OptionVerdict(
                    "refused-option",
                    option.spot,
                    {
                        "option": _option_text(option),
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
                    "option": _option_text(option),
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


def _given_by(project: ProjectRuns, result: RunResult, option: Option) -> tuple[_WrongCommand, str] | None:
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
        return _WrongCommand(_shown(project, command), line), f"{name} {given}"
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
            "option": _option_text(option),
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
            "option": _option_text(option),
            "value": value_in_words(fault.value),
            "by": fault.by,
            "effect": f"{fault.error or 'it is not known'} in {project.relative(spot.path)}:{spot.line}{takes}{meant}",
        },
        spot,
        f"goes to `{fault.parameter}`",
        severity="warning" if fault.severity == "warning" else None,
    )


# Options that are asked for and not there


def _absent_options(project: ProjectRuns, results: Sequence[RunResult]) -> Iterator[OptionVerdict]:
    assigned: set[str] | None = None
    for result in results:
        for item in result.run.asked:
            if not _reads_option(item) or item.how != REQUIRED or item.caught:
                continue
            known = {option.attribute for options in result.run.parsers.values() for option in options}
            if item.name in known or FLAG_PARSER in result.run.open_parsers:
                # Another parser of the program defines it, or calls that are not known may do so.
                continue
            near = nearest_name(item.name, known)
            of_flags = FLAG_PARSER in result.run.parsers
            # A mapping made of the options may be added to, as may options that go somewhere as a whole.
            doubtful = of_flags or item.error != "AttributeError" or _as_a_whole(result)
            if (item.conditions or doubtful) and near is None:
                continue
            if of_flags and (item.name in _OF_ABSL or item.name.startswith("_") or _is_method(item.name)):
                continue
            if assigned is None:
                assigned = assigned_attributes(project)
            if item.name in assigned:
                continue
            yield OptionVerdict(
                "absent-option",
                item.spot,
                {
                    "name": item.name,
                    "error": item.error,
                    "near": f"; is `{near}` meant?" if near else "",
                },
            )


def _reads_option(item: Asked) -> bool:
    return bool(item.sections) and all(section.source == OPTIONS for section in item.sections)


def _is_method(name: str) -> bool:
    return name in (
        "mark_as_parsed", "is_parsed", "flag_values_dict", "flags_into_string", "append_flags_into_file", "set_default",
        "get_flag_value", "unparse_flags", "find_module_defining_flag", "key_flags_by_module_dict", "flags_by_module_dict",
        "register_key_flag_for_module", "get_key_flags_for_module", "module_help", "main_module_help", "get_help",
        "remove_flag_values", "validate_all_flags", "is_gnu_getopt", "set_gnu_getopt", "items", "keys", "values",
    )  # fmt: skip


def assigned_attributes(project: ProjectRuns) -> set[str]:
    """Return the attribute names that any code assigns to an object."""
    found: set[str] = set()
    for module in project.program.all_modules():
        for scope in module.summary.scopes:
            events = list(scope.body)
            while events:
                event = events.pop()
                found.update(target.attribute for target in event.targets if isinstance(target, Attribute))
                for _, inner in event.bodies or ():
                    events += inner
    return found


# Options that nothing reads


def _unread(
    project: ProjectRuns, declared: Sequence[Declared], index: MentionIndex
) -> Iterator[OptionVerdict]:
    steps = project.steps
    for item in declared:
        option = item.option
        if option.action in _IDLE_ACTIONS or _OF_LAUNCHERS.intersection((option.attribute, *option.names)):
            continue
        keys = [key for run in item.runs for key in _keys_of(run, option)]
        if any(_does_more_than_read(key, option) for key in keys) or any(map(_as_a_whole, item.runs)):
            continue
        reads = [spot for key in keys for spot in key.reads]
        if any(result.run.exhausted or not _is_parsed(result, option) for result in item.runs):
            continue
        if any(option.attribute in result.run.of_unknown for result in item.runs):
            continue
        seen = {scope for result in item.runs for scope in result.run.entered}
        names = {option.attribute}.union(*(key.kept_as for key in keys))
        mentions = [scope for name in names for scope in index.scopes(name)]
        if any(scope not in seen for scope in mentions):
            continue
        if any(not _all_inside_ran(spot.scope, seen) for spot in reads):
            continue
        if mentions and not _no_way_reads(project, item, steps):
            continue
        logs = [spot for key in item.keys for spot in key.logs]
        notes = (
            (f"it is only written down in {project.relative(logs[0].path)}:{logs[0].line}",) if logs else ()
        )
        yield OptionVerdict(
            "dead-option",
            option.spot,
            {"option": _option_text(option), "does": "uses" if reads else "reads"},
            reads[0] if reads and not logs else None,
            "read here, and used by nothing",
            notes=notes,
        )


def _no_way_reads(project: ProjectRuns, item: Declared, steps: int) -> bool:
    """Tell whether no way through the code reads an option that the code mentions.

    Args:
        project: The runs.
        item: The option.
        steps: How many steps the runs had made before any was made again.
    """
    for result in item.runs:
        known = project.every_way
        if id(result) not in known:
            if project.steps - steps > MAX_STEPS:
                return False
            known[id(result)] = made_again(project, result, every_way=True)
        run = known[id(result)]
        if run.run.exhausted or _as_a_whole(run) or item.option.attribute in run.run.of_unknown:
            return False
        if any(_does_more_than_read(key, item.option) for key in _keys_of(run, item.option)):
            return False
    return True


def _does_more_than_read(key: ConfigKey, option: Option) -> bool:
    """Tell whether a run uses an option beyond reading its plain value."""
    plain = not option.many and option.action in _PLAIN_ACTIONS and option.kind in _PLAIN_KINDS
    more = (
        key.uses or key.walks or key.escapes or key.offers or key.guards or key.overlaid or key.interpolated
    )
    return counts_as_read(key) if more or not plain or not key.reads else False


def _all_inside_ran(scope: Scope, seen: AbstractSet[int]) -> bool:
    """Tell whether the runs entered all functions defined inside a function.

    These functions may use its names.
    """
    if scope.parent < 0:
        return True
    scopes = scope.module.summary.scopes
    return all(
        id(inner) in seen or inner.kind == "class"
        for inner in scopes
        if inner.parent > 0 and scopes[inner.parent] is scope
    )


def _as_a_whole(result: RunResult) -> bool:
    """Tell whether a run passes all options to unknown code or computes their names."""
    section = result.run.option_section
    return bool(section.escapes or section.walks or section.uses)


def _is_parsed(result: RunResult, option: Option) -> bool:
    """Tell whether a run parses the arguments of the parser that declares an option."""
    run = result.run
    for parser, options in run.parsers.items():
        if any(other is option or other.spot.place == option.spot.place for other in options):
            if parser == 0:
                return True
            if any(found == parser for found, _, _ in run.parsed):
                return True
    return False


def _keys_of(result: RunResult, option: Option) -> list[ConfigKey]:
    """Return the records of all options of a run with the same attribute name."""
    return [
        other.key
        for options in result.run.parsers.values()
        for other in options
        if other.attribute == option.attribute
    ]


# Commands that give what is not taken


def _of_commands(project: ProjectRuns, results: Sequence[RunResult]) -> Iterator[OptionVerdict]:
    by_entrance: dict[int, RunResult] = {}
    for result in results:
        by_entrance.setdefault(id(result.entrance), result)
    for entrance, commands in project.commands_of:
        found = by_entrance.get(id(entrance))
        if found is None or found.run.exhausted:
            continue
        parsing = [item for item in found.run.parsed if item[1] in ("parse_args", COMMAND, FLAGS_RUN)]
        if len(parsing) != 1 or len(found.run.parsed) != 1:
            continue
        parser, how, spot = parsing[0]
        if (how == FLAGS_RUN) != (FLAG_PARSER in found.run.parsers) or (
            how == COMMAND and not _takes_options(found)
        ):
            continue
        options = found.run.parsers.get(parser, [])
        if parser in found.run.open_parsers or not options or "fire" in _packages_of(found):
            # Fire parses the command and hands its parts to functions, which may parse for themselves.
            continue
        for command in commands:
            if how == FLAGS_RUN:
                yield from _of_flags(project, command, options, found)
            else:
                yield from _of_command(project, command, options, spot, shortened=how != COMMAND)


def _takes_options(result: RunResult) -> bool:
    """Tell whether a program of click takes only the options that it declares.

    False for one with subcommands or its own parser settings.
    """
    for module in result.run.modules_run():
        for scope in module.summary.scopes:
            for decorator in scope.decorators:
                if isinstance(decorator, Call):
                    name = (dotted(decorator.func) or "").rpartition(".")[2]
                    named = {word for word, _ in decorator.keywords}
                    if name == "group" or (name == "command" and named & {"context_settings", "cls"}):
                        return False
                elif (dotted(decorator) or "").rpartition(".")[2] == "group":
                    return False
    return True


def _of_flags(
    project: ProjectRuns, command: Command, options: Sequence[Option], result: RunResult
) -> Iterator[OptionVerdict]:
    """Yield verdicts on flags that a command or its flag file gives an absl program."""
    shown = _shown(project, command)
    lines = command.lines or (command.line,) * len(command.arguments)
    given = [(shown, line, item) for line, item in zip(lines, command.arguments, strict=True)]
    by_name = {option.attribute: option for option in options}
    knows_all = _OF_FLAGS.issuperset(_packages_of(result))
    undefined: set[str] = set()
    seen: set[str] = set()
    whole = _is_whole(command)
    number = 0
    while number < len(given) and number < MAX_GIVEN:
        path, line, argument = given[number]
        number += 1
        if argument == "--":
            return
        name, mark, value = argument.lstrip("-").partition("=")
        if not argument.startswith("-") or not name.replace("-", "_").isidentifier():
            continue
        following = given[number][2] if not mark and number < len(given) else value
        if name == "flagfile":
            inner = _lines_of_flags(project, command, following)
            whole = whole and bool(inner)
            given += inner
            continue
        if name == "undefok":
            undefined.update(following.split(","))
        option = by_name.get(name) or by_name.get(name.replace("-", "_"))
        wrong = _WrongCommand(path, line)
        if option is None:
            plain = name.removeprefix("no")
            meant = nearest_name(name, list(by_name))
            if plain in by_name or name in _OF_ABSL or name in undefined or not (knows_all or meant):
                continue
            yield wrong.verdict(
                by_name[meant].spot if meant is not None else options[0].spot,
                f"--{name}",
                "no flag is called that" + (f"; is `--{meant}` meant?" if meant else ""),
            )
            continue
        seen.add(option.attribute)
        if option.many or SHELL in following or (not mark and following.startswith("--")):
            continue
        reader = _READERS.get(option.kind)
        if reader is None:
            if option.choices and following not in option.choices:
                yield wrong.verdict(
                    option.spot, f"--{name}={following}", f"it is none of {_listed(option.choices)}"
                )
            continue
        try:
            reader(following)
        except ValueError:
            if following.lower().startswith(("0x", "-0x", "0o", "0b")):
                continue
            yield wrong.verdict(
                option.spot,
                f"--{name}={following}",
                f"{option.kind.rpartition('.')[2]}() does not read it",
            )
    if whole and number >= len(given):
        for option in options:
            if option.required and option.attribute not in seen:
                yield _WrongCommand(shown, command.line).lacking(option)


def _shown(project: ProjectRuns, command: Command) -> str:
    return os.path.relpath(command.path, project.root).replace(os.sep, "/")


def _listed(choices: Sequence[object]) -> str:
    return ", ".join(repr(choice) for choice in choices)


def _is_whole(command: Command) -> bool:
    """Tell whether a script gives a command with all its arguments."""
    path = command.path.replace(os.sep, "/")
    named = os.path.basename(path).lower() in ("makefile", "justfile") or path.endswith(_SCRIPTS)
    if not named and not JOB_FILE.search(path):
        return False
    return not any(
        item in ("--help", "-h", "--helpfull") or not _DOUBTFUL.isdisjoint(item) for item in command.arguments
    )


@dataclass(frozen=True, slots=True)
class _WrongCommand:
    """A place in a script or guide with a command that gives wrong arguments."""

    path: str
    line: int

    def verdict(self, spot: Spot, argument: str, effect: str) -> OptionVerdict:
        """Return the verdict on an argument that the program does not take."""
        values = {"place": f"{self.path}:{self.line}", "argument": f"gives `{argument}`, and {effect}"}
        return OptionVerdict("wrong-command", spot, values, said=(self.path, self.line))

    def lacking(self, option: Option) -> OptionVerdict:
        """Return the verdict on a required option that the command does not give."""
        values = {
            "place": f"{self.path}:{self.line}",
            "argument": f"does not give `{_option_text(option)}`, which is required",
        }
        return OptionVerdict("wrong-command", option.spot, values, said=(self.path, self.line))


def _lines_of_flags(project: ProjectRuns, command: Command, name: str) -> list[tuple[str, int, str]]:
    """Return the flags in the file that a command names, each with path and line."""
    if not name or SHELL in name:
        return []
    for folder in dict.fromkeys((command.folder, project.root)):
        path = os.path.join(folder, name)
        inside = project.files.inside(os.path.abspath(path))
        if inside is None or not os.path.isfile(path):
            continue
        try:
            text = read_regular(path, MAX_FLAGS).decode("utf-8", "replace")
        except OSError:
            return []
        lines = enumerate(text.split("\n"), 1)
        return [(inside, number, line.strip()) for number, line in lines if line.strip().startswith("-")]
    return []


def _packages_of(result: RunResult) -> set[str]:
    """Return the third-party packages that a program imports."""
    found: set[str] = set()
    for module in result.run.modules_run():
        for source in imported_names(module):
            if result.run.program.module(source, module) is None:
                name = absolute(source, module).split(".", 1)[0]
                if name and result.run.program.module(name, module) is None:
                    found.add(name)
    return found - sys.stdlib_module_names


def _of_command(
    project: ProjectRuns, command: Command, options: Sequence[Option], spot: Spot, *, shortened: bool
) -> Iterator[OptionVerdict]:
    shown = _shown(project, command)
    names = [name for option in options for name in option.names if name.startswith("-")]
    by_name = {name: option for option in options for name in option.names}
    arguments = command.arguments
    seen: set[str] = set()
    for number, argument in enumerate(arguments):
        if argument == "--":
            return
        name, mark, value = argument.partition("=")
        if name in by_name:
            seen.add(by_name[name].attribute)
        if not name.startswith("--") or not name.isascii() or name == "--help":
            # Behind a name that is not ASCII stands the prose around it.
            continue
        if not name[2:].replace("-", "_").isidentifier():
            continue
        wrong = _WrongCommand(shown, command.lines[number] if command.lines else command.line)
        option = by_name.get(name)
        if option is None:
            begun = [other for other in names if other.startswith(name)]
            if shortened and begun:
                seen.update(by_name[other].attribute for other in begun)
                continue
            meant = nearest_name(name.lstrip("-"), [other.lstrip("-") for other in names])
            effect = "no option is called that" + (f"; is `--{meant}` meant?" if meant else "")
            yield wrong.verdict(spot, name, effect)
            continue
        given = value if mark else arguments[number + 1] if number + 1 < len(arguments) else None
        if given is None or "\x00" in given or option.action or option.many or given.startswith("-"):
            continue
        reader = _READERS.get(option.kind)
        if reader is not None:
            try:
                reader(given)
            except ValueError:
                effect = f"{option.kind.rpartition('.')[2]}() does not read it"
                yield wrong.verdict(option.spot, f"{name} {given}", effect)
        elif (
            option.choices
            and all(isinstance(item, str) for item in option.choices)
            and given not in option.choices
        ):
            yield wrong.verdict(option.spot, f"{name} {given}", "it is none of the choices")
    if _is_whole(command):
        for option in options:
            if option.required and option.names[0].startswith("-") and option.attribute not in seen:
                if any(
                    item.startswith("-") and not item.startswith("--") and item[:2] in option.names
                    for item in arguments
                ):
                    continue
                yield _WrongCommand(shown, command.line).lacking(option)
