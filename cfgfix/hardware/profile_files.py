"""Machines described in a YAML or JSON file, written by hand or saved by `cfgfix hardware`."""

from __future__ import annotations

import os

from cfgfix.core.errors import CfgfixError
from cfgfix.hardware.profile_facts import blank, check_number, check_storage, find_card, similar_names_hint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfgfix.hardware.model import Gpu, Hardware, Value

MAX_FILE_BYTES = 1 << 20
"""A saved machine with 16 cards is about 60 kB; a profile of a megabyte is no profile."""

MAX_BRACKETS = 10_000
"""A saved machine has a few hundred; the parser's time grows faster than the depth of nesting."""

MAX_DEPTH = 12
"""Nesting that a profile can need, with room."""

MAX_NODES = 50_000
"""Entries that are read, aliases counted each time they are used."""


class _LoadedFile:
    """A file as plain data, with the line of each key path."""

    __slots__ = ("data", "lines")

    def __init__(self, data: Any, lines: dict[tuple[str | int, ...], int]) -> None:
        self.data = data
        self.lines = lines

    def line_of(self, path: tuple[str | int, ...]) -> int:
        """Return the line of a key path, or of the nearest entry above it.

        The whole file starts at line one.
        """
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines[path]


def machine_of_file(name: str, base_dir: str | os.PathLike[str] | None) -> Hardware:
    """Return the machine that a file describes.

    Args:
        name: The file.
        base_dir: The folder that a relative name is looked up in; the working directory by default.

    Raises:
        CfgfixError: The file cannot be used.
    """
    from cfgfix.core.records import replace
    from cfgfix.core.source_file import read_source
    from cfgfix.hardware.saved import DataError, data_error_text, from_data, is_saved_machine

    place = os.path.expanduser(name)
    if base_dir is not None and not os.path.isabs(place):
        place = os.path.join(base_dir, place)
    source = read_source(place, limit=MAX_FILE_BYTES)
    loaded = _load_data(source.text, name)
    label = os.path.basename(name)
    try:
        if is_saved_machine(loaded.data):
            return replace(from_data(loaded.data), label=label, origin="file")
        return from_mapping(loaded.data, label)
    except DataError as error:
        raise CfgfixError(data_error_text(error), path=name, line=loaded.line_of(error.path)) from None


