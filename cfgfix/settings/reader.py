"""Settings: `[tool.cfgfix]` in pyproject.toml, or cfgfix.toml."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Mapping

from cfgfix.core.errors import CfgfixError, did_you_mean
from cfgfix.core.findings import Severity
from cfgfix.core.records import dataclass, field, replace
from cfgfix.core.source_file import is_inside, project_folder, read_regular
from cfgfix.settings.table import (
    BY_NAME,
    LISTS,
    MACHINE,
    NAMES,
    SETTINGS,
    SWITCH,
    TEXTS,
    WORDS,
    Setting,
    default,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_BYTES = 1024 * 1024
"""Largest accepted settings file."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The values of all settings, with the defaults of the table.

    Attributes:
        root: The folder that relative paths in the settings start from.
        origin: The file they come from.
        profiles: Machines by name: `[tool.cfgfix.hardware.profiles]`.
        command_hardware: Whether `hardware` comes from a command line, so that a file in it is looked up in the working folder.
    """

    root: str = "."
    origin: str | None = None
    include: tuple[str, ...] = default("include")
    exclude: tuple[str, ...] = default("exclude")
    source_roots: tuple[str, ...] = default("source-roots")
    schema: str | None = default("schema")
    dialect: str | None = default("dialect")
    dialects: tuple[str, ...] = default("dialects")
    loader: str | None = default("loader")
    unknown_keys: str | None = default("unknown-keys")
    keys: Mapping[str, tuple[str, ...]] = default("keys")
    tensorflow: str = default("tensorflow")
    hardware: str | None = default("hardware")
    profiles: Mapping[str, str] = field(default_factory=dict)
    command_hardware: bool = False
    select: tuple[str, ...] = default("select")
    ignore: tuple[str, ...] = default("ignore")
    extend_select: tuple[str, ...] = default("extend-select")
    per_file_ignores: Mapping[str, tuple[str, ...]] = default("per-file-ignores")
    severity: Mapping[str, str] = default("severity")
    fail_on: str = default("fail-on")
    min_severity: str | None = default("min-severity")
    preview: bool = default("preview")
    rules: tuple[str, ...] = default("rules")
    show_skipped: bool = default("show-skipped")
    force_exclude: bool = default("force-exclude")

    def threshold(self) -> Severity | None:
        """Return the least severity that makes a run fail, or None where none does."""
        return None if self.fail_on == "never" else Severity[self.fail_on.upper()]

    def inside(self, path: str) -> str:
        """Return a path named in the settings, seen from their folder.

        An absolute path stays as it is.
        """
        return path if os.path.isabs(path) else os.path.join(self.root, path)


FILES = ("cfgfix.toml", ".cfgfix.toml", "pyproject.toml")
"""Names of settings files, in the order they are looked for in one folder."""


def candidates(start: str) -> list[str]:
    """Return the paths at which settings of a folder are looked for, nearest first.

    The search ends at a repository's root.
    """
    here = os.path.abspath(start)
    if not os.path.isdir(here):
        here = os.path.dirname(here)
    found: list[str] = []
    while True:
        found += [os.path.join(here, name) for name in FILES]
        above = os.path.dirname(here)
        if above == here or os.path.exists(os.path.join(here, ".git")):
            return found
        here = above


def discover(start: str) -> Settings:
    """Return the settings of a folder.

    They are those of the nearest settings file at or above it, else the defaults.

    Raises:
        CfgfixError: A settings file is wrong.
    """
    for path in candidates(start):
        found = read(path) if os.path.isfile(path) else None
        if found is not None:
            return found
    return Settings(root=os.path.abspath(start))


class Finder:
    """Finds the settings of every folder of a run; each file is read once.

    They are those of the nearest settings file at or above the folder. Settings files are not merged: the nearest one
    alone counts. A folder that has none above it takes those of the working folder. `looked` gets every path at which
    a settings file was looked for, whether it exists or not.

    Args:
        fixed: Settings that hold for every folder.
        adjust: What a command line changes in settings that are found.
        patient: Whether a wrong settings file raises nothing: `wrong` then has its error, by the id of the settings
            that stand for it.
    """

    __slots__ = ("_adjust", "_asked", "_base", "_fixed", "_known", "_patient", "looked", "wrong")

    def __init__(
        self,
        fixed: Settings | None = None,
        adjust: Callable[[Settings], Settings] | None = None,
        *,
        patient: bool = False,
    ) -> None:
        self._fixed = fixed
        self._adjust = adjust
        self._patient = patient
        self.wrong: dict[int, CfgfixError] = {}
        self._asked: dict[str, Settings] = {}
        """By folder as it was named; the working folder stays the same."""
        self._known: dict[str, Settings | None] = {}
        self._base: Settings | None = None
        self.looked: list[str] = []

    def settings_in(self, folder: str) -> Settings:
        """Return the settings in force in a folder.

        Raises:
            CfgfixError: A settings file is wrong.
        """
        if self._fixed is not None:
            return self._fixed
        known = self._asked.get(folder)
        if known is None:
            found = self._nearest_settings(os.path.abspath(folder))
            known = self._asked[folder] = found if found is not None else self._settings_of_folder()
        return known

    def below(self, folder: str, above: Settings, names: Container[str]) -> Settings:
        """Return the settings in force in a folder with these entries.

        They are its own, else those of the folder above.

        Raises:
            CfgfixError: A settings file is wrong.
        """
        if self._fixed is not None or not any(name in names for name in FILES):
            return above
        here = os.path.abspath(folder)
        own = self._known.get(here)
        if own is None:
            own = self._settings_in_folder(here)
            if own is None:
                return above
            self._known[here] = own
        return own

    def _settings_of_folder(self) -> Settings:
        if self._base is None:
            here = os.path.abspath(".")
            found = self._nearest_settings(here)
            self._base = found if found is not None else self._with_overrides(Settings(root=here))
        return self._base

    def _nearest_settings(self, here: str) -> Settings | None:
        if here in self._known:
            return self._known[here]
        found = self._settings_in_folder(here)
        if found is None:
            above = os.path.dirname(here)
            if above != here and not os.path.exists(os.path.join(here, ".git")):
                found = self._nearest_settings(above)
        self._known[here] = found
        return found

    def _settings_in_folder(self, here: str) -> Settings | None:
        for name in FILES:
            path = os.path.join(here, name)
            self.looked.append(path)
            if os.path.isfile(path):
                try:
                    found = read(path)
                except CfgfixError as error:
                    if not self._patient:
                        raise
                    found = Settings(root=here, origin=path)
                    self.wrong[id(found)] = error
                    return found
                if found is not None:
                    return self._with_overrides(found)
        return None

    def _with_overrides(self, settings: Settings) -> Settings:
        return settings if self._adjust is None else self._adjust(settings)


def read(path: str) -> Settings | None:
    """Return the settings of one file.

    None where a pyproject.toml has no `[tool.cfgfix]`.

    Raises:
        CfgfixError: The file cannot be read, says something unknown, or names a source root that does not exist.
    """
    try:
        data = read_regular(path, MAX_BYTES + 1)
    except OSError as error:
        raise CfgfixError(f"cannot be read: {error.strerror}", path=path) from error
    if len(data) > MAX_BYTES:
        raise CfgfixError(f"is larger than {MAX_BYTES // 1024} kB", path=path)
    in_project = os.path.basename(path) == "pyproject.toml"
    if in_project and b"cfgfix" not in data:
        return None
    import sys

    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        table: Any = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise CfgfixError(f"is not TOML: {error}", path=path) from error
    if in_project:
        table = table.get("tool", {}).get("cfgfix")
        if table is None:
            return None
    if not isinstance(table, dict):
        raise CfgfixError("[tool.cfgfix] is not a table", path=path)
    settings = build(table, path)
    _require_source_roots(settings)
    return settings


def _require_source_roots(settings: Settings) -> None:
    """Refuse a source root that is no folder.

    The code would silently not be read.

    Raises:
        CfgfixError: A source root is no folder.
    """
    for root in settings.source_roots:
        place = settings.inside(root)
        if os.path.isdir(place):
            continue
        above, name = os.path.split(os.path.normpath(place))
        try:
            beside = [entry.name for entry in os.scandir(above) if entry.is_dir()]
        except OSError:
            beside = []
        raise CfgfixError(
            f"source-roots: {root!r} {'is no folder' if os.path.exists(place) else 'does not exist'}",
            path=settings.origin,
            hint=did_you_mean(
                name, beside, "name the folders, seen from this file, that the program's imports start from"
            ),
        )


def build(table: Mapping[str, Any], path: str) -> Settings:
    """Return the settings in the table of a settings file.

    Raises:
        CfgfixError: A name is unknown or a value has the wrong type.
    """
    values: dict[str, Any] = {"root": os.path.dirname(os.path.abspath(path)), "origin": path}
    for name, value in table.items():
        setting = BY_NAME.get(name)
        if setting is None:
            raise unknown_setting(name, path)
        values.update(_fields_of_setting(setting, value, path))
    if "tensorflow" in values:
        require_release(values["tensorflow"], path)
    _require_inside(values, path)
    return Settings(**values)


def _fields_of_setting(setting: Setting, value: Any, path: str) -> dict[str, Any]:
    """Return the fields of `Settings` for one entry of a settings file, by name.

    Raises:
        CfgfixError: The value is not of the setting's kind.
    """
    name = setting.name
    if setting.kind == MACHINE and isinstance(value, dict):
        return _fields_of_hardware(value, path)
    if setting.kind == TEXTS:
        made: Any = _texts_of_setting(name, value, path)
    elif setting.kind == SWITCH:
        if not isinstance(value, bool):
            raise CfgfixError(f"{name} is not true or false", path=path)
        made = value
    elif setting.kind in (LISTS, WORDS):
        if not isinstance(value, dict):
            raise CfgfixError(f"{name} is not a table", path=path)
        made = {
            key: _choice_of_setting(f"{name}.{key}", item, setting.choices, path)
            if setting.kind == WORDS
            else _texts_of_setting(f"{name}.{key}", item, path)
            for key, item in value.items()
        }
    else:
        if not isinstance(value, str):
            raise CfgfixError(f"{name} is not text", path=path)
        made = _choice_of_setting(name, value, setting.choices, path) if setting.choices else value
    return {setting.attribute: made}


_FILE_ENDINGS = (".yaml", ".yml", ".json")
"""What a machine's name ends with where it is a file."""


