"""The limits under which a job runs: CPUs, memory and cards, as manifests and schedulers write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from cfgfix.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.hardware.spoken_names import SpokenCard
    from cfgfix.usage.commands import Command

MIB = 2**20
_QUANTITY = re.compile(r"^\s*([0-9]*\.?[0-9]+)\s*([A-Za-z]*)\s*$")
_DEFAULT = re.compile(r"^\$\{\w+:?-([^}]*)\}$")
"""A variable of a Compose file with what counts without it."""
KUBERNETES = {
    "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "m": 1e-3,
}  # fmt: skip
"""Units of quantities (kubernetes.io, Resource units)."""
BINARY = {
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


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a job; None or an empty text for those not given.

    Attributes:
        cpus: The CPUs.
        ram_mib: The memory in MiB.
        card: The id of its card in the table of cards.
        said: The job's name for the card, where the name may mean another card, too.
        gpus: How many cards.
    """

    cpus: float | None = None
    ram_mib: float | None = None
    card: str = ""
    said: str = ""
    gpus: int | None = None

    @property
    def are_known(self) -> bool:
        """Whether any limit is given."""
        return self != Limits()

    def under(self, other: Limits) -> Limits:
        """Return these limits, overridden by the limits that `other` gives."""
        named = other if other.card else self
        return Limits(
            other.cpus if other.cpus is not None else self.cpus,
            other.ram_mib if other.ram_mib is not None else self.ram_mib,
            named.card,
            named.said,
            other.gpus if other.gpus is not None else self.gpus,
        )


@dataclass(frozen=True, slots=True)
class Job:
    """A job that runs a program under limits.

    Attributes:
        kind: The kind of job, in words.
        path: The file that gives the limits, relative to the project.
        line: The 1-based line of the limits.
        limits: The limits of the job.
    """

    kind: str
    path: str
    line: int
    limits: Limits


@dataclass(frozen=True, slots=True)
class RunBy:
    """A job and a command that it runs."""

    job: Job
    command: Command


def number_of(text: str, units: Mapping[str, float]) -> float | None:
    """Return a quantity with a unit as a number; None for any other text."""
    default = _DEFAULT.match(text)
    found = _QUANTITY.match(default[1] if default is not None else text)
    unit = found[2] if found is not None else ""
    factor = units.get(unit, units.get(unit.lower()))
    if found is None or factor is None:
        return None
    size = float(found[1]) * factor
    return size if 0 < size < 2**53 else None


def count_of_set(text: str) -> float | None:
    """Return how many CPUs a set such as `0-3,8` has; None for any other text."""
    count = 0
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
        if found is None:
            return None
        count += int(found[2] or found[1]) - int(found[1]) + 1
    return count if 0 < count < 10_000 else None


def size_option(text: str, names: tuple[str, ...], unit: str = "") -> float | None:
    """Return the number that a command-line option gives; None where there is none."""
    written = option(text, names)
    return number_of(written + (unit if written[-1].isdigit() else ""), BINARY) if written else None


def option(text: str, names: tuple[str, ...]) -> str | None:
    """Return the value of a command-line option as written; None for none."""
    for name in names:
        short = rf"|(?<=-{name[1]})" if len(name) == 2 else ""
        found = re.search(
            rf"(?:^|\s){re.escape(name)}(?:=|\s+{short})([\"']?)([\w.:,|&*+-]+)\1(?=\s|$)", text
        )
        if found is not None:
            return found[2]
    return None


def of_slurm(options: str) -> Limits:
    """Return the limits for one task that options of sbatch or srun ask for."""
    cpus = size_option(options, ("--cpus-per-task", "-c"))
    ram = size_option(options, ("--mem",), unit="m")
    each = size_option(options, ("--mem-per-cpu",), unit="m")
    if ram is None and each is not None and cpus is not None:
        ram = each * cpus
    card, count = _cards_of_slurm(options)
    tasks = max(
        (size_option(options, names) or 1 for names in (("--ntasks-per-node",), ("--ntasks", "-n"))),
    )
    return Limits(
        cpus,
        ram / MIB if ram is not None else None,
        card.card if card is not None else "",
        card.said if card is not None else "",
        # Which of the cards each of several tasks is given stands elsewhere.
        count if tasks <= 1 else None,
    )


