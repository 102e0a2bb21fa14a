"""The CPU and memory limits under which jobs run a project's programs: manifests, Compose files, Slurm scripts, `docker run`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping

from cfgfix.config.document.compose import MAPPING, SCALAR, SEQUENCE, Node, compose, deref
from cfgfix.core.errors import UnreadableError
from cfgfix.core.records import dataclass, replace
from cfgfix.core.source_file import SourceFile, read_regular, read_source
from cfgfix.usage.project_files import DATA, ProjectFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.usage.commands import Command

MAX_DEPTH = 24
MAX_JOBS = 100
"""Most jobs of one project that are looked at."""
_MAY_LIMIT = re.compile(r"\b(?:resources|mem_limit|cpus)\b")
_SBATCH = re.compile(r"^#SBATCH\s+(.*)$", re.MULTILINE)
_PBS = re.compile(r"^#PBS\s+-l\s+(\S+)", re.MULTILINE)
_BUILT = re.compile(r"docker\s+(?:buildx\s+)?build\b[^\n]*?\s(?:-t|--tag)[ =](\S+)")
SHELL = (".sh", ".bash")
"""Endings of scripts that a job may start."""
_SCRIPT = re.compile(r"(?:^|\s)(?:(?:ba|da)?sh\s+)?(\S+\.(?:sh|bash))(?=\s|$)")
_QUANTITY = re.compile(r"^\s*([0-9]*\.?[0-9]+)\s*([A-Za-z]*)\s*$")
_KUBERNETES = {
    "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "m": 1e-3,
}  # fmt: skip
"""Units of quantities (kubernetes.io, Resource units)."""
_BINARY = {
    "": 1,
    "b": 1,
    "k": 2**10,
    "kb": 2**10,
    "m": 2**20,
    "mb": 2**20,
    "g": 2**30,
    "gb": 2**30,
    "t": 2**40,
    "tb": 2**40,
}
"""Units of sizes in Compose files, `docker run` and Slurm."""
MIB = 2**20


@dataclass(frozen=True, slots=True)
class Job:
    """What runs a program under limits.

    Attributes:
        kind: What it is, in words.
        path: The file that says so, relative to the project.
        line: The 1-based line of the limits there.
        cpus: The CPUs that it may use, or None.
        ram_mib: Its memory in MiB, or None.
    """

    kind: str
    path: str
    line: int
    cpus: float | None
    ram_mib: float | None


@dataclass(frozen=True, slots=True)
class RunBy:
    """A job and a command that it runs."""

    job: Job
    command: Command

    def starts_program(self, program: str) -> bool:
        """Tell whether the command starts a program, by its path relative to the project.

        In a container the project may lie anywhere, so what both paths end with decides.
        """
        if self.command.is_module:
            written = [*self.command.program.split("."), ""]
            ends = program.removesuffix(".py").split("/")
            return _same_end(written[:-1], ends) or _same_end([*written[:-1], "__main__"], ends)
        return _same_end(_steps(self.command.program), _steps(program))

    def names(self, config: str) -> bool | None:
        """Tell whether the command names a config; None where it names none at all."""
        named = [word.rpartition("=")[2] for word in self.command.arguments if word.endswith(DATA)]
        return any(_same_end(_steps(word), _steps(config)) for word in named) if named else None


def _steps(path: str) -> list[str]:
    return [step for step in path.replace(os.sep, "/").split("/") if step not in ("", ".", "..")]


def _same_end(first: list[str], second: list[str]) -> bool:
    count = min(len(first), len(second))
    return count > 0 and first[-count:] == second[-count:]


def jobs_of(files: ProjectFiles) -> list[RunBy]:
    """Return the jobs of a project that limit what they run, each with its commands."""
    found: list[RunBy] = []
    image = _image(files)
    scripts = [path for path in files.texts if path.endswith(SHELL)]
    for path in (*files.data, *files.texts):
        if len(found) >= MAX_JOBS:
            break
        whole = os.path.join(files.root, path)
        try:
            text = read_regular(whole, 400_000).decode("utf-8", "replace")
        except OSError:
            continue
        if path.endswith((".yaml", ".yml")):
            if may_limit(text):
                found += _of_yaml(path, whole, image)
        elif not path.endswith(DATA):
            found += _of_script(path, whole, text, image)
    return [one for item in found for one in _through_scripts(item, files.root, scripts)]


def _through_scripts(item: RunBy, root: str, scripts: list[str]) -> Iterator[RunBy]:
    """Yield a job with its command, or with those of the shell script of the project that this starts."""
    name = item.command.program
    script = (
        next((path for path in scripts if _same_end(_steps(name), _steps(path))), None)
        if name.endswith(SHELL)
        else None
    )
    if script is None:
        yield item
    else:
        from cfgfix.usage.commands import commands_in

        yield from (RunBy(item.job, command) for command in commands_in(os.path.join(root, script)))


def may_limit(text: str) -> bool:
    """Tell whether a YAML file may be looked into for limits of jobs."""
    return _MAY_LIMIT.search(text) is not None


def job_for(jobs: Iterable[RunBy], programs: Iterable[str], config: str) -> Job | None:
    """Return the job that runs one of a config's programs with it, or None.

    None where none does, or jobs with different limits do.
    """
    programs = list(programs)
    named: list[Job] = []
    other: list[Job] = []
    for item in jobs:
        if any(item.starts_program(program) for program in programs):
            says = item.names(config)
            if says is None:
                other.append(item.job)
            elif says:
                named.append(item.job)
    found = named or other
    limits = {(job.cpus, job.ram_mib) for job in found}
    return found[0] if len(limits) == 1 else None


# Manifests and Compose files


def _of_yaml(path: str, whole: str, image: Image) -> Iterator[RunBy]:
    try:
        document = compose(read_source(whole))
    except UnreadableError:
        return
    if document.problem is not None:
        return
    for root in document.roots:
        top = _members(root)
        if "apiVersion" in top and "kind" in top:
            for container in _containers(root, 0):
                yield from _of_container(path, whole, document.source, container, image)
        elif "services" in top:
            for service in _members(top["services"]).values():
                yield from _of_service(path, whole, document.source, service)


def _containers(node: Node, depth: int) -> Iterator[Node]:
    """Yield the containers of a manifest, wherever its kind keeps its pods."""
    node = deref(node)
    if depth > MAX_DEPTH:
        return
    if node.kind is MAPPING:
        for key, value in node.items:
            if key.kind is SCALAR and key.text == "containers" and deref(value).kind is SEQUENCE:
                yield from (deref(item) for item in deref(value).items)
            else:
                yield from _containers(value, depth + 1)
    elif node.kind is SEQUENCE:
        for item in node.items:
            yield from _containers(item, depth + 1)


def _of_container(
    path: str, whole: str, source: SourceFile, container: Node, image: Image
) -> Iterator[RunBy]:
    entries = _members(container)
    limits = _members(_members(entries.get("resources")).get("limits"))
    cpus, ram = limits.get("cpu"), limits.get("memory")
    words = image.words(_words_of(entries.get("command")), _words_of(entries.get("args")))
    yield from _jobs(
        "a Kubernetes job",
        path,
        whole,
        source,
        cpus or ram,
        _size(cpus, _KUBERNETES),
        _size(ram, _KUBERNETES),
        words,
    )


def _of_service(path: str, whole: str, source: SourceFile, service: Node) -> Iterator[RunBy]:
    entries = _members(service)
    limits = _members(_members(_members(entries.get("deploy")).get("resources")).get("limits"))
    cpus = limits.get("cpus") or entries.get("cpus")
    ram = limits.get("memory") or entries.get("mem_limit")
    image = NO_IMAGE
    built = entries.get("build")
    context = _members(built).get("context", built) if built is not None else None
    if context is not None and deref(context).kind is SCALAR:
        image = _of_image(os.path.join(os.path.dirname(whole), deref(context).text, "Dockerfile"))
    words = image.words(_words_of(entries.get("entrypoint")), _words_of(entries.get("command")))
    yield from _jobs(
        "a Compose service",
        path,
        whole,
        source,
        cpus or ram,
        _size(cpus, _BINARY),
        _size(ram, _BINARY),
        words,
    )


def _jobs(
    kind: str,
    path: str,
    whole: str,
    source: SourceFile,
    where: Node | None,
    cpus: float | None,
    ram: float | None,
    words: list[str],
) -> Iterator[RunBy]:
    if where is None or (cpus is None and ram is None):
        return
    line, _ = source.position(where.start)
    job = Job(kind, path, line, cpus, ram / MIB if ram is not None else None)
    yield from (RunBy(job, command) for command in _commands(whole, line, " ".join(words)))


def _commands(whole: str, line: int, words: str) -> Iterator[Command]:
    """Yield the commands that a job runs: programs, and scripts of the shell."""
    from cfgfix.usage.commands import Command, commands_of

    yield from commands_of(whole, line, words)
    for found in _SCRIPT.finditer(words):
        yield Command(whole, line, found[1], False, (), (), os.path.dirname(whole))


def _members(node: Node | None) -> dict[str, Node]:
    node = deref(node) if node is not None else None
    if node is None or node.kind is not MAPPING:
        return {}
    return {key.text: deref(value) for key, value in node.items if key.kind is SCALAR}


def _words_of(node: Node | None) -> list[str]:
    if node is None:
        return []
    node = deref(node)
    if node.kind is SCALAR:
        return node.text.split()
    return [word for item in node.items if deref(item).kind is SCALAR for word in deref(item).text.split()]


def _size(node: Node | None, units: Mapping[str, float]) -> float | None:
    return _number(deref(node).text, units) if node is not None and deref(node).kind is SCALAR else None


def _number(text: str, units: Mapping[str, float]) -> float | None:
    found = _QUANTITY.match(text)
    unit = found[2] if found is not None else ""
    factor = units.get(unit, units.get(unit.lower()))
    if found is None or factor is None:
        return None
    size = float(found[1]) * factor
    return size if 0 < size < 2**53 else None


@dataclass(frozen=True, slots=True)
class Image:
    """What an image runs: its entry point, and the arguments or the whole command that stand for those not given."""

    entry: tuple[str, ...]
    command: tuple[str, ...]

    def words(self, entry: list[str], arguments: list[str]) -> list[str]:
        """Return the words that are run.

        The image stands in for an entry point or arguments that are not given.
        """
        if entry:
            return [*entry, *arguments]
        return [*self.entry, *(arguments or self.command)]


NO_IMAGE = Image((), ())


def _image(files: ProjectFiles) -> Image:
    """Return what the project's image runs, where it has one only."""
    images = [path for path in files.texts if path.rpartition("/")[2] == "Dockerfile"]
    return _of_image(os.path.join(files.root, images[0])) if len(images) == 1 else NO_IMAGE


