"""Compose a config as Hydra does: a defaults list, groups of options, packages, overrides of the command line.

The order is that of hydra-core 1.3: entries of the list in turn, the file's own keys at `_self_`, which is last where the
list does not name it (version_base 1.1 and newer).
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from cfgfix.code.inference.interpreter.command_line import OPTIONS
from cfgfix.code.inference.interpreter.events import Loading
from cfgfix.code.inference.interpreter.models.options import SHELL
from cfgfix.code.inference.interpreter.objects import (
    EITHER,
    NOTHING,
    ConfigKey,
    Mapping,
    PartialText,
    Scalar,
    Sequence,
    Unknown,
    Value,
)
from cfgfix.config.loaders.scalars import LOADERS, resolve

if TYPE_CHECKING:
    from typing import Protocol

    class Host(Protocol):
        """What a composition asks of the run that it is for."""

        unknown_overrides: list[tuple[str, Mapping]]
        groups: dict[tuple[str, str], str]

        def arguments(self) -> list[str] | None:
            """Return the arguments of the command; None without one."""

        def resolve(self, path: Value) -> str | None:
            """Return the file of the project that a path means, or None."""

        def value_of(self, path: str, loading: Loading, evidence: str) -> Value | None:
            """Return what loading a file of the project gives."""

        def is_known(self, path: str) -> bool:
            """Return whether the project has a config file at a path."""

        def text_of(self, path: str) -> str:
            """Return the text of a config file."""

        def instead(self, loading: Loading) -> str | None:
            """Return the file that is put in at a load site; None where the program chooses."""


MAX_FILES = 64
QUOTES = "'\""
_PACKAGE = re.compile(r"^\s*#\s*@package\s+(\S+)", re.MULTILINE)
_INTERPOLATION = re.compile(r"\$\{([^${}]*)\}")


def composed(host: Host, loading: Loading) -> Value | None:
    """Return the config that `hydra.main` or `compose` gives a program.

    None where its file is not found.
    """
    given = loading.path
    text = given.value if type(given) is Scalar and isinstance(given.value, str) else None
    if text is None:
        return None
    arguments = host.arguments() or []
    name = _config_name(arguments)
    if name is not None:
        text = os.path.join(os.path.dirname(text), name)
    if not text.endswith((".yaml", ".yml")):
        text = f"{text}.yaml"
    path = host.resolve(Scalar(text))
    if path is None:
        return None
    other = host.instead(loading)
    maker = _ConfigComposer(host, loading, os.path.dirname(path), arguments)
    if other is None:
        return maker.whole(path, "hydra.main names it")
    group, _, option = os.path.relpath(other, maker.folder or ".").rpartition("/")
    if not group:
        return maker.whole(other, "its keys are the ones that are read")
    maker.other = group, option
    return maker.whole(path, "hydra.main names it")


def _config_name(arguments: list[str]) -> str | None:
    """Return the config name that the command line gives; None where it gives none."""
    for number, item in enumerate(arguments):
        name, mark, value = item.partition("=")
        if name in ("--config-name", "-cn"):
            named = value if mark else "".join(arguments[number + 1 : number + 2])
            return named if named and SHELL not in named else None
    return None


class _ConfigComposer:
    """Composes one config of Hydra from its files and the command line."""

    def __init__(self, host: Host, loading: Loading, folder: str, arguments: list[str]) -> None:
        self.host = host
        self.loading = loading
        self.folder = folder
        self.groups: dict[str, str] = {}
        self.other = ("", "")
        """A group, and the option of it that is tried instead of the one that is chosen."""
        self.values: list[tuple[str, str, str]] = []
        self.count = 0
        self.used: set[str] = set()
        """Groups of the command line that are in the config already."""
        for item in arguments:
            name, mark, value = item.partition("=")
            if not mark or name.startswith("-") or not name:
                continue
            sign = name[: len(name) - len(name.lstrip("+~"))]
            name = name.lstrip("+~")
            option = value.strip("'\"")
            if SHELL not in value and self.option(name.partition("@")[0], option):
                self.groups[name.partition("@")[0]] = option
            else:
                self.values.append((sign, name, value))

    def option(self, group: str, option: str) -> str | None:
        """Return the file of an option of a group."""
        path = "/".join(part for part in (self.folder, group.strip("/").replace(".", "/"), option) if part)
        for ending in ("", ".yaml", ".yml"):
            if self.host.is_known(f"{path}{ending}"):
                return f"{path}{ending}"
        return None

    def is_group(self, name: str) -> bool:
        """Tell whether the defaults lists so far choose an option of a group."""
        return (self.folder, name.replace(".", "/")) in self.host.groups

    def whole(self, path: str, evidence: str) -> Value | None:
        root = Mapping(access=EITHER, absent="ConfigAttributeError", flavour="omegaconf")
        self.add(root, path, "", self.package(path, "", "", None, ""), evidence)
        for sign, name, value in self.values:
            self.override(root, sign, name, value)
        interpolate(root)
        return root

    def package(self, path: str, group: str, below: str, given: str | None, around: str) -> str:
        """Return the dotted key path below which the keys of a file stand.

        Args:
            path: The file.
            group: Its group, from the folder of configs.
            below: Its group as the defaults list names it: relative, unless it begins with a slash.
            given: The package that the list gives behind `@`; None for none.
            around: The package of the file with the list.
        """
        written = _PACKAGE.search(self.host.text_of(path)[:2_000]) if given is None else None
        found = given if given is not None else written.group(1) if written else below.replace("/", ".")
        name = os.path.splitext(os.path.basename(path))[0]
        found = found.replace("_group_", group.replace("/", ".")).replace("_name_", name)
        if found == "_global_" or found.startswith("_global_."):
            return found[len("_global_.") :]
        return ".".join(part for part in (around, found.replace("_here_", "")) if part)

    def add(self, root: Mapping, path: str, group: str, package: str, evidence: str) -> None:
        """Merge a file, and the files that its defaults list names, into the config."""
        self.count += 1
        if self.count > MAX_FILES:
            return
        value = self.host.value_of(path, self.loading, evidence)
        if not isinstance(value, Mapping):
            return
        defaults = value.entries.pop("defaults", None)
        value.entries.pop("hydra", None)
        done = False
        for item in defaults.items if isinstance(defaults, Sequence) else ():
            if type(item) is Scalar and item.value == "_self_":
                self.lay(root, package, value)
                done = True
            elif type(item) is Scalar and isinstance(item.value, str):
                self.named(root, path, group, package, item.value)
            elif isinstance(item, Mapping):
                for name, chosen in item.entries.items():
                    self.chosen(root, path, group, package, str(name), chosen)
        if not done:
            self.lay(root, package, value)
        for name, option in list(self.groups.items()):
            if path.startswith(self.folder) and not group and name not in self.used:
                found = self.option(name, option)
                if found is not None:
                    self.used.add(name)
                    place = self.package(found, name, name, None, "")
                    self.add(root, found, name, place, "the command line names it")

    def named(self, root: Mapping, path: str, group: str, package: str, text: str) -> None:
        """Merge the file that an entry of a defaults list names.

        Such entries are `base` and `/data/small@train`.
        """
        plain, mark, given = text.removeprefix("optional ").strip().partition("@")
        below, _, option = plain.lstrip("/").rpartition("/")
        inner = below if plain.startswith("/") or not group else f"{group}/{below}".strip("/")
        found = self.option(inner, option)
        if found is None:
            inner = below
            found = self.option(inner, option)
        if found is not None:
            place = self.package(found, inner, below, given if mark else None, package)
            self.add(root, found, inner, place, f"the defaults list of {path} names it")
        else:
            self.stored(root, below, option, given if mark else None, package)

    def stored(self, root: Mapping, group: str, name: str, given: str | None, around: str) -> None:
        """Merge what the program itself has stored by a name into the config."""
        value = dict(self.loading.stored).get((group, name))
        if isinstance(value, Mapping):
            inner = given if given is not None else group.replace("/", ".")
            inner = inner.replace("_here_", "").removeprefix("_global_").lstrip(".")
            package = (
                inner
                if given is not None and given.startswith("_global_")
                else ".".join(filter(None, (around, inner)))
            )
            self.lay(root, package, value)

    def chosen(self, root: Mapping, path: str, group: str, package: str, name: str, chosen: Value) -> None:
        """Merge the options chosen of a group into the config.

        An option on the command line comes before those in the defaults list.
        """
        plain = name.replace("override ", "").replace("optional ", "").strip()
        target, mark, given = plain.partition("@")
        below = target.lstrip("/")
        inner = below if target.startswith("/") or not group else f"{group}/{below}"
        self.host.groups[(self.folder, inner)] = path
        option = self.groups.get(inner)
        evidence = f"the defaults list of {path} names it"
        if option is not None:
            self.used.add(inner)
        elif self.other[0] == inner:
            option = self.other[1]
            evidence = f"it is an option of the group {inner} that {path} names"
        elif type(chosen) is Scalar and isinstance(chosen.value, str):
            option = chosen.value
        options = [option] if option is not None else []
        if isinstance(chosen, Sequence) and option is None:
            options = [
                item.value for item in chosen.items if type(item) is Scalar and isinstance(item.value, str)
            ]
        for one in options:
            found = self.option(inner, one)
            if found is not None:
                place = self.package(found, inner, below, given if mark else None, package)
                self.add(root, found, inner, place, evidence)
            else:
                self.stored(root, below, one, given if mark else None, package)

    def lay(self, root: Mapping, package: str, value: Mapping) -> None:
        holder = root
        for step in package.split(".") if package else ():
            inner = holder.entries.get(step)
            if not isinstance(inner, Mapping):
                inner = Mapping(access=EITHER, absent="ConfigAttributeError", flavour="omegaconf")
                holder.entries[step] = inner
            holder = inner
        merge_into(holder, value)

    def override(self, root: Mapping, sign: str, name: str, text: str) -> None:
        """Apply an override of the command line to the config.

        One that names no key is noted in `unknown_overrides`.
        """
        if sign == "~" or name.split(".", maxsplit=1)[0] == "hydra":
            return
        holder: Mapping = root
        *above, last = name.split(".")
        for step in above:
            inner = holder.entries.get(step)
            if not isinstance(inner, Mapping):
                if not sign:
                    self.host.unknown_overrides.append((name, holder))
                    return
                inner = holder.entries[step] = Mapping(
                    access=EITHER, absent="ConfigAttributeError", flavour="omegaconf"
                )
            holder = inner
        before = holder.entries.get(last)
        if before is None and not sign:
            self.host.unknown_overrides.append((name, holder))
            return
        if isinstance(before, Mapping) and SHELL not in text and self.is_group(name):
            # Hydra stops: it is a group, and the option has no file.
            self.host.unknown_overrides.append((f"{name}={text.strip(QUOTES)}", holder))
            return
        plain = before if type(before) is Scalar else None
        for key in before.origins if before is not None else ():
            # Without the option the file's value counts.
            key.overlaid = key.overlaid or plain is None
            key.may_write.append(self.loading.spot)
        origins = frozenset({ConfigKey(OPTIONS, tuple(name.split(".")), None)})
        if SHELL in text or "," in text:
            holder.entries[last] = Unknown(origins | (before.origins if before is not None else NOTHING))
            for key in before.origins if before is not None else ():
                key.overlaid = True
        else:
            value = resolve(text.strip("'\""), LOADERS["omegaconf"]).value
            holder.entries[last] = (
                Scalar(value, origins | plain.origins, plain.key, optional=True)
                if plain is not None
                else Scalar(value, origins)
            )


def merge_into(holder: Mapping, value: Mapping) -> None:
    """Merge the entries of a mapping into another one, section by section."""
    holder.sections = (*holder.sections, *(item for item in value.sections if item not in holder.sections))
    if holder.key is None:
        holder.key = value.key
    if value.fields is not None:
        holder.fields, holder.absent = value.fields, value.absent
    for name, item in value.entries.items():
        before = holder.entries.get(name)
        if isinstance(before, Mapping) and isinstance(item, Mapping):
            merge_into(before, item)
            continue
        if before is not None and type(item) is Scalar and item.value == "???":
            # What must be given stays what another file gives.
            for key in item.origins:
                key.overlaid = True
            continue
        if before is not None:
            for key in before.origins:
                # One file laid over another: that is what the first is for.
                key.walks.extend(key.reads[:1])
                key.overlaid = True
        holder.entries[name] = item


def interpolate(root: Mapping) -> None:
    """Replace interpolations such as `${data.size}` by the values that they name."""
    pending: list[tuple[Mapping, tuple[Mapping, ...]]] = [(root, (root,))]
    seen: set[int] = set()
    while pending:
        holder, way = pending.pop()
        if id(holder) in seen:
            continue
        seen.add(id(holder))
        for name, item in list(holder.entries.items()):
            if isinstance(item, Mapping):
                pending.append((item, (*way, item)))
            elif isinstance(item, Sequence):
                item.items[:] = [_interpolated_value(inner, way) for inner in item.items]
            else:
                holder.entries[name] = _interpolated_value(item, way)


def _interpolated_value(value: Value, way: tuple[Mapping, ...]) -> Value:
    if type(value) is not Scalar or not isinstance(value.value, str) or "${" not in value.value:
        return value
    found = _INTERPOLATION.findall(value.value)
    whole = len(found) == 1 and value.value == f"${{{found[0]}}}"
    origins = value.origins
    result: Value = Unknown(origins)
    for name in found:
        target = interpolated(name, way)
        if target is None:
            if whole and ":" not in name:
                return value
            continue
        for key in target.origins:
            key.interpolated = True
        if isinstance(target, (Mapping, Sequence)) and target.key is not None:
            target.key.interpolated = True
        if whole and type(target) is Scalar:
            result = Scalar(target.value, origins | target.origins, value.key)
        elif whole:
            result = _section_under_key(target, value.key)
        else:
            result = PartialText((None,), origins | target.origins)
    return result


def _section_under_key(section: Value, key: ConfigKey | None) -> Value:
    """Return a copy of a section that belongs to the key which names this section.

    Uses of the section as a whole then count for that key. Without a key it is returned as it stands.
    """
    if key is not None:
        key.names_section = True
    if key is not None and isinstance(section, Mapping):
        return Mapping(
            section.entries,
            key=key,
            open=section.open,
            access=section.access,
            absent=section.absent,
            flavour=section.flavour,
            sections=section.sections,
        )
    if key is not None and isinstance(section, Sequence):
        return Sequence(section.items, open=section.open, kind=section.kind, key=key)
    return section


def interpolated(name: str, way: tuple[Mapping, ...]) -> Value | None:
    """Return the value that an interpolation names; None where there is none.

    The name is looked up from the root or, with leading dots, from the section around the interpolation.
    """
    if ":" in name:
        return None
    level = len(name) - len(name.lstrip("."))
    holder: Value = way[0] if not level else way[max(0, len(way) - level)]
    for step in name.lstrip(".").replace("[", ".").replace("]", "").split("."):
        if isinstance(holder, Mapping):
            found = holder.entries.get(step)
            if found is None:
                return None
            holder = found
        elif isinstance(holder, Sequence) and step.isdigit() and int(step) < len(holder.items):
            holder = holder.items[int(step)]
        else:
            return None
    return holder
