from __future__ import annotations

import os
from types import SimpleNamespace

import pytest
from machine_tree import V2_MOUNT, machine, write

from cfgfix.hardware.memory import read_memory
from cfgfix.hardware.model import Certainty

MIB = 1 << 20
V1_MEMORY = "34 32 0:31 {root} /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
NO_V1_LIMIT = "9223372036854771712\n"


def limit(root, environ=None):
    reading = read_memory(root, environ or {})
    return reading.memory.total_mib.value, reading.memory.limited_by


def test_without_limit_the_machine_decides(tmp_path):
    reading = read_memory(machine(tmp_path), {})
    assert reading.memory.total_mib.value == 65536.0
    assert reading.memory.total_mib.certainty is Certainty.EXACT
    assert reading.memory.limited_by == "the memory of the machine"
    assert reading.memory.available_mib.value == 49152.0
    assert reading.host_mib.value == 65536.0
    assert reading.notes == ()


def test_v2_limit_on_an_ancestor_counts(tmp_path):
    root = machine(
        tmp_path,
        cgroup="0::/slice/job\n",
        files={
            "/sys/fs/cgroup/slice/memory.max": f"{1024 * MIB}\n",
            "/sys/fs/cgroup/slice/job/memory.max": "max\n",
            "/sys/fs/cgroup/slice/memory.current": f"{512 * MIB}\n",
            "/sys/fs/cgroup/slice/memory.stat": f"anon 1\ninactive_file {128 * MIB}\n",
        },
    )
    assert limit(root) == (1024.0, "/sys/fs/cgroup/slice/memory.max")
    reading = read_memory(root, {})
    assert reading.memory.available_mib.value == 1024 - 512 + 128
    assert reading.host_mib.value == 65536.0


def test_memory_high_is_a_limit_and_memory_low_is_none(tmp_path):
    root = machine(
        tmp_path,
        files={
            "/sys/fs/cgroup/memory.low": f"{512 * MIB}\n",
            "/sys/fs/cgroup/memory.min": f"{256 * MIB}\n",
            "/sys/fs/cgroup/memory.max": "max\n",
        },
    )
    assert limit(root)[0] == 65536.0
    write(root, {"/sys/fs/cgroup/memory.high": f"{2048 * MIB}\n"})
    assert limit(root) == (2048.0, "/sys/fs/cgroup/memory.high")


def test_a_group_that_uses_more_than_its_limit_has_nothing_left(tmp_path):
    files = {
        "/sys/fs/cgroup/memory.high": f"{100 * MIB}\n",
        "/sys/fs/cgroup/memory.current": f"{300 * MIB}\n",
    }
    assert read_memory(machine(tmp_path, files=files), {}).memory.available_mib.value == 0.0


def test_v1_docker_bind_mount(tmp_path):
    root = machine(
        tmp_path,
        cgroup="3:memory:/docker/abc\n",
        mountinfo=V1_MEMORY.format(root="/docker/abc"),
        files={
            "/sys/fs/cgroup/memory/memory.limit_in_bytes": f"{1024 * MIB}\n",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes": f"{600 * MIB}\n",
            "/sys/fs/cgroup/memory/memory.stat": f"inactive_file 1\ntotal_inactive_file {100 * MIB}\n",
        },
    )
    assert limit(root) == (1024.0, "/sys/fs/cgroup/memory/memory.limit_in_bytes")
    assert read_memory(root, {}).memory.available_mib.value == 524.0


def test_v1_nested_slurm_and_its_spelling_of_no_limit(tmp_path):
    base = "/sys/fs/cgroup/memory/slurm"
    root = machine(
        tmp_path,
        cgroup="3:memory:/slurm/job_7/step_0\n",
        mountinfo=V1_MEMORY.format(root="/"),
        files={
            f"{base}/job_7/memory.limit_in_bytes": f"{4096 * MIB}\n",
            f"{base}/job_7/step_0/memory.limit_in_bytes": NO_V1_LIMIT,
        },
    )
    assert limit(root) == (4096.0, f"{base}/job_7/memory.limit_in_bytes")


def test_hybrid(tmp_path):
    root = machine(
        tmp_path,
        cgroup="3:memory:/a\n0::/b\n",
        mountinfo=V1_MEMORY.format(root="/") + V2_MOUNT.replace("/sys/fs/cgroup", "/sys/fs/cgroup/unified"),
        files={
            "/sys/fs/cgroup/memory/a/memory.limit_in_bytes": f"{2048 * MIB}\n",
            "/sys/fs/cgroup/unified/b/cgroup.procs": "",
        },
    )
    assert limit(root)[0] == 2048.0


def test_an_invisible_group_is_estimated(tmp_path):
    reading = read_memory(machine(tmp_path, cgroup="0::/../x\n"), {})
    assert reading.memory.total_mib.certainty is Certainty.ESTIMATED
    assert "not visible" in reading.notes[0]


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"SLURM_MEM_PER_NODE": "8000"}, (8000.0, "SLURM_MEM_PER_NODE=8000")),
        (
            {"SLURM_MEM_PER_CPU": "2000", "SLURM_CPUS_ON_NODE": "3"},
            (6000.0, "SLURM_MEM_PER_CPU=2000 x SLURM_CPUS_ON_NODE=3"),
        ),
        ({"SLURM_MEM_PER_NODE": "0"}, (65536.0, "the memory of the machine")),
        ({"SLURM_MEM_PER_CPU": "2000"}, (65536.0, "the memory of the machine")),
        ({"SLURM_MEM_PER_NODE": "lots"}, (65536.0, "the memory of the machine")),
    ],
)
def test_slurm(tmp_path, environ, expected):
    assert limit(machine(tmp_path), environ) == expected


def test_without_proc_nothing_is_known(tmp_path):
    reading = read_memory(tmp_path, {})
    assert not reading.memory.total_mib.known
    assert not reading.memory.available_mib.known
    assert not reading.memory.shm_mib.known
    assert not reading.host_mib.known


def test_a_limit_without_meminfo_is_an_estimate(tmp_path):
    root = machine(tmp_path, files={"/sys/fs/cgroup/memory.max": f"{64 * MIB}\n"})
    (root / "proc/meminfo").unlink()
    reading = read_memory(root, {})
    assert reading.memory.total_mib.value == 64.0
    assert reading.memory.total_mib.certainty is Certainty.ESTIMATED
    assert not reading.memory.available_mib.known


def test_shared_memory(tmp_path, monkeypatch):
    root = machine(tmp_path)
    (root / "dev/shm").mkdir(parents=True)
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_blocks=16384, f_frsize=4096))
    assert read_memory(root, {}).memory.shm_mib.value == 64.0


def test_without_proc_on_the_real_root_psutil_answers(monkeypatch):
    import psutil

    from cfgfix.hardware import memory

    real = memory.read_text
    monkeypatch.setattr(
        memory, "read_text", lambda root, path: None if path == "/proc/meminfo" else real(root, path)
    )
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(total=8 << 30, available=4 << 30))
    reading = read_memory("/", {})
    assert reading.host_mib.value == 8192.0
    assert reading.host_mib.source == "psutil"


def test_the_real_machine_agrees_with_psutil():
    import psutil

    reading = read_memory("/", {})
    assert reading.host_mib.value == pytest.approx(psutil.virtual_memory().total / MIB)
