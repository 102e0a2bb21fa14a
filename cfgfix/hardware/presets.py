"""Machines by name: a card or a machine of the table, or a file; and which machine a run is meant for.

A profile never takes a number from the machine cfgfix runs on: what it does not say is unknown.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from cfgfix.core.errors import CfgfixError
from cfgfix.hardware.device_nodes import has_nvidia_device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfgfix.hardware.model import Gpu, Hardware, Value
    from cfgfix.hardware.table import GpuRow, MachineRow

MAX_FILE_BYTES = 1 << 20
"""A saved machine with 16 cards is about 60 kB; a profile of a megabyte is no profile."""

MAX_BRACKETS = 10_000
"""A saved machine has a few hundred; the parser's time grows faster than the depth of nesting."""

MAX_DEPTH = 12
"""Nesting that a profile can need, with room."""

MAX_NODES = 50_000
"""Entries that are read, aliases counted each time they are used."""

_OPTIONS = ("cpus", "ram", "storage", "shm")
_FILE_ENDINGS = (".yaml", ".yml", ".json")
_UNITS_MIB = {
    "m": 1.0,
    "mb": 1.0,
    "mib": 1.0,
    "g": 1024.0,
    "gb": 1024.0,
    "gib": 1024.0,
    "t": 1048576.0,
    "tb": 1048576.0,
    "tib": 1048576.0,
}
"""People write GB and mean what the system shows, so both spellings are powers of 1024."""

_HOW_TO_NAME = (
    "name the training machine: --hardware rtx4090, --hardware aws-g5-xlarge or --hardware machine.yaml"
)


def resolve_hardware(
    request: str | None,
    *,
    environ: Mapping[str, str] | None = None,
    root: str | os.PathLike[str] = "/",
    path: str = ".",
    base_dir: str | os.PathLike[str] | None = None,
) -> tuple[Hardware | None, str]:
    """Return the machine that is meant, with one line that says which and why.

    Without a request, this machine counts only if it has a GPU that this process can use: then it is a training
    machine. A laptop, a hook or a CI runner is no measure for worker counts. An explicit `auto` is the user's word
    that this machine is meant: its CPU and memory count even where it has no GPU.

    Args:
        request: `auto`, `none`, a profile as for `parse_profile`, or None where the user said nothing.
        environ: The environment variables of this process.
        root: Where the file system of the machine starts.
        path: A place on the storage that the data is read from.
        base_dir: The folder that a relative profile file is looked up in.

    Raises:
        CfgfixError: The profile is not known, or its file is wrong.
    """
    wanted = request.strip() if request is not None else None
    if wanted is not None and wanted.lower() == "none":
        return None, "hardware: none, as asked: rules about the machine are skipped"
    if wanted is not None and wanted.lower() != "auto":
        hardware = parse_profile(wanted, base_dir=base_dir)
        return hardware, f"hardware: {hardware.label} ({summary(hardware)})"
    variables = os.environ if environ is None else environ
    if wanted is None and not has_nvidia_device(root):
        return None, f"hardware: none (no NVIDIA GPU on this machine); {_HOW_TO_NAME}"
    from cfgfix.hardware.detect import detect

    hardware = detect(root=root, environ=variables, path=path)
    if wanted is None and not hardware.gpus:
        reason = hardware.notes[0] if hardware.notes else hardware.gpu_count.source
        return None, f"hardware: none ({reason}); {_HOW_TO_NAME}"
    return hardware, f"hardware: this machine ({summary(hardware)})"


def is_this_machine(request: str | None, *, root: str | os.PathLike[str] = "/") -> bool:
    """Tell whether a request is answered by looking at the machine.

    The answer may be another one next time.
    """
    wanted = request.strip().lower() if request is not None else None
    return wanted == "auto" or (wanted is None and has_nvidia_device(root))


