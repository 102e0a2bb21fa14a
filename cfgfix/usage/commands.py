"""The commands that start a project's programs, as its scripts, guides, workflows and notebooks say them."""

from __future__ import annotations

import glob
import json
import os
import re
import shlex
from collections.abc import Iterator

from cfgfix.code.inference.interpreter.models.options import SHELL
from cfgfix.core.patterns import late
from cfgfix.core.records import dataclass
from cfgfix.core.source_file import read_regular

MAX_TEXT = 400_000
"""Largest file that is looked through for commands, in bytes."""
MAX_NESTED = 3
"""Most variables of a Makefile that stand inside one another."""
MAX_VALUE = 500
"""Most letters of a variable of a Makefile."""
MAX_LINE = 4_000
"""Longest line of a Makefile in which variables are put in."""
MAX_COMMANDS = 200
"""Most commands of one project."""
_PYTHON = late(
    r"(?:^|[\s;&|(`$\"'!/])(?:python[0-9.]*|torchrun|ipython|uv\s+run|poetry\s+run|pipenv\s+run)\s+(?P<rest>[^\n]*)"
)
_ASSIGNED = late(r"^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(\"[^\"]*\"|'[^']*'|[^\s;#&|]*)\s*$")
_LOOP = late(r"^\s*for\s+([A-Za-z_][A-Za-z0-9_]*)\s+in\s+(.+?)\s*(?:;\s*do\b.*)?$")
_MADE = late(r"^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*([?:]?:?)=\s*(.*?)\s*(?:\s#.*)?$")
"""What gives a variable of a Makefile its value."""
_OF_MAKE = late(r"(?<!\$)\$(?:\(([A-Za-z_][A-Za-z0-9_]*)\)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_VARIABLE = late(r"\$\{?([A-Za-z_][A-Za-z0-9_]*|[0-9@*])(?::-([^}]*))?\}?")
_ENDS = late(r"\s(?:\||>|<|&&|&|\|\||;|2>|1>)|;|`|\)\s*$|&&|\|\||\s#\s")
_FOR_HUMANS = late(r"[<\[{].*[>\]}]|^(?:path/to|/path/|\.\.\.|…)")


@dataclass(frozen=True, slots=True)
class Command:
    """A command that starts a Python program.

    Attributes:
        path: The file with the command, as shown to the user.
        line: The 1-based line of the command.
        program: The script's path as written, or the module's dotted name after `-m`.
        is_module: Whether the program is the name of a module.
        arguments: The arguments; `SHELL` stands for those that only the shell knows.
        variables: Environment variables that the command sets.
        folder: The folder in which the command starts, as far as the file tells.
    """

    path: str
    line: int
    program: str
    is_module: bool
    arguments: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]
    folder: str
    chosen: tuple[tuple[str, str], ...] = ()
    """Values of options and variables of the environment that a run has instead of those that are given."""
    lines: tuple[int, ...] = ()
    """The 1-based lines of the arguments, where they are not all on that of the command."""

    @property
    def is_said(self) -> bool:
        """Whether a file contains the command."""
        return bool(self.path)


UNSAID = Command("", 0, "", False, (), (), "")
"""What stands for the command where none is known and some options have values of their own."""


def commands_in(path: str, names: frozenset[str] = frozenset()) -> Iterator[Command]:
    """Yield the commands that a file contains.

    Args:
        path: The file.
        names: Names of commands that the project installs.
    """
    try:
        text = read_regular(path, MAX_TEXT).decode("utf-8", "replace")
    except OSError:
        return
    lines = list(_code_cells(text)) if path.endswith(".ipynb") else list(_join_continued(text))
    if os.path.basename(path).lower() == "makefile" or path.endswith(".mk"):
        lines = _with_variables(lines)
    folder = os.path.dirname(path) or "."
    values: dict[str, list[str]] = {}
    for number, line in lines:
        loop = _LOOP.match(line)
        if loop:
            values[loop.group(1)] = _list_folder(loop.group(2), folder)
            continue
        assigned = _ASSIGNED.match(line)
        if assigned:
            values[assigned.group(1)] = [assigned.group(2).strip("\"'")]
            continue
        entered = re.match(r"^\s*[!%]?cd\s+([\w./-]+)\s*(?:&&|;|$)", line)
        if entered and not entered.group(1).startswith("/"):
            inner = os.path.join(os.path.dirname(path) or ".", entered.group(1))
            folder = inner if os.path.isdir(inner) else folder
        yield from _of_line(path, number, line, values, folder, names)


def commands_of(path: str, number: int, line: str) -> Iterator[Command]:
    """Yield the commands in one line of a file of another form.

    Args:
        path: The file.
        number: The line's 1-based number there.
        line: The text of the line.
    """
    yield from _of_line(path, number, line, {}, os.path.dirname(path) or ".", frozenset())


def command_of_words(path: str, words: list[tuple[str, int]]) -> Command | None:
    """Return the command that words form, or None where they start no Python program."""
    found = _parsed_command([word for word, _ in words], frozenset())
    if found is None:
        return None
    program, is_module, arguments = found
    lines = tuple(line for _, line in words)
    shown = tuple(SHELL if "$" in item or _FOR_HUMANS.search(item) else item for item in arguments)
    at = len(words) - len(arguments)
    folder = os.path.dirname(path) or "."
    return Command(path, lines[at - 1], program, is_module, shown, (), folder, lines=lines[at:])


