"""Features computed once: sharded TFRecord files with the settings' fingerprint, read back by tf.data alone.

A build is a folder of its own that appears under its name only when it is whole; its manifest holds every file's checksum.
What was made with other settings, from other inputs, or is damaged, is never read: it is made again.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from cfgfix.core.errors import CfgfixError, UnreadableError
from cfgfix.tf.fingerprint import fingerprint
from cfgfix.tf.pipeline import parallel_interleave_files
from cfgfix.tf.store import OLD_SECONDS

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from cfgfix.hardware.model import Hardware

FORMAT = 1
"""Version of the files' layout; part of every fingerprint."""

MANIFEST = "manifest.json"
MAX_MANIFEST = 64 << 20
"""Characters of a manifest that are read; a longer one is cut and so refused as broken."""
_PREFIX = "features-"
_TYPES = frozenset(  # what tf.io.decode_raw gives
    [
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "bfloat16",
        "string",
    ]
)


@dataclass(frozen=True, slots=True)
class Precomputed:
    """A build of features, ready to be read.

    Attributes:
        folder: Where it lies.
        fingerprint: Of settings, inputs and layout.
        built: Whether it was made now.
        reason: Why it was made, or that it was found.
        records: How many elements it holds.
        seconds: What making or checking it took.
        files: The shards, in order.
        spec: Dtype and shape of each component, shapes with None where they differ between elements.
    """

    folder: str
    fingerprint: str
    built: bool
    reason: str
    records: int
    seconds: float
    files: tuple[str, ...]
    spec: Mapping[str, tuple[str, tuple[int | None, ...]]]
    compression: str = ""

    def dataset(
        self,
        hardware: Hardware | str | None = None,
        *,
        workers: int = -1,
        shuffle_files: bool = False,
        seed: int | None = None,
        deterministic: bool = True,
    ) -> Any:
        """Return a tf.data.Dataset of the elements; no Python runs in it.

        Args:
            hardware: The machine; this one by default.
            workers: Shards read and elements parsed in parallel; -1: tf.data chooses.
            shuffle_files: Take the shards in another order every pass.
            seed: Seed of that order.
            deterministic: Keep the order of elements.
        """
        names = [os.path.join(self.folder, name) for name in self.files]

        def read(path: Any) -> Any:
            return tf.data.TFRecordDataset(path, compression_type=self.compression)

        records = parallel_interleave_files(
            names,
            read,
            {},
            hardware,
            workers=workers,
            deterministic=deterministic,
            shuffle_files=shuffle_files,
            seed=seed,
        )
        parallel = tf.data.AUTOTUNE if workers < 1 else workers
        data = records.map(self._parse_record, num_parallel_calls=parallel, deterministic=deterministic)
        return data.apply(tf.data.experimental.assert_cardinality(self.records))

    def _parse_record(self, record: Any) -> dict[str, Any]:
        wanted: dict[str, Any] = {}
        for name, (_, shape) in self.spec.items():
            wanted[f"{name}/value"] = tf.io.FixedLenFeature([], tf.string)
            wanted[f"{name}/shape"] = tf.io.FixedLenFeature([len(shape)], tf.int64)
        found = tf.io.parse_single_example(record, wanted)
        made: dict[str, Any] = {}
        for name, (dtype, shape) in self.spec.items():
            value = found[f"{name}/value"]
            if dtype != "string":
                value = tf.reshape(tf.io.decode_raw(value, tf.as_dtype(dtype)), found[f"{name}/shape"])
            made[name] = tf.ensure_shape(value, shape)
        return made


