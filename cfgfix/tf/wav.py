"""WAV files: what is in one, and its samples."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from cfgfix.core.errors import CfgfixError, UnreadableError

PCM, FLOAT, EXTENSIBLE = 1, 3, 0xFFFE
"""Format codes of WAV: whole numbers, IEEE floating point, and `the real code follows`."""

_KINDS: tuple[tuple[int, int], ...] = ((PCM, 8), (PCM, 16), (PCM, 24), (PCM, 32), (FLOAT, 32), (FLOAT, 64))
"""What can be decoded: format code and bits of one sample."""

MAX_CHUNKS = 1000
"""A WAV file has a handful of chunks; more are a damaged or hostile file."""

MAX_CHANNELS = 64
"""More channels than any recording of speech has."""

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"ID3", "MP3"),
    (b"\xff\xfb", "MP3"),
    (b"\xff\xf3", "MP3"),
    (b"\xff\xf2", "MP3"),
    (b"fLaC", "FLAC"),
    (b"OggS", "Ogg (Vorbis or Opus)"),
    (b"RF64", "RF64 (WAV above 4 GB)"),
    (b"FORM", "AIFF"),
    (b"\x1a\x45\xdf\xa3", "Matroska or WebM"),
    (b".snd", "Sun AU"),
)

_CODES = {2: "ADPCM", 6: "A-law", 7: "mu-law", 0x11: "IMA ADPCM", 0x31: "GSM", 0x55: "MP3"}


@dataclass(frozen=True, slots=True)
class WavInfo:
    """The format in a WAV file's header.

    Attributes:
        rate: Samples per second.
        channels: Channels.
        bits: Bits of one sample of one channel.
        floating: Whether samples are floating point.
        samples: Samples of each channel that the file really holds, whatever its header claims.
    """

    rate: int
    channels: int
    bits: int
    floating: bool
    samples: int


def probe(path: str | os.PathLike[str]) -> WavInfo:
    """Return the format in a WAV file's header; samples are not read.

    Args:
        path: The file.

    Raises:
        UnreadableError: It cannot be read.
        CfgfixError: It is no WAV file that can be decoded; the message says what it is.
    """
    name = os.fspath(path)
    try:
        with open(name, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            head = stream.read(12)
            if len(head) < 12 or head[:4] != b"RIFF" or head[8:12] != b"WAVE":
                raise _other_format(name, head)
            shape: tuple[int, int, int, int, int] | None = None
            for _ in range(MAX_CHUNKS):
                header = stream.read(8)
                if len(header) < 8:
                    break
                length = struct.unpack("<I", header[4:])[0]
                start = stream.tell()
                if header[:4] == b"fmt ":
                    shape = _wav_shape(stream.read(min(length, 40)), name)
                elif header[:4] == b"data":
                    if shape is None:
                        raise CfgfixError("has samples before their format", path=name, hint=_CONVERT)
                    return _wav_info(shape, min(length, max(0, size - start)), name)
                stream.seek(start + length + (length & 1))
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror or error}", path=name) from error
    raise CfgfixError("holds no samples", path=name, hint=_CONVERT)


_CONVERT = "convert it, for example: ffmpeg -i IN -c:a pcm_s16le OUT.wav"


def _other_format(path: str, head: bytes) -> CfgfixError:
    if not head:
        return CfgfixError("is empty", path=path)
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return CfgfixError(f"is {kind}, not WAV", path=path, hint=_CONVERT)
    if head[4:8] == b"ftyp":
        return CfgfixError("is MP4 or M4A, not WAV", path=path, hint=_CONVERT)
    return CfgfixError("is no WAV file", path=path, hint=_CONVERT)


def _wav_shape(body: bytes, path: str) -> tuple[int, int, int, int, int]:
    if len(body) < 16:
        raise CfgfixError("has a broken format chunk", path=path, hint=_CONVERT)
    code, channels, rate, _, align, bits = struct.unpack("<HHIIHH", body[:16])
    if code == EXTENSIBLE and len(body) >= 26:
        code = struct.unpack("<H", body[24:26])[0]
    return code, channels, rate, align, bits


def _wav_info(shape: tuple[int, int, int, int, int], length: int, path: str) -> WavInfo:
    code, channels, rate, align, bits = shape
    if (code, bits) not in _KINDS:
        kind = _CODES.get(code, f"code {code}") if code not in (PCM, FLOAT) else f"{bits}-bit"
        raise CfgfixError(f"holds {kind} samples, which are not decoded", path=path, hint=_CONVERT)
    if not 1 <= channels <= MAX_CHANNELS or rate < 1 or align != channels * bits // 8:
        raise CfgfixError("has a format chunk that contradicts itself", path=path, hint=_CONVERT)
    return WavInfo(rate, channels, bits, code == FLOAT, length // align)


def probe_all(paths: Iterable[str | os.PathLike[str]]) -> tuple[WavInfo, ...]:
    """Return the formats in the headers of many WAV files.

    One error names the first ten that cannot be used.

    Args:
        paths: The files.

    Raises:
        CfgfixError: At least one of them cannot be decoded.
    """
    found: list[WavInfo] = []
    wrong: list[CfgfixError] = []
    for path in paths:
        try:
            found.append(probe(path))
        except CfgfixError as error:
            wrong.append(error)
    if wrong:
        lines = "; ".join(f"{error.path} {error.message}" for error in wrong[:10])
        more = f" and {len(wrong) - 10} more" if len(wrong) > 10 else ""
        raise CfgfixError(
            f"{len(wrong)} files cannot be decoded: {lines}{more}", code=wrong[0].code, hint=_CONVERT
        )
    return tuple(found)


def _unsigned_number(data: Any, start: Any, size: int) -> Any:
    """Return an unsigned little-endian number of `size` bytes, as int64."""
    parts = tf.cast(data[start : start + size], tf.int64)
    return tf.reduce_sum(parts * tf.constant([256**power for power in range(size)], tf.int64))


def decode_wav(content: Any) -> tuple[Any, Any]:
    """Decode the bytes of a WAV file.

    Args:
        content: A scalar string tensor.

    Returns:
        Samples, float32 `[samples, channels]` from -1 to 1 (floating-point files may go beyond), and the rate, int32.
        A file cut short gives the whole samples that are there; padding after the data chunk is never counted.

    Raises:
        InvalidArgumentError: When it runs, and the bytes are no WAV file that can be decoded. `probe` says so before.

    >>> import struct
    >>> body = struct.pack("<4h", 0, 16384, -32768, 32767)
    >>> head = b"RIFF" + struct.pack("<I", 36 + len(body)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16)
    >>> samples, rate = decode_wav(head + b"data" + struct.pack("<I", len(body)) + body)
    >>> [round(value, 3) for value in samples[:, 0].numpy().tolist()], int(rate)
    ([0.0, 0.5, -1.0, 1.0], 8000)
    """
    data = tf.io.decode_raw(content, tf.uint8)
    size = tf.size(data, tf.int64)
    head = tf.concat([data, tf.zeros([12], tf.uint8)], axis=0)  # so that twelve bytes can be read of anything
    check = tf.debugging.Assert(
        (size >= 44)
        & (_unsigned_number(head, 0, 4) == int.from_bytes(b"RIFF", "little"))
        & (_unsigned_number(head, 8, 4) == int.from_bytes(b"WAVE", "little")),
        ["these bytes are no WAV file"],
    )
    with tf.control_dependencies([check] if check is not None else []):
        position = tf.constant(12, tf.int64)
    zero = tf.constant(0, tf.int64)

    def go_on(position: Any, fmt: Any, start: Any, length: Any, count: Any) -> Any:  # noqa: ARG001 - the loop's state
        return (start == 0) & (position + 8 <= size) & (count < MAX_CHUNKS)

    def chunk(position: Any, fmt: Any, start: Any, length: Any, count: Any) -> tuple[Any, ...]:
        name = _unsigned_number(data, position, 4)
        declared = _unsigned_number(data, position + 4, 4)
        body = position + 8
        is_format = name == int.from_bytes(b"fmt ", "little")
        is_data = name == int.from_bytes(b"data", "little")
        fmt = tf.where(is_format, body, fmt)
        start = tf.where(is_data, body, start)
        length = tf.where(is_data, tf.minimum(declared, size - body), length)
        return body + declared + declared % 2, fmt, start, length, count + 1

    _, fmt, start, length, _ = tf.while_loop(go_on, chunk, (position, zero, zero, zero, zero))
    checks = [
        tf.debugging.Assert(
            (fmt > 0) & (fmt + 16 <= size) & (start > 0), ["the WAV file has no format or no samples"]
        )
    ]
    with tf.control_dependencies([item for item in checks if item is not None]):
        fmt = tf.identity(fmt)
    code = _unsigned_number(data, fmt, 2)
    channels = _unsigned_number(data, fmt + 2, 2)
    rate = _unsigned_number(data, fmt + 4, 4)
    bits = _unsigned_number(data, fmt + 14, 2)
    code = tf.cond(
        (code == EXTENSIBLE) & (fmt + 26 <= size),
        lambda: _unsigned_number(data, fmt + 24, 2),
        lambda: tf.identity(code),
    )
    kinds = tf.constant([code * 1000 + bits for code, bits in _KINDS], tf.int64)
    matches = tf.equal(kinds, code * 1000 + bits)
    allowed = tf.debugging.Assert(
        tf.reduce_any(matches) & (channels >= 1) & (channels <= MAX_CHANNELS) & (rate > 0) & (rate < 2**31),
        [
            "the WAV file holds samples that are not decoded: code, bits, channels, rate",
            code,
            bits,
            channels,
            rate,
        ],
    )
    with tf.control_dependencies([allowed] if allowed is not None else []):
        kind = tf.argmax(matches, output_type=tf.int32)
    width = channels * bits // 8
    whole = length // width * width
    body = data[start : start + whole]
    flat = tf.switch_case(
        kind,
        [
            lambda: (tf.cast(body, tf.float32) - 128.0) / 128.0,
            lambda: tf.cast(_sample_bits(body, 2, tf.int16), tf.float32) / 2.0**15,
            lambda: _decode_24(body),
            lambda: tf.cast(tf.cast(_sample_bits(body, 4, tf.int32), tf.float64) / 2.0**31, tf.float32),
            lambda: _sample_bits(body, 4, tf.float32),
            lambda: tf.cast(_sample_bits(body, 8, tf.float64), tf.float32),
        ],
    )
    samples = tf.reshape(flat, tf.stack([tf.cast(whole // width, tf.int32), tf.cast(channels, tf.int32)]))
    samples.set_shape([None, None])
    return samples, tf.cast(rate, tf.int32)


def _sample_bits(body: Any, size: int, dtype: Any) -> Any:
    return tf.bitcast(tf.reshape(body, [-1, size]), dtype)


def _decode_24(body: Any) -> Any:
    """Return 24-bit samples as float32 from -1 to 1.

    Three bytes become the upper three of four, so that the sign is in its place.
    """
    parts = tf.reshape(body, [-1, 3])
    four = tf.concat([tf.zeros_like(parts[:, :1]), parts], axis=1)
    return tf.cast(tf.cast(tf.bitcast(four, tf.int32), tf.float64) / 2.0**31, tf.float32)