def summary(hardware: Hardware) -> str:
    """Return the machine in a few words.

    Such as `2 x NVIDIA GeForce RTX 4090, 16 CPUs, 64 GiB RAM`.
    """
    parts: list[str] = []
    names: dict[str, int] = {}
    for gpu in hardware.gpus:
        name = gpu.name.value or "a GPU of unknown name"
        names[name] = names.get(name, 0) + 1
    parts += [f"{count} x {name}" if count > 1 else name for name, count in names.items()]
    if not hardware.gpus:
        count = hardware.gpu_count.value
        parts.append(
            "no GPU"
            if count == 0
            else "GPUs not known"
            if count is None
            else f"{count} GPU{'' if count == 1 else 's'} of unknown name"
        )
    if hardware.cpu.usable.value is not None:
        parts.append(f"{hardware.cpu.usable.value:g} CPU{'' if hardware.cpu.usable.value == 1 else 's'}")
    if hardware.memory.total_mib.value is not None:
        gib = hardware.memory.total_mib.value / 1024
        parts.append(f"{gib:.0f} GiB RAM" if gib >= 10 else f"{gib:.2g} GiB RAM")
    return ", ".join(parts)


def parse_profile(text: str, *, base_dir: str | os.PathLike[str] | None = None) -> Hardware:
    """Return the machine that a profile names.

    Args:
        text: `NAME[xN][,cpus=N][,ram=GIB][,storage=KIND][,shm=MIB]` with a card or machine of the table, or `cpu` for
            a machine without a GPU; or a `.yaml` or `.json` file.
        base_dir: The folder that a relative file is looked up in; the working directory by default.

    Raises:
        CfgfixError: The name or an option is not known, or the file cannot be used.
    """
    wanted = text.strip()
    if not wanted:
        raise CfgfixError("the hardware profile is empty", hint=_HOW_TO_NAME)
    if wanted.lower().endswith(_FILE_ENDINGS) or "/" in wanted or os.sep in wanted:
        return _read_file(wanted, base_dir)
    head, *options = [part.strip() for part in wanted.split(",")]
    stated = _read_options(options, wanted)
    if head.lower() == "cpu":
        return _build(wanted, None, None, 0, stated)
    machine, row, count = _find(head)
    return _build(wanted, machine, row, count, stated)


def _find(name: str) -> tuple[MachineRow | None, GpuRow | None, int]:
    """The machine, or the card and its count, that a name means."""
    from cfgfix.hardware import table

    machine = table.find_machine(name)
    if machine is not None:
        return machine, None, 1
    row = _find_card(name)
    if row is not None:
        return None, row, 1
    left, cross, digits = name.lower().rpartition("x")
    if cross and digits.isascii() and digits.isdigit() and len(digits) <= 2:
        if table.find_machine(left) is not None:
            raise CfgfixError(
                f"{left.strip()!r} is a whole machine and cannot be multiplied",
                hint="a profile is one machine; for several of them check each worker with the profile of one",
            )
        row = _find_card(left)
        if row is not None:
            if int(digits) == 0:
                raise CfgfixError(f"{name!r} has no card", hint="write cpu for a machine without a GPU")
            return None, row, int(digits)
    raise CfgfixError(f"unknown hardware {name!r}", hint=_similar_names_hint(name))


def _find_card(name: str) -> GpuRow | None:
    """The card with this id, alias or product name; a product name of several cards is refused with their ids."""
    from cfgfix.hardware import table

    row = table.find_gpu(name)
    if row is not None:
        return row
    rows = table.find_by_product_name(name)
    if len(rows) > 1:
        ids = ", ".join(found.id for found in rows)
        raise CfgfixError(f"{name!r} is the name of several cards", hint=f"write one of {ids}")
    return rows[0] if rows else None


def _similar_names_hint(name: str) -> str:
    """What to try instead of an unknown name."""
    from cfgfix.hardware import table

    number, cross, rest = name.lower().partition("x")
    if cross and number.strip().isdigit() and table.find_gpu(rest) is not None:
        return f"write the count last: {rest.strip()}x{number.strip()}"
    near = table.suggestions(name)
    left, cross, digits = name.lower().rpartition("x")
    if not near and cross and digits.isdigit():
        near = table.suggestions(left)
    listed = "cfgfix hardware --list shows every name"
    return f"did you mean {' or '.join(near)}? {listed}" if near else listed


class _Stated:
    """What a profile says beyond its name; None where it says nothing."""

    __slots__ = ("cpus", "ram_mib", "read_mbs", "shm_mib", "storage")

    def __init__(self) -> None:
        self.cpus: float | None = None
        self.ram_mib: float | None = None
        self.shm_mib: float | None = None
        self.storage: str | None = None
        self.read_mbs: float | None = None