def identity_of(paths: Sequence[str | os.PathLike[str]], how: str = "stat") -> str:
    """Return a digest of files that changes when one of them does.

    Args:
        paths: The files, in their order.
        how: `stat`: name, size and time of last change of each; `content`: every byte of them.

    Raises:
        UnreadableError: One of them cannot be read.
        CfgfixError: There is no such way.
    """
    if how not in ("stat", "content"):
        raise CfgfixError(f"files are told apart by stat or content, not {how!r}")
    whole = blake2b(digest_size=16)
    for path in paths:
        name = os.fspath(path)
        try:
            if how == "stat":
                status = os.stat(name)
                text = f"{os.path.abspath(name)}\0{status.st_size}\0{status.st_mtime_ns}\0".encode(
                    "utf-8", "surrogateescape"
                )
            else:
                text = f"{os.path.basename(name)}\0".encode("utf-8", "surrogateescape") + _digest_of_file(
                    name
                )
        except OSError as error:
            raise UnreadableError(f"cannot be read: {error.strerror}", path=name) from error
        whole.update(text)
    return whole.hexdigest()


def _digest_of_file(path: str) -> bytes:
    found = blake2b(digest_size=32)
    with open(path, "rb") as stream:
        while part := stream.read(1 << 20):
            found.update(part)
    return found.digest()


def _values_by_name(settings: Mapping[str, Any] | DataclassInstance) -> dict[str, Any]:
    """Return settings as a mapping of names to values.

    Raises:
        CfgfixError: They are neither a mapping nor a dataclass.
    """
    if isinstance(settings, Mapping):
        return dict(settings)
    if isinstance(settings, type) or not is_dataclass(settings):
        raise CfgfixError(
            f"settings is {type(settings).__name__}, neither a mapping nor a dataclass",
            hint="name every value that decides the result: settings={'n_mels': 80}",
        )
    return asdict(settings)


def precomputed(
    make: Callable[[], Any],
    folder: str | os.PathLike[str],
    *,
    settings: Mapping[str, Any] | DataclassInstance,
    inputs: Sequence[str | os.PathLike[str]] = (),
    told_by: str = "stat",
    shards: int = 8,
    compression: str = "",
    verify: bool = True,
    max_bytes: int | None = None,
) -> Precomputed:
    """Return a build of features: one that fits where it exists, else a new one.

    Args:
        make: Gives the tf.data.Dataset that computes them, elements `{name: tensor}`; called only when they must be made.
        folder: Where builds lie, each in a folder of its own.
        settings: Everything that decides the result: plain data by name, or a dataclass such as `MelSettings`.
        inputs: The files it is made from.
        told_by: How a changed input is seen, see `identity_of`.
        shards: Files of a build; more of them can be read in parallel.
        compression: Empty, `GZIP` or `ZLIB`.
        verify: Read every byte of a build that was found and compare checksums; without it only sizes are compared, and
            damage shows as DataLossError while reading (TFRecord has checksums of its own).
        max_bytes: What all builds in the folder may take; the ones used longest ago go first, never the one returned.

    Raises:
        CfgfixError: The elements cannot be stored, there is none, or the folder cannot be used.

    >>> import tempfile
    >>> data = lambda: tf.data.Dataset.range(3).map(lambda n: {"mel": tf.ones([n + 1, 2]), "n": n})
    >>> first, second = (precomputed(data, folder, settings={"n": 1}) for folder in [tempfile.mkdtemp()] * 2)
    >>> first.built, second.built, [row["mel"].shape[0] for row in second.dataset("cpu")]
    (True, False, [1, 2, 3])
    """
    if shards < 1:
        raise CfgfixError("shards must be at least 1")
    if compression not in ("", "GZIP", "ZLIB"):
        raise CfgfixError(f"compression is GZIP, ZLIB or nothing, not {compression!r}")
    started = time.perf_counter()
    root = os.fspath(folder)
    named = _values_by_name(settings)
    name = fingerprint([FORMAT, named, identity_of(inputs, told_by), compression])
    place = os.path.join(root, _PREFIX + name)
    try:
        os.makedirs(root, exist_ok=True)
    except OSError as error:
        raise UnreadableError(f"the folder cannot be made: {error.strerror}", path=root) from error
    _clean_leftovers(root)
    manifest, reason = _open_build(place, name, verify=verify)
    built = manifest is None
    if manifest is None:
        manifest = _build_shards(make, root, place, name, named, shards, compression)
    else:
        with contextlib.suppress(OSError):
            os.utime(place)
    if max_bytes is not None:
        _shrink_folder(root, place, max_bytes)
    return Precomputed(
        folder=place,
        fingerprint=name,
        built=built,
        reason=reason,
        records=sum(row["records"] for row in manifest["shards"]),
        seconds=time.perf_counter() - started,
        files=tuple(row["name"] for row in manifest["shards"]),
        spec={key: (dtype, tuple(shape)) for key, (dtype, shape) in manifest["spec"].items()},
        compression=compression,
    )


