"""What this process may really use on this machine, read from it."""

from __future__ import annotations

import os
from collections.abc import Mapping

from cfgfix.hardware.cpu import read_cpu
from cfgfix.hardware.device_nodes import has_nvidia_device
from cfgfix.hardware.gpu import GpuReading, read_gpus, tf_reserve
from cfgfix.hardware.memory import read_memory
from cfgfix.hardware.model import Hardware, exact
from cfgfix.hardware.storage import read_storage
from cfgfix.hardware.system import Root, path_below


def detect(
    *,
    root: Root = "/",
    environ: Mapping[str, str] | None = None,
    path: str = ".",
    ask_driver: bool | None = None,
) -> Hardware:
    """Return the machine this process runs on, as far as this process may use it.

    Never raises on a machine that hides things: what cannot be read is unknown, with the reason.

    Args:
        root: Where the file system of the machine starts.
        environ: The environment variables of this process; those of `os.environ` by default.
        path: A place on the storage that the data is read from.
        ask_driver: Whether to ask NVIDIA's library. By default only where the system shows an NVIDIA device, which
            saves the time of loading the binding; True asks in any case.
    """
    variables = os.environ if environ is None else environ
    memory = read_memory(root, variables)
    cpu = read_cpu(root, variables)
    if ask_driver or (ask_driver is None and has_nvidia_device(root)):
        gpus = read_gpus(root, variables, memory.host_mib)
    else:
        gpus = GpuReading((), exact(0, "no NVIDIA device on this machine"), ())
    notes = [*gpus.notes, *cpu.notes, *memory.notes]
    if os.path.exists(path_below(root, "/dev/kfd")):
        notes.append("there is an AMD GPU: its facts are not read; name it, such as --hardware mi300x")
    return Hardware(
        label="auto",
        origin="live",
        gpus=gpus.gpus,
        gpu_count=gpus.number,
        cpu=cpu.cpu,
        memory=memory.memory,
        storage=read_storage(path, root),
        host_ram_mib=memory.host_mib,
        has_quota=cpu.has_quota,
        tf_reserve_mib=tf_reserve(variables),
        notes=tuple(notes),
    )
