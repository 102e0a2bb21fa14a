"""The formats of a report: what each is for, and what writes it.

The page of the documentation is made from this list, with an example of each (`tools/make_docs.py`).
"""

from __future__ import annotations

from cfgfix.core.records import dataclass
from cfgfix.core.terminal import Paint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from cfgfix.lint.request import Report

    class Formatter(Protocol):
        """A function that writes a report in one format."""

        def __call__(self, report: Report, style: Style, /) -> str:
            """Return the report as text."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a person wants a report shown; formats for programs have one form."""

    paint: Paint = Paint(on=False)
    show_skipped: bool = False
    quiet: bool = False


PLAIN = Style()


@dataclass(frozen=True, slots=True)
class Format:
    """One format."""

    name: str
    """What `--output-format` calls it."""
    purpose: str
    """Who reads it, as part of a sentence."""
    module: str
    """The module that writes it, imported only where it is asked for."""
    function: str = "render"
    for_people: bool = False
    """Whether a person reads it: it has a style, and may change in any version."""
    needs_edits: bool = False
    """Whether it holds the edits of every fix."""

    def formatter(self) -> Formatter:
        """Return the function that writes the format."""
        import importlib

        found: Formatter = getattr(importlib.import_module(self.module), self.function)
        return found


FORMATS = {
    entry.name: entry
    for entry in (
        Format(
            "text",
            "people, with the lines concerned",
            "cfgfix.output.text",
            for_people=True,
        ),
        Format(
            "concise",
            "people and editors, a line for each finding",
            "cfgfix.output.text",
            "concise",
            for_people=True,
        ),
        Format("json", "scripts that read a whole report", "cfgfix.output.json"),
        Format("jsonl", "scripts that read a stream", "cfgfix.output.json", "render_lines"),
        Format("sarif", "code scanning and editors", "cfgfix.output.sarif", needs_edits=True),
        Format("github", "annotations of GitHub Actions", "cfgfix.output.github"),
        Format("gitlab", "the code quality widget of GitLab", "cfgfix.output.gitlab"),
        Format("junit", "Jenkins and other readers of test results", "cfgfix.output.junit"),
    )
}
"""All formats by name, in the order of the help."""
