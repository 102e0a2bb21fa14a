"""Limits on the real root: files put over the control groups of this machine in a mount namespace of our own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from machine_tree import write

from cfgfix.hardware import cgroups, model

SCRIPT = """
from cfgfix.hardware.cpu import read_cpu
from cfgfix.hardware.memory import read_memory
cpu, memory = read_cpu("/", {}), read_memory("/", {})
print(cpu.cpu.usable.value, cpu.cpu.limited_by)
print(memory.memory.total_mib.value, memory.memory.limited_by)
"""


@pytest.fixture
def private_mounts():
    allowed = (
        sys.platform == "linux"
        and os.geteuid() == 0
        and shutil.which("unshare") is not None
        and subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0
    )
    if not allowed:
        pytest.skip("not on this platform: needs root and private mount namespaces")


def test_limits_of_an_ancestor_are_seen_through_the_real_root(private_mounts, tmp_path):
    found = {}
    for controller in ("cpu", "memory"):
        groups = cgroups.groups("/", controller).found
        if not groups:
            pytest.skip("not on this platform: no control groups are mounted")
        found[controller] = groups[0] if groups[0].version == 2 or len(groups) == 1 else groups[-2]
    tree = {}
    for controller, group in found.items():
        version_2 = group.version == 2
        if controller == "cpu":
            tree |= (
                {f"{group.path}/cpu.max": "50000 100000\n"}
                if version_2
                else {
                    f"{group.path}/cpu.cfs_quota_us": "50000\n",
                    f"{group.path}/cpu.cfs_period_us": "100000\n",
                }
            )
        else:
            name = "memory.max" if version_2 else "memory.limit_in_bytes"
            tree[f"{group.path}/{name}"] = f"{512 << 20}\n"
    base = "/sys/fs/cgroup"
    write(tmp_path, {path.removeprefix(base): text for path, text in tree.items()})
    command = f'mount --bind "{tmp_path}" {base} && exec "{sys.executable}" -c \'{SCRIPT}\''
    home = str(Path(model.__file__).resolve().parents[2])
    result = subprocess.run(
        ["unshare", "-m", "--propagation", "private", "sh", "-c", command],
        env={**os.environ, "PYTHONPATH": home},
        capture_output=True,
        text=True,
        check=True,
    )
    cpu, memory = result.stdout.splitlines()
    assert cpu.startswith(f"0.5 {base}")
    assert memory.startswith(f"512.0 {base}")
