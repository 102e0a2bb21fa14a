"""What the file system shows of NVIDIA devices."""

from __future__ import annotations

import os


def has_nvidia_device(root: str | os.PathLike[str] = "/") -> bool:
    """Tell whether the system shows an NVIDIA device.

    The driver's library is not asked.

    Looks for the device nodes and the driver's folder (Linux), the paravirtual device with NVIDIA's library (WSL),
    the nodes of integrated GPUs (Jetson), and on Windows for the library itself.
    """
    base = os.fspath(root)
    if os.name == "nt" and base in {"/", "\\"}:
        system = os.environ.get("SYSTEMROOT", "C:\\Windows")
        return os.path.exists(os.path.join(system, "System32", "nvml.dll"))
    if any(
        os.path.exists(os.path.join(base, place))
        for place in (
            "dev/nvidiactl",
            "dev/nvidia0",
            "proc/driver/nvidia/version",
            "dev/nvhost-gpu",
            "dev/nvgpu",
        )
    ):
        return True
    if not os.path.exists(os.path.join(base, "dev/dxg")):
        return False
    return os.path.exists(os.path.join(base, "usr/lib/wsl/lib/libnvidia-ml.so.1"))
