"""Make the findings of a program from the hits of its checks: policy, guards, configs, the places in the text."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cfgfix.code.fixes.rewrite import changes, confirm
from cfgfix.code.fixes.under import Repair, in_configs, repair_of
from cfgfix.code.inference.conditions import Conditions
from cfgfix.code.inference.entry_points import (
    is_for_python2,
    is_never_called,
    is_never_given,
    is_never_named,
    is_never_run,
    is_test,
    never_imported,
    never_run,
)
from cfgfix.code.inference.expected_errors import is_caught, is_error_expected
from cfgfix.code.inference.flow.run import MAX_WAYS
from cfgfix.code.inference.guards import expects_absence, guarding_default, is_unreachable
from cfgfix.code.inference.references import requirement_of
from cfgfix.code.inference.three_values import UNKNOWN
from cfgfix.code.model.given import GivenByConfigs, GivenValue, Substitution
from cfgfix.code.model.hit import CodePlace, Rewrite, Step, Way, place_in_code
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Place
from cfgfix.code.model.positions import CannotRewriteError, Offsets
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.core.edits import Change, Fix
from cfgfix.core.findings import Finding, Location, Severity, State
from cfgfix.core.records import dataclass, replace
from cfgfix.core.source_file import SourceFile
from cfgfix.rules.hit import Hit, HitPlace
from cfgfix.rules.report import make_finding, severity_of, tell_cut
from cfgfix.rules.rule import About, InTests, InTry, Notebooks, Rule

PUT_ASIDE = frozenset(
    {
        "archive",
        "archived",
        "attic",
        "backup",
        "backups",
        "dead_code",
        "deadcode",
        "debugging",
        "deprecated",
        "graveyard",
        "obsolete",
        "playground",
        "sandbox",
        "scraps",
        "scratch",
        "trash",
        "unused",
    }
)
"""Folders inside a program of what nobody runs any more and nobody has deleted, and of what is only tried: all is only info there."""
_KEPT_COPY = re.compile(r"[._-](?:bak|backup)\d?\.(?:py|ipynb)$")
"""Names of files that are kept beside what has taken their place."""
MAX_FINDINGS = 200
"""Most findings of one rule in one file."""
MOST_TEXT = 1_000_000
"""Characters of text that are held while findings are made, beside the text at work."""
MAX_CONFIG_SETS = 3
"""Most sets of values of configs that a program is judged with."""
MAX_ORIGINS = 3
"""Most places in configs that a finding names."""


@dataclass(frozen=True, slots=True)
class ConfigFacts:
    """What one config says, for guards.

    Attributes:
        path: Its file, for messages.
        leaves: Key paths and their values as the project's loader gives them.
    """

    path: str
    leaves: Mapping[tuple[str, ...], Any]

    def lookup(self) -> Callable[[tuple[str, ...]], Any]:
        """Return the function that finds the value of a key by the end of its path."""
        by_last: dict[str, list[tuple[tuple[str, ...], Any]]] = {}
        for path, value in self.leaves.items():
            by_last.setdefault(path[-1], []).append((path, value))

        def look(path: tuple[str, ...]) -> Any:
            found = by_last.get(path[-1], [])
            exact = [value for key, value in found if key[-len(path) :] == path]
            if not exact and len(path) > 1:
                section = path[-2].replace("_config", "").replace("_cfg", "")
                exact = [value for key, value in found if len(key) > 1 and key[-2] == section]
            if not exact and len(path) == 1:
                exact = [value for _, value in found]
            if not exact:
                return UNKNOWN
            first = exact[0]
            return first if all(type(v) is type(first) and v == first for v in exact) else UNKNOWN

        return look


class FindingMaker:
    """Makes the findings of a program from the hits of its checks."""

    def __init__(
        self,
        program: Program,
        conditions: Sequence[tuple[ConfigFacts | None, Conditions]],
        severity: Callable[[Rule, Severity], Severity],
        folder: str,
    ) -> None:
        self.program = self._program = program
        self._folder = folder
        """What the program's files have in common; the folders above it say nothing of them."""
        self.findings: dict[str, list[Finding]] = {}
        self._conditions = conditions
        self._severity = severity
        self._seen: dict[tuple[str, str, Place], tuple[Hit, list[_ConfigVerdict], int]] = {}
        self._files = _ProgramTexts()
        self._confirmed: dict[tuple[int, Place], bool] = {}
        self._count: dict[tuple[str, str], int] = {}
        self._cut: dict[str, set[str]] = {}

    def take(self, hits: Iterable[tuple[Rule, Hit]]) -> None:
        """Add the findings of hits in the program."""
        for rule, hit in hits:
            self.add(rule, hit)

    def add(self, rule: Rule, hit: Hit) -> None:
        """Add the finding of a hit where policy and the code around let it stand."""
        at = place_in_code(hit)
        module: Module = at.scope.module
        path = module.path
        identity = (rule.id, path, at.place)
        rests_on = (at.scope, *(scope for scope, _ in at.needs))
        if rule.policy.in_test_modules is InTests.SKIP and any(is_test(one.module) for one in rests_on):
            return
        if is_unreachable(self._program, at.scope, at.block, at.place) or is_error_expected(
            at.scope, at.block
        ):
            return
        if rule.policy.skips_guards and expects_absence(at.scope, at.block, at.place):
            return
        if (
            rule.policy.in_try is InTry.SKIP
            and severity_of(rule, hit) is Severity.ERROR
            and is_caught(at.scope, at.block)
        ):
            return
        if at.entry is not None:
            at = replace(at, flow=at.entry.flow())
            hit = replace(hit, at=at)
        verdicts = self._verdicts_of_configs(at)
        if (
            _best_verdict(verdicts).state is not State.ACTIVE
            and self._severity_before_settings(rule, hit, path) is Severity.INFO
        ):
            # What is only worth knowing is not worth knowing where it does not happen.
            return
        previous = self._seen.get(identity)
        if previous is not None:
            # The same place once more: what takes effect is the one to show.
            shown, before, index = previous
            together = [min(pair, key=_verdict_rank) for pair in zip(before, verdicts, strict=True)]
            if all(new is old for new, old in zip(together, before, strict=True)):
                return
            if _verdict_rank(_best_verdict(together)) < _verdict_rank(_best_verdict(before)):
                shown = hit
            self.findings[path][index] = self._finding_of_hit(rule, shown, module, together)
            self._seen[identity] = (shown, together, index)
            return
        if self._count.get((rule.id, path), 0) >= MAX_FINDINGS:
            self._cut.setdefault(path, set()).add(rule.id)
            return
        key = (id(at.scope), at.place)
        confirmed = True if at.seen else self._confirmed.get(key)
        if confirmed is None:
            confirmed = self._confirmed[key] = confirm(at.scope, at.place, self._files.offsets(module))
        if not confirmed:
            return
        finding = self._finding_of_hit(rule, hit, module, verdicts)
        items = self.findings.setdefault(path, [])
        self._seen[identity] = (hit, verdicts, len(items))
        self._count[(rule.id, path)] = self._count.get((rule.id, path), 0) + 1
        items.append(finding)

    def in_order(self) -> dict[str, list[Finding]]:
        """Return the findings by file and place; the last of a rule cut off says so."""
        for path, items in self.findings.items():
            items.sort(key=lambda finding: (finding.location.start, finding.rule, finding.location.end))
            tell_cut(items, self._cut.get(path, ()), MAX_FINDINGS)
        return self.findings

    def add_given_by_configs(
        self,
        found: Sequence[tuple[FindingMaker, Sequence[Substitution], GivenByConfigs]],
        left: frozenset[str],
        *,
        whole: bool,
    ) -> None:
        """Add what is found only under configs, each with where its values stand.

        Args:
            found: What is found under some configs, with what was put in which place.
            left: Rules of which that is told at the config.
            whole: Whether these are all configs.
        """
        holding: dict[tuple[str, str, int], _ConfigFinding] = {}
        for other, replaced, under in found:
            hits = other.hits()
            for path, items in other.findings.items():
                known = {(finding.rule, finding.location.start) for finding in self.findings.get(path, ())}
                for finding in items:
                    if (finding.rule, finding.location.start) in known:
                        continue
                    causes = other.causes(finding, replaced)
                    if finding.rule in left and causes and all(given.unchanged for given in causes):
                        continue
                    key = finding.rule, path, finding.location.start
                    shown = holding.setdefault(key, _ConfigFinding(finding, [], []))
                    shown.causes.extend(causes)
                    hit = hits.get(id(finding))
                    rewrites = _rewrites_of_hit(hit) if hit is not None else ()
                    shown.repairs.append((under, repair_of(rewrites, _without_others(replaced, causes))))
        every = [under for _, _, under in found]
        for (_, path, _), item in holding.items():
            origins = list(dict.fromkeys(map(_location_of_value, item.causes)))[:MAX_ORIGINS]
            configs = [name for under, _ in item.repairs for name in under.configs]
            names = ", ".join(configs[:MAX_ORIGINS]) + (" ..." if len(configs) > MAX_ORIGINS else "")
            finding = item.finding
            fix, reason = item.fix(every, whole=whole)
            if fix is None and reason is None and origins:
                reason = f"the value stands in {origins[0].path}"
            self.findings.setdefault(path, []).append(
                replace(
                    finding,
                    related=(*finding.related, *origins),
                    notes=(f"holds under {names}", *finding.notes),
                    fix=fix,
                    no_fix_reason=reason if fix is None else None,
                )
            )

    def hits(self) -> dict[int, Hit]:
        """Return the hit of each finding, by the identity of the finding."""
        return {id(self.findings[path][index]): hit for (_, path, _), (hit, _, index) in self._seen.items()}

    def causes(self, finding: Finding, replaced: Sequence[Substitution]) -> list[GivenValue]:
        """Return the values that a finding rests on, as far as its places and words tell."""
        at = finding.location
        exact = [
            item.given
            for item in replaced
            if item.place is not None and _lies_in(at, self.location(item.scope, item.place))
        ]
        if len(exact) == 1:
            return exact
        places = (at, *finding.related, *finding.flow)
        near = exact or [
            item.given
            for item in replaced
            if any(_lies_in(place, self.location(item.scope, item.around)) for place in places)
        ]
        texts = [given for given in near if isinstance(given.value, str) and given.value in finding.message]
        words = [given for given in near if isinstance(given.value, (bool, str))]
        return texts or words or near or [item.given for item in replaced]

    def _severity_before_settings(self, rule: Rule, hit: Hit, path: str) -> Severity:
        """Return the severity of a hit before the settings have their say."""
        if rule.policy.named is not None and place_in_code(hit).scope.module.file.named:
            return rule.policy.named
        severity = self._level_in_use(rule, hit, path)
        if not is_test(place_in_code(hit).scope.module):
            return severity
        return min(severity, rule.policy.in_test_modules.highest or Severity.INFO)

    def _level_in_use(self, rule: Rule, hit: Hit, path: str) -> Severity:
        """Return the severity of a hit by what runs its place."""
        severity = severity_of(rule, hit)
        at = place_in_code(hit)
        of_release = rule.policy.about is About.RELEASE
        if not of_release and at.flow and is_test(at.flow[0].scope.module) and not is_test(at.scope.module):
            # A test tries what a program as a rule does not do; what a release refuses it refuses there too.
            return Severity.INFO
        if not PUT_ASIDE.isdisjoint(os.path.dirname(os.path.relpath(path, self._folder)).split(os.sep)):
            return Severity.INFO
        if _KEPT_COPY.search(path):
            return Severity.INFO
        if path.endswith(".ipynb") and (
            rule.policy.notebooks is Notebooks.INFO
            or (severity is Severity.WARNING and rule.policy.notebooks is Notebooks.ERRORS_ONLY)
        ):
            return Severity.INFO
        if severity is not Severity.INFO and (
            self._is_unused(at) or is_for_python2(self._program, at.scope.module)
        ):
            return Severity.INFO
        # A method may be what a library calls; a function of the module's own is called by its name.
        if severity is not Severity.INFO and at.scope.parent == 0 and never_run(self._program, at.scope):
            return Severity.INFO
        fails = severity is Severity.ERROR or of_release
        if severity is not Severity.INFO:
            given = guarding_default(at.scope, at.block, at.place)
            if given and is_never_given(self._program, at.scope, given):
                # Nothing in the program asks for the way that leads here.
                return Severity.INFO
        if severity is not Severity.INFO and self._is_unreached(at, fails=fails):
            # It would fail or be slow, and nothing in the program comes to it.
            return Severity.WARNING if fails and not of_release else Severity.INFO
        if (
            severity is Severity.ERROR
            and of_release
            and at.scope is at.scope.module.scope
            and never_imported(self._program, at.scope.module)
        ):
            # It fails where it is imported, and nothing imports it.
            return Severity.INFO
        return severity

    def _is_unreached(self, at: CodePlace, *, fails: bool) -> bool:
        """Tell whether nothing that runs comes to a hit, or to what it is reached from.

        A script often calls today what it did not call yesterday: what its functions cost is told even where none of them is called.
        """
        scopes = (at.scope, *(step.scope for step in at.flow[:1]))
        return (fails and is_never_called(self._program, at.scope)) or any(
            is_never_named(self._program, scope) for scope in scopes
        )

    def _is_unused(self, at: CodePlace) -> bool:
        """Tell whether a hit, or what it is reached from, stands in a module that nothing can run: then nothing waits for it."""
        first = at.flow[0].scope.module if at.flow else at.scope.module
        return is_never_run(self._program, first) or (
            first is not at.scope.module and is_never_run(self._program, at.scope.module)
        )

    def _verdicts_of_configs(self, at: CodePlace) -> list[_ConfigVerdict]:
        """Return what each config makes of a hit: of all ways to it the one that comes nearest to taking effect."""
        ways = iter((Way(at.flow),)) if at.entry is None else at.entry.ways(at.block, at.place)
        found: list[_ConfigVerdict | None] = [None] * len(self._conditions)
        for way in itertools.islice(ways, MAX_WAYS):
            guards: list[tuple[Scope, int]] = [(at.scope, at.block)]
            guards += [(step.scope, step.block) for step in way.steps if step.block >= 0]
            guards += list(at.needs)
            for number, (_, conditions) in enumerate(self._conditions):
                known = found[number]
                if known is None or known.state is not State.ACTIVE:
                    new = _ConfigVerdict(*conditions.state(guards), way)
                    found[number] = new if known is None else min(known, new, key=_verdict_rank)
            if all(item is not None and item.state is State.ACTIVE for item in found):
                break
        return [item for item in found if item is not None]

    def _state_notes(self, verdicts: Sequence[_ConfigVerdict]) -> tuple[str, ...]:
        """Return what to say of the state of a finding, and under which configs it is what."""
        found = [(config, verdict) for (config, _), verdict in zip(self._conditions, verdicts, strict=True)]
        if len(found) == 1:
            config, verdict = found[0]
            if verdict.state is State.DORMANT:
                when = f"it takes effect when `{verdict.guard}` holds"
                return (f"not with {config.path}: {when}" if config else when,)
            if verdict.state is State.FALLBACK:
                return (f"only reached after an error: {verdict.guard}",)
            return ()
        notes = []
        active = [
            config.path for config, verdict in found if verdict.state is State.ACTIVE and config is not None
        ]
        other = [
            (config.path, verdict)
            for config, verdict in found
            if verdict.state is not State.ACTIVE and config is not None
        ]
        if other and active:
            notes.append("active under " + ", ".join(active[:6]) + (" ..." if len(active) > 6 else ""))
        notes += [
            f"{verdict.state.value} under {path}: `{verdict.guard}` decides" for path, verdict in other[:4]
        ]
        return tuple(notes)

    def location(self, scope: Scope, place: Place) -> Location:
        """Return where something stands."""
        return self._files.located(scope, place)

    def _finding_of_hit(
        self, rule: Rule, hit: Hit, module: Module, verdicts: Sequence[_ConfigVerdict]
    ) -> Finding:
        best = _best_verdict(verdicts)
        state, way = best.state, best.way
        severity = self._severity(rule, self._severity_before_settings(rule, hit, module.path))
        notes = self._state_notes(verdicts)
        cell = module.cell(self._files.location(hit.at).line)
        return make_finding(
            rule,
            hit,
            self._files,
            severity=severity if state is State.ACTIVE else Severity.INFO,
            state=state,
            flow=tuple(map(self._files.location, way.steps)),
            via=way.via,
            notes=notes if cell is None else (*notes, cell),
            unpinned=rule.together == "unpinned" and requirement_of(self._program).unpinned,
        )