def _join_continued(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a script with their numbers.

    Lines that end with a backslash are joined with the next and have the number of the first.
    """
    first, whole = 0, ""
    for number, line in enumerate(text.split("\n"), 1):
        first = first or number
        if line.rstrip().endswith("\\"):
            whole += line.rstrip()[:-1] + " "
            if len(whole) < 8_000:
                continue
        yield first, whole + line
        first, whole = 0, ""


def _with_variables(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the lines of a Makefile with variables such as `$(PY)` replaced."""
    values: dict[str, str] = {}
    for _, line in lines:
        found = _MADE.match(line)
        if found is not None and (found.group(2) != "?" or found.group(1) not in values):
            values[found.group(1)] = found.group(3)[:MAX_VALUE]

    def put(match: re.Match[str]) -> str:
        return values.get(match.group(1) or match.group(2), match.group(0))

    expanded: list[tuple[int, str]] = []
    for number, line in lines:
        text = line
        for _ in range(MAX_NESTED):
            if "$" not in text or len(text) > MAX_LINE:
                break
            text = _OF_MAKE.sub(put, text)
        expanded.append((number, text.replace("$$", "$")))
    return expanded


def _code_cells(text: str) -> Iterator[tuple[int, str]]:
    try:
        book = json.loads(text)
        cells = [cell for cell in book["cells"] if isinstance(cell, dict)]
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    for cell in cells:
        source = cell.get("source", "")
        whole = "".join(str(part) for part in source) if isinstance(source, list) else str(source)
        for _, line in _join_continued(whole):
            if line.lstrip().startswith(("!", "%")) or cell.get("cell_type") == "markdown":
                yield 1, line


def _list_folder(text: str, folder: str) -> list[str]:
    found: list[str] = []
    for quoted in text.split()[:64]:
        word = quoted.strip("\"'")
        if "*" in word:
            for base in (folder, "."):
                paths = sorted(glob.glob(os.path.join(base, word)))[:64]
                if paths:
                    found += [os.path.relpath(item, base) for item in paths]
                    break
        elif "$" not in word:
            found.append(word)
    return found


def _of_line(
    path: str, number: int, line: str, values: dict[str, list[str]], folder: str, names: frozenset[str]
) -> Iterator[Command]:
    for start, whole in _command_starts(line, names):
        ending = _ENDS.search(whole)
        rest = whole[: ending.start()] if ending else whole
        for words in _expand_loops(rest, values):
            if not words:
                continue
            variables = tuple(
                (name, value.strip("\"'"))
                for name, value in re.findall(r"([A-Z_][A-Z0-9_]*)=(\"[^\"]*\"|'[^']*'|\S*)", line[:start])
            )
            found = _parsed_command(words, names)
            if found is not None:
                program, is_module, arguments = found
                shown = tuple(
                    SHELL if "$" in item or _FOR_HUMANS.search(item) else item for item in arguments
                )
                yield Command(path, number, program, is_module, shown, variables, folder)


def _command_starts(line: str, names: frozenset[str]) -> Iterator[tuple[int, str]]:
    for match in _PYTHON.finditer(line):
        yield match.start(), match.group("rest")
        return
    stripped = line.strip().lstrip("$!> ").strip("`")
    word = stripped.split(" ", 1)[0]
    if word in names:
        yield 0, stripped
        return
    script = re.search(r"(?:^|[\s`$!])(\./[\w./-]+\.py\b[^\n]*)", line)
    if script:
        yield script.start(), script.group(1)


def _expand_loops(text: str, values: dict[str, list[str]]) -> Iterator[list[str]]:
    """Yield the words of a command, once for each value of its loop variable."""
    looped = next((name for name, _ in _VARIABLE.findall(text) if len(values.get(name, ())) > 1), None)
    for choice in values[looped] if looped is not None else [""]:

        def put(match: re.Match[str], chosen: str = choice) -> str:
            name = match.group(1)
            if name == looped:
                return chosen
            if values.get(name):
                return values[name][0]
            return match.group(2) or match.group(0)

        whole = _VARIABLE.sub(put, text)
        try:
            yield shlex.split(whole)
        except ValueError:
            yield whole.replace('"', " ").replace("'", " ").split()


_TAKE_A_VALUE = frozenset({"-W", "-X", "-c", "--nproc_per_node", "--nnodes", "--master_port", "--with"})


def _parsed_command(words: list[str], names: frozenset[str]) -> tuple[str, bool, list[str]] | None:
    """Return a command's program, whether it is a module, and the arguments.

    None where the words start no Python program.
    """
    number = 0
    while number < len(words):
        word = words[number]
        if word in names:
            return word, True, words[number + 1 :]
        if word == "-m" and number + 1 < len(words):
            return words[number + 1], True, words[number + 2 :]
        if word == "-c":
            return None
        if word.endswith(".py"):
            return word, False, words[number + 1 :]
        if not word.startswith("-") and not word.startswith("python"):
            return None
        number += 2 if word in _TAKE_A_VALUE else 1
    return None
