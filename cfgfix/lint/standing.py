"""What one config is judged against: its dialect and a target for each machine, with what the code around says of it."""

from __future__ import annotations

from cfgfix.config.dialects.dialect import Dialect
from cfgfix.config.document.compose import Document
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.core.records import dataclass, replace
from cfgfix.core.source_file import SourceFile
from cfgfix.lint.project import Project, Target
from cfgfix.lint.session import Session
from cfgfix.lint.targets import dialect_of, target_of, with_job_limits, with_meanings

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


def says_of(session: Session, project: Project, source: SourceFile) -> CodeSays | None:
    """Return what the code around a config says of it, where some rule asks for that."""
    if not project.rule_set.code or source.path == "-":
        return None
    return session.code_says(source.path, source)


def standing_of(session: Session, project: Project, document: Document, *, forced: bool) -> Standing:
    """Return what is known of a config before it is judged.

    Args:
        session: What is known while the request is answered.
        project: The project that the config is of.
        document: The config.
        forced: Whether a person says that it is a config of the named dialect.
    """
    dialect = dialect_of(document, project, forced=forced)
    says = says_of(session, project, document.source)
    another = says is not None and says.another
    if says is not None and not says.framework:
        # What no program of TensorFlow opens is judged by its keys.
        says = None
    if says is not None and dialect is None:
        return Standing(project.dialects.get("generic"), says, foreign=False)
    return Standing(dialect, says, another and not forced)


def targets_of(session: Session, project: Project, dialect: Dialect, says: CodeSays | None) -> list[Target]:
    """Return what a config is judged against, once for each machine.

    Args:
        session: What is known while the request is answered; it notes the jobs whose limits count.
        project: The project that the config is of.
        dialect: The config's dialect.
        says: What the code that opens it says.
    """
    targets = [target_of(project, dialect, machine) for machine in project.machines]
    if says is not None and project.settings.loader is None and dialect.name == "generic":
        targets = [replace(target, loader=LOADERS[says.loader]) for target in targets]
    if says is not None and says.reached:
        targets = [with_meanings(target, says.reached) for target in targets]
    if says is not None and says.job is not None and project.settings.hardware is None:
        by_job = [with_job_limits(target, says.job) for target in targets]
        targets = [target for target, _ in by_job]
        session.jobs += [line for _, line in by_job if line not in session.jobs]
    else:
        session.jobless = True
    return targets
