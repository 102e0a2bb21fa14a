"""Settings that stand in the code: what no program reads of them, and what is read and not there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from cfgfix.code.inference.interpreter.command_line import WRITTEN
from cfgfix.code.inference.interpreter.events import DEFAULT, REQUIRED, Asked
from cfgfix.code.inference.interpreter.interpreter import Interpreter
from cfgfix.code.inference.interpreter.models.outside import TRACKERS
from cfgfix.code.inference.interpreter.objects import ConfigKey, Scalar, Sequence, Spot, Value
from cfgfix.code.inference.interpreter.run import ImportSite
from cfgfix.code.inference.interpreter.written_settings import WrittenSettings
from cfgfix.code.model.expressions import dotted, place_of
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Literal, Name, Place
from cfgfix.code.model.python_files import SETTINGS_MODULE
from cfgfix.code.model.summary import Event, Scope
from cfgfix.core.records import dataclass
from cfgfix.usage.arguments import MISSPELT, TOGETHER, UNKNOWN, VALUE, WORD, Arguments, Fault
from cfgfix.usage.declared_options import OptionVerdict
from cfgfix.usage.entrances import Entrance
from cfgfix.usage.env_files import variable_verdicts
from cfgfix.usage.mentions import MentionIndex
from cfgfix.usage.module_names import names_taken
from cfgfix.usage.options import assigned_attributes
from cfgfix.usage.program_runs import ProjectRuns
from cfgfix.usage.run_host import counts_as_read
from cfgfix.usage.run_results import RunResult
from cfgfix.usage.sinks import Sinks
from cfgfix.usage.spelling import nearest_name, value_in_words

_WORD = re.compile(rb"[A-Za-z_]\w*")
_ALL_NAMES = (b"globals(", b"vars(", b"locals(", b"__dict__", b"dir(")
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]{2,}")
MAX_MODULES = 24
"""Most modules that a program is run with at a call that imports one by a name which it is given."""
MAX_SHOWN = 3
"""Most further places that a finding shows."""
MAX_MODULE_STEPS = 400_000
"""Most steps of such runs that are made again with both ways taken."""
MAX_STEPS = 300_000
"""Most steps of all runs that follow settings in the code."""


@dataclass(frozen=True, slots=True)
class SettingsInCode:
    """What is known of the settings that stand in a project's code.

    Attributes:
        verdicts: The verdicts on the settings.
        modules: The Python files that hold them, each with the programs that import it, as paths relative to the project.
    """

    verdicts: tuple[OptionVerdict, ...] = ()
    modules: tuple[tuple[str, tuple[str, ...]], ...] = ()


def settings_in_code(project: ProjectRuns, index: MentionIndex) -> SettingsInCode:
    """Return the verdicts on settings in a project's code, and their modules."""
    found = _FollowedSettings(project, index)
    if not found.runs:
        return SettingsInCode()
    modules = tuple(found.modules())
    if found.cut_off:
        return SettingsInCode((), modules)
    return SettingsInCode((*found.verdicts(), *variable_verdicts(project, index, found.plain)), modules)