class _ProgramTexts:
    """The texts of a program, in which its hits are located."""

    def __init__(self) -> None:
        self._offsets: dict[str, Offsets] = {}
        self._sources: dict[str, SourceFile] = {}
        self._held = 0

    def offsets(self, module: Module) -> Offsets:
        """Return what finds offsets in a module."""
        found = self._offsets.get(module.path)
        if found is None:
            found = self._offsets[module.path] = Offsets(self._source_of(module).text)
        return found

    def _source_of(self, module: Module) -> SourceFile:
        found = self._sources.get(module.path)
        if found is None:
            found = module.source_file()
            # A text is read again rather than kept: what is held grows with what is found, not with the text it is in.
            self._held += len(found.text)
            while self._held > MOST_TEXT and self._sources:
                path = next(iter(self._sources))
                self._held -= len(self._sources.pop(path).text)
                self._offsets.pop(path, None)
            self._sources[module.path] = found
        return found

    def located(self, scope: Scope, place: Place, label: str | None = None) -> Location:
        """Return where something stands in a scope."""
        start, end = self.offsets(scope.module).span(place)
        return self._source_of(scope.module).location(start, max(start, end), label)

    def location(self, place: HitPlace | Location) -> Location:
        """Return where a place of a program is."""
        if isinstance(place, Step):
            return self.located(place.scope, place.place, place.label)
        if isinstance(place, CodePlace):
            return self.located(place.scope, place.place)
        assert isinstance(place, Location)
        return place

    def about(self, hit: Hit, location: Location) -> tuple[Mapping[str, object], str]:
        """Return the text of the place with its line, and that line's text."""
        source = self._source_of(place_in_code(hit).scope.module)
        raw = source.text[location.start : location.end]
        return {"raw": raw, "line": location.line}, source.line_text(location.line).strip()[:200]

    def changes(self, hit: Hit) -> tuple[tuple[Change, ...], str | None]:
        """Return the repair of a hit as changes of the text, or why there is none."""
        module: Module = place_in_code(hit).scope.module
        if module.path.endswith(".ipynb"):
            return (), "a notebook is only read"
        try:
            return changes(_rewrites_of_hit(hit), self.offsets(module)), None
        except CannotRewriteError as error:
            return (), str(error)