def _require_inside(values: Mapping[str, Any], path: str) -> None:
    """Refuse settings that name places outside the project.

    A settings file may come from an untrusted checkout. The project is the repository that the settings file lies in,
    or its folder where there is none. Links are followed first.

    Raises:
        CfgfixError: A setting names a place that lies elsewhere.
    """
    places = [
        (setting.name, place)
        for setting in SETTINGS
        if setting.is_place
        for place in _as_texts(values.get(setting.attribute, ()))
    ]
    machines = [("hardware", values.get("hardware"))]
    machines += [(f"hardware.profiles.{name}", place) for name, place in values.get("profiles", {}).items()]
    places += [(name, place) for name, place in machines if place and place.endswith(_FILE_ENDINGS)]
    if not places:
        return
    root = values["root"]
    limit = project_folder(root)
    for name, place in places:
        if not is_inside(os.path.join(root, os.path.expanduser(place)), limit):
            raise CfgfixError(
                f"{name}: {place!r} leads out of the project",
                path=path,
                hint="copy it into the project",
            )


def _as_texts(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def _fields_of_hardware(table: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return the fields of `Settings` for `[tool.cfgfix.hardware]`.

    The entry `default` is the machine that is meant, `profiles` are machines by name.
    """
    for name in table:
        if name not in ("default", "profiles"):
            raise CfgfixError(f"hardware.{name} is unknown", path=path, hint="known: default, profiles")
    profiles = table.get("profiles", {})
    if not isinstance(profiles, dict) or not all(isinstance(value, str) for value in profiles.values()):
        raise CfgfixError(
            "hardware.profiles is not a table of texts", path=path, hint='such as a100 = "a100-80gb,cpus=16"'
        )
    default = table.get("default")
    if default is not None and not isinstance(default, str):
        raise CfgfixError("hardware.default is not text", path=path)
    return {"hardware": default, "profiles": dict(profiles)}


def unknown_setting(name: str, path: str) -> CfgfixError:
    """Return the error for a setting that does not exist."""
    return CfgfixError(
        f"unknown setting {name!r}",
        path=path,
        hint=did_you_mean(name, NAMES, f"known: {', '.join(NAMES)}"),
    )


def _texts_of_setting(name: str, value: Any, path: str) -> tuple[str, ...]:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise CfgfixError(f"{name} is not a list of texts", path=path)
    return tuple(items)


def _choice_of_setting(name: str, value: Any, allowed: tuple[str, ...], path: str) -> str:
    if value not in allowed:
        raise CfgfixError(f"{name} {value!r} is not one of {', '.join(allowed)}", path=path)
    return str(value)


def require_release(text: str, path: str | None = None) -> None:
    """Refuse a value of the setting `tensorflow` that names no release.

    Raises:
        CfgfixError: It is neither a release, nor a requirement, nor a word that the setting knows.
    """
    from cfgfix.code.tensorflow.requirement import asked_release

    asked_release(text, path)


def with_command_line(settings: Settings, **changes: Any) -> Settings:
    """Return settings changed by the values of a command line.

    A value of None changes nothing.
    """
    return replace(settings, **{name: value for name, value in changes.items() if value is not None})