def _read_options(options: list[str], text: str) -> _Stated:
    stated = _Stated()
    seen: set[str] = set()
    for option in options:
        key, equals, value = (part.strip() for part in option.partition("="))
        key = key.lower()
        if key not in _OPTIONS:
            from cfgfix.hardware.saved import suggestion

            known = ", ".join(f"{name}=" for name in _OPTIONS)
            raise CfgfixError(
                f"unknown option {key!r} in the profile {text!r}{suggestion(key, list(_OPTIONS))}",
                hint=f"use {known}",
            )
        if not equals or not value:
            raise CfgfixError(
                f"the option {key!r} in the profile {text!r} has no value", hint=f"write {key}=VALUE"
            )
        if key in seen:
            raise CfgfixError(f"the option {key!r} stands twice in the profile {text!r}")
        seen.add(key)
        try:
            if key == "cpus":
                stated.cpus = check_number(_to_number(value))
            elif key == "ram":
                stated.ram_mib = _to_mib(value, "gib")
            elif key == "shm":
                stated.shm_mib = _to_mib(value, "mib")
            else:
                stated.storage = check_storage(value.lower())
        except ValueError as error:
            raise CfgfixError(f"{key} in the profile {text!r} {error}") from None
    return stated


def _to_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"must be a number, not {text!r}") from None


def _to_mib(text: str, unit: str) -> float:
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    written = text[len(digits) :].lower() or unit
    if written not in _UNITS_MIB:
        raise ValueError(f"has the unknown unit {written!r}; use MiB or GiB")
    return check_number(_to_number(digits.strip())) * _UNITS_MIB[written]