def _rewrites_of_hit(hit: Hit) -> tuple[Rewrite, ...]:
    return tuple(change for change in hit.changes if isinstance(change, Rewrite))


@dataclass(frozen=True, slots=True)
class _ConfigFinding:
    """What is found only with the values of some configs.

    Attributes:
        finding: The finding, as one of them shows it.
        causes: The values that it rests on.
        repairs: Where its repair goes, for each set of values under which it holds.
    """

    finding: Finding
    causes: list[GivenValue]
    repairs: list[tuple[GivenByConfigs, Repair]]

    def fix(self, every: Sequence[GivenByConfigs], *, whole: bool) -> tuple[Fix | None, str | None]:
        """Return the repair, in the configs or in the code, or why there is none.

        Args:
            every: All sets of values that the program is judged with.
            whole: Whether these are all that there are.
        """
        fix = self.finding.fix
        if fix is None:
            return None, self.finding.no_fix_reason
        problem = next((repair.problem for _, repair in self.repairs if repair.problem), None)
        if problem is not None:
            return None, problem
        if all(repair.values for _, repair in self.repairs):
            made = in_configs(fix, [(under.configs, repair) for under, repair in self.repairs])
            return (None, made) if isinstance(made, str) else (made, None)
        if any(repair.values for _, repair in self.repairs):
            return None, "the cause is another one under each config"
        if not whole:
            return None, f"more than {MAX_CONFIG_SETS} sets of values of configs were not all judged"
        holding = [under for under, _ in self.repairs]
        for other in every:
            if other in holding or self._is_apart(other):
                continue
            return None, f"the code is right under {other.configs[0]}, which runs it, too"
        return fix, None

    def _is_apart(self, other: GivenByConfigs) -> bool:
        """Tell whether configs take another way than the one that the repair changes."""
        return all(
            any(
                (decided := other.branches.get((os.path.abspath(path), place))) is not None
                and decided[0] is not taken
                for path, place, taken in repair.sides
            )
            for _, repair in self.repairs
        )


