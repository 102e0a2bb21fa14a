from __future__ import annotations

import os
import random
import sys
from types import SimpleNamespace

import pytest
from machine_tree import write

from cfgfix.hardware import storage
from cfgfix.hardware.model import Certainty
from cfgfix.hardware.storage import (
    MEMORY_TYPES,
    NETWORK_TYPES,
    describe_measurement,
    find_mount,
    measure,
    read_storage,
)

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="not on this platform: Linux only")
pytestmark = linux

ROOT_LINE = "27 1 254:0 / / rw - ext4 /dev/root rw\n"


def mount_line(point="/data", kind="ext4", device="8:1", source="/dev/sda1", root="/"):
    return f"40 27 {device} {root} {point} rw - {kind} {source} rw\n"


def block(
    root, name, *, number=None, rotational=None, model=None, bus="pci0000:00", slaves=(), partition=None
):
    """A block device in /sys, as the kernel lays it out, with its links."""
    folder = f"/sys/devices/{bus}/block/{name}"
    files = {f"{folder}/uevent": ""}
    if rotational is not None:
        files[f"{folder}/queue/rotational"] = f"{rotational}\n"
    if model is not None:
        files[f"{folder}/device/model"] = f"{model}\n"
    if partition is not None:
        files[f"{folder}/{partition}/partition"] = "1\n"
    write(root, files)
    for slave in slaves:
        (root / folder[1:] / "slaves").mkdir(exist_ok=True)
        (root / folder[1:] / "slaves" / slave.name).symlink_to(slave)
    place = root / folder[1:] / partition if partition else root / folder[1:]
    for kind, key in (("dev/block", number), ("class/block", place.name)):
        if key is not None:
            link = root / "sys" / kind / key
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(place)
    return place


def kind(root, lines, path="/data/set"):
    write(root, {"/proc/self/mountinfo": ROOT_LINE + lines})
    (root / path[1:]).mkdir(parents=True, exist_ok=True)
    return read_storage(path, root).kind


@pytest.mark.parametrize(
    ("name", "rotational", "model", "expected"),
    [
        ("nvme0n1", 0, "Samsung SSD 990 PRO 2TB", "nvme"),
        ("nvme1n1", 0, "Amazon Elastic Block Store", "network-disk"),
        ("nvme1n1", 0, "Amazon EC2 NVMe Instance Storage", "nvme"),
        ("nvme0n1", 0, "nvme_card-pd", "network-disk"),
        ("nvme0n1", 0, "nvme_card", "nvme"),
        ("nvme0n1", 0, "MSFT NVMe Accelerator v1.0", "network-disk"),
        ("nvme0n1", 0, "Microsoft NVMe Direct Disk v2", "nvme"),
        ("sda", 0, "PersistentDisk", "network-disk"),
        ("sda", 0, "Samsung SSD 870", "ssd"),
        ("sda", 1, "WDC WD40EFRX-68N", "hdd"),
        ("sda", 1, "QEMU HARDDISK", "unknown-virtual"),
        ("sda", 1, "VBOX HARDDISK", "unknown-virtual"),
        ("sda", 1, "Virtual Disk", "unknown-virtual"),
        ("vda", 1, None, "unknown-virtual"),
        ("vda", 0, None, "unknown-virtual"),
        ("xvda", 0, None, "unknown-virtual"),
        ("nbd0", 0, None, "network-disk"),
        ("rbd0", 0, None, "network-disk"),
        ("zram0", 0, None, "ram"),
        ("loop0", 0, None, "unknown"),
        ("mmcblk0", 0, None, "ssd"),
        ("sda", None, "Odd", "unknown"),
    ],
)
def test_one_disk(tmp_path, name, rotational, model, expected):
    block(tmp_path, name, number="8:0", rotational=rotational, model=model)
    value = kind(tmp_path, mount_line(device="8:0"))
    assert value.value == expected
    assert value.certainty is Certainty.EXACT
    assert value.source.startswith("ext4 on /data: ")


def test_a_partition_is_its_disk(tmp_path):
    block(tmp_path, "sda", number="8:1", rotational=1, model="WDC", partition="sda1")
    assert kind(tmp_path, mount_line()).value == "hdd"


def test_a_disk_on_usb_may_lie_about_rotation(tmp_path):
    block(tmp_path, "sda", number="8:0", rotational=1, model="Elements", bus="pci0000:00/usb2")
    value = kind(tmp_path, mount_line(device="8:0"))
    assert (value.value, value.certainty) == ("hdd", Certainty.ESTIMATED)


