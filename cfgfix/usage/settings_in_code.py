"""Settings that stand in the code: what no program reads of them, and what is read and not there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from cfgfix.code.inference.interpreter.events import DEFAULT, REQUIRED, Asked
from cfgfix.code.inference.interpreter.interpreter import Interpreter
from cfgfix.code.inference.interpreter.objects import ConfigKey, Scalar, Sequence, Spot, Value
from cfgfix.code.inference.interpreter.written_settings import WRITTEN, WrittenSettings
from cfgfix.code.model.expressions import place_of
from cfgfix.usage.arguments import MISSPELT, TOGETHER, UNKNOWN, VALUE, WORD, Arguments, Fault
from cfgfix.usage.entrances import Entrance
from cfgfix.usage.env_files import variable_verdicts
from cfgfix.usage.mentions import MentionIndex
from cfgfix.usage.options import OptionVerdict, assigned_attributes
from cfgfix.usage.program_runs import ProjectRuns
from cfgfix.usage.run_host import counts_as_read
from cfgfix.usage.run_results import RunResult
from cfgfix.usage.sinks import Sinks
from cfgfix.usage.spelling import nearest_name, value_in_words

_WORD = re.compile(rb"[A-Za-z_]\w*")
MAX_STEPS = 300_000
"""Most steps of all runs that follow settings in the code."""


def setting_verdicts(project: ProjectRuns, index: MentionIndex) -> list[OptionVerdict]:
    """Return what is wrong with the settings that stand in a project's code."""
    found = _Followed(project, index)
    if not found.runs or found.cut_off:
        return []
    return [*found.verdicts(), *variable_verdicts(project, index, found.plain)]


