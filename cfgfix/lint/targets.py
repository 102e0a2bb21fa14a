"""What one config is judged against: its dialect and a target for each machine, with what the code around says of it."""

from __future__ import annotations

from cfgfix.config.dialects.dialect import Dialect
from cfgfix.config.document.compose import Document
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.core.records import dataclass, replace
from cfgfix.core.source_file import SourceFile
from cfgfix.lint.checkers.project import Target
from cfgfix.lint.session import Run, Runs, dialect_of, target_of, with_job_limits, with_meanings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.usage.code_says import CodeSays


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a config before it is judged.

    Attributes:
        dialect: Its dialect; None where neither its keys nor code say that it is a training config.
        says: What the code that opens it says, where a program of TensorFlow does.
        foreign: Whether only programs of another framework open it.
    """

    dialect: Dialect | None
    says: CodeSays | None
    foreign: bool


def says_of(runs: Runs, run: Run, source: SourceFile) -> CodeSays | None:
    """Return what the code around a config says of it, where some rule asks for that."""
    if not run.rule_set.code or source.path == "-":
        return None
    return runs.code_says(source.path, source)


def standing_of(runs: Runs, run: Run, document: Document, *, forced: bool) -> Standing:
    """Return what is known of a config before it is judged.

    Args:
        runs: What the whole run rests on.
        run: What the settings of its folder come to.
        document: The config.
        forced: Whether a person says that it is a config of the named dialect.
    """
    dialect = dialect_of(document, run, forced=forced)
    says = says_of(runs, run, document.source)
    another = says is not None and says.another
    if says is not None and not says.framework:
        # What no program of TensorFlow opens is judged by its keys.
        says = None
    if says is not None and dialect is None:
        return Standing(run.dialects.get("generic"), says, foreign=False)
    return Standing(dialect, says, another and not forced)


def targets_of(runs: Runs, run: Run, dialect: Dialect, says: CodeSays | None) -> list[Target]:
    """Return what a config is judged against, once for each machine.

    Args:
        runs: What the whole run rests on; it notes the jobs whose limits count.
        run: What the settings of its folder come to.
        dialect: The config's dialect.
        says: What the code that opens it says.
    """
    targets = [target_of(run, dialect, machine) for machine in run.machines]
    if says is not None and run.settings.loader is None and dialect.name == "generic":
        targets = [replace(target, loader=LOADERS[says.loader]) for target in targets]
    if says is not None and says.reached:
        targets = [with_meanings(target, says.reached) for target in targets]
    if says is not None and says.job is not None and run.settings.hardware is None:
        by_job = [with_job_limits(target, says.job) for target in targets]
        targets = [target for target, _ in by_job]
        runs.jobs += [line for _, line in by_job if line not in runs.jobs]
    else:
        runs.jobless = True
    return targets
