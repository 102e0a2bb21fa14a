"""What kind of storage a path lies on, and how fast it reads when asked to measure.

The kind follows the mount and the block devices below it. A virtual disk tells nothing about what is below it, and
"nvme" is not always local: cloud providers serve network disks through that interface. So the answer is often
`unknown-virtual`, and a measurement on the user's own files is the way to know.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from cfgfix.core.records import dataclass
from cfgfix.hardware.model import Certainty, Storage, Value, estimated, exact, unknown
from cfgfix.hardware.system import Mount, Root, mounts, path_below, read_word

_NETWORK_NAMES = (
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "ceph",
    "glusterfs",
    "lustre",
    "beegfs",
    "gpfs",
    "afs",
    "9p",
    "virtiofs",
    "ocfs2",
)
_NETWORK_FUSE = (
    "sshfs",
    "gcsfuse",
    "s3fs",
    "rclone",
    "mount-s3",
    "mountpoint-s3",
    "blobfuse",
    "blobfuse2",
    "juicefs",
    "glusterfs",
    "ceph",
    "beegfs",
    "goofys",
)

NETWORK_TYPES = frozenset((*_NETWORK_NAMES, *(f"fuse.{name}" for name in _NETWORK_FUSE)))
"""File systems that are served over a network or by the host of a virtual machine."""

MEMORY_TYPES = frozenset({"tmpfs", "ramfs", "devtmpfs"})

_CLOUD_MODELS: tuple[tuple[str, str, str], ...] = (
    ("amazon elastic block store", "network-disk", "Amazon EBS, a network disk behind an NVMe interface"),
    ("amazon ec2 nvme instance storage", "nvme", "Amazon EC2 instance storage, local NVMe"),
    ("nvme_card-pd", "network-disk", "Google persistent disk behind an NVMe interface"),
    ("nvme_card", "nvme", "Google local SSD"),
    ("msft nvme accelerator", "network-disk", "Azure remote disk behind an NVMe interface"),
    ("microsoft nvme direct disk", "nvme", "Azure local NVMe disk"),
    ("persistentdisk", "network-disk", "Google persistent disk"),
    ("ephemeraldisk", "ssd", "Google local SSD"),
)
"""Models of cloud disks, the longer name first where one starts with the other."""

_VIRTUAL_MODELS = ("qemu", "vbox", "virtual", "vmware", "msft", "xen")
"""Parts of the models of disks that a hypervisor presents."""

_NETWORK_BLOCK = ("nbd", "rbd", "drbd")
_SLOWEST_FIRST = ("hdd", "network-disk", "unknown-virtual", "unknown", "ssd", "nvme", "ram")
_MAX_LAYERS = 8
"""Layers of device mapper, LUKS and md on top of each other that are followed."""


@dataclass(frozen=True, slots=True)
class _DiskFacts:
    kind: str
    what: str
    sure: bool


def read_storage(path: str, root: Root = "/") -> Storage:
    """Return the kind of storage below a path; never reads the user's data.

    Args:
        path: A file or folder, or the URL of a store such as `gs://bucket`.
        root: Where the file system of the machine starts.
    """
    speed: Value[float] = unknown("not measured")
    scheme, separator, _ = path.partition("://")
    if separator and scheme.isalnum() and scheme.lower() != "file":
        return Storage(exact("network", f"{scheme}:// is served over a network"), speed, path)
    if os.name == "nt" or sys.platform == "darwin":
        return Storage(unknown("the kind of storage is read on Linux only; measure it instead"), speed, path)
    mount = find_mount(path, root)
    if mount is None:
        return Storage(
            unknown("/proc/self/mountinfo cannot be read, or names no mount for this path"), speed, path
        )
    return Storage(_storage_kind(mount, root), speed, path)


def find_mount(path: str, root: Root = "/") -> Mount | None:
    """Return the mount that a path lies on, or None.

    It is the longest mount point above the path, and of equal ones the latest.
    """
    base = os.fspath(root)
    real = os.path.realpath(path if base == "/" else path_below(root, path))
    if base != "/":
        top = os.path.realpath(base)
        real = real[len(top) :] or "/" if real.startswith(top) else real
    best: Mount | None = None
    for mount in mounts(root):
        point = mount.point.rstrip("/")
        if (real == point or real.startswith(point + "/")) and (
            best is None or len(point) >= len(best.point.rstrip("/"))
        ):
            best = mount
    return best


def _storage_kind(mount: Mount, root: Root) -> Value[str]:
    where = f"{mount.kind} on {mount.point}"
    if mount.kind in NETWORK_TYPES:
        return exact("network", where)
    if mount.kind in MEMORY_TYPES:
        return exact("ram", where)
    if mount.kind == "overlay":
        return exact("unknown", f"{where}: a container layer, which does not tell its disk; measure it")
    if mount.kind.startswith("fuse"):
        return exact("unknown", f"{where}: a user-space file system; measure it")
    if mount.kind == "zfs":
        return exact("unknown", f"{where}: zfs does not tell its disks; measure it")
    device = os.path.realpath(path_below(root, f"/sys/dev/block/{mount.device}"))
    if mount.device.startswith("0:"):
        # btrfs has a device number of its own; the mount's source names one of its disks.
        if not mount.source.startswith("/dev/"):
            return exact("unknown", f"{where}: it has no block device; measure it")
        device = os.path.realpath(path_below(root, f"/sys/class/block/{os.path.basename(mount.source)}"))
    if not os.path.isdir(device):
        return exact("unknown", f"{where}: /sys does not show its device; measure it")
    disks = _disks_below(device, 0)
    slowest = min(disks, key=lambda disk: _SLOWEST_FIRST.index(disk.kind))
    sure = (
        all(disk.sure for disk in disks)
        and len({disk.kind for disk in disks}) == 1
        and not mount.device.startswith("0:")
    )
    remark = f"; the slowest of {len(disks)} disks" if len(disks) > 1 else ""
    certainty = Certainty.EXACT if sure else Certainty.ESTIMATED
    return Value(slowest.kind, f"{where}: {slowest.what}{remark}", certainty)


def _disks_below(device: str, layer: int) -> list[_DiskFacts]:
    """Return the disks below a block device's folder in /sys.

    Partitions and stacked devices are followed down.
    """
    if os.path.exists(os.path.join(device, "partition")):
        device = os.path.dirname(device)
    try:
        below = sorted(os.listdir(os.path.join(device, "slaves")))
    except OSError:
        below = []
    if below and layer < _MAX_LAYERS:
        found: list[_DiskFacts] = []
        for name in below:
            found += _disks_below(os.path.realpath(os.path.join(device, "slaves", name)), layer + 1)
        return list(dict.fromkeys(found))
    return [_disk_facts(device)]


def _disk_facts(device: str) -> _DiskFacts:
    """Return the properties of one disk from its folder in /sys."""
    name = os.path.basename(device)
    model = " ".join((read_word(device, "device/model") or "").split())
    shown = f"{name} ({model})" if model else name
    lowered = model.lower()
    for part, kind, meaning in _CLOUD_MODELS:
        if lowered.startswith(part):
            return _DiskFacts(kind, f"{shown}: {meaning}", sure=True)
    if name.startswith(_NETWORK_BLOCK):
        return _DiskFacts("network-disk", f"{shown}: a network block device", sure=True)
    if name.startswith(("zram", "ram", "pmem")):
        return _DiskFacts("ram", f"{shown}: a disk in memory", sure=True)
    if name.startswith(("vd", "xvd")) or any(part in lowered for part in _VIRTUAL_MODELS):
        return _DiskFacts(
            "unknown-virtual", f"{shown}: a virtual disk, whose rotational flag says nothing", sure=True
        )
    if name.startswith(("loop", "dm-", "md")):
        return _DiskFacts("unknown", f"{shown}: it does not tell what it lies on", sure=True)
    rotational = read_word(device, "queue/rotational")
    if rotational == "1":
        return _DiskFacts("hdd", f"{shown}: rotational", sure="/usb" not in device)
    if rotational == "0":
        if name.startswith("nvme"):
            return _DiskFacts("nvme", f"{shown}: NVMe", sure=True)
        return _DiskFacts("ssd", f"{shown}: not rotational", sure="/usb" not in device)
    return _DiskFacts("unknown", f"{shown}: it does not say whether it rotates", sure=True)


# --- measuring -------------------------------------------------------------------------------------------------------

MIB = 1 << 20
BLOCK_BYTES = 4 * MIB
"""Read from a large file at one random place; a smaller file is read whole."""

MAX_SAMPLE_BYTES = 512 * MIB
MAX_SECONDS = 5.0
MAX_LISTED = 200_000
"""Files that are looked at when a folder is listed; enough for a fair sample of any data set."""

PARTLY_CACHED = 0.05
"""Above this share of cached pages the result is called partly cached."""

_PROBE_EVERY = 8
"""One file in eight is probed for cached pages: a probe may start the read-ahead of the page it asks for."""


@dataclass(frozen=True, slots=True)
class Run:
    """The repeats of one thread count; each repeat read different files."""

    threads: int
    mbs: tuple[float, ...]
    """Read rate of each repeat, in 10**6 bytes per second."""
    files_per_second: tuple[float, ...]
    bytes_read: int
    files_read: int

    @property
    def median_mbs(self) -> float:
        """The median rate."""
        return _median_of(self.mbs)

    @property
    def median_files_per_second(self) -> float:
        """The median number of files opened and read in a second."""
        return _median_of(self.files_per_second)

    @property
    def spread(self) -> float:
        """(highest - lowest) / median of the rates; 0 with a single repeat."""
        middle = self.median_mbs
        return (max(self.mbs) - min(self.mbs)) / middle if middle else 0.0


@dataclass(frozen=True, slots=True)
class Measurement:
    """The result of a measurement, or the reason why none was made."""

    path: str
    refused: str | None
    """Why nothing was measured."""
    runs: tuple[Run, ...]
    cached_fraction: float | None
    """Share of the probed pages that were still in the page cache; None where the system does not tell."""
    method: str
    """What was read: whole files, blocks at random places of large files, or both; empty where nothing was."""
    seed: int
    storage: Storage
    remarks: tuple[str, ...]
    unreadable: bool = False
    """Whether nothing was measured since there is no file with content that can be read."""

    @property
    def partly_cached(self) -> bool:
        """Whether the page cache flattered the result."""
        return self.cached_fraction is not None and self.cached_fraction > PARTLY_CACHED

    def read_mbs(self) -> Value[float]:
        """Return the best median rate as a value for `Storage.read_mbs`."""
        if not self.runs:
            return unknown(self.refused or "nothing was measured")
        best = max(self.runs, key=lambda run: run.median_mbs)
        cached = ", partly cached" if self.partly_cached else ""
        return estimated(
            best.median_mbs,
            f"measured on {self.path}: {self.method}, {best.threads} thread{'s' if best.threads > 1 else ''}, "
            f"{best.bytes_read / 1e6:.0f} MB in {best.files_read} reads{cached}; a cache below this machine cannot be dropped",
        )


def _median_of(values: Sequence[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


@dataclass(frozen=True, slots=True)
class _FilePiece:
    path: str
    offset: int
    size: int


def measure(
    path: str,
    *,
    threads: Sequence[int] = (1, 4),
    repeats: int = 3,
    seed: int = 0,
    max_bytes: int = MAX_SAMPLE_BYTES,
    max_seconds: float = MAX_SECONDS,
    root: Root = "/",
    clock: Callable[[], float] | None = None,
) -> Measurement:
    """Measure how fast the user's own files are read from storage. Opt-in only.

    Files are opened for reading only. Before each read the file's clean pages are dropped from the page cache, so a
    job that is running on the same files may become slower. Every repeat reads different files, in random order.

    Args:
        path: A folder with the training data, or one file.
        threads: Thread counts to measure with, such as 1 and the planned number of parallel calls.
        repeats: Repeats for each thread count.
        seed: For the random sample.
        max_bytes: Limit on all bytes read together.
        max_seconds: Limit on the time of all reads together.
        root: Where the mount table is read.
        clock: Gives seconds; `time.perf_counter` by default.

    Returns:
        The result; `refused` says why, where nothing could be measured.
    """
    import random
    import time

    now = clock or time.perf_counter
    storage = read_storage(path, root)
    refusal = _refusal_of_path(path, storage)
    empty = False
    if refusal is None:
        files, listed_all = _list_files(path)
        empty = not files
        if empty:
            refusal = "there are no regular files with content that can be read"
    if refusal is not None:
        return Measurement(
            path, refusal, (), None, method="", seed=seed, storage=storage, remarks=(), unreadable=empty
        )
    generator = random.Random(seed)  # noqa: S311 - a sample, no secret
    remarks: list[str] = []
    if not listed_all:
        remarks.append(f"only the first {MAX_LISTED} files were considered")
    pieces, method = _file_pieces(files, generator)
    plan = [(count, repeat) for repeat in range(repeats) for count in threads]
    if len(pieces) < len(plan):
        usable = max(1, len(pieces) // len(threads))
        remarks.append(
            f"there is data for {usable} repeat{'s' if usable > 1 else ''} on different files, not {repeats}"
        )
        plan = [(count, repeat) for repeat in range(usable) for count in threads][: len(pieces)]
    shares = _disjoint_shares(pieces, len(plan), max_bytes // len(plan))
    measured: dict[int, list[tuple[float, int, int]]] = {}
    probed = cached = 0
    for (count, _), share in zip(plan, shares, strict=True):
        hits = _drop_cached_pages(share)
        probed += hits[0]
        cached += hits[1]
        measured.setdefault(count, []).append(_read_share(share, count, max_seconds / len(plan), now))
    runs = tuple(
        _run_threads(count, entries)
        for count, entries in measured.items()
        if any(entry[1] for entry in entries)
    )
    if not runs:
        return Measurement(
            path,
            "none of the files could be read",
            (),
            None,
            method="",
            seed=seed,
            storage=storage,
            remarks=(),
            unreadable=True,
        )
    if not probed:
        remarks.append(
            "this system does not tell whether a page is cached, so the result may be that of the cache"
        )
    remarks += _storage_labels(storage)
    return Measurement(
        path, None, runs, cached / probed if probed else None, method, seed, storage, tuple(remarks)
    )


def describe_measurement(measured: Measurement) -> list[str]:
    """Return a measurement as lines of text: each thread count, then remarks."""
    lines = [f"{measured.path}: {measured.storage.kind.value or 'unknown'} ({measured.storage.kind.source})"]
    if measured.refused is not None:
        return [*lines, f"not measured: {measured.refused}"]
    lines.append(
        f"read {measured.method}, random order, seed {measured.seed}, pages dropped from the cache first"
    )
    for run in measured.runs:
        repeats = len(run.mbs)
        spread = f", spread {run.spread:.0%} over {repeats} repeats" if repeats > 1 else ", one repeat"
        lines.append(
            f"{run.threads} thread{'s' if run.threads > 1 else ''}: {run.median_mbs:.0f} MB/s, "
            f"{run.median_files_per_second:.0f} reads/s{spread} ({run.bytes_read / 1e6:.0f} MB in {run.files_read} reads)"
        )
    if measured.cached_fraction is not None:
        partly = ": partly cached, the rates are too high" if measured.partly_cached else ""
        lines.append(f"still cached when read: {measured.cached_fraction:.0%} of the probed pages{partly}")
    return lines + [f"note: {remark}" for remark in measured.remarks]


def _refusal_of_path(path: str, storage: Storage) -> str | None:
    if not (hasattr(os, "posix_fadvise") and hasattr(os, "preadv")):
        return "measuring is not supported on this system: it has no way to read past the page cache here"
    if "://" in path:
        return "only paths of this machine can be measured"
    if not os.path.exists(path):
        return "it does not exist"
    if storage.kind.value == "ram":
        return f"it lies in memory ({storage.kind.source}): there is no storage to measure"
    return None


def _storage_labels(storage: Storage) -> list[str]:
    labels = [
        "at least: a cache in the hypervisor or the storage server cannot be dropped, and burst credits flatter"
    ]
    if storage.kind.value in {"network", "unknown"}:
        labels.append(
            f"{storage.kind.value} storage ({storage.kind.source}): the server's cache may have answered"
        )
    return labels


def _list_files(path: str) -> tuple[list[tuple[str, int]], bool]:
    """Return the files with content below a path, with their sizes.

    Also returns whether all were looked at. Links are not followed.
    """
    import stat

    if not os.path.isdir(path):
        try:
            facts = os.stat(path)
        except OSError:
            return [], True
        return ([(path, facts.st_size)] if stat.S_ISREG(facts.st_mode) and facts.st_size else []), True
    found: list[tuple[str, int]] = []
    folders = [path]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        size = entry.stat(follow_symlinks=False).st_size
                        if size:
                            found.append((entry.path, size))
                    if len(found) >= MAX_LISTED:
                        return found, False
        except OSError:
            continue
    return found, True


def _file_pieces(files: list[tuple[str, int]], generator: object) -> tuple[list[_FilePiece], str]:
    """Return the pieces of files to read, in random order, and a description.

    Small files are read whole, of large ones blocks at random places.
    """
    import random

    assert isinstance(generator, random.Random)
    pieces: list[_FilePiece] = []
    kinds: set[str] = set()
    # Few large files give several blocks each, so that every repeat finds data of its own.
    per_file = max(1, min(64, 256 // len(files)))
    for path, size in files:
        if size <= 2 * BLOCK_BYTES:
            kinds.add("whole files")
            pieces.append(_FilePiece(path, 0, size))
            continue
        kinds.add("blocks at random places")
        blocks = size // BLOCK_BYTES
        chosen = generator.sample(range(blocks), min(per_file, blocks))
        pieces += [_FilePiece(path, block * BLOCK_BYTES, BLOCK_BYTES) for block in chosen]
    generator.shuffle(pieces)
    return pieces, " and ".join(sorted(kinds, reverse=True))


def _disjoint_shares(pieces: list[_FilePiece], count: int, max_bytes: int) -> list[list[_FilePiece]]:
    """Return disjoint shares of the pieces, each of at most `max_bytes`.

    A share has at least one piece, where there are enough.
    """
    shares: list[list[_FilePiece]] = []
    for position in range(count):
        share: list[_FilePiece] = []
        size = 0
        for piece in pieces[position::count]:
            if share and size + piece.size > max_bytes:
                break
            share.append(piece)
            size += piece.size
        shares.append(share)
    return shares


def _drop_cached_pages(share: list[_FilePiece]) -> tuple[int, int]:
    """Drop the pages of a share from the page cache.

    Returns how many pages were probed and how many of them were still cached.
    """
    probed = cached = 0
    for position, piece in enumerate(share):
        try:
            handle = os.open(piece.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            if os.fstat(handle).st_uid == os.geteuid():
                os.fsync(handle)  # dirty pages cannot be dropped
            os.posix_fadvise(handle, piece.offset, piece.size, os.POSIX_FADV_DONTNEED)
            if position % _PROBE_EVERY == 0:
                answer = _is_cached(handle, piece.offset + piece.size - 1)
                if answer is not None:
                    probed += 1
                    cached += answer
        except OSError:
            continue
        finally:
            os.close(handle)
    return probed, cached


def _is_cached(handle: int, offset: int) -> bool | None:
    """Return whether the page at an offset is in the page cache.

    None where the system does not tell.
    """
    if not hasattr(os, "RWF_NOWAIT"):
        return None
    try:
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_RANDOM)
        return os.preadv(handle, [bytearray(1)], offset, os.RWF_NOWAIT) == 1
    except BlockingIOError:
        return False
    except OSError:
        return None


def _read_share(
    share: list[_FilePiece], threads: int, seconds: float, now: Callable[[], float]
) -> tuple[float, int, int]:
    """Read a share with some threads; return seconds, bytes and pieces.

    Reading stops when the time is up.
    """
    import threading

    waiting = list(reversed(share))
    lock = threading.Lock()
    totals = [0, 0]
    start = now()

    def work() -> None:
        buffer = bytearray(MIB)
        while True:
            with lock:
                if not waiting or now() - start > seconds:
                    return
                piece = waiting.pop()
            done = _read_piece(piece, buffer)
            with lock:
                totals[0] += done
                totals[1] += done > 0

    if threads <= 1:
        work()
    else:
        workers = [threading.Thread(target=work, daemon=True) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    return max(now() - start, 1e-9), totals[0], totals[1]


def _read_piece(piece: _FilePiece, buffer: bytearray) -> int:
    """Open, read and close one piece; return the bytes read."""
    try:
        handle = os.open(piece.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return 0
    done = 0
    try:
        while done < piece.size:
            window = memoryview(buffer)[: min(len(buffer), piece.size - done)]
            count = os.preadv(handle, [window], piece.offset + done)
            if count <= 0:
                break
            done += count
    except OSError:
        return done
    finally:
        os.close(handle)
    return done


def _run_threads(threads: int, entries: list[tuple[float, int, int]]) -> Run:
    kept = [entry for entry in entries if entry[1]]
    return Run(
        threads=threads,
        mbs=tuple(size / seconds / 1e6 for seconds, size, _ in kept),
        files_per_second=tuple(count / seconds for seconds, _, count in kept),
        bytes_read=sum(size for _, size, _ in kept),
        files_read=sum(count for _, _, count in kept),
    )