def check_number(value: object) -> float:
    """Return a positive, finite number.

    Raises:
        ValueError: It is none; the text continues a sentence that starts with what the number is.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        from cfgfix.hardware.saved import kind_of

        raise ValueError(f"must be a number, not {kind_of(value)}")  # noqa: TRY004 - one error kind for all
    if not 0 < value < 2**53:
        raise ValueError(f"must be a finite number above 0, not {str(value)[:40]}")
    return float(value)


def check_storage(value: object) -> str:
    """Return a known kind of storage.

    Raises:
        ValueError: It is none; the text continues a sentence that starts with what the value is.
    """
    from cfgfix.hardware.model import STORAGE_KINDS

    if isinstance(value, str) and value in STORAGE_KINDS:
        return value
    from cfgfix.hardware.saved import kind_of, suggestion

    if not isinstance(value, str):
        raise ValueError(f"must be one of {', '.join(STORAGE_KINDS)}, not {kind_of(value)}")  # noqa: TRY004 - one error kind for all
    raise ValueError(
        f"must be one of {', '.join(STORAGE_KINDS)}, not {value[:40]!r}{suggestion(value, list(STORAGE_KINDS))}"
    )


def _build(
    label: str, machine: MachineRow | None, row: GpuRow | None, count: int, stated: _Stated
) -> Hardware:
    """The machine of a one-line profile."""
    from cfgfix.core.records import replace
    from cfgfix.hardware import table
    from cfgfix.hardware.model import estimated, exact, unknown

    source = f"profile {label}"
    notes: list[str] = []
    hardware = blank(label, "profile", f"the profile {label!r} does not say")
    cpu, memory, storage = hardware.cpu, hardware.memory, hardware.storage
    host_ram = hardware.host_ram_mib
    if machine is not None:
        origin = machine.source()
        if machine.vcpus is not None:
            logical = (
                exact(machine.vcpus, origin)
                if machine.confidence == "high"
                else estimated(machine.vcpus, origin)
            )
            usable = estimated(float(machine.vcpus), f"{origin}: all vCPUs; a container or job may get fewer")
            cpu = replace(
                cpu, logical=logical, usable=usable, limited_by=f"the {machine.vcpus} vCPUs of {machine.id}"
            )
        if machine.ram_gib is not None:
            ram = estimated(machine.ram_gib * 1024.0, f"{origin}: before the kernel's share")
            memory = replace(memory, total_mib=ram, limited_by=f"the memory of {machine.id}")
            host_ram = ram
        if machine.local_nvme_gb:
            notes.append(
                f"{machine.id} has {machine.local_nvme_gb:g} GB of local NVMe; whether the data lies there is not known "
                "(say storage=nvme)"
            )
        if machine.notes:
            notes.append(f"{machine.id}: {machine.notes}")
    if stated.cpus is not None:
        usable = exact(stated.cpus, f"{source}: cpus={stated.cpus:g}")
        cpu = replace(cpu, usable=usable, limited_by=f"cpus={stated.cpus:g} of the profile")
    if stated.ram_mib is not None:
        total = exact(stated.ram_mib, f"{source}: ram={stated.ram_mib / 1024:g} GiB")
        memory = replace(
            memory, total_mib=total, limited_by=f"ram={stated.ram_mib / 1024:g} GiB of the profile"
        )
    if stated.shm_mib is not None:
        memory = replace(memory, shm_mib=exact(stated.shm_mib, f"{source}: shm={stated.shm_mib:g} MiB"))
    if stated.storage is not None:
        storage = replace(storage, kind=exact(stated.storage, f"{source}: storage={stated.storage}"))
    gpus: tuple[Gpu, ...] = ()
    gpu_source = source
    if machine is not None:
        gpu_source = machine.source()
        if machine.gpu is not None:
            row, count = table.find_gpu(machine.gpu), machine.gpu_count
    if row is not None:
        boards = count
        if machine is not None and row.devices_per_board:
            boards = max(1, count // row.devices_per_board)  # providers count devices
        gpus = table.profile_gpus(
            row, boards, unified_ram_mib=memory.total_mib if memory.total_mib.known else None
        )
        if row.notes:
            notes.append(f"{row.id}: {row.notes}")
        if len(gpus) != count:
            gpu_source += f"; {count} boards with {row.devices_per_board} devices each"
    if machine is not None and machine.gpu_fraction is not None:
        gpus = tuple(_part_of_card(gpu, machine) for gpu in gpus)
    if machine is not None and machine.gpu is not None and not gpus:
        gpu_count: Value[int] = unknown(f"{gpu_source}: the card {machine.gpu!r} is not in the table")
    else:
        gpu_count = exact(len(gpus), gpu_source)
    return replace(
        hardware,
        gpus=gpus,
        gpu_count=gpu_count,
        cpu=cpu,
        memory=memory,
        storage=storage,
        host_ram_mib=host_ram,
        notes=tuple(notes),
    )


def _part_of_card(gpu: Gpu, machine: MachineRow) -> Gpu:
    """A virtual GPU that is a share of a card: the chip's features stay, its size and rates do not."""
    from cfgfix.core.records import replace
    from cfgfix.hardware.model import estimated, unknown

    reason = f"{machine.source()}: {machine.gpu_fraction:g} of a card"
    memory: Value[int] = unknown(f"{reason}, its memory is not known")
    if machine.gpu_memory_mib is not None:
        memory = estimated(machine.gpu_memory_mib, reason)
    return replace(
        gpu,
        memory_mib=memory,
        total_mib=memory,
        nominal_gib=unknown(reason),
        bandwidth_gbs=unknown(reason),
        fp16_tflops=unknown(reason),
        nvlink_gbs=unknown(reason),
    )


def blank(label: str, origin: str, reason: str) -> Hardware:
    """Return a machine of which nothing is known, for the reason given."""
    from cfgfix.hardware.model import Cpu, Hardware, Memory, Storage, unknown

    return Hardware(
        label=label,
        origin=origin,
        gpus=(),
        gpu_count=unknown(reason),
        cpu=Cpu(logical=unknown(reason), usable=unknown(reason), limited_by="", amx_bf16=unknown(reason)),
        memory=Memory(
            total_mib=unknown(reason), available_mib=unknown(reason), limited_by="", shm_mib=unknown(reason)
        ),
        storage=Storage(kind=unknown(reason), read_mbs=unknown(reason)),
        host_ram_mib=unknown(reason),
        has_quota=unknown(reason),
        tf_reserve_mib=unknown("TF_DEVICE_MIN_SYS_MEMORY_IN_MB is not known to be set"),
    )


