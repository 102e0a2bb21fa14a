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
    from cfgfix.usage.code_facts import CodeFacts


@dataclass(frozen=True, slots=True)
class Recognition:
    """The dialect of a config and the code's facts, known before it is judged.

    Attributes:
        dialect: Its dialect; None where neither its keys nor code say that it is a training config.
        code_facts: What the code that opens it says, where a program of TensorFlow does.
        foreign: Whether only programs of another framework open it.
    """

    dialect: Dialect | None
    code_facts: CodeFacts | None
    foreign: bool


def code_facts_of(session: Session, project: Project, source: SourceFile) -> CodeFacts | None:
    """Return what the code around a config says of the file.

    None where no selected rule asks for that, or no code opens the file.
    """
    if not project.rule_set.code or source.path == "-":
        return None
    return session.code_facts(source.path, source)


def recognise(session: Session, project: Project, document: Document, *, forced: bool) -> Recognition:
    """Return the dialect of a config, the code's facts, and whether it is foreign.

    Args:
        session: What is known while the request is answered.
        project: The project that the config is of.
        document: The config.
        forced: Whether a person says that it is a config of the named dialect.
    """
    dialect = dialect_of(document, project, forced=forced)
    code_facts = code_facts_of(session, project, document.source)
    another = code_facts is not None and code_facts.another
    if code_facts is not None and not code_facts.framework:
        # What no program of TensorFlow opens is judged by its keys.
        code_facts = None
    if code_facts is not None and dialect is None:
        return Recognition(project.dialects.get("generic"), code_facts, foreign=False)
    return Recognition(dialect, code_facts, another and not forced)


def targets_of(
    session: Session, project: Project, dialect: Dialect, code_facts: CodeFacts | None
) -> list[Target]:
    """Return the targets that a config is judged against, one for each machine.

    Args:
        session: What is known while the request is answered; it notes the jobs whose limits count.
        project: The project that the config is of.
        dialect: The config's dialect.
        code_facts: What the code that opens it says.
    """
    targets = [target_of(project, dialect, machine) for machine in project.machines]
    if code_facts is not None and project.settings.loader is None and dialect.name == "generic":
        targets = [replace(target, loader=LOADERS[code_facts.loader]) for target in targets]
    if code_facts is not None and code_facts.reached:
        targets = [with_meanings(target, code_facts.reached) for target in targets]
    if code_facts is not None and code_facts.job is not None and project.settings.hardware is None:
        by_job = [with_job_limits(target, code_facts.job) for target in targets]
        targets = [target for target, _ in by_job]
        session.jobs += [line for _, line in by_job if line not in session.jobs]
    else:
        session.jobless = True
    return targets
