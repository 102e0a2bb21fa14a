from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from machine_tree import V2_MOUNT, machine, write

from cfgfix.hardware.cgroups import Groups, groups
from cfgfix.hardware.cpu import SCHEDULER_VARIABLES, read_cpu
from cfgfix.hardware.model import Certainty, Cpu, exact, unknown
from cfgfix.hardware.system import count_list, mounts, read_count, read_text, to_count

V1_CPU = "33 32 0:30 {root} /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
V1_MEMORY = "34 32 0:31 {root} /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"


def usable(root, environ=None):
    reading = read_cpu(root, environ or {})
    return reading.cpu.usable.value, reading.cpu.limited_by, reading.has_quota.value


def test_without_limit_affinity_decides(tmp_path):
    reading = read_cpu(machine(tmp_path), {})
    assert reading.cpu.usable == exact(16.0, reading.cpu.usable.source)
    assert reading.cpu.limited_by == "the CPU affinity of this process"
    assert reading.has_quota == exact(False, "no CPU quota in /sys/fs/cgroup and above")
    assert reading.cpu.logical.value == 16
    assert reading.notes == ()


def test_affinity_counts_only_processors_that_are_online(tmp_path):
    root = machine(tmp_path, affinity="0-3,8,200-255")
    assert usable(root)[0] == 5


def test_v2_namespace_limit_at_the_mount_point(tmp_path):
    root = machine(tmp_path, files={"/sys/fs/cgroup/cpu.max": "50000 100000\n"})
    assert usable(root) == (0.5, "/sys/fs/cgroup/cpu.max", True)
    assert read_cpu(root, {}).cpu.workers() == 1


def test_v2_limit_on_an_ancestor_counts(tmp_path):
    root = machine(
        tmp_path,
        cgroup="0::/system.slice/job/task\n",
        files={
            "/sys/fs/cgroup/system.slice/cpu.max": "50000 100000\n",
            "/sys/fs/cgroup/system.slice/job/cpu.max": "max 100000\n",
            "/sys/fs/cgroup/system.slice/job/task/cpu.max": "400000 100000\n",
        },
    )
    assert usable(root) == (0.5, "/sys/fs/cgroup/system.slice/cpu.max", True)


def test_v2_quota_without_period_uses_the_kernels_default(tmp_path):
    root = machine(tmp_path, files={"/sys/fs/cgroup/cpu.max": "250000\n"})
    assert usable(root)[0] == 2.5


def test_v1_docker_bind_mount(tmp_path):
    root = machine(
        tmp_path,
        cgroup="4:cpu,cpuacct:/docker/abc\n3:memory:/docker/abc\n",
        mountinfo=V1_CPU.format(root="/docker/abc") + V1_MEMORY.format(root="/docker/abc"),
        files={
            "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "150000\n",
            "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
        },
    )
    assert usable(root) == (1.5, "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", True)
    assert read_cpu(root, {}).cpu.usable.certainty is Certainty.EXACT


def test_v1_nested_slurm(tmp_path):
    base = "/sys/fs/cgroup/cpu,cpuacct/slurm/uid_1000"
    root = machine(
        tmp_path,
        cgroup="4:cpu,cpuacct:/slurm/uid_1000/job_7/step_0\n",
        mountinfo=V1_CPU.format(root="/"),
        files={
            f"{base}/job_7/cpu.cfs_quota_us": "300000\n",
            f"{base}/job_7/cpu.cfs_period_us": "100000\n",
            f"{base}/job_7/step_0/cpu.cfs_quota_us": "-1\n",
            f"{base}/job_7/step_0/cpu.cfs_period_us": "100000\n",
        },
    )
    assert usable(root)[:2] == (3.0, f"{base}/job_7/cpu.cfs_quota_us")


def test_hybrid_reads_the_controller_where_it_is(tmp_path):
    root = machine(
        tmp_path,
        cgroup="4:cpu,cpuacct:/a\n1:name=systemd:/user\n0::/user\n",
        mountinfo=V1_CPU.format(root="/") + V2_MOUNT.replace("/sys/fs/cgroup", "/sys/fs/cgroup/unified"),
        files={
            "/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "200000\n",
            "/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": "100000\n",
            "/sys/fs/cgroup/unified/user/cgroup.procs": "",
        },
    )
    assert usable(root)[0] == 2.0
    assert groups(root, "cpu").complete


