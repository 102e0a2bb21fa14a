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
    from cfgfix.hardware.model import Hardware

_FILE_ENDINGS = (".yaml", ".yml", ".json")

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
    """Return the machine that a request means, with a line that says which and why.

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
    """Tell whether a request is answered by looking at this machine.

    The answer may then differ the next time.
    """
    wanted = request.strip().lower() if request is not None else None
    return wanted == "auto" or (wanted is None and has_nvidia_device(root))


def summary(hardware: Hardware) -> str:
    """Return a machine in a few words.

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
        from cfgfix.hardware.profile_files import machine_of_file

        return machine_of_file(wanted, base_dir)
    from cfgfix.hardware.one_line_profiles import machine_of_line

    return machine_of_line(wanted)


def profile_names() -> list[tuple[str, str]]:
    """Return every name that a profile can have, each with a short description.

    Cards come first, then machines.
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
