"""Machines as folders: the /proc and /sys files that the readers look at."""

from __future__ import annotations

V2_MOUNT = "30 25 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
MEMINFO = "MemTotal:       67108864 kB\nMemFree:         1000 kB\nMemAvailable:   50331648 kB\n"
CPUINFO = "".join(f"processor\t: {n}\nflags\t\t: fpu avx512f amx_bf16 amx_tile\n\n" for n in range(16))


def write(root, files):
    for path, text in files.items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


def machine(root, *, cgroup="0::/\n", mountinfo=V2_MOUNT, affinity="0-15", files=None):
    """A 16-processor, 64 GiB machine with the given control groups."""
    content = {
        "/proc/meminfo": MEMINFO,
        "/proc/cpuinfo": CPUINFO,
        "/proc/self/mountinfo": mountinfo,
        "/proc/self/status": f"Name:\tpython\nCpus_allowed_list:\t{affinity}\n",
        "/sys/devices/system/cpu/online": "0-15\n",
        **(files or {}),
    }
    if cgroup is not None:
        content["/proc/self/cgroup"] = cgroup
    write(root, content)
    (root / "sys/fs/cgroup").mkdir(parents=True, exist_ok=True)
    return root