def _of_image(path: str) -> Image:
    """Return what a Dockerfile says that its image runs."""
    try:
        text = read_regular(path, 400_000).decode("utf-8", "replace")
    except OSError:
        return NO_IMAGE
    words: dict[str, list[str]] = {}
    for name, rest in re.findall(r"^\s*(ENTRYPOINT|CMD)\s+(.+?)\s*$", text, re.MULTILINE):
        try:
            listed = json.loads(rest)
        except ValueError:
            listed = rest.split()
        words[name] = [str(word) for word in listed] if isinstance(listed, list) else []
    return Image(tuple(words.get("ENTRYPOINT", ())), tuple(words.get("CMD", ())))


# Scripts


def _of_script(path: str, whole: str, text: str, image: Image) -> Iterator[RunBy]:
    yield from _of_batch_system(path, whole, text)
    if "docker run" not in text:
        return
    own = _BUILT.findall(text)
    joined = re.sub(r"\\\n", "  ", text)
    for number, written in enumerate(joined.split("\n"), 1):
        if "docker run" not in written:
            continue
        options = written.partition("docker run")[2]
        cpus = _option(options, ("--cpus",), _BINARY)
        ram = _option(options, ("--memory", "-m"), _BINARY)
        job = Job("a container", path, number, cpus, ram / MIB if ram is not None else None)
        if cpus is None and ram is None:
            continue
        commands = list(_commands(whole, number, options))
        words = options.split()
        name = next((word for word in words if word in own), None)
        if not commands and name is not None:
            arguments = words[words.index(name) + 1 :]
            commands = list(_commands(whole, number, " ".join(image.words([], arguments))))
        yield from (RunBy(replace(job, line=command.line), command) for command in commands)


