"""Speech from WAV files to log-mel spectrograms, wholly in TensorFlow operations.

Decoding reads bytes, which are strings to TensorFlow and so run on the CPU, in graphs but not under XLA. Everything from
samples on - resampling, spectrogram, mel bands, normalisation - has fixed shapes and compiles under XLA.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from cfgfix.core.errors import CfgfixError
from cfgfix.tf.concepts import AUTOTUNE, Config, read_concepts, resolve_machine

if TYPE_CHECKING:
    from cfgfix.hardware.model import Hardware
from cfgfix.tf.wav import WavInfo, decode_wav, probe, probe_all

RESAMPLE_ZEROS = 64
"""Zero crossings of the resampling filter on each side. With the next two numbers the pass band is flat to 0.95 of the
lower Nyquist rate and images lie below -100 dB (shown by the tests)."""

RESAMPLE_ROLLOFF = 0.9475
"""Cut-off as a share of the lower Nyquist rate."""

RESAMPLE_BETA = 14.77
"""Shape of the Kaiser window: side lobes below -140 dB by Kaiser's formula (0.1102 * (attenuation - 8.7))."""

MAX_RESAMPLE = 4_000_000
"""Numbers in a resampling filter; two rates without a common factor would need more."""


def mix_down(samples: Any, how: str = "mean") -> Any:
    """Return one channel of float32 `[samples, channels]`.

    It is the `mean` of the channels, or the `first`.
    """
    if how == "first":
        return samples[:, 0]
    if how != "mean":
        raise CfgfixError(f"channels are mixed by mean or first, not {how!r}")
    return tf.reduce_mean(samples, axis=1)


def resample_kernel(source: int, target: int) -> tuple[Any, int, int, int]:
    """Return the filter that changes a sample rate, with its measures.

    It has one row of taps for each phase of the output. It is the ideal low pass at `RESAMPLE_ROLLOFF` of the lower
    Nyquist rate under a Kaiser window.

    Returns:
        float32 `[taps, 1, phases]`, the stride in input samples, the phases, and the zeros to put before the input.

    Raises:
        CfgfixError: The rates have so small a common factor that the filter would be huge.
    """
    common = math.gcd(source, target)
    up, down = target // common, source // common
    cut = min(1.0, up / down) * RESAMPLE_ROLLOFF
    half = math.ceil(RESAMPLE_ZEROS / cut)
    taps = 2 * half + down
    if taps * up > MAX_RESAMPLE:
        raise CfgfixError(
            f"from {source} to {target} samples per second a filter of {taps * up} numbers would be needed",
            hint="convert the files to a common rate such as 16000, 22050, 24000, 44100 or 48000",
        )
    # Output n of phase p looks at the input at time p * down / up; tap t lies at time t - half.
    phase = np.arange(up, dtype=np.float64)[None, :] * down / up
    time = np.arange(taps, dtype=np.float64)[:, None] - half - phase
    inside = np.clip(1.0 - (time / (half)) ** 2, 0.0, None)
    window = np.where(
        np.abs(time) <= half, np.i0(RESAMPLE_BETA * np.sqrt(inside)) / np.i0(RESAMPLE_BETA), 0.0
    )
    kernel = cut * np.sinc(cut * time) * window
    # Unity at zero frequency in every phase, which the window alone only nearly gives.
    kernel /= kernel.sum(axis=0, keepdims=True)
    return kernel.astype(np.float32)[:, None, :], down, up, half