def test_hybrid_without_a_mounted_unified_tree_is_complete(tmp_path):
    root = machine(tmp_path, cgroup="4:cpu,cpuacct:/\n0::/\n", mountinfo=V1_CPU.format(root="/"))
    write(root, {"/sys/fs/cgroup/cpu,cpuacct/tasks": ""})
    assert groups(root, "cpu").complete


def test_a_later_mount_over_an_earlier_one_wins(tmp_path):
    first = V1_CPU.format(root="/docker/other")
    root = machine(
        tmp_path,
        cgroup="4:cpu,cpuacct:/docker/abc\n",
        mountinfo=first + V1_CPU.format(root="/docker/abc"),
        files={
            "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "100000\n",
            "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
        },
    )
    assert usable(root)[0] == 1.0


@pytest.mark.parametrize("path", ["/../outside", "/docker/abc/not/here", "/.."])
def test_an_invisible_group_is_estimated_and_said(tmp_path, path):
    root = machine(tmp_path, cgroup=f"0::{path}\n", files={"/sys/fs/cgroup/cpu.max": "200000 100000\n"})
    reading = read_cpu(root, {})
    assert reading.cpu.usable.value == 2.0
    assert reading.cpu.usable.certainty is Certainty.ESTIMATED
    assert "not visible" in reading.notes[0]


def test_an_invisible_group_without_quota_leaves_the_quota_estimated(tmp_path):
    reading = read_cpu(machine(tmp_path, cgroup="0::/../x\n"), {})
    assert reading.has_quota == reading.has_quota.__class__(
        False, "no CPU quota in the visible cgroups", Certainty.ESTIMATED
    )


def test_a_hidden_cgroup_tree_leaves_the_quota_unknown(tmp_path):
    reading = read_cpu(machine(tmp_path, mountinfo=""), {})
    assert not reading.has_quota.known
    assert reading.cpu.usable.certainty is Certainty.ESTIMATED


def test_without_proc_nothing_is_known(tmp_path):
    reading = read_cpu(tmp_path, {})
    assert not reading.cpu.usable.known
    assert not reading.cpu.logical.known
    assert not reading.cpu.amx_bf16.known
    assert not reading.has_quota.known
    assert reading.cpu.limited_by == ""
    assert reading.cpu.workers() is None


def test_without_affinity_the_processors_of_the_machine_count(tmp_path):
    root = machine(tmp_path)
    (root / "proc/self/status").write_text("Name:\tx\n")
    assert usable(root)[:2] == (16.0, "the processors of the machine")


@pytest.mark.parametrize("name", SCHEDULER_VARIABLES)
def test_scheduler_variables_limit(tmp_path, name):
    root = machine(tmp_path)
    assert usable(root, {name: "4"})[:2] == (4.0, f"{name}=4")
    assert usable(root, {name: "64"})[0] == 16.0
    for bad in ("", "0", "-2", "many", "4(x2)"):
        assert usable(root, {name: bad})[0] == 16.0


def test_the_least_of_all_limits_wins(tmp_path):
    root = machine(tmp_path, affinity="0-7", files={"/sys/fs/cgroup/cpu.max": "300000 100000\n"})
    assert usable(root, {"NSLOTS": "5"})[0] == 3.0
    assert usable(root, {"NSLOTS": "2"})[0] == 2.0


def test_a_pod_without_limit_is_an_estimate(tmp_path):
    reading = read_cpu(machine(tmp_path), {"KUBERNETES_SERVICE_HOST": "10.0.0.1"})
    assert reading.cpu.usable.certainty is Certainty.ESTIMATED
    assert "requests.cpu" in reading.notes[0]