def _of_batch_system(path: str, whole: str, text: str) -> Iterator[RunBy]:
    """Yield what a script of Slurm or PBS runs under its limits."""
    from cfgfix.usage.commands import commands_in

    asked = _SBATCH.findall(text)
    if asked:
        options = " ".join(line.partition(" #")[0] for line in asked)
        cpus = _option(options, ("--cpus-per-task", "-c"), _BINARY)
        ram = _option(options, ("--mem",), _BINARY, unit="m")
        each = _option(options, ("--mem-per-cpu",), _BINARY, unit="m")
        if ram is None and each is not None and cpus is not None:
            ram = each * cpus
        if cpus is not None or ram is not None:
            line = text[: text.index("#SBATCH")].count("\n") + 1
            job = Job("a Slurm job", path, line, cpus, ram / MIB if ram is not None else None)
            yield from (RunBy(job, command) for command in commands_in(whole))
    resources = " ".join(_PBS.findall(text))
    if resources:
        found = dict(re.findall(r"\b(ncpus|ppn|mem)=([0-9.]+[A-Za-z]*)", resources))
        cpus = _number(str(found.get("ncpus", found.get("ppn", ""))), _BINARY)
        ram = _number(str(found.get("mem", "")), _BINARY)
        if cpus is not None or ram is not None:
            line = text[: text.index("#PBS")].count("\n") + 1
            job = Job("a PBS job", path, line, cpus, ram / MIB if ram is not None else None)
            yield from (RunBy(job, command) for command in commands_in(whole))


def _option(text: str, names: tuple[str, ...], units: Mapping[str, float], unit: str = "") -> float | None:
    for name in names:
        found = re.search(
            rf"(?:^|\s){re.escape(name)}(?:=|\s+|(?<=-c)|(?<=-m))([0-9.]+[A-Za-z]*)(?=\s|$)", text
        )
        if found is not None:
            written = found[1]
            return _number(written + (unit if written[-1].isdigit() else ""), units)
    return None