def resample(samples: Any, source: int, target: int) -> Any:
    """Return samples converted to another rate.

    Args:
        samples: float32 `[samples]` or `[batch, samples]`.
        source: Their rate.
        target: The rate that is wanted.

    Returns:
        float32 with `ceil(samples * target / source)` samples.

    Raises:
        CfgfixError: See `resample_kernel`.

    >>> resample(tf.ones([441]), 44100, 22050).shape
    TensorShape([221])
    """
    if source == target:
        return samples
    kernel, stride, phases, before = resample_kernel(source, target)
    samples = tf.convert_to_tensor(samples, tf.float32)
    single = samples.shape.rank == 1
    batch = samples[None] if single else samples
    fixed = batch.shape[1]
    length: Any = fixed if fixed is not None else tf.shape(batch)[1]
    made = -(-length * phases // stride)
    groups = -(-length // stride)
    after = (groups - 1) * stride + kernel.shape[0] - before - length
    padded = tf.pad(batch, [[0, 0], [before, tf.maximum(after, 0) if fixed is None else max(after, 0)]])
    found = tf.nn.conv1d(padded[:, :, None], tf.constant(kernel), stride=stride, padding="VALID")
    flat = tf.reshape(found, [tf.shape(found)[0], -1])[:, :made]
    if fixed is not None:
        flat = tf.ensure_shape(flat, [batch.shape[0], made])
    return flat[0] if single else flat


def resampled_length(length: Any, source: int, target: int) -> Any:
    """Return the number of samples that `resample` makes of `length` samples."""
    common = math.gcd(source, target)
    up, down = target // common, source // common
    return -(-length * up // down)


def hz_to_mel(frequency: Any, scale: str) -> Any:
    """Convert a frequency from Hz to mel, on the `slaney` or the `htk` scale.

    The `slaney` scale is linear below 1 kHz, then logarithmic.

    >>> float(hz_to_mel(1000.0, "slaney")), round(float(hz_to_mel(1000.0, "htk")))
    (15.0, 1000)
    """
    frequency = np.asarray(frequency, np.float64)
    if scale == "htk":
        return 2595.0 * np.log10(1.0 + frequency / 700.0)
    linear = frequency * 3.0 / 200.0
    return np.where(
        frequency < 1000.0, linear, 15.0 + 27.0 * np.log(np.maximum(frequency, 1000.0) / 1000.0) / np.log(6.4)
    )


def mel_to_hz(mel: Any, scale: str) -> Any:
    """Convert a frequency from mel to Hz, as the inverse of `hz_to_mel`."""
    mel = np.asarray(mel, np.float64)
    if scale == "htk":
        return 700.0 * (10.0 ** (mel / 2595.0) - 1.0)
    return np.where(mel < 15.0, mel * 200.0 / 3.0, 1000.0 * 6.4 ** ((np.maximum(mel, 15.0) - 15.0) / 27.0))


@dataclass(frozen=True, slots=True)
class MelSettings:
    """The settings of a log-mel spectrogram.

    Every field changes the result, so all of them are part of a cache's key.

    Attributes:
        sample_rate: Samples per second after resampling.
        n_fft: Samples of one transform.
        win_length: Samples under the Hann window; None: `n_fft`.
        hop_length: Samples between two frames.
        n_mels: Mel bands.
        fmin: Lowest frequency in Hz.
        fmax: Highest frequency in Hz; None: half the rate.
        scale: `slaney` or `htk`.
        norm: `slaney`: bands of equal area; None: bands with a peak of 1.
        power: 1 for magnitudes, 2 for power.
        center: Frames are centred on multiples of the hop, the signal being continued at both ends.
        pad_mode: How it is continued: `constant` (zeros) or `reflect`.
        log: `ln`, `log10`, `db` (ten times log10 of power, twenty times that of magnitudes) or `none`.
        floor: Smallest value before the logarithm.
        normalize: `none`; `utterance`: zero mean and unit variance over the true frames; `band`: the same for each band;
            `global`: by `mean` and `std`.
        mean: For `global`: one number for each band, or one for all.
        std: The same.
        channels: How channels become one: `mean` or `first`.
        peak: Scale the loudest sample to this; None: leave it.
    """

    sample_rate: int = 22050
    n_fft: int = 1024
    win_length: int | None = None
    hop_length: int = 256
    n_mels: int = 80
    fmin: float = 0.0
    fmax: float | None = None
    scale: str = "slaney"
    norm: str | None = "slaney"
    power: float = 1.0
    center: bool = True
    pad_mode: str = "constant"
    log: str = "ln"
    floor: float = 1e-5
    normalize: str = "none"
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    channels: str = "mean"
    peak: float | None = None

    def __post_init__(self) -> None:
        """Refuse settings that contradict each other.

        Raises:
            CfgfixError: They do.
        """
        for name in ("sample_rate", "n_fft", "hop_length", "n_mels"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise CfgfixError(f"{name} must be a whole number of at least 1, not {value!r}")
        choices = {
            "scale": ("slaney", "htk"),
            "norm": ("slaney", None),
            "pad_mode": ("constant", "reflect"),
            "log": ("ln", "log10", "db", "none"),
            "normalize": ("none", "utterance", "band", "global"),
            "channels": ("mean", "first"),
            "power": (1.0, 2.0),
        }
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise CfgfixError(
                    f"{name} must be one of {', '.join(map(str, known))}, not {getattr(self, name)!r}"
                )
        if not 1 <= self.window <= self.n_fft:
            raise CfgfixError(f"win_length must be from 1 to n_fft, not {self.win_length}")
        if not 0 <= self.fmin < self.top <= self.sample_rate / 2:
            raise CfgfixError(
                f"fmin {self.fmin:g} and fmax {self.top:g} must lie in order between 0 and half the rate,"
                f" {self.sample_rate / 2:g}"
            )
        if not self.floor > 0:
            raise CfgfixError("floor must be above 0")
        if self.peak is not None and not 0 < self.peak <= 1:
            raise CfgfixError("peak must be above 0 and at most 1")
        if self.normalize == "global":
            for name in ("mean", "std"):
                if len(getattr(self, name)) not in (1, self.n_mels):
                    raise CfgfixError(f"global normalisation needs {name} with 1 or {self.n_mels} numbers")
            if min(self.std) <= 0:
                raise CfgfixError("std must be above 0")
        elif self.mean or self.std:
            raise CfgfixError("mean and std are used by normalize='global' alone")

    @property
    def window(self) -> int:
        """The samples under the window."""
        return self.n_fft if self.win_length is None else self.win_length

    @property
    def top(self) -> float:
        """The highest frequency in Hz."""
        return self.sample_rate / 2 if self.fmax is None else self.fmax

    @classmethod
    def from_config(cls, config: Config, **changes: Any) -> MelSettings:
        """Return settings with the config's sample rate, hop and bands.

        Everything else is as given or by default.
        """
        concepts = read_concepts(config)
        found = {
            name: concepts.whole(name, least=1)
            for name in ("sample_rate", "hop_length", "n_mels")
            if concepts.raw(name) is not None
        }
        return cls(**{**found, **changes})

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as plain data, for fingerprints and manifests."""
        return dataclasses.asdict(self)

    def frames(self, samples: Any) -> Any:
        """Return the number of frames for a number of samples, or a tensor of them."""
        if self.center:
            return 1 + samples // self.hop_length
        least = samples - self.n_fft
        if isinstance(samples, int):
            return 0 if least < 0 else 1 + least // self.hop_length
        return tf.where(least < 0, 0, 1 + least // self.hop_length)


def mel_filters(settings: MelSettings) -> Any:
    """Return the triangular mel filters, float32 `[n_fft // 2 + 1, n_mels]`.

    Raises:
        CfgfixError: A band would be empty, for it lies between two bins of the transform.
    """
    bins = np.linspace(0.0, settings.sample_rate / 2, settings.n_fft // 2 + 1)
    ends = hz_to_mel([settings.fmin, settings.top], settings.scale)
    edges = mel_to_hz(np.linspace(ends[0], ends[1], settings.n_mels + 2), settings.scale)
    widths = np.diff(edges)
    slopes = edges[:, None] - bins[None, :]
    rising = -slopes[:-2] / widths[:-1, None]
    falling = slopes[2:] / widths[1:, None]
    filters = np.maximum(0.0, np.minimum(rising, falling))
    if not filters.max(axis=1).all():
        empty = int(np.argmin(filters.max(axis=1)))
        raise CfgfixError(
            f"mel band {empty} of {settings.n_mels} lies between two bins of the transform and would always be empty",
            hint="take fewer bands or a larger n_fft",
        )
    if settings.norm == "slaney":
        filters *= (2.0 / (edges[2:] - edges[:-2]))[:, None]
    return filters.T.astype(np.float32)


class LogMel:
    """Makes log-mel spectrograms of samples, in operations that compile under XLA.

    Args:
        settings: How they are made.

    >>> frontend = LogMel(MelSettings(sample_rate=16000, hop_length=200))
    >>> mel, frames = frontend(tf.zeros([2, 1000]), tf.constant([1000, 399]))
    >>> mel.shape, frames.numpy().tolist()
    (TensorShape([2, 6, 80]), [6, 2])
    """

    def __init__(self, settings: MelSettings | None = None) -> None:
        self.settings = settings or MelSettings()
        one = self.settings
        self._filters = mel_filters(one)
        # A periodic Hann window, centred in the transform.
        window = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(one.window) / one.window)
        before = (one.n_fft - one.window) // 2
        self._window = np.zeros(one.n_fft, np.float32)
        self._window[before : before + one.window] = window

    def __call__(self, samples: Any, lengths: Any = None) -> tuple[Any, Any]:
        """Return spectrograms and their true lengths.

        Args:
            samples: float32 `[batch, samples]`, or `[samples]` for one clip; padded behind each clip's end.
            lengths: int `[batch]` (or a scalar), the true samples of each clip; all of them by default.

        Returns:
            float32 `[batch, frames, n_mels]` and int32 `[batch]` (without the batch axis for one clip). Frames beyond a
            clip's end hold the value of silence (zero where normalised). Every true frame is the one that the clip gives
            alone: what lies behind its end has no part in it.
        """
        one = self.settings
        samples = tf.convert_to_tensor(samples, tf.float32)
        single = samples.shape.rank == 1
        batch = samples[None] if single else samples
        fixed = batch.shape[1]
        size: Any = fixed if fixed is not None else tf.shape(batch)[1]
        if lengths is None:
            lengths = tf.fill([tf.shape(batch)[0]], size)
        lengths = tf.cast(tf.reshape(lengths, [-1]), tf.int32)
        positions = tf.range(size)[None, :]
        batch = tf.where(positions < lengths[:, None], batch, 0.0)
        if one.peak is not None:
            loudest = tf.reduce_max(tf.abs(batch), axis=1, keepdims=True)
            batch *= tf.where(loudest > 0, one.peak / tf.maximum(loudest, 1e-12), 1.0)
        if one.center:
            batch = self._extended_batch(batch, lengths, size)
        found = self._mel_of_batch(batch)
        frames = one.frames(lengths)
        count = one.frames(fixed) if fixed is not None else tf.shape(found)[1]
        valid = tf.range(count)[None, :, None] < frames[:, None, None]
        found = self._normalized_features(self._logarithm_of(found), valid, frames)
        if single:
            return found[0], frames[0]
        return found, frames

    def _extended_batch(self, batch: Any, lengths: Any, size: Any) -> Any:
        side = self.settings.n_fft // 2
        if self.settings.pad_mode == "constant":
            return tf.pad(batch, [[0, 0], [side, side]])
        # Each clip is reflected at its own end, wherever the padding of the batch lies.
        position = tf.abs(tf.range(-side, size + side))[None, :]
        last = tf.maximum(lengths[:, None] - 1, 0)
        position = tf.where(position > last, 2 * last - position, position)
        return tf.gather(batch, tf.clip_by_value(position, 0, last), batch_dims=1)

    def _mel_of_batch(self, batch: Any) -> Any:
        one = self.settings
        if batch.shape[1] is not None and batch.shape[1] < one.n_fft:
            return tf.zeros([tf.shape(batch)[0], 0, one.n_mels])
        framed = tf.signal.frame(batch, one.n_fft, one.hop_length)
        spectrum = tf.signal.rfft(framed * tf.constant(self._window))
        power = tf.square(tf.math.real(spectrum)) + tf.square(tf.math.imag(spectrum))
        energy = power if one.power == 2.0 else tf.sqrt(power)
        return tf.matmul(energy, tf.constant(self._filters))

    def _logarithm_of(self, found: Any) -> Any:
        one = self.settings
        if one.log == "none":
            return found
        found = tf.math.log(tf.maximum(found, one.floor))
        if one.log == "ln":
            return found
        decades = found / math.log(10.0)
        if one.log == "log10":
            return decades
        return decades * (10.0 if one.power == 2.0 else 20.0)

    @property
    def silence(self) -> float:
        """The value of a frame of silence."""
        one = self.settings
        if one.normalize != "none" or one.log == "none":
            return 0.0
        if one.log == "ln":
            return math.log(one.floor)
        decades = math.log10(one.floor)
        return decades if one.log == "log10" else decades * (10.0 if one.power == 2.0 else 20.0)

    def _normalized_features(self, found: Any, valid: Any, frames: Any) -> Any:
        one = self.settings
        if one.normalize == "global":
            found = (found - tf.constant(one.mean, tf.float32)) / tf.constant(one.std, tf.float32)
        elif one.normalize in ("utterance", "band"):
            axes = [1, 2] if one.normalize == "utterance" else [1]
            count = tf.maximum(tf.cast(frames, tf.float32), 1.0)[:, None, None]
            if one.normalize == "utterance":
                count *= one.n_mels
            mean = tf.reduce_sum(tf.where(valid, found, 0.0), axes, keepdims=True) / count
            apart = tf.where(valid, found - mean, 0.0)
            spread = tf.sqrt(tf.reduce_sum(tf.square(apart), axes, keepdims=True) / count)
            found = apart / tf.maximum(spread, 1e-5)
        return tf.where(valid, found, self.silence)


class WavReader:
    """Reads WAV files to one channel at one rate, in TensorFlow operations.

    Args:
        settings: The rate, the channels, the rest.
        rates: The rates that files may have; each has its own resampling filter.
    """

    def __init__(self, settings: MelSettings, rates: Sequence[int]) -> None:
        self.settings = settings
        self.rates = tuple(sorted(set(rates)))
        for rate in self.rates:
            if rate != settings.sample_rate:
                resample_kernel(rate, settings.sample_rate)

    def __call__(self, path: Any) -> Any:
        """Return the samples of a file, float32 `[samples]`, at the settings' rate.

        Args:
            path: A scalar string tensor.
        """
        samples, rate = decode_wav(tf.io.read_file(path))
        mono = mix_down(samples, self.settings.channels)
        known = tf.equal(rate, tf.constant(self.rates, tf.int32))
        check = tf.debugging.Assert(
            tf.reduce_any(known), ["a rate that no file had at the start", rate, path]
        )
        with tf.control_dependencies([check] if check is not None else []):
            which = tf.argmax(known, output_type=tf.int32)
        target = self.settings.sample_rate
        if len(self.rates) == 1:
            with tf.control_dependencies([which]):
                return resample(tf.identity(mono), self.rates[0], target)
        branches = [lambda rate=rate: resample(mono, rate, target) for rate in self.rates]
        made = tf.switch_case(which, branches)
        made.set_shape([None])
        return made


def features_from_wav(
    paths: Sequence[str | os.PathLike[str]],
    settings: MelSettings | None = None,
    config: Config = None,
    hardware: Hardware | str | None = None,
    *,
    max_frames: int | None = None,
    too_long: str = "error",
    workers: int | None = None,
    deterministic: bool | None = None,
) -> Any:
    """Return a dataset of log-mel spectrograms of WAV files.

    They are computed wholly in TensorFlow. Every header is read here, so a file of another format is an error now and
    not in the third epoch.

    Args:
        paths: The files.
        settings: How spectrograms are made; by default from the config.
        config: Concepts or a YAML file: `sample_rate`, `hop_length`, `n_mels`, `mel_pad_frames` and `workers` are used.
        hardware: The machine; this one by default.
        max_frames: Pad every spectrogram to this many frames, so that every shape is fixed; by default `mel_pad_frames`
            of the config, else each keeps its length.
        too_long: What happens to a longer one: `error` (now, from its header) or `cut`.
        workers: Files in parallel, at most one for each usable CPU; -1: tf.data chooses.
        deterministic: Keep the order of files; by default yes.

    Returns:
        A dataset of `{"mel": float32 [frames, n_mels], "frames": int32, "index": int64}`; `frames` counts true frames,
        padding never, and `index` is the file's position in `paths`.

    Raises:
        CfgfixError: A file cannot be decoded or is too long, or there is none.
    """
    from cfgfix.tf.pipeline import calls

    concepts = read_concepts(config)
    one = settings if settings is not None else MelSettings.from_config(config)
    names = [os.fspath(path) for path in paths]
    if not names:
        raise CfgfixError("there is no file to read")
    infos = probe_all(names)
    limit = concepts.whole("mel_pad_frames", max_frames, least=1)
    if too_long not in ("error", "cut"):
        raise CfgfixError(f"too_long is error or cut, not {too_long!r}")
    if limit is not None and too_long == "error":
        counts = [
            one.frames(int(resampled_length(info.samples, info.rate, one.sample_rate))) for info in infos
        ]
        longest = max(range(len(counts)), key=counts.__getitem__)
        if counts[longest] > limit:
            over = sum(count > limit for count in counts)
            raise CfgfixError(
                f"{over} of {len(counts)} files are longer than {limit} frames, the longest has {counts[longest]}",
                path=names[longest],
                hint="raise max_frames, or cut them with too_long='cut'",
            )
    reader = WavReader(one, [info.rate for info in infos])
    frontend = LogMel(one)

    def load(path: Any, index: Any) -> dict[str, Any]:
        samples = reader(path)
        mel, frames = frontend(samples, tf.shape(samples)[0])
        if limit is not None:
            mel = mel[:limit]
            frames = tf.minimum(frames, limit)
            mel = tf.pad(mel, [[0, limit - tf.shape(mel)[0]], [0, 0]], constant_values=frontend.silence)
            mel.set_shape([limit, one.n_mels])
        else:
            mel.set_shape([None, one.n_mels])
        return {"mel": mel, "frames": tf.ensure_shape(frames, []), "index": index}

    parallel = calls(concepts, resolve_machine(hardware), workers)
    keep = concepts.flag("deterministic", deterministic)
    source = tf.data.Dataset.from_tensor_slices((names, np.arange(len(names), dtype=np.int64)))
    return source.map(
        load,
        num_parallel_calls=parallel if parallel != AUTOTUNE else tf.data.AUTOTUNE,
        deterministic=True if keep is None else keep,
    )


__all__ = [
    "MAX_RESAMPLE",
    "RESAMPLE_BETA",
    "RESAMPLE_ROLLOFF",
    "RESAMPLE_ZEROS",
    "LogMel",
    "MelSettings",
    "WavInfo",
    "WavReader",
    "decode_wav",
    "features_from_wav",
    "hz_to_mel",
    "mel_filters",
    "mel_to_hz",
    "mix_down",
    "probe",
    "probe_all",
    "resample",
    "resample_kernel",
    "resampled_length",
]