def _without_others(replaced: Sequence[Substitution], causes: Sequence[GivenValue]) -> list[Substitution]:
    """Leave out what stands in the place of a whole section and is not what a finding rests on."""
    return [
        item for item in replaced if item.argument is not None or item.place is None or item.given in causes
    ]


def _lies_in(place: Location, call: Location) -> bool:
    return place.path == call.path and call.start <= place.start and place.end <= call.end


def _location_of_value(given: GivenValue) -> Location:
    label = (
        f"`{given.key}` is {given.value!r} here"
        if given.unchanged
        else f"made from `{given.key}`: {given.value!r}"
    )
    return replace(given.origin, label=label)


@dataclass(frozen=True, slots=True)
class _ConfigVerdict:
    """What a config makes of a hit.

    Attributes:
        state: Whether it takes effect.
        guard: What decides that, as text.
        way: The way to the hit that comes nearest to it.
    """

    state: State
    guard: str
    way: Way


_ORDER = {State.ACTIVE: 0, State.FALLBACK: 1, State.DORMANT: 2}


def _verdict_rank(verdict: _ConfigVerdict) -> int:
    return _ORDER[verdict.state]


def _best_verdict(verdicts: Sequence[_ConfigVerdict]) -> _ConfigVerdict:
    return min(verdicts, key=_verdict_rank)