class _Followed:
    """The runs of a project's programs in which the settings in the code are followed.

    Attributes:
        runs: They: of each program one, and one that takes both ways at conditions.
        cut_off: Whether one of them was cut off.
    """

    def __init__(self, project: ProjectRuns, index: MentionIndex) -> None:
        self.project = project
        self.index = index
        self.runs: list[RunResult] = []
        self.plain: list[RunResult] = []
        self.cut_off = False
        self.assigned: set[str] | None = None
        self._words: Counter[bytes] | None = None
        self._counts: dict[ConfigKey, tuple[int, int]] = {}
        for entrance in project.programs_of_framework():
            self._follow(entrance)
        self.opened_names = {
            key.name
            for result in project.results
            for opened in result.opened.values()
            for key in opened.keys.values()
        }
        self.seen = {scope for result in self.runs for scope in result.run.entered}
        self.of_unknown = {name for result in self.runs for name in result.run.of_unknown}

    def _follow(self, entrance: Entrance) -> None:
        """Run a program twice: as it goes, and with both ways taken."""
        steps = sum(result.run.steps for result in self.runs)
        if self.cut_off or steps > MAX_STEPS:
            self.cut_off = True
            return
        plain = self.project.run_aside(entrance, _follow_written)
        every = self.project.run_aside(entrance, _follow_written, every_way=True)
        self.cut_off = plain.run.exhausted or every.run.exhausted
        self.plain.append(plain)
        self.runs += [plain, every]

    def verdicts(self) -> Iterator[OptionVerdict]:
        """Yield what is wrong, each cause once."""
        dead = self._dead()
        told: set[tuple[str, int, int]] = set()
        joined: set[int] = set()
        names: set[tuple[str, str]] = set()
        for result in self.plain:
            for item in result.run.asked:
                place = (item.spot.path, *item.spot.place.start)
                verdict = self._asked(result, item, dead, joined) if place not in told else None
                if verdict is not None and (verdict.spot.path, str(verdict.values["name"])) not in names:
                    told.add(place)
                    names.add((verdict.spot.path, str(verdict.values["name"])))
                    yield verdict
        yield from self._overrides()
        yield from self._refused()
        for key, spot in dead:
            if id(key) in joined or (spot.path, key.name) in names or _is_shown(key):
                continue
            names.add((spot.path, key.name))
            yield OptionVerdict("dead-setting", spot, {"name": _qualified_name(key)})

    # What commands give

    def _overrides(self) -> Iterator[OptionVerdict]:
        """Yield what a command gives settings that have no such key."""
        for result in self.plain:
            command, written = result.command, result.run.code_settings
            for key, holder in result.run.added_options:
                section = holder.sections[0] if holder.sections else None
                if command is None or not command.is_said or section is None or written is None:
                    continue
                if section not in written.holders:
                    continue
                refused = holder.flavour == "ml_collections"
                if not refused and (counts_as_read(key) or self.index.scopes(key.name)):
                    continue
                near = nearest_name(key.name, [name for name in map(str, holder.entries) if name != key.name])
                values = {
                    "argument": ".".join(map(str, key.path)),
                    "place": f"{self.project.relative(command.path)}:{command.line}",
                    "section": ".".join(map(str, section.path)) or "the settings",
                    "name": key.name,
                    "effect": "AttributeError" if refused else "it is added, and nothing reads it",
                    "near": f"; is `{near}` meant?" if near else "",
                }
                yield OptionVerdict("unknown-override", written.holders[section][0], values)

    # What TensorFlow does not take

    def _refused(self) -> Iterator[OptionVerdict]:
        """Yield the settings that the calls which get them refuse."""
        arguments = Arguments(self.project, Sinks(self.project))
        told: set[tuple[str, int, str]] = set()
        for result in self.plain:
            written = result.run.code_settings
            if written is None or not written.spots:
                continue
            for fault in arguments.faults_in(result, WRITTEN, frozenset()):
                spot = written.spots.get(fault.key)
                if (
                    spot is None
                    or fault.kind not in _REFUSED
                    or fault.computed
                    or fault.bound.conditions
                    or fault.parameter in _FILES
                    or (isinstance(fault.value, Scalar) and fault.value.value is None)
                    or self._may_be_set(fault.key.name)
                    or (spot.path, spot.line, fault.key.name) in told
                ):
                    continue
                told.add((spot.path, spot.line, fault.key.name))
                yield self._refusal(fault, spot)

    def _refusal(self, fault: Fault, spot: Spot) -> OptionVerdict:
        meant = f"; is {fault.meant!r} meant?" if fault.meant else ""
        takes = f", it takes {fault.takes}" if fault.takes else ""
        values = {
            "name": _qualified_name(fault.key),
            "by": fault.by,
            "value": value_in_words(fault.value),
            "error": f"{fault.error or 'it is not known'}{takes}{meant}",
            "place": f" ({self._line(spot)})",
        }
        given = _argument_of(fault)
        severity = "warning" if fault.severity == "warning" else None
        if given is not None:
            return OptionVerdict(
                "refused-setting", given, values, spot, "the setting stands here", severity=severity
            )
        values["by"], values["place"] = f"{fault.by} in {self._line(fault.bound.spot)}", ""
        return OptionVerdict(
            "refused-setting", spot, values, fault.bound.spot, f"{fault.by} gets it", severity=severity
        )

    # What nothing reads

    def _dead(self) -> list[tuple[ConfigKey, Spot]]:
        """Return the settings that nothing reads, each with where it stands."""
        read: set[str] = set()
        written: list[tuple[WrittenSettings, RunResult]] = []
        for result in self.runs:
            if result.run.code_settings is not None:
                written.append((result.run.code_settings, result))
                read.update(key.name for key in result.run.code_settings.spots if _is_read(key))
        found: dict[tuple[str, int, str], tuple[ConfigKey, Spot]] = {}
        for settings, _ in written:
            for key, spot in settings.spots.items():
                place = (spot.path, spot.line, key.name)
                if place in found or key.name in read or key.name in self.opened_names:
                    continue
                if self._is_dead(settings, key):
                    found[place] = key, spot
        return sorted(found.values(), key=lambda item: (item[1].path, item[1].line))

    def _is_dead(self, settings: WrittenSettings, key: ConfigKey) -> bool:
        section = key.parent
        if section is None or key in settings.holders or key.name.startswith("_"):
            return False
        around: ConfigKey | None = section
        top = section
        while around is not None:
            if around.escapes or around.walks or around.uses or around.offers or around in settings.loose:
                return False
            top, around = around, around.parent
        keys, alive = self._alive_of(settings, section)
        beside = alive if keys > 1 else self._alive_of(settings, top)[1]
        if (keys > 1 and alive * 2 < keys) or not beside:
            # What is hardly read by names is data, or read in a way that is not followed.
            return False
        if key.accepted or key.interpolated or key.name in self.of_unknown:
            return False
        if settings.is_module(section):
            return self._stands_once(key.name) and not self._is_meant(key)
        return all(scope in self.seen for scope in self.index.scopes(key.name))

    def _stands_once(self, name: str) -> bool:
        """Tell whether a name stands in the code where it is set and nowhere else.

        Any module may read it as its own.
        """
        if self._words is None:
            program = self.project.program
            self._words = Counter()
            for module in program.all_modules():
                self._words.update(_WORD.findall(program.content_of(module.path)))
        return self._words[name.encode()] == 1 and name not in self.index.words_outside()

    def _is_meant(self, key: ConfigKey) -> bool:
        """Tell whether a name that is asked for and not there means a variable.

        That is told where it is asked.
        """
        words = set(key.name.lower().split("_"))
        asked = {item.name for result in self.runs for item in result.run.asked if _asks_module(result, item)}
        return nearest_name(key.name, list(asked)) is not None or any(
            not words.isdisjoint(name.lower().split("_")) for name in asked
        )

    def _alive_of(self, settings: WrittenSettings, section: ConfigKey) -> tuple[int, int]:
        """Return how many keys a section has, and how many of them are alive."""
        found = self._counts.get(section)
        if found is None:
            keys = settings.keys_of(section)
            found = self._counts[section] = sum(1 for _ in keys), sum(map(self._is_alive, keys))
        return found

    def _is_alive(self, key: ConfigKey) -> bool:
        """Tell whether a setting is read, or a config file gives it."""
        return _is_read(key) or key.name in self.opened_names

    # What is read and not there

    def _asked(
        self, result: RunResult, item: Asked, dead: list[tuple[ConfigKey, Spot]], joined: set[int]
    ) -> OptionVerdict | None:
        written = result.run.code_settings
        sections = [section for section in item.sections if section.source == WRITTEN]
        if written is None or not sections or len(sections) < len(item.sections):
            return None
        if any(section.escapes for section in sections):
            return None
        asks_default = item.how == DEFAULT and item.default is not None
        if not asks_default and (
            item.how != REQUIRED or item.caught or item.conditions or self._may_be_set(item.name)
        ):
            return None
        mine = {
            place
            for section in sections
            for key in written.keys_of(section)
            if (place := _place(written, key))
        }
        rivals = {key.name: (key, spot) for key, spot in dead if (spot.path, spot.line, key.name) in mine}
        near = nearest_name(item.name, list(rivals))
        if asks_default:
            if near is None:
                return None
            key, spot = rivals[near]
            joined.add(id(key))
            taken = value_in_words(item.default) if isinstance(item.default, Scalar) else "a default"
            return OptionVerdict(
                "misspelt-setting",
                spot,
                {"name": near, "asked": item.name, "default": taken, "place": self._line(item.spot)},
                item.spot,
                f"asks for `{item.name}`",
            )
        if near is not None:
            joined.add(id(rivals[near][0]))
        holder = next((written.holders[section] for section in sections if section in written.holders), None)
        known = [key.name for section in sections for key in written.keys_of(section)]
        meant = near or nearest_name(item.name, known)
        return OptionVerdict(
            "absent-setting",
            item.spot,
            {"name": item.name, "error": item.error, "near": f"; is `{meant}` meant?" if meant else ""},
            rivals[near][1] if near is not None else holder[0] if holder is not None else None,
            f"`{near}` stands here" if near is not None else "the settings stand here",
        )

    def _may_be_set(self, name: str) -> bool:
        """Tell whether any code gives an object an attribute of a name."""
        if self.assigned is None:
            self.assigned = assigned_attributes(self.project)
        return name in self.assigned

    def _line(self, spot: Spot) -> str:
        return f"{self.project.relative(spot.path)}:{spot.line}"


