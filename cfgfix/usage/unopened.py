"""Why no program is known to open a file: what was found in the code, and what is lacking to say more."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from cfgfix.code.model.expressions import dotted, walk_own
from cfgfix.code.model.nodes import Expr, Literal
from cfgfix.code.model.summary import Scope
from cfgfix.config.document.compose import MAPPING, SCALAR, Document
from cfgfix.core.records import dataclass, field
from cfgfix.usage.project_files import DATA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.usage.program_runs import ProjectRuns

MAX_SITES = 64
"""Most load sites that are kept of a project."""
MAX_MENTIONS = 2_000
MAX_NAMES = 3


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call that loads an unknown file.

    Attributes:
        place: Where it stands, as `path:line`.
        endings: The extensions of the files that it may load.
        names: The keys that its program reads at the top of the file.
    """

    place: str
    endings: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FollowedCode:
    """What was found of a repository's code, for configs that no code opens.

    Attributes:
        modules: How many Python files it has.
        programs: How many programs that may load a file were followed.
        framework: How many of them use TensorFlow or Keras.
        cut_off: Whether the code is too much to follow all of it.
        calls: The calls that load unknown files.
        mentions: Where code names a file, by the file's name.
    """

    modules: int = 0
    programs: int = 0
    framework: int = 0
    cut_off: bool = False
    calls: tuple[OpenCall, ...] = ()
    mentions: dict[str, str] = field(default_factory=dict)

    def why_not(self, path: str, names: Collection[str]) -> str:
        """Return in words why no program is known to open a file.

        Args:
            path: The file.
            names: Its keys at the top.
        """
        if not self.programs:
            return "no program here loads a file, as far as the code tells"
        if not self.framework:
            return "no program here that loads a file comes to TensorFlow"
        own = set(names)
        calls = [call for call in self.calls if path.endswith(call.endings)]
        calls.sort(key=lambda call: -len(own.intersection(call.names)))
        if calls:
            best = calls[0]
            shared = [name for name in best.names if name in own]
            if shared:
                return (
                    f"{best.place} loads a file that is not known and reads {_count_text(len(best.names), 'key')} of it; "
                    f"this one has {len(shared)} of them ({_name_list(shared)}). "
                    "A command that names the file, in a script or README, would tell"
                )
        named = self.mentions.get(os.path.basename(path))
        if named is not None:
            return f"{named} names it, and no program that was followed loads it there"
        if calls:
            return f"{calls[0].place} loads a file that is not known, and asks for none of its keys"
        if self.cut_off:
            return "the code is too much to follow all of it, and what was followed does not load it"
        programs = _count_text(self.framework, "program")
        verb = "names" if self.framework == 1 else "name"
        return f"the {programs} here {verb} every file loaded, and this is none of them"


_LOADS = frozenset({"yaml.safe_load", "yaml.load", "yaml.full_load", "json.load", "json.loads"})


def loading_classes(project: ProjectRuns) -> Iterator[str]:
    """Yield the classes with fields that load their objects from a file.

    Each has the form `path:Class`. None where no program uses TensorFlow.
    """
    if not any(entrance.framework for entrance in project.entered):
        return
    for module in project.program.all_modules():
        scopes = module.summary.scopes
        found = {
            scopes[scope.parent].qualname
            for scope in scopes
            if scope.kind == "function"
            and scope.parent > 0
            and scope.params
            and scope.params[0].name == "cls"
            and any(event.kind == "annotate" for event in scopes[scope.parent].body)
            and any(dotted(call.func) in _LOADS for call in scope.calls)
        }
        for name in sorted(found):
            yield f"{project.relative(module.path)}:{name}"


def _count_text(count: int, word: str) -> str:
    return f"{count} {word if count == 1 else word + 's'}"


def _name_list(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:MAX_NAMES])
    return shown if len(names) <= MAX_NAMES else f"{shown} and so on"


def followed_code(project: ProjectRuns) -> FollowedCode:
    """Return what the runs of a project found, for configs that no run opens."""
    from cfgfix.usage.run_results import loads_form

    calls: dict[tuple[str, tuple[str, ...]], set[str]] = {}
    for site in project.open_sites:
        if not site.entrance.framework or not site.names or len(calls) >= MAX_SITES:
            continue
        spot = site.loading.spot
        place = f"{project.relative(spot.path)}:{spot.line}"
        calls.setdefault((place, loads_form(site.loading.how)), set()).update(site.names)
    return FollowedCode(
        len(project.program.files),
        len(project.entered),
        sum(1 for entrance in project.entered if entrance.framework),
        project.spent(),
        tuple(OpenCall(place, endings, tuple(sorted(names))) for (place, endings), names in calls.items()),
        _data_file_mentions(project),
    )


def _data_file_mentions(project: ProjectRuns) -> dict[str, str]:
    """Return where the code names data files of the project, by file name."""
    wanted = {path.rpartition("/")[2] for path in project.files.data}
    found: dict[str, str] = {}
    for module in project.program.all_modules():
        for scope in module.summary.scopes:
            for line, text in _file_name_texts(scope):
                name = text.rpartition("/")[2]
                if name in wanted and len(found) < MAX_MENTIONS:
                    found.setdefault(name, f"{project.relative(module.path)}:{line}")
    return found


def _file_name_texts(scope: Scope) -> Iterator[tuple[int, str]]:
    """Yield the texts of a scope that end like config file names, with their lines."""
    events = list(scope.body)
    while events:
        event = events.pop()
        for expr in (event.value, *event.targets):
            for text in _of_expression(expr):
                yield event.line, text
        for _, inner in event.bodies or ():
            events += inner
    for call in scope.calls:
        for expr in (*call.args, *(value for _, value in call.keywords)):
            for text in _of_expression(expr):
                yield call.line, text


def _of_expression(expr: Expr | None) -> Iterator[str]:
    for here in islice(walk_own(() if expr is None else (expr,)), 2_000):
        if isinstance(here, Literal) and isinstance(here.value, str) and here.value.endswith(DATA):
            yield here.value


def top_names(document: Document) -> list[str]:
    """Return the outermost keys of a YAML file; empty if the file does not parse."""
    return [
        key.text
        for root in document.roots[:1]
        if document.problem is None and root.kind == MAPPING
        for key, _ in root.items
        if key.kind == SCALAR
    ]
