"""Names in code that may be keys of a config, as far as the runs show."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.model.nodes import Attribute, Name
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Scope
from cfgfix.usage.program_runs import ProjectRuns
from cfgfix.usage.run_host import site_of
from cfgfix.usage.run_results import RunResult, Trace, trace_of
from cfgfix.usage.scope_names import names_read
from cfgfix.usage.uncalled import uncalled_scopes, unreached_scopes, words_outside

_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")


class MentionIndex:
    """Finds the names in a project's code that may be keys of its configs."""

    def __init__(self, project: ProjectRuns) -> None:
        self.project = project
        self._trace_list: list[Trace] | None = None
        self._outside: set[str] | None = None

    def _all_traces(self) -> list[Trace]:
        """Return the traces of all runs; none where not all programs were run."""
        project = self.project
        if project.spent():
            return []
        if self._trace_list is None:
            self._trace_list = [*map(trace_of, project.results), *project.others]
        return self._trace_list

    def scopes(self, name: str) -> list[int]:
        """Return the identities of the scopes that mention a name and may be called."""
        found = _scopes_by_name(self.project.program).get(name, ())
        if not found:
            return []
        uncalled = self._uncalled_scopes()
        return [scope for scope in found if scope not in uncalled]

    def _uncalled_scopes(self) -> frozenset[int]:
        project = self.project
        if project.uncalled is None:
            project.uncalled = uncalled_scopes(project)
        return project.uncalled

    def words_outside(self) -> set[str]:
        """Return the words of configs, scripts and unparsable Python files."""
        if self._outside is None:
            self._outside = words_outside(self.project)
        return self._outside

    def defines(self, name: str) -> bool:
        """Tell whether code defines a function or class of this name."""
        return any(
            scope.name == name
            for module in self.project.program.all_modules()
            for scope in module.summary.scopes
        )

    def mentions_for(self, path: str, results: list[RunResult], *, everywhere: bool) -> Mentions:
        """Return the names in code that may be keys of one config.

        Args:
            path: The config.
            results: The runs that open it, also those that take both ways at conditions.
            everywhere: Whether all code counts, because a run that opens the config was cut off.
        """
        mine: set[int] = set()
        asked: set[str] = set()
        of_unknown: set[str] = set()
        sites = {site_of(result.opened[path].loading)[-1] for result in results if path in result.opened}
        for result in results:
            of_unknown |= result.run.of_unknown
            for site, (_, key) in result.unresolved.items():
                if site[-1] in sites:
                    # The same call by another way, of which it is not known which file it gets.
                    asked |= key.asked
            if not result.run.exhausted:
                mine |= result.run.entered.keys() - result.run.left_early
        others: set[int] = set()
        explained: set[str] = set()
        paths = {other for result in results if path in result.opened for other in result.opened[path].keys}
        # Where not all programs were run, what others read explains nothing.
        for trace in self._all_traces():
            if path in trace.opened or trace.exhausted or not sites.isdisjoint(trace.loaded):
                continue
            others |= trace.scopes
            # What another program reads of a config that it loads elsewhere is no key of this one.
            explained.update(name for name, inner in trace.names if inner is None or inner not in paths)
            explained.update(trace.asked)
        if everywhere:
            mine, others = set(), set()
        return Mentions(self, mine, others, explained, asked | of_unknown, of_unknown)


class Mentions:
    """The names in code that may be keys of one config."""

    def __init__(
        self,
        code: MentionIndex,
        mine: set[int],
        others: set[int],
        explained: set[str],
        asked: set[str],
        of_unknown: set[str],
    ) -> None:
        self._code = code
        self._mine = mine
        self._others = others
        self._explained = explained
        self._asked = asked
        self._of_unknown = of_unknown
        self._unreached: frozenset[int] | None = None

    def __contains__(self, name: str) -> bool:
        """Tell whether code that no run explains mentions a name."""
        if name in self._asked:
            return True
        explained = name in self._explained
        places = [
            scope
            for scope in self._code.scopes(name)
            if scope not in self._mine and not (explained and scope in self._others)
        ]
        return bool(places) and not self._reached_by_none(places)

    def _reached_by_none(self, scopes: list[int]) -> bool:
        """Tell whether the runs cannot reach any of the scopes, as far as names show."""
        if not self._mine:
            return False
        if self._unreached is None:
            asked = self._of_unknown | self._code.words_outside()
            self._unreached = unreached_scopes(self._code.project.program, self._mine, asked)
        return self._unreached.issuperset(scopes)


@once
def _scopes_by_name(program: Program) -> dict[str, list[int]]:
    """Return for each name the identities of the scopes that mention it.

    -1 stands for a file that cannot be read as Python.
    """
    index: dict[str, list[int]] = {}
    modules = list(program.all_modules())
    scopes = [
        scope
        for module in modules
        for scope in module.summary.scopes
        if scope.kind not in ("lambda", "comprehension")
    ]
    spread = {name for scope in scopes for name in _given_sections(scope)}
    for scope in scopes:
        names = set(names_read(scope))
        called = scope.module.summary.scopes[scope.parent] if scope.name == "__init__" else scope
        if called.name in spread:
            names.update(name for name, _, _, kind in scope.params if kind in ("plain", "keyword"))
        for found in names:
            index.setdefault(found, []).append(id(scope))
    for path in program.unread():
        for word in frozenset(_WORD.findall(program.content_of(path))):
            index.setdefault(word.decode("ascii"), []).append(-1)
    return index


def _given_sections(scope: Scope) -> Iterator[str]:
    """Yield the names of functions that a scope calls with `**mapping`."""
    for call in scope.calls:
        if any(name is None for name, _ in call.keywords):
            if isinstance(call.func, Attribute):
                yield call.func.attribute
            elif isinstance(call.func, Name):
                yield call.func.name
