"""The commands that files of jobs say: Kubernetes, Compose, stages of DVC, entry points of MLflow."""

from __future__ import annotations

import os
from collections.abc import Iterator

from cfgfix.config.document.compose import SCALAR, SEQUENCE, Node, compose, deref
from cfgfix.core.errors import UnreadableError
from cfgfix.core.patterns import late
from cfgfix.core.records import replace
from cfgfix.core.source_file import SourceFile, read_source
from cfgfix.usage.commands import Command, command_of_words, commands_in, commands_of
from cfgfix.usage.job_manifests import containers_in, members
from cfgfix.usage.project_files import JOB_FILE

_PARAMETER = late(r"\{([\w-]+)\}")
MAX_WORDS = 400
"""Most words of one command that are looked at."""


def commands_said(path: str, names: frozenset[str]) -> Iterator[Command]:
    """Yield the commands in a script, guide or job file.

    Args:
        path: The file.
        names: Names of commands that the project installs.
    """
    if JOB_FILE.search(path.replace(os.sep, "/")):
        yield from _of_jobs(path)
    else:
        yield from commands_in(path, names)


def _of_jobs(path: str) -> Iterator[Command]:
    try:
        document = compose(read_source(path))
    except UnreadableError:
        return
    source = document.source
    for root in document.roots if document.problem is None else ():
        top = members(root)
        if "apiVersion" in top and "kind" in top:
            for container, _ in containers_in(root):
                entries = members(container)
                yield from _commands_of_entry_point(path, source, entries.get("command"), entries.get("args"))
        elif "services" in top:
            for service in members(top["services"]).values():
                entries = members(service)
                yield from _commands_of_entry_point(
                    path, source, entries.get("entrypoint"), entries.get("command")
                )
        elif "entry_points" in top:
            for entry in members(top["entry_points"]).values():
                yield from _of_entry_point(path, source, members(entry))
        elif "stages" in top:
            for stage in members(top["stages"]).values():
                yield from _of_stage(path, source, members(stage))


def _of_stage(path: str, source: SourceFile, entries: dict[str, Node]) -> Iterator[Command]:
    """Yield the commands of a DVC stage, with the folder of the stage."""
    inner = members(entries.get("do")) or entries
    said = inner.get("cmd")
    where = inner.get("wdir")
    folder = os.path.dirname(path) or "."
    if where is not None:
        folder = os.path.join(folder, where.text if where.kind is SCALAR else "")
    for item in [said] if said is not None and said.kind is SCALAR else _items_of_list(said):
        if item.kind is SCALAR:
            yield from (replace(found, folder=folder) for found in _of_text(path, source, item))


def _of_entry_point(path: str, source: SourceFile, entries: dict[str, Node]) -> Iterator[Command]:
    """Yield the command of an entry point of MLflow, with the defaults of its parameters.

    What a parameter gives stands where its default does.
    """
    said = entries.get("command")
    if said is None or said.kind is not SCALAR:
        return
    parameters = members(entries.get("parameters"))
    first = source.position(said.start)[0] + (source.text[said.start : said.start + 1] in ("|", ">"))
    words: list[tuple[str, int]] = []
    for number, line in enumerate(said.text.split("\n")):
        for word in line.removesuffix("\\").split():
            named = _PARAMETER.search(word)
            default = members(parameters.get(named[1])).get("default") if named is not None else None
            if named is None:
                words.append((word, first + number))
            elif default is not None and default.kind is SCALAR and len(default.text.split()) == 1:
                given = word.replace(named[0], default.text)
                words.append((given, source.position(default.start)[0]))
            else:
                words.append((_PARAMETER.sub("$GIVEN", word), first + number))
    found = command_of_words(path, words) if len(words) <= MAX_WORDS else None
    if found is not None:
        yield found


def _commands_of_entry_point(
    path: str, source: SourceFile, first: Node | None, rest: Node | None
) -> Iterator[Command]:
    """Yield the commands that an entry point and its arguments start."""
    words: list[tuple[str, int]] = []
    for node in (first, rest):
        if node is None:
            continue
        if node.kind is SCALAR:
            if not words:
                yield from _of_text(path, source, node)
                return
            line = source.position(node.start)[0]
            words += [(word, line) for word in node.text.split()]
        else:
            for item in _items_of_list(node):
                if item.kind is not SCALAR:
                    return
                words.append((item.text, source.position(item.start)[0]))
    if not words or len(words) > MAX_WORDS:
        return
    of_shell = next((number for number, (word, _) in enumerate(words) if word in ("-c", "-lc", "-ec")), None)
    if of_shell is not None and of_shell + 1 < len(words):
        text, line = words[of_shell + 1]
        if words[0][0].rpartition("/")[2] in ("sh", "bash"):
            for number, part in enumerate(text.split("\n")):
                yield from commands_of(path, line + number, part)
        return
    found = command_of_words(path, words)
    if found is not None:
        yield found


def _of_text(path: str, source: SourceFile, node: Node) -> Iterator[Command]:
    line = source.position(node.start)[0]
    yield from commands_of(path, line, " ".join(node.text.replace("\\\n", " ").split()))


def _items_of_list(node: Node | None) -> list[Node]:
    return [deref(item) for item in node.items] if node is not None and node.kind is SEQUENCE else []