def test_stacked_devices_are_followed_to_the_slowest_disk(tmp_path):
    fast = block(tmp_path, "nvme0n1", rotational=0, model="Samsung", partition="nvme0n1p2")
    slow = block(tmp_path, "sdb", rotational=1, model="WDC")
    luks = block(tmp_path, "dm-0", bus="virtual", slaves=[fast])
    block(tmp_path, "dm-1", number="253:1", bus="virtual", slaves=[luks, slow])
    value = kind(tmp_path, mount_line(device="253:1", source="/dev/mapper/vg-data"))
    assert value.value == "hdd"
    assert "slowest of 2 disks" in value.source
    assert value.certainty is Certainty.ESTIMATED


def test_layers_over_one_kind_of_disk_are_exact(tmp_path):
    disks = [block(tmp_path, f"nvme{n}n1", rotational=0, model="Samsung") for n in range(2)]
    block(tmp_path, "md0", number="9:0", bus="virtual", slaves=disks)
    value = kind(tmp_path, mount_line(device="9:0"))
    assert (value.value, value.certainty) == ("nvme", Certainty.EXACT)


def test_layers_in_a_circle_end(tmp_path):
    first = block(tmp_path, "dm-0", number="253:0", bus="virtual")
    (first / "slaves").mkdir()
    (first / "slaves" / "dm-0").symlink_to(first)
    assert kind(tmp_path, mount_line(device="253:0")).value == "unknown"


@pytest.mark.parametrize("name", sorted(NETWORK_TYPES))
def test_network_file_systems(tmp_path, name):
    assert kind(tmp_path, mount_line(kind=name, device="0:50", source="server:/x")).value == "network"


@pytest.mark.parametrize("name", sorted(MEMORY_TYPES))
def test_memory_file_systems(tmp_path, name):
    assert kind(tmp_path, mount_line(kind=name, device="0:50", source="none")).value == "ram"


@pytest.mark.parametrize(
    ("name", "source", "part"),
    [
        ("overlay", "overlay", "container layer"),
        ("fuse.unionfs", "x", "user-space"),
        ("fuseblk", "/dev/sdb1", "user-space"),
        ("zfs", "pool/data", "zfs"),
        ("weird", "none", "no block device"),
        ("ext4", "/dev/hidden", "/sys does not show"),
    ],
)
def test_what_cannot_be_told_is_said(tmp_path, name, source, part):
    value = kind(tmp_path, mount_line(kind=name, device="0:50" if name != "ext4" else "8:77", source=source))
    assert value.value == "unknown"
    assert part in value.source
    assert "measure it" in value.source


def test_btrfs_is_followed_by_its_source(tmp_path):
    block(tmp_path, "sda", rotational=0, model="Samsung", partition="sda2")
    value = kind(tmp_path, mount_line(kind="btrfs", device="0:41", source="/dev/sda2", root="/@data"))
    assert (value.value, value.certainty) == ("ssd", Certainty.ESTIMATED)


def test_the_longest_mount_point_counts_and_the_last_of_equal_ones(tmp_path):
    lines = (
        mount_line("/data", device="1:1")
        + mount_line("/data/fast", device="2:2")
        + mount_line("/data/fast", device="3:3")
    )
    write(tmp_path, {"/proc/self/mountinfo": ROOT_LINE + lines})
    for path, device in (
        ("/data/fast/x", "3:3"),
        ("/data/faster", "1:1"),
        ("/data", "1:1"),
        ("/other", "254:0"),
    ):
        assert find_mount(path, tmp_path).device == device


def test_links_are_followed_before_the_mount_is_looked_up(tmp_path):
    write(tmp_path, {"/proc/self/mountinfo": ROOT_LINE + mount_line("/data", kind="nfs", device="0:9")})
    (tmp_path / "data/set").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    (tmp_path / "home/link").symlink_to(tmp_path / "data/set")
    assert read_storage("/home/link", tmp_path).kind.value == "network"


@pytest.mark.parametrize("url", ["gs://bucket/x", "s3://bucket", "hdfs://host/x", "https://host/x"])
def test_urls_are_network(url):
    assert read_storage(url).kind.value == "network"


def test_without_mountinfo_nothing_is_known(tmp_path):
    assert not read_storage("/data", tmp_path).kind.known