def _open_build(place: str, name: str, *, verify: bool) -> tuple[dict[str, Any] | None, str]:
    """Return the manifest of a usable build, and a line on the outcome.

    None where there is no usable build. A damaged build is moved out of the way.
    """
    if not os.path.isdir(place):
        return None, "there was no build for these settings and inputs"
    problem = ""
    manifest: dict[str, Any] = {}
    try:
        path = os.path.join(place, MANIFEST)
        with open(path, encoding="utf-8") as stream:
            manifest = json.loads(stream.read(MAX_MANIFEST))
        problem = _manifest_problem(manifest, place, name, verify=verify)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        problem = f"its manifest cannot be used: {error}"
    if not problem:
        return manifest, "it was found"
    aside = os.path.join(os.path.dirname(place), f".damaged-{secrets.token_hex(8)}")
    with contextlib.suppress(OSError):
        os.rename(place, aside)
        shutil.rmtree(aside, ignore_errors=True)
    return None, f"the build that was there is damaged: {problem}"


def _manifest_problem(manifest: dict[str, Any], place: str, name: str, *, verify: bool) -> str:
    if manifest["format"] != FORMAT or manifest["fingerprint"] != name:
        return "it was made for other settings"
    for key, (dtype, shape) in manifest["spec"].items():
        sizes = all(size is None or (isinstance(size, int) and size >= 0) for size in shape)
        if not isinstance(key, str) or dtype not in _TYPES or not sizes:
            return f"component {key!r} is none"
    if not manifest["shards"]:
        return "it has no shards"
    for row in manifest["shards"]:
        if os.path.basename(row["name"]) != row["name"] or not isinstance(row["records"], int):
            return "a shard's name is none"
        path = os.path.join(place, row["name"])
        if os.path.getsize(path) != row["bytes"]:
            return f"{row['name']} has another size"
        if verify and _digest_of_file(path).hex() != row["blake2b"]:
            return f"{row['name']} has another checksum"
    return ""


def _build_shards(
    make: Callable[[], Any],
    root: str,
    place: str,
    name: str,
    settings: Mapping[str, Any],
    shards: int,
    compression: str,
) -> dict[str, Any]:
    dataset = make()
    spec = _element_spec(dataset)
    work = os.path.join(root, f".building-{secrets.token_hex(8)}")
    try:
        os.mkdir(work, 0o755)
        rows = _write_shards(dataset, work, shards, compression)
        manifest = {
            "format": FORMAT,
            "fingerprint": name,
            "settings": _as_json(settings),
            "spec": spec,
            "shards": rows,
        }
        with open(os.path.join(work, MANIFEST), "w", encoding="utf-8") as stream:
            json.dump(manifest, stream, indent=1, ensure_ascii=False)
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.rename(work, place)
        except OSError:
            # Another program was faster with the same build; if its work is whole, it is as good as ours.
            found, _ = _open_build(place, name, verify=True)
            if found is None:
                os.rename(work, place)
            else:
                manifest = found
    except OSError as error:
        raise UnreadableError(f"the features cannot be written: {error.strerror}", path=root) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return manifest


