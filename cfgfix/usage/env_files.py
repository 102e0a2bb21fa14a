"""Variables of `.env` files that no program reads, beside one that a program asks for under a similar name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from cfgfix.code.inference.interpreter.objects import ConfigKey, Scalar
from cfgfix.core.records import dataclass
from cfgfix.core.source_file import read_regular
from cfgfix.usage.declared_options import OptionVerdict
from cfgfix.usage.mentions import MentionIndex
from cfgfix.usage.program_runs import ProjectRuns
from cfgfix.usage.run_results import RunResult
from cfgfix.usage.spelling import nearest_name, value_in_words

MAX_BYTES = 100_000
"""Largest file of variables, in bytes."""
MAX_FILES = 40
"""Most files of variables that are looked at."""
_LINE = re.compile(r"^\s*(?:export\s+)?(?P<name>[A-Za-z_]\w*)\s*=", re.MULTILINE)
_WORD = re.compile(rb"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class _FileVariable:
    """A variable that a file sets, with the path and line."""

    name: str
    place: str


def variable_verdicts(
    project: ProjectRuns, index: MentionIndex, results: Iterable[RunResult]
) -> Iterator[OptionVerdict]:
    """Yield verdicts on environment variables that a file sets under a misspelt name."""
    asked: dict[str, ConfigKey] = {}
    for result in results:
        for name, key in result.run.variables.items():
            if key.reads:
                asked.setdefault(name, key)
    given = list(_variables_of(project)) if asked else []
    if not given:
        return
    names = {item.name for item in given} | {item.name.upper() for item in given}
    lacking = [name for name in asked if name not in names]
    known = {name.upper() for name in asked}
    said = _words_of_code(project) | index.words_outside()
    told: set[str] = set()
    for item in given:
        near = nearest_name(item.name, lacking)
        if near is None or near in told or item.name in said or item.name.upper() in known:
            continue
        told.add(near)
        key = asked[near]
        yield OptionVerdict(
            "misspelt-variable",
            key.reads[0],
            {"name": near, "given": item.name, "place": item.place, "effect": _effect_of_variable(key)},
            severity="warning" if key.fallback is not None else None,
        )


def _effect_of_variable(key: ConfigKey) -> str:
    if key.fallback is None:
        return "it is not there"
    default = key.fallback
    return f"the program goes on with {value_in_words(default) if isinstance(default, Scalar) else 'its default'}"


def _words_of_code(project: ProjectRuns) -> set[str]:
    """Return the words of all Python files."""
    program = project.program
    return {
        word.decode("ascii", "replace")
        for module in program.all_modules()
        for word in _WORD.findall(program.content_of(module.path))
    }


def _variables_of(project: ProjectRuns) -> Iterator[_FileVariable]:
    """Yield the environment variables that the files of a project set."""
    for path in project.files.variables[:MAX_FILES]:
        try:
            text = read_regular(os.path.join(project.root, path), MAX_BYTES).decode("utf-8")
        except (OSError, ValueError):
            continue
        for found in _LINE.finditer(text):
            line = text.count("\n", 0, found.start("name")) + 1
            yield _FileVariable(found["name"], f"{path}:{line}")
