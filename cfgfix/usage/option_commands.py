"""Commands in scripts and guides that give a program what it does not take."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence

from cfgfix.code.inference.interpreter.command_line import FLAG_PARSER, Option
from cfgfix.code.inference.interpreter.decisions import SAYS_NO
from cfgfix.code.inference.interpreter.models.options import COMMAND, FLAGS_RUN, SHELL
from cfgfix.code.inference.interpreter.objects import Spot
from cfgfix.code.model.expressions import dotted
from cfgfix.code.model.module import absolute
from cfgfix.code.model.nodes import Call
from cfgfix.core.records import dataclass
from cfgfix.core.source_file import read_regular
from cfgfix.usage.commands import Command
from cfgfix.usage.declared_options import (
    NUMBER_READERS,
    OptionVerdict,
    option_text,
)
from cfgfix.usage.entrances import imported_names
from cfgfix.usage.program_runs import ProjectRuns
from cfgfix.usage.project_files import JOB_FILE
from cfgfix.usage.run_results import RunResult
from cfgfix.usage.spelling import nearest_name

MAX_GIVEN = 400
"""Most arguments of one command that are looked at, with those in files of flags."""
MAX_FLAGS = 100_000
"""Largest file of flags, in bytes."""
_OF_FLAGS = frozenset(
    {"absl", "cv2", "h5py", "keras", "matplotlib", "numpy", "pandas", "PIL", "scipy", "seaborn", "six", "skimage", "sklearn",
     "tensorflow", "tqdm", "yaml"}
)  # fmt: skip
"""Packages that declare no flags of absl, or only those that are known: others may declare any."""
FLAGS_OF_ABSL = frozenset(
    {"verbosity", "v", "logtostderr", "alsologtostderr", "log_dir", "stderrthreshold", "showprefixforinfo", "help", "flagfile",
     "undefok", "run_with_pdb", "pdb_post_mortem", "only_check_args", "profile_file", "run_with_profiling", "logger_levels",
     "helpshort", "helpfull", "helpxml", "pdb", "use_cprofile_for_profiling", "xml_output_file", "test_srcdir", "test_tmpdir", "test_random_seed",
     "test_randomize_ordering_seed", "hbm_oom_exit", "runtime_oom_exit", "delta_threshold", "tt_check_filter", "tt_single_core_summaries",
     "op_conversion_fallback_to_while_loop"}
)  # fmt: skip
_SCRIPTS = (".sh", ".bash", ".slurm", ".sbatch", ".pbs", ".job", ".mk")
_DOUBTFUL = frozenset("\"'`%()\x00")
"""Letters in arguments that stand for what is not known, or are left of what was not understood."""


def wrong_commands(project: ProjectRuns, results: Sequence[RunResult]) -> Iterator[OptionVerdict]:
    """Yield verdicts on commands that give a program what it does not take."""
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
    shown = shown_path(project, command)
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
        wrong = WrongCommand(path, line)
        if option is None:
            plain = name.removeprefix("no")
            meant = nearest_name(name, list(by_name))
            if plain in by_name or name in FLAGS_OF_ABSL or name in undefined or not (knows_all or meant):
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
        reader = NUMBER_READERS.get(option.kind)
        if reader is None:
            if option.choices and following not in option.choices:
                yield wrong.verdict(
                    option.spot, f"--{name}={following}", f"it is none of {_choices_in_words(option.choices)}"
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
                yield WrongCommand(shown, command.line).lacking(option)


def shown_path(project: ProjectRuns, command: Command) -> str:
    """Return the path of a command's file from the project on."""
    return os.path.relpath(command.path, project.root).replace(os.sep, "/")


def _choices_in_words(choices: Sequence[object]) -> str:
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
class WrongCommand:
    """A place in a script or guide with a command that gives wrong arguments."""

    path: str
    line: int

    def verdict(self, spot: Spot, argument: str, effect: str) -> OptionVerdict:
        """Return the verdict on an argument that the program does not take."""
        return self._verdict_at(spot, f"gives `{argument}`, and {effect}: the program stops")

    def reversed(self, spot: Spot, argument: str) -> OptionVerdict:
        """Return the verdict on a text that says no and is taken for yes."""
        return self._verdict_at(
            spot, f"gives `{argument}`, which bool() takes for True: the program does the opposite"
        )

    def _verdict_at(self, spot: Spot, argument: str) -> OptionVerdict:
        values = {"place": f"{self.path}:{self.line}", "argument": argument}
        return OptionVerdict("wrong-command", spot, values, said=(self.path, self.line))

    def lacking(self, option: Option) -> OptionVerdict:
        """Return the verdict on a required option that the command does not give."""
        argument = f"does not give `{option_text(option)}`, which is required: the program stops"
        return self._verdict_at(option.spot, argument)


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
    shown = shown_path(project, command)
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
        wrong = WrongCommand(shown, command.lines[number] if command.lines else command.line)
        option, begun = by_name.get(name), list[str]()
        if option is None:
            begun = [other for other in names if other.startswith(name)]
            if shortened and begun:
                seen.update(by_name[other].attribute for other in begun)
                option = by_name[begun[0]] if len(begun) == 1 else None
        if option is None:
            if shortened and begun:
                continue
            meant = nearest_name(name.lstrip("-"), [other.lstrip("-") for other in names])
            effect = "no option is called that" + (f"; is `--{meant}` meant?" if meant else "")
            yield wrong.verdict(spot, name, effect)
            continue
        given = value if mark else arguments[number + 1] if number + 1 < len(arguments) else None
        if given is None or "\x00" in given or option.action or option.many or given.startswith("-"):
            continue
        if command.lines and not mark:
            wrong = WrongCommand(shown, command.lines[number + 1])
        reader = NUMBER_READERS.get(option.kind)
        if option.kind == "builtins.bool":
            if given.lower() in SAYS_NO:
                yield wrong.reversed(option.spot, f"{name} {given}")
        elif reader is not None:
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
                yield WrongCommand(shown, command.line).lacking(option)