def limited(
    label: str, cpus: float | None, ram_mib: float | None, card: str = "", gpus: int | None = None
) -> Hardware:
    """Return a machine of which only the limits are known under which a job runs.

    Args:
        label: What says them.
        cpus: The CPUs that the job may use, or None.
        ram_mib: Its memory in MiB, or None.
        card: The id of its card in the table; empty where none is named.
        gpus: How many cards it is given, or None.
    """
    from cfgfix.core.records import replace
    from cfgfix.hardware import table
    from cfgfix.hardware.model import exact

    hardware = blank(label, "profile", f"{label} does not say")
    if cpus is not None:
        cpu = replace(hardware.cpu, usable=exact(cpus, label), limited_by=f"the limit of {label}")
        hardware = replace(hardware, cpu=cpu)
    if ram_mib is not None:
        memory = replace(hardware.memory, total_mib=exact(ram_mib, label), limited_by=f"the limit of {label}")
        hardware = replace(hardware, memory=memory)
    row = table.find_gpu(card) if card else None
    if row is not None:
        hardware = replace(hardware, gpus=table.profile_gpus(row, gpus or 1))
    if gpus is not None:
        hardware = replace(hardware, gpu_count=exact(gpus, label))
    return hardware


class _Loaded:
    """A file as plain data, with the line of each key path."""

    __slots__ = ("data", "lines")

    def __init__(self, data: Any, lines: dict[tuple[str | int, ...], int]) -> None:
        self.data = data
        self.lines = lines

    def line_of(self, path: tuple[str | int, ...]) -> int:
        """The line of the path, or of the nearest entry above it.

        The whole file starts at one, too.
        """
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines[path]


def _read_file(name: str, base_dir: str | os.PathLike[str] | None) -> Hardware:
    from cfgfix.core.records import replace
    from cfgfix.core.source_file import read_source
    from cfgfix.hardware.saved import DataError, data_error_text, from_data, is_saved_machine

    place = os.path.expanduser(name)
    if base_dir is not None and not os.path.isabs(place):
        place = os.path.join(base_dir, place)
    source = read_source(place, limit=MAX_FILE_BYTES)
    loaded = _load(source.text, name)
    label = os.path.basename(name)
    try:
        if is_saved_machine(loaded.data):
            return replace(from_data(loaded.data), label=label, origin="file")
        return from_mapping(loaded.data, label)
    except DataError as error:
        raise CfgfixError(data_error_text(error), path=name, line=loaded.line_of(error.path)) from None


def _load(text: str, name: str) -> _Loaded:
    """Read YAML or JSON to plain data. Aliases are counted each time, so a small file cannot grow without bound."""
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

    return _Loaded(plain(node, ()), lines)


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
    """The devices of one entry under `gpus`: a card of the table, or one described by its facts."""
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
            row = _find_card(name)
        except CfgfixError as error:
            raise DataError((*path, "id"), f"{error.message} ({error.hint})") from None
        if row is None:
            raise DataError((*path, "id"), f"unknown card {name[:40]!r}: {_similar_names_hint(name)}")
        if row.notes:
            notes.append(f"{row.id}: {row.notes}")
        return table.profile_gpus(row, count, unified_ram_mib=ram_mib if ram_mib.known else None)
    if "name" not in item:
        raise DataError(path, "has neither an id nor a name")
    return (_gpu_of_preset(item, path, label),) * count


def _gpu_of_preset(item: dict[str, Any], path: tuple[str | int, ...], label: str) -> Gpu:
    """A card described by name and facts; the table fills what it knows of the name."""
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


def profile_names() -> list[tuple[str, str]]:
    """Return every id that a profile can name, with a few words on it.

    Cards first, then machines.
    """
    from cfgfix.hardware import table

    names = []
    for row in table.gpu_rows():
        size = f"{row.memory_gib:g} GB" if row.memory_gib is not None else "memory shared or not known"
        names.append((row.id, f"{row.names[0] if row.names else row.vendor}, {size}"))
    for machine in table.machine_rows():
        parts = [f"{machine.gpu_count} x {machine.gpu}" if machine.gpu else "no GPU"]
        parts += [f"{machine.vcpus} vCPUs"] if machine.vcpus is not None else []
        parts += [f"{machine.ram_gib:g} GiB"] if machine.ram_gib is not None else []
        names.append((machine.id, ", ".join(parts)))
    return names