def _as_json(value: Any) -> Any:
    """Return settings as JSON data, for people.

    The fingerprint is made of the values themselves.
    """
    if isinstance(value, Mapping):
        return {str(key): _as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_json(item) for item in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)[:200]


def _element_spec(dataset: Any) -> dict[str, tuple[str, list[int | None]]]:
    element = dataset.element_spec
    if not isinstance(element, dict) or not element:
        raise CfgfixError(
            "an element must be a mapping of names to tensors", hint="map it to {'mel': ..., 'frames': ...}"
        )
    spec: dict[str, tuple[str, list[int | None]]] = {}
    for key, item in element.items():
        if not isinstance(item, tf.TensorSpec) or item.shape.rank is None or item.dtype.name not in _TYPES:
            raise CfgfixError(
                f"component {key!r} cannot be stored: {item}", hint="a dense tensor of known rank is needed"
            )
        if item.dtype == tf.string and item.shape.rank != 0:
            raise CfgfixError(f"component {key!r} cannot be stored: of texts only single ones can")
        spec[str(key)] = (item.dtype.name, item.shape.as_list())
    return spec


def _write_shards(dataset: Any, work: str, shards: int, compression: str) -> list[dict[str, Any]]:
    count = int(dataset.cardinality())
    if count >= 0:
        shards = max(1, min(shards, count))
    names = [f"part-{index:05d}-of-{shards:05d}.tfrecord" for index in range(shards)]
    records = [0] * shards
    writers = [tf.io.TFRecordWriter(os.path.join(work, name), compression) for name in names]
    try:
        for index, element in enumerate(dataset.as_numpy_iterator()):
            # Where the number is known the shards are consecutive parts, else they are filled in turn.
            shard = min(shards - 1, index * shards // count) if count > 0 else index % shards
            writers[shard].write(_serialized_example(element))
            records[shard] += 1
    finally:
        for writer in writers:
            writer.close()
    if not sum(records):
        raise CfgfixError("the dataset has no elements, so there is nothing to store")
    rows: list[dict[str, Any]] = []
    for name, number in zip(names, records, strict=True):
        path = os.path.join(work, name)
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        if number:
            rows.append(
                {
                    "name": name,
                    "records": number,
                    "bytes": os.path.getsize(path),
                    "blake2b": _digest_of_file(path).hex(),
                }
            )
        else:
            os.unlink(path)
    return rows


def _serialized_example(element: Mapping[str, Any]) -> bytes:
    features: dict[str, Any] = {}
    for key, value in element.items():
        array = np.asarray(value)
        body = value if isinstance(value, bytes) else array.tobytes()
        shape = () if isinstance(value, bytes) else array.shape
        features[f"{key}/value"] = tf.train.Feature(bytes_list=tf.train.BytesList(value=[body]))
        features[f"{key}/shape"] = tf.train.Feature(int64_list=tf.train.Int64List(value=shape))
    text: bytes = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
    return text


def _clean_leftovers(root: str) -> None:
    """Remove the leftovers of builds that ended early, once they are old."""
    with contextlib.suppress(OSError):
        for name in os.listdir(root):
            path = os.path.join(root, name)
            if (
                name.startswith((".building-", ".damaged-"))
                and time.time() - os.stat(path).st_mtime > OLD_SECONDS
            ):
                shutil.rmtree(path, ignore_errors=True)


def _shrink_folder(root: str, keep: str, max_bytes: int) -> None:
    found: list[tuple[float, int, str]] = []
    for name in os.listdir(root):
        path = os.path.join(root, name)
        if (
            name.startswith(_PREFIX)
            and len(name) == len(_PREFIX) + 32
            and os.path.isfile(os.path.join(path, MANIFEST))
        ):
            size = sum(os.path.getsize(os.path.join(path, item)) for item in os.listdir(path))
            found.append((os.stat(path).st_mtime, size, path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= max_bytes:
            return
        if path != keep:
            shutil.rmtree(path, ignore_errors=True)
            total -= size