_FILES = frozenset({"filepath", "path"})
"""Parameters whose constants rules about the calls follow themselves."""
_REFUSED = frozenset({WORD, VALUE, TOGETHER, MISSPELT, UNKNOWN})


def _argument_of(fault: Fault) -> Spot | None:
    """Return where a call gives the refused argument; None where no expression of its own stands for it."""
    spot, made = fault.bound.spot, fault.bound.call
    call = next((item for item in spot.scope.calls if item.place == spot.place), None)
    if call is None or fault.kind in (MISSPELT, UNKNOWN):
        return None
    given = dict(call.keywords).get(fault.parameter)
    if given is None and len(call.args) == len(made.args):
        number = next((i for i, value in enumerate(made.args) if _holds(value, fault.key)), None)
        given = call.args[number] if number is not None else None
    place = place_of(given, spot.scope) if given is not None else None
    return Spot(spot.scope, place, spot.block) if place is not None else None


def _holds(value: Value, key: ConfigKey) -> bool:
    """Tell whether a value is that of a setting, or a list with it."""
    if isinstance(value, Sequence):
        return value.key is key or any(_holds(item, key) for item in value.items)
    return isinstance(value, Scalar) and value.key is key


def _follow_written(run: Interpreter) -> None:
    run.code_settings = WrittenSettings()


def _asks_module(result: RunResult, item: Asked) -> bool:
    """Tell whether a name is asked of a module that holds settings."""
    written = result.run.code_settings
    return written is not None and any(map(written.is_module, item.sections))


def _place(written: WrittenSettings, key: ConfigKey) -> tuple[str, int, str] | None:
    spot = written.spots.get(key)
    return (spot.path, spot.line, key.name) if spot is not None else None


def _is_read(key: ConfigKey) -> bool:
    return counts_as_read(key) or key.accepted or bool(key.writes or key.may_write)


def _is_shown(key: ConfigKey) -> bool:
    """Tell whether a setting is printed, logged or written down, alone or with those around it: it may be a label."""
    around: ConfigKey | None = key
    while around is not None:
        if around.logs:
            return True
        around = around.parent
    return False


def _qualified_name(key: ConfigKey) -> str:
    """Return a setting with the names of the sections around it."""
    names = [key.name]
    around = key.parent
    while around is not None and around.path:
        names.append(around.name)
        around = around.parent
    return ".".join(reversed(names))