class _FollowedSettings:
    """Runs of a project's programs that follow the settings in the code.

    Attributes:
        runs: For each program a run, and another with both ways taken at conditions.
        cut_off: Whether one of them was cut off.
    """

    def __init__(self, project: ProjectRuns, index: MentionIndex) -> None:
        self.project = project
        self.index = index
        self.runs: list[RunResult] = []
        self.plain: list[RunResult] = []
        self.cut_off = False
        self.module_steps = 0
        self.assigned: dict[str, set[tuple[str, int]]] | None = None
        self.set_here: set[tuple[str, int]] = set()
        """Files and lines at which the code itself sets its settings as attributes."""
        self._counts: dict[ConfigKey, tuple[int, int]] = {}
        for entrance in project.programs_of_framework():
            self._follow_program(entrance)
        self.opened_names = {
            key.name
            for result in project.results
            for opened in result.opened.values()
            for key in opened.keys.values()
        }
        self.read_places = {
            _place_written(written, key)
            for result in self.runs
            if (written := result.run.code_settings) is not None
            for key in written.spots
            if self._is_alive(key)
        }
        self.seen = {scope for result in self.runs for scope in result.run.entered}
        self.of_unknown = {name for result in self.runs for name in result.run.of_unknown}

    def _follow_program(self, entrance: Entrance) -> None:
        """Run a program as it goes and with both ways taken at conditions."""
        if self.cut_off or self._is_spent():
            self.cut_off = True
            return
        plain = self.project.run_aside(entrance, _follow_written)
        given = [
            {site: name} for site, names in plain.run.open_imports.items() for name in names[:MAX_MODULES]
        ]
        if given:
            for one in given:
                self._add_runs(entrance, self.project.run_aside(entrance, _following_with(one)), one)
        else:
            self._add_runs(entrance, plain, {})

    def _is_spent(self) -> bool:
        return sum(result.run.steps for result in self.runs if not result.run.given_imports) > MAX_STEPS

    def _add_runs(self, entrance: Entrance, plain: RunResult, given: dict[ImportSite, str]) -> None:
        """Add a run of a program, and another with both ways taken at conditions."""
        self.plain.append(plain)
        self.runs.append(plain)
        written = plain.run.code_settings
        if given and written is not None and self.module_steps > MAX_MODULE_STEPS:
            # Another way may read more of it.
            written.loose |= written.chosen
            return
        every = self.project.run_aside(entrance, _following_with(given), every_way=True)
        self.module_steps += plain.run.steps + every.run.steps if given else 0
        self.cut_off = self.cut_off or plain.run.exhausted or every.run.exhausted
        self.runs.append(every)

    def verdicts(self) -> Iterator[OptionVerdict]:
        """Yield the verdicts on settings in the code, one for each cause."""
        dead = self._dead_settings()
        told: set[tuple[str, int, int, str]] = set()
        joined: set[int] = set()
        names: set[tuple[str, str]] = set()
        for result in self.plain:
            for item in result.run.asked:
                place = (item.spot.path, *item.spot.place.start, *_chosen_module(result, item))
                verdict = self._absence_verdict(result, item, dead, joined) if place not in told else None
                if verdict is not None and (verdict.spot.path, str(verdict.values["name"])) not in names:
                    told.add(place)
                    names.add((verdict.spot.path, str(verdict.values["name"])))
                    yield verdict
        yield from self._override_verdicts()
        yield from self._refusal_verdicts()
        yield from self._given_twice()
        yield from self._ending_verdicts()
        for key, spot in dead:
            if id(key) in joined or (spot.path, key.name) in names or _is_shown(key):
                continue
            names.add((spot.path, key.name))
            beside = tuple((place, "is set here") for place in self._given_to_class(key))
            yield OptionVerdict("dead-setting", spot, {"name": _qualified_name(key)}, beside=beside)
        for name, spot in self._dead_constants():
            if (spot.path, name) not in names:
                yield OptionVerdict("dead-setting", spot, {"name": name})

    # Which modules hold them

    def modules(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the Python files that hold settings, each with the programs that import it."""
        keys: dict[str, dict[tuple[int, str], bool]] = {}
        programs: dict[str, dict[str, None]] = {}
        chosen: set[str] = set()
        for result in self.runs:
            written = result.run.code_settings
            program = result.entrance.module.path
            if written is None:
                continue
            for key, spot in written.spots.items():
                if spot.path == program or (key.parent is not None and key.parent in written.loose):
                    continue
                here = keys.setdefault(spot.path, {})
                here[spot.line, key.name] = here.get((spot.line, key.name), False) or self._is_alive(key)
                programs.setdefault(spot.path, {})[self.project.relative(program)] = None
            for section in written.chosen:
                path = written.holders[section][0].path
                chosen.add(path)
                keys.setdefault(path, {})
                programs.setdefault(path, {})[self.project.relative(program)] = None
        for path, found in keys.items():
            if path in chosen or (any(found.values()) and self._is_named_so(path)):
                yield self.project.relative(path), tuple(programs[path])

    def _is_named_so(self, path: str) -> bool:
        """Tell whether a module or its folder has a name such as `settings`."""
        *folders, name = self.project.relative(path).removesuffix(".py").split("/")
        return any(SETTINGS_MODULE.fullmatch(item) is not None for item in (name, *folders[-1:]))

    # What commands give

    def _override_verdicts(self) -> Iterator[OptionVerdict]:
        """Yield verdicts on overrides in commands that name no setting."""
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

    def _refusal_verdicts(self) -> Iterator[OptionVerdict]:
        """Yield verdicts on settings that a library call refuses."""
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
                    or self._may_be_replaced(fault.key.name)
                    or (spot.path, spot.line, fault.key.name) in told
                ):
                    continue
                told.add((spot.path, spot.line, fault.key.name))
                yield self._refusal_verdict(fault, spot)

    def _given_twice(self) -> Iterator[OptionVerdict]:
        """Yield verdicts on settings that a call gets twice: by `**` and by name."""
        told: set[tuple[str, int, str]] = set()
        for result in self.plain:
            written = result.run.code_settings
            for item in result.run.refusals if written is not None else ():
                spot = written.spots.get(item.key) if written is not None else None
                if item.kind != "given-twice" or spot is None or (spot.path, spot.line, item.name) in told:
                    continue
                told.add((spot.path, spot.line, item.name))
                values = {
                    "key": _qualified_name(item.key),
                    "name": item.name,
                    "by": item.by,
                    "place": self._line_of_spot(item.spot),
                }
                label = f"gives `{item.name}` itself"
                yield OptionVerdict("given-twice", spot, values, item.spot, label)

    def _ending_verdicts(self) -> Iterator[OptionVerdict]:
        """Yield verdicts on settings for which the program itself ends: by their type, or by its own test."""
        told: set[tuple[str, int, str]] = set()
        for result in self.plain:
            written = result.run.code_settings
            for item in result.run.refusals if written is not None else ():
                spot = written.spots.get(item.key) if written is not None else None
                if (
                    spot is None
                    or item.kind not in _ENDING
                    or item.conditions
                    or any(self._may_be_set(key.name) for key in (item.key, *item.beside))
                    or (spot.path, spot.line, item.key.name) in told
                ):
                    continue
                told.add((spot.path, spot.line, item.key.name))
                by = item.by if item.kind != "choice" else "the test"
                beside = " and ".join(f"`{_qualified_name(key)}`" for key in item.beside)
                values = {
                    "name": _qualified_name(item.key),
                    "by": f"{by} in {self._line_of_spot(item.spot)}",
                    "value": value_in_words(written.values.get(item.key)) if written is not None else "",
                    "error": item.says + (f", beside {beside}" if beside else ""),
                    "place": "",
                }
                yield OptionVerdict("refused-setting", spot, values, item.spot, "the run ends here")

    def _refusal_verdict(self, fault: Fault, spot: Spot) -> OptionVerdict:
        meant = f"; is {fault.meant!r} meant?" if fault.meant else ""
        takes = f", it takes {fault.takes}" if fault.takes else ""
        values = {
            "name": _qualified_name(fault.key),
            "by": fault.by,
            "value": value_in_words(fault.value),
            "error": f"{fault.error or 'it is not known'}{takes}{meant}",
            "place": f" ({self._line_of_spot(spot)})",
        }
        given = _argument_of(fault)
        severity = "warning" if fault.severity == "warning" else None
        if given is not None:
            return OptionVerdict(
                "refused-setting", given, values, spot, "the setting stands here", severity=severity
            )
        values["by"], values["place"] = f"{fault.by} in {self._line_of_spot(fault.bound.spot)}", ""
        return OptionVerdict(
            "refused-setting", spot, values, fault.bound.spot, f"{fault.by} gets it", severity=severity
        )

    # What nothing reads

    def _given_to_class(self, key: ConfigKey) -> list[Spot]:
        """Return where calls of the class that has a setting as a field give it a value."""
        holder = next(
            (
                written.holders[key.parent]
                for result in self.runs
                if (written := result.run.code_settings) is not None
                and key.parent is not None
                and key.parent in written.holders
            ),
            None,
        )
        if holder is None or holder[0].scope.kind != "class":
            return []
        scopes = {id(scope): scope for scope in holder[0].scope.module.summary.scopes}
        for result in self.runs:
            scopes.update(result.run.entered)
        return [
            Spot(scope, place_of(given, scope) or call.place, call.block)
            for scope in scopes.values()
            for call in scope.calls
            if (given := call.keyword(key.name)) is not None
            and (dotted(call.func) or "").rpartition(".")[2] == holder[1]
        ][:MAX_SHOWN]

    def _dead_settings(self) -> list[tuple[ConfigKey, Spot]]:
        """Return the settings that nothing reads, each with its place."""
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
            return not self._is_taken(settings, key) and not self._is_meant(key)
        return all(scope in self.seen for scope in self.index.scopes(key.name))

    def _dead_constants(self) -> Iterator[tuple[str, Spot]]:
        """Yield the constants of modules that no word of the code names.

        They are numbers in capitals at the top of a module. Consecutive numbers, which name kinds or
        columns, are left out.
        """
        modules = {id(module): module for result in self.plain for module in result.run.modules_run()}
        words: Counter[bytes] | None = None
        for module in modules.values():
            scope = module.scope
            found = dict(_constants_in(scope)) if scope is not None and "__all__" not in scope.names else {}
            if not found or self._is_looked_through(module):
                continue
            for name, (value, event) in found.items():
                if any(other in (value - 1, value + 1) for other, _ in found.values()):
                    continue
                words = words or self._word_counts()
                if scope is not None and words[name.encode()] == 1 and name not in self.index.words_outside():
                    yield name, Spot(scope, event.place, event.block)

    def _is_looked_through(self, module: Module) -> bool:
        """Tell whether code may read any variable of a module, or it is for settings.

        Modules for settings are judged elsewhere.
        """
        name = module.name.rpartition(".")[2]
        content = self.project.program.content_of(module.path)
        return (
            SETTINGS_MODULE.fullmatch(name) is not None
            or any(word in content for word in _ALL_NAMES)
            or names_taken(self.project.program, module) is None
        )

    def _word_counts(self) -> Counter[bytes]:
        """Return how often each word occurs in the code, comments included."""
        program = self.project.program
        found: Counter[bytes] = Counter()
        for module in program.all_modules():
            found.update(_WORD.findall(program.content_of(module.path)))
        return found

    def _is_taken(self, settings: WrittenSettings, key: ConfigKey) -> bool:
        """Tell whether any code may read a variable of a settings module."""
        spot = settings.spots[key]
        taken = names_taken(self.project.program, spot.scope.module)
        return taken is None or key.name in taken or key.name in self.index.words_outside()

    def _is_meant(self, key: ConfigKey) -> bool:
        """Tell whether a missing name that code reads resembles a variable.

        The verdict is then on the missing name.
        """
        words = set(key.name.lower().split("_"))
        asked = {item.name for result in self.runs for item in result.run.asked if _asks_module(result, item)}
        return nearest_name(key.name, list(asked)) is not None or any(
            not words.isdisjoint(name.lower().split("_")) for name in asked
        )

    def _alive_of(self, settings: WrittenSettings, section: ConfigKey) -> tuple[int, int]:
        """Return how many keys a section has, and how many of them any run reads."""
        found = self._counts.get(section)
        if found is None:
            keys = list(settings.keys_of(section))
            alive = sum(
                self._is_alive(key) or _place_written(settings, key) in self.read_places for key in keys
            )
            found = self._counts[section] = len(keys), alive
        return found

    def _is_alive(self, key: ConfigKey) -> bool:
        """Tell whether a run reads a setting, or a config file has a key of its name."""
        return _is_read(key) or key.name in self.opened_names

    # What is read and not there

    def _absence_verdict(
        self, result: RunResult, item: Asked, dead: list[tuple[ConfigKey, Spot]], joined: set[int]
    ) -> OptionVerdict | None:
        written = result.run.code_settings
        sections = [section for section in item.sections if section.source == WRITTEN]
        if written is None or not sections or len(sections) < len(item.sections):
            return None
        if any(section.escapes for section in sections):
            return None
        asks_default = item.how == DEFAULT and item.default is not None
        is_chosen = not written.chosen.isdisjoint(sections)
        if not asks_default and (
            item.how != REQUIRED
            or item.caught
            or item.conditions
            # What is set on a module is set where the run comes to it.
            or (not is_chosen and self._may_be_set(item.name))
        ):
            return None
        mine = {
            place
            for section in sections
            for key in written.keys_of(section)
            if (place := _place_written(written, key))
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
                {"name": near, "asked": item.name, "default": taken, "place": self._line_of_spot(item.spot)},
                item.spot,
                f"asks for `{item.name}`",
            )
        if near is not None:
            joined.add(id(rivals[near][0]))
        holder = next((written.holders[section] for section in sections if section in written.holders), None)
        known = [key.name for section in sections for key in written.keys_of(section)]
        meant = near or nearest_name(item.name, known)
        values = {
            "name": item.name,
            "error": item.error,
            "where": "here",
            "near": f"; is `{meant}` meant?" if meant else "",
        }
        if holder is not None and is_chosen:
            values["where"] = f"in {self._line_of_spot(item.spot)}"
            return OptionVerdict("absent-setting", holder[0], values, item.spot, f"reads `{item.name}`")
        return OptionVerdict(
            "absent-setting",
            item.spot,
            values,
            rivals[near][1] if near is not None else holder[0] if holder is not None else None,
            f"`{near}` stands here" if near is not None else "the settings stand here",
        )

    def _may_be_set(self, name: str) -> bool:
        """Tell whether any code assigns an attribute of this name."""
        return name in self._assigned_names()

    def _may_be_replaced(self, name: str) -> bool:
        """Tell whether any code assigns an attribute of this name at a place where it does not make a setting."""
        return not self._assigned_names().get(name, set()) <= self.set_here

    def _assigned_names(self) -> dict[str, set[tuple[str, int]]]:
        """Return the names of attributes that the code assigns, each with the places."""
        if self.assigned is None:
            self.assigned = assigned_attributes(self.project)
            self.set_here = {
                (spot.path, spot.line)
                for result in self.runs
                if result.run.code_settings is not None
                for spot in result.run.code_settings.spots.values()
            }
        return self.assigned

    def _line_of_spot(self, spot: Spot) -> str:
        return f"{self.project.relative(spot.path)}:{spot.line}"


_FILES = frozenset({"filepath", "path"})
"""Parameters whose constants rules about the calls follow themselves."""
_ENDING = frozenset({"wrong-type", "no-number", "choice"})
"""Refusals by the program itself or by Python."""
_REFUSED = frozenset({WORD, VALUE, TOGETHER, MISSPELT, UNKNOWN})


def _argument_of(fault: Fault) -> Spot | None:
    """Return the place of a refused argument in its call; None where it has none."""
    spot, made = fault.bound.spot, fault.bound.call
    call = next((item for item in spot.scope.calls if item.place == spot.place), None)
    if call is None or fault.kind in (MISSPELT, UNKNOWN):
        return None
    given = dict(call.keywords).get(fault.parameter)
    if given is None and len(call.args) == len(made.args):
        number = next((i for i, value in enumerate(made.args) if _holds_key(value, fault.key)), None)
        given = call.args[number] if number is not None else None
    place = place_of(given, spot.scope) if given is not None else None
    return Spot(spot.scope, place, spot.block) if place is not None else None


def _holds_key(value: Value, key: ConfigKey) -> bool:
    """Tell whether a value is the value of a setting, or a list that contains it."""
    if isinstance(value, Sequence):
        return value.key is key or any(_holds_key(item, key) for item in value.items)
    return isinstance(value, Scalar) and value.key is key


def _constants_in(scope: Scope) -> Iterator[tuple[str, tuple[float, Event]]]:
    """Yield the numeric constants in capitals at the top of a module."""
    for event in scope.body:
        target = event.targets[0] if event.kind == "assign" and len(event.targets) == 1 else None
        value = event.value.value if isinstance(event.value, Literal) else None
        if (
            isinstance(target, Name)
            and _CONSTANT.fullmatch(target.name)
            and isinstance(value, (int, float))
            and type(value) is not bool
        ):
            yield target.name, (value, event)


def _follow_written(run: Interpreter) -> None:
    run.code_settings = WrittenSettings()


def _following_with(given: dict[ImportSite, str]) -> Callable[[Interpreter], None]:
    """Return a function that prepares a run to import given modules.

    They replace imports whose module name is not known.
    """

    def prepare(run: Interpreter) -> None:
        _follow_written(run)
        run.given_imports = given

    return prepare


def _chosen_module(result: RunResult, item: Asked) -> tuple[str]:
    """Return the path of the dynamically imported module that a name is read from.

    It is empty for other names.
    """
    written = result.run.code_settings
    of = written.chosen.intersection(item.sections) if written is not None else ()
    return (next((written.holders[section][0].path for section in of), "") if written is not None else "",)


def _asks_module(result: RunResult, item: Asked) -> bool:
    """Tell whether a name is read from a module that holds settings."""
    written = result.run.code_settings
    return written is not None and any(map(written.is_module, item.sections))


def _place_written(written: WrittenSettings, key: ConfigKey) -> tuple[str, int, str] | None:
    spot = written.spots.get(key)
    return (spot.path, spot.line, key.name) if spot is not None else None


def _is_read(key: ConfigKey) -> bool:
    return counts_as_read(key) or key.accepted or bool(key.writes or key.may_write)


def _is_shown(key: ConfigKey) -> bool:
    """Tell whether a setting is logged alone or tracked with its run.

    It may be a label.
    """
    around = key.parent
    whole = set[tuple[str, Place]]()
    while around is not None:
        if any(map(_is_tracked, around.logs)):
            return True
        whole.update((spot.path, spot.place) for spot in around.logs)
        around = around.parent
    return any((spot.path, spot.place) not in whole for spot in key.logs)


def _is_tracked(spot: Spot) -> bool:
    """Tell whether a call belongs to a package that tracks experiments."""
    call = next((item for item in spot.scope.calls if item.place == spot.place), None)
    name = dotted(call.func) or "" if call is not None else ""
    return (spot.scope.module.summary.scopes[0].imports.get(name.partition(".")[0]) or name).partition(".")[
        0
    ] in TRACKERS


def _qualified_name(key: ConfigKey) -> str:
    """Return the dotted name of a setting with its sections."""
    names = [key.name]
    around = key.parent
    while around is not None and around.path:
        names.append(around.name)
        around = around.parent
    return ".".join(reversed(names))