@pytest.mark.parametrize(("attribute", "value"), [("platform", "darwin")])
def test_other_systems_say_what_is_not_supported(monkeypatch, attribute, value):
    monkeypatch.setattr(storage, "sys", SimpleNamespace(**{attribute: value}))
    assert "Linux only" in read_storage("/data").kind.source


def test_the_real_machine_answers():
    assert read_storage(".").kind.known


# --- measuring --------------------------------------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path):
    """Forty small files and two large ones, on whatever the tests run on; the kind is told to be a disk."""
    folder = tmp_path / "set"
    (folder / "deep").mkdir(parents=True)
    generator = random.Random(1)
    for number in range(40):
        (folder / "deep" / f"{number}.bin").write_bytes(generator.randbytes(1000 + number))
    (folder / "empty").write_bytes(b"")
    (folder / "link").symlink_to(folder / "deep" / "0.bin")
    return folder


@pytest.fixture
def on_disk(monkeypatch):
    real = storage.read_storage

    def told(path, root="/"):
        found = real(path, root)
        value = storage.exact("ssd", "told by the test")
        return storage.Storage(value, found.read_mbs, path)

    monkeypatch.setattr(storage, "read_storage", told)


def test_small_files_are_read_whole_and_once_each(data, on_disk, monkeypatch):
    seen = []
    real = storage._read_piece
    monkeypatch.setattr(
        storage, "_read_piece", lambda piece, buffer: seen.append(piece) or real(piece, buffer)
    )
    result = measure(str(data), threads=(1, 3), repeats=2, max_seconds=60.0)
    assert result.refused is None
    assert result.method == "whole files"
    assert [run.threads for run in result.runs] == [1, 3]
    assert all(len(run.mbs) == 2 for run in result.runs)
    assert len(seen) == len({piece.path for piece in seen}) == 40
    assert sum(run.bytes_read for run in result.runs) == sum(1000 + number for number in range(40))
    assert sum(run.files_read for run in result.runs) == 40
    assert any(remark.startswith("at least") for remark in result.remarks)


def test_the_rates_are_those_of_the_clock(data, on_disk):
    ticks = iter(range(100_000))
    result = measure(str(data), threads=(1,), repeats=1, max_seconds=1e6, clock=lambda: float(next(ticks)))
    run = result.runs[0]
    # the clock is read at the start, before each of 40 files and once more when none is left, and at the end
    seconds = 42.0
    assert run.files_per_second[0] == pytest.approx(40 / seconds, rel=0.05)
    assert run.mbs[0] == pytest.approx(run.bytes_read / seconds / 1e6, rel=0.05)
    assert run.spread == 0.0
    value = result.read_mbs()
    assert value.certainty is Certainty.ESTIMATED
    assert "cannot be dropped" in value.source


def test_time_is_limited(data, on_disk):
    ticks = iter(range(100_000))
    result = measure(str(data), threads=(1,), repeats=1, max_seconds=5.0, clock=lambda: float(next(ticks)))
    assert result.runs[0].files_read < 10


def test_bytes_are_limited(data, on_disk):
    result = measure(str(data), threads=(1,), repeats=2, max_bytes=6000, max_seconds=60.0)
    assert sum(run.bytes_read for run in result.runs) <= 6000


def test_large_files_are_read_in_blocks_at_random_places(tmp_path, on_disk, monkeypatch):
    monkeypatch.setattr(storage, "BLOCK_BYTES", 4096)
    (tmp_path / "shard").write_bytes(bytes(100 * 4096))
    result = measure(str(tmp_path / "shard"), threads=(1,), repeats=2, max_seconds=60.0)
    assert result.method == "blocks at random places"
    pieces, _ = storage._file_pieces([("x", 100 * 4096)], random.Random(0))
    again, _ = storage._file_pieces([("x", 100 * 4096)], random.Random(0))
    assert pieces == again
    assert len({piece.offset for piece in pieces}) == len(pieces) == 64
    assert pieces != sorted(pieces, key=lambda piece: piece.offset)


def test_too_few_files_for_the_repeats_is_said(tmp_path, on_disk):
    for number in range(2):
        (tmp_path / f"{number}").write_bytes(b"x" * 100)
    result = measure(str(tmp_path), threads=(1, 2), repeats=3, max_seconds=60.0)
    assert any("not 3" in remark for remark in result.remarks)
    assert sum(run.files_read for run in result.runs) == 2
    (tmp_path / "1").unlink()
    alone = measure(str(tmp_path), threads=(1, 2), repeats=3, max_seconds=60.0)
    assert [run.threads for run in alone.runs] == [1]