def test_a_pod_with_limit_is_exact(tmp_path):
    root = machine(tmp_path, files={"/sys/fs/cgroup/cpu.max": "300000 100000\n"})
    reading = read_cpu(root, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"})
    assert reading.cpu.usable.certainty is Certainty.EXACT
    assert reading.notes == ()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("flags\t\t: fpu amx_bf16", True),
        ("flags\t\t: fpu avx512_bf16 amx_bf16x", False),
        ("Features\t: fp asimd bf16", False),
        ("bogomips\t: 1", None),
    ],
)
def test_amx(tmp_path, line, expected):
    root = machine(tmp_path, files={"/proc/cpuinfo": f"processor\t: 0\n{line}\n"})
    assert read_cpu(root, {}).cpu.amx_bf16.value is expected


@pytest.mark.parametrize(("share", "workers"), [(0.5, 1), (1.0, 1), (2.9, 2), (16.0, 16)])
def test_workers_round_down_but_not_to_zero(share, workers):
    cpu = Cpu(logical=unknown("-"), usable=exact(share, "-"), limited_by="", amx_bf16=unknown("-"))
    assert cpu.workers() == workers


@pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity"), reason="affinity is read from the kernel on Linux only"
)
def test_the_real_machine_is_read_through_the_kernel():
    reading = read_cpu("/", {})
    assert reading.cpu.usable.value is not None
    assert 0 < reading.cpu.usable.value <= len(os.sched_getaffinity(0))


@pytest.mark.parametrize(("answer", "expected"), [([0, 1, 2], 3), (AttributeError(), 6), ([], 6)])
def test_systems_without_the_kernels_affinity_ask_psutil(monkeypatch, answer, expected):
    import psutil

    def affinity(process):
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    monkeypatch.setattr(psutil.Process, "cpu_affinity", affinity, raising=False)
    monkeypatch.setattr("cfgfix.hardware.cpu.groups", lambda root, controller: Groups((), complete=True))
    reading = read_cpu("/", {})
    assert reading.cpu.usable.value == expected
    assert reading.has_quota == exact(False, "this system has no cgroups")


def test_a_system_that_does_not_tell_its_processors(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert not read_cpu("/", {}).cpu.logical.known


@given(st.frozensets(st.integers(0, 300), min_size=1))
def test_count_list_reads_what_the_kernel_writes(numbers):
    parts = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    text = ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)
    assert count_list(text + "\n") == numbers


@pytest.mark.parametrize("text", [None, "", "a", "3-1", "0-99999999", "1-2-3", "-1"])
def test_count_list_refuses_what_is_none(text):
    assert count_list(text) is None


@given(st.text(max_size=200), st.text(max_size=200))
def test_hostile_proc_files_never_raise(tmp_path_factory, cgroup, mountinfo):
    root = tmp_path_factory.mktemp("hostile")
    write(
        root, {"/proc/self/cgroup": cgroup, "/proc/self/mountinfo": mountinfo, "/proc/self/status": mountinfo}
    )
    read_cpu(root, {})


def test_mountinfo_lines_that_are_broken_are_passed_over(tmp_path):
    write(
        tmp_path,
        {
            "/proc/self/mountinfo": "garbage\n1 2 3:4 / /a rw - \n1 2 3:4 / /b\\040c rw shared:1 - ext4 /dev/x rw\n"
        },
    )
    found = mounts(tmp_path)
    assert [(mount.point, mount.kind, mount.source) for mount in found] == [("/b c", "ext4", "/dev/x")]


def test_a_folder_or_a_pipe_in_place_of_a_file_is_no_answer(tmp_path):
    (tmp_path / "folder").mkdir()
    assert read_text(tmp_path, "/folder") is None
    assert read_text(tmp_path, "/none") is None
    os.mkfifo(tmp_path / "pipe")
    assert read_text(tmp_path, "/pipe") == ""


def test_counts():
    assert to_count("12") == 12
    assert [to_count(word) for word in ("max", "-1", "", None, "1" * 21, "\N{SUPERSCRIPT TWO}")] == [None] * 6


def test_read_count(tmp_path):
    write(tmp_path, {"/a": " 42\n", "/b": "max\n"})
    assert (read_count(tmp_path, "/a"), read_count(tmp_path, "/b"), read_count(tmp_path, "/c")) == (
        42,
        None,
        None,
    )
