"""All checkers; the runner asks each of them of every config, of the code, and of the project as a whole."""

from __future__ import annotations

from cfgfix.lint.checkers.concepts import ConceptChecker
from cfgfix.lint.checkers.schema import SchemaChecker
from cfgfix.lint.checkers.source import SourceChecker
from cfgfix.lint.checkers.usage import RunsChecker, UsageChecker
from cfgfix.lint.checkers.values import ValueChecker
from cfgfix.lint.project import Checker, Project

CHECKERS: tuple[type[Checker], ...] = (
    ValueChecker,
    SchemaChecker,
    UsageChecker,
    ConceptChecker,
    RunsChecker,
    SourceChecker,
)
"""In the order in which their hits are told where they stand at one place."""


def checkers_for(project: Project) -> tuple[Checker, ...]:
    """Return the checkers of a project, which carry out its rules."""
    return tuple(make(project) for make in CHECKERS)