@pytest.mark.parametrize(
    ("answer", "fraction", "partly"), [(False, 0.0, False), (True, 1.0, True), (None, None, False)]
)
def test_the_cached_share_is_told(data, on_disk, monkeypatch, answer, fraction, partly):
    monkeypatch.setattr(storage, "_is_cached", lambda handle, offset: answer)
    result = measure(str(data), threads=(1,), repeats=1, max_seconds=60.0)
    assert result.cached_fraction == fraction
    assert result.partly_cached is partly
    assert ("partly cached" in result.read_mbs().source) is partly
    assert any("does not tell" in remark for remark in result.remarks) is (answer is None)


def test_memory_is_refused(data, monkeypatch):
    value = storage.exact("ram", "tmpfs on /data")
    monkeypatch.setattr(
        storage, "read_storage", lambda path, root="/": storage.Storage(value, storage.unknown("-"), path)
    )
    result = measure(str(data))
    assert "lies in memory" in result.refused
    assert result.runs == ()
    assert not result.read_mbs().known


def test_network_storage_is_labelled(data, monkeypatch):
    value = storage.exact("network", "nfs on /data")
    monkeypatch.setattr(
        storage, "read_storage", lambda path, root="/": storage.Storage(value, storage.unknown("-"), path)
    )
    result = measure(str(data), threads=(1,), repeats=1, max_seconds=60.0)
    assert result.refused is None
    assert any("server's cache" in remark for remark in result.remarks)


def test_what_cannot_be_measured_is_refused(tmp_path, on_disk, monkeypatch):
    assert "does not exist" in measure(str(tmp_path / "none")).refused
    assert "no regular files" in measure(str(tmp_path)).refused
    assert "only paths" in measure("gs://bucket").refused
    os.mkfifo(tmp_path / "pipe")
    assert "no regular files" in measure(str(tmp_path / "pipe")).refused
    monkeypatch.delattr(os, "posix_fadvise")
    assert "not supported" in measure(str(tmp_path)).refused


def test_files_that_vanish_are_passed_over(data, on_disk, monkeypatch):
    real = storage._list_files

    def listed_then_gone(path):
        found = real(path)
        for name, _ in found[0][:39]:
            os.unlink(name)
        return found

    monkeypatch.setattr(storage, "_list_files", listed_then_gone)
    result = measure(str(data), threads=(1,), repeats=1, max_seconds=60.0)
    assert result.runs[0].files_read == 1


def test_when_all_files_vanish_nothing_was_measured(data, on_disk, monkeypatch):
    monkeypatch.setattr(storage, "_list_files", lambda path: ([(path + "/gone", 100)], True))
    assert "none of the files" in measure(str(data)).refused


def test_long_listings_end(data, on_disk, monkeypatch):
    monkeypatch.setattr(storage, "MAX_LISTED", 7)
    result = measure(str(data), threads=(1,), repeats=1, max_seconds=60.0)
    assert result.runs[0].files_read == 7
    assert any("first 7 files" in remark for remark in result.remarks)


def test_the_page_cache_is_probed_for_real(tmp_path):
    place = tmp_path / "file"
    place.write_bytes(os.urandom(8192))
    handle = os.open(place, os.O_RDONLY)
    try:
        os.pread(handle, 8192, 0)
        warm = storage._is_cached(handle, 8191)
    finally:
        os.close(handle)
    assert warm in {True, None}


def test_median_and_spread():
    run = storage.Run(1, (10.0, 30.0, 20.0), (1.0, 3.0), 5, 5)
    assert run.median_mbs == 20.0
    assert run.median_files_per_second == 2.0
    assert run.spread == 1.0


def test_the_result_in_lines(data, on_disk, monkeypatch):
    monkeypatch.setattr(storage, "_is_cached", lambda handle, offset: True)
    lines = describe_measurement(measure(str(data), threads=(1, 2), repeats=2, max_seconds=60.0))
    assert lines[0] == f"{data}: ssd (told by the test)"
    assert lines[1].startswith("read whole files")
    assert lines[2].startswith("1 thread: ")
    assert lines[3].startswith("2 threads: ")
    assert "over 2 repeats" in lines[3]
    assert "100% of the probed pages: partly cached" in lines[4]
    assert all(line.startswith("note: ") for line in lines[5:])
    refused = describe_measurement(measure(str(data / "none")))
    assert refused[-1] == "not measured: it does not exist"