def _load_data(text: str, name: str) -> _LoadedFile:
    """Return a YAML or JSON text as plain data, with the line of each key path.

    Aliases are counted each time, so a small file cannot grow without bound.
    """
    import yaml

    if text.count("{") + text.count("[") > MAX_BRACKETS:
        raise CfgfixError("this is no hardware profile: it has too many brackets", path=name)
    as_json = name.lower().endswith(".json")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        # A tab is white space in JSON and cannot stand raw inside a JSON text; the YAML reader refuses it.
        node = yaml.compose(text.replace("\t", " ") if as_json else text, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "it cannot be read"
        kind = "JSON" if as_json else "YAML"
        raise CfgfixError(
            f"this is not {kind}: {problem}",
            path=name,
            line=None if mark is None else mark.line + 1,
            column=None if mark is None else mark.column + 1,
        ) from None
    except RecursionError:
        raise CfgfixError("this is no hardware profile: it is nested too deeply", path=name) from None
    if node is None:
        raise CfgfixError("the file is empty", path=name)
    lines: dict[tuple[str | int, ...], int] = {}
    constructor = yaml.constructor.SafeConstructor()
    left = [MAX_NODES]

    def plain(item: yaml.Node, path: tuple[str | int, ...]) -> object:
        left[0] -= 1
        line = item.start_mark.line + 1
        lines.setdefault(path, line)
        if left[0] < 0 or len(path) > MAX_DEPTH:
            raise CfgfixError(
                "this is no hardware profile: it is too large or nested too deeply", path=name, line=line
            )
        if isinstance(item, yaml.ScalarNode):
            if as_json and not item.style and item.tag.endswith(":str"):
                try:
                    return float(item.value)  # 1e5 is a number in JSON and a text in YAML 1.1
                except ValueError:
                    return item.value
            try:
                return constructor.construct_object(item)
            except (yaml.YAMLError, ValueError, OverflowError):
                raise CfgfixError(f"cannot read {item.value[:40]!r}", path=name, line=line) from None
        if isinstance(item, yaml.SequenceNode):
            return [plain(child, (*path, index)) for index, child in enumerate(item.value)]
        if not isinstance(item, yaml.MappingNode):
            raise CfgfixError("cannot read this kind of entry", path=name, line=line)
        result: dict[str, object] = {}
        for key_node, value_node in item.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise CfgfixError("a key must be a plain text", path=name, line=line)
            key = str(key_node.value)
            if key in result:
                raise CfgfixError(f"the key {key[:40]!r} stands twice", path=name, line=line)
            place = (*path, key)
            lines[place] = line
            result[key] = plain(value_node, place)
        return result

    return _LoadedFile(plain(node, ()), lines)


def from_mapping(data: object, label: str) -> Hardware:
    """Return the machine that a file written by hand describes.

    Args:
        data: A mapping with any of `gpus` (a list of `{id, count}` or `{name, memory_mib, compute_capability,
            tensor_cores, count}`), `cpus`, `ram_gib`, `shm_mib` and `storage` (a kind, or `{kind, read_mbs}`).
        label: What to call it.

    Raises:
        DataError: A key is unknown or of the wrong kind.
    """
    from cfgfix.core.records import replace
    from cfgfix.hardware.model import exact
    from cfgfix.hardware.saved import MAX_GPUS, DataError, kind_of, suggestion

    if not isinstance(data, dict):
        raise DataError((), f"a hardware profile must be a mapping, not {kind_of(data)}")
    known = {"gpus", "cpus", "ram_gib", "shm_mib", "storage"}
    for key in data:
        if key not in known:
            near = suggestion(key, known)
            raise DataError((key,), f"unknown key{near}; a profile has {', '.join(sorted(known))}")
    hardware = blank(label, "file", f"{label} does not say")
    cpu, memory, storage = hardware.cpu, hardware.memory, hardware.storage

    def number(*path: str) -> float | None:
        value: Any = data
        for step in path:
            value = value.get(step)
        if value is None:
            return None
        try:
            return check_number(value)
        except ValueError as error:
            raise DataError(path, str(error)) from None

    cpus, ram, shm = number("cpus"), number("ram_gib"), number("shm_mib")
    if cpus is not None:
        cpu = replace(cpu, usable=exact(cpus, f"{label}: cpus"), limited_by=f"cpus: {cpus:g} in {label}")
    if ram is not None:
        total = exact(ram * 1024.0, f"{label}: ram_gib")
        memory = replace(memory, total_mib=total, limited_by=f"ram_gib: {ram:g} in {label}")
    if shm is not None:
        memory = replace(memory, shm_mib=exact(shm, f"{label}: shm_mib"))
    stored = data.get("storage")
    if stored is not None:
        entry = {"kind": stored} if isinstance(stored, str) else stored
        if not isinstance(entry, dict):
            raise DataError(("storage",), f"must be a kind or a mapping, not {kind_of(entry)}")
        for key in entry:
            if key not in {"kind", "read_mbs"}:
                raise DataError(("storage", key), f"unknown key{suggestion(key, {'kind', 'read_mbs'})}")
        if entry.get("kind") is not None:
            try:
                kind = check_storage(entry["kind"])
            except ValueError as error:
                raise DataError(
                    ("storage",) if entry is not stored else ("storage", "kind"), str(error)
                ) from None
            storage = replace(storage, kind=exact(kind, f"{label}: storage"))
        if entry.get("read_mbs") is not None:
            speed = number("storage", "read_mbs")
            if speed is not None:
                storage = replace(storage, read_mbs=exact(speed, f"{label}: storage.read_mbs"))
    gpus: list[Gpu] = []
    notes: list[str] = []
    listed = data.get("gpus")
    if listed is not None:
        if not isinstance(listed, list):
            raise DataError(("gpus",), f"must be a list, not {kind_of(listed)}")
        for index, item in enumerate(listed):
            added = _gpus_of_entry(item, ("gpus", index), label, memory.total_mib, notes)
            if len(gpus) + len(added) > MAX_GPUS:
                raise DataError(("gpus", index), f"more than {MAX_GPUS} GPUs are no machine")
            gpus += [replace(gpu, index=len(gpus) + position) for position, gpu in enumerate(added)]
    return replace(
        hardware,
        gpus=tuple(gpus),
        gpu_count=hardware.gpu_count if listed is None else exact(len(gpus), f"{label}: gpus"),
        cpu=cpu,
        memory=memory,
        storage=storage,
        notes=tuple(dict.fromkeys(notes)),
    )


def _gpus_of_entry(
    item: object, path: tuple[str | int, ...], label: str, ram_mib: Value[float], notes: list[str]
) -> tuple[Gpu, ...]:
    """Return the devices of one entry under `gpus`.

    The entry is a card of the table, or a card described by its facts.
    """
    from cfgfix.hardware import table
    from cfgfix.hardware.saved import MAX_GPUS, DataError, kind_of, suggestion

    if isinstance(item, str):
        item = {"id": item}
    if not isinstance(item, dict):
        raise DataError(path, f"must be an id or a mapping, not {kind_of(item)}")
    known = {"id", "name", "count", "memory_mib", "compute_capability", "tensor_cores"}
    for key in item:
        if key not in known:
            raise DataError((*path, key), f"unknown key{suggestion(key, known)}")
    count = item.get("count", 1)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_GPUS:
        raise DataError(
            (*path, "count"), f"must be a whole number from 1 to {MAX_GPUS}, not {kind_of(count)}"
        )
    if "id" in item:
        extra = sorted(set(item) - {"id", "count"})
        if extra:
            raise DataError(
                (*path, extra[0]),
                "an entry with an id takes its facts from the table; use name instead of id",
            )
        name = item["id"]
        if not isinstance(name, str):
            raise DataError((*path, "id"), f"must be a text, not {kind_of(name)}")
        try:
            row = find_card(name)
        except CfgfixError as error:
            raise DataError((*path, "id"), f"{error.message} ({error.hint})") from None
        if row is None:
            raise DataError((*path, "id"), f"unknown card {name[:40]!r}: {similar_names_hint(name)}")
        if row.notes:
            notes.append(f"{row.id}: {row.notes}")
        return table.profile_gpus(row, count, unified_ram_mib=ram_mib if ram_mib.known else None)
    if "name" not in item:
        raise DataError(path, "has neither an id nor a name")
    return (_gpu_of_preset(item, path, label),) * count


def _gpu_of_preset(item: dict[str, Any], path: tuple[str | int, ...], label: str) -> Gpu:
    """Return a card described by name and facts; the table adds what it knows."""
    from cfgfix.hardware import table
    from cfgfix.hardware.model import Gpu, exact, unknown
    from cfgfix.hardware.saved import DataError, kind_of, read_capability

    name = item["name"]
    if not isinstance(name, str) or not name.strip():
        raise DataError((*path, "name"), f"must be a text, not {kind_of(name)}")
    memory: Value[int] = unknown(f"{label} does not say")
    if item.get("memory_mib") is not None:
        try:
            memory = exact(int(check_number(item["memory_mib"])), f"{label}: memory_mib")
        except ValueError as error:
            raise DataError((*path, "memory_mib"), str(error)) from None
    known = table.device_facts(table.match(name, memory.value), name)
    capability = known.compute_capability
    if item.get("compute_capability") is not None:
        try:
            capability = exact(read_capability(item["compute_capability"]), f"{label}: compute_capability")
        except ValueError as error:
            raise DataError((*path, "compute_capability"), str(error)) from None
    tensor_cores = known.tensor_cores
    if item.get("tensor_cores") is not None:
        if not isinstance(item["tensor_cores"], bool):
            raise DataError(
                (*path, "tensor_cores"), f"must be true or false, not {kind_of(item['tensor_cores'])}"
            )
        tensor_cores = exact(item["tensor_cores"], f"{label}: tensor_cores")
    rows = table.find_by_product_name(name)
    return Gpu(
        id=known.id,
        vendor=rows[0].vendor if rows else "nvidia" if capability.known else "",
        name=exact(name, f"{label}: name"),
        memory_mib=memory,
        total_mib=memory,
        nominal_gib=known.nominal_gib,
        compute_capability=capability,
        tensor_cores=tensor_cores,
        tensor_dtypes=known.tensor_dtypes,
        bandwidth_gbs=known.bandwidth_gbs,
        fp16_tflops=known.fp16_tflops,
        pcie=known.pcie,
        nvlink_gbs=known.nvlink_gbs,
        free_mib=unknown("a profile does not say what other processes use"),
    )