def _cards_of_slurm(options: str) -> tuple[SpokenCard | None, int | None]:
    from cfgfix.hardware.spoken_names import spoken_card

    asked = option(options, ("--gres", "--gpus", "-G", "--gpus-per-node", "--gpus-per-task"))
    card, count = None, None
    for part in (asked or "").split(","):
        words = [word for word in part.split(":") if word != "gpu"]
        if asked is None or ("--gres" in options and not part.startswith("gpu")):
            continue
        count = next((int(word) for word in words if word.isdigit()), 1)
        card = next((found for word in words if not word.isdigit() and (found := spoken_card(word))), None)
    if card is None:
        wanted = option(options, ("--constraint", "-C")) or ""
        named = [spoken_card(word) for word in re.split(r"[|&,*+]", wanted)]
        cards = {found.card: found for found in named if found is not None}
        # One of several cards is not known, and neither is what is beside them.
        card = next(iter(cards.values())) if len(cards) == 1 and ("|" not in wanted or all(named)) else None
    return card, count


def of_container(options: str) -> Limits:
    """Return the limits that options of `docker run` and similar commands give."""
    cpus = size_option(options, ("--cpus",))
    if cpus is None:
        cpus = count_of_set(option(options, ("--cpuset-cpus",)) or "")
    ram = size_option(options, ("--memory", "-m"))
    gpus = option(options, ("--gpus",))
    return Limits(
        cpus,
        ram / MIB if ram is not None else None,
        gpus=int(gpus) if gpus is not None and gpus.isdigit() and cpus is not None else None,
    )


_SGE = re.compile(
    r"^#\$\s+-pe\s+(?:smp|shm|shared|thread\w*|openmp|omp|multicore|multi_?thread)\s+(\d+)\s*$", re.MULTILINE
)
_LSF = re.compile(r"^#BSUB\s+-n\s+(\d+)\s*$", re.MULTILINE)
_SBATCH = re.compile(r"^#SBATCH\s+(.*)$", re.MULTILINE)
_PBS = re.compile(r"^#PBS\s+-l\s+(\S+)", re.MULTILINE)


def _of_slurm_script(text: str) -> Limits:
    return of_slurm(" ".join(line.partition(" #")[0] for line in _SBATCH.findall(text)))


def _of_pbs_script(text: str) -> Limits:
    found = dict(re.findall(r"\b(ncpus|ppn|mem|ngpus)=([0-9.]+[A-Za-z]*)", " ".join(_PBS.findall(text))))
    ram = number_of(str(found.get("mem", "")), BINARY)
    gpus = str(found.get("ngpus", ""))
    return Limits(
        number_of(str(found.get("ncpus", found.get("ppn", ""))), BINARY),
        ram / MIB if ram is not None else None,
        gpus=int(gpus) if gpus.isdigit() else None,
    )


def _of_grid_engine_script(text: str) -> Limits:
    found = _SGE.search(text)
    return Limits(float(found[1]) if found is not None else None)


def _of_lsf_script(text: str) -> Limits:
    found = _LSF.search(text)
    # Slots may lie on several hosts.
    return Limits(float(found[1]) if found is not None and "span[hosts=1]" in text else None)


_BATCH_SYSTEMS: tuple[tuple[str, str, Callable[[str], Limits]], ...] = (
    ("#SBATCH", "a Slurm job", _of_slurm_script),
    ("#PBS", "a PBS job", _of_pbs_script),
    ("#$ -pe", "a Grid Engine job", _of_grid_engine_script),
    ("#BSUB", "an LSF job", _of_lsf_script),
)


def of_batch_script(path: str, text: str) -> Iterator[Job]:
    """Yield the jobs that the comments of a batch script describe."""
    for mark, kind, read in _BATCH_SYSTEMS:
        if mark in text and (limits := read(text)).are_known:
            yield Job(kind, path, text[: text.index(mark)].count("\n") + 1, limits)
