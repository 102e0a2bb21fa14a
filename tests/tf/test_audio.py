"""The audio front end against numbers written by hand, and against librosa over speech.

Tolerances against librosa, over espeak-ng speech: mel filters 1e-6 of the largest weight; mel energies 1e-4 relative to
the loudest; natural logarithms of mel energies 0.002 (0.2 % of the energy) wherever the energy is above 1e-3, and 0.02
above the floor of 1e-5, where float32 rounding of the transform is a larger part; resampled speech 1 % of its peak.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cfgfix.core.errors import CfgfixError

tf = pytest.importorskip("tensorflow", reason="needs the tf extra")

from cfgfix.tf import audio
from cfgfix.tf.audio import LogMel, MelSettings, features_from_wav, resample
from cfgfix.tf.wav import _KINDS, decode_wav, probe

pytestmark = pytest.mark.tensorflow


def chunk(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)


def wav(
    body: bytes,
    *,
    code: int = 1,
    bits: int = 16,
    channels: int = 1,
    rate: int = 16000,
    before: bytes = b"",
    extensible: bool = False,
) -> bytes:
    align = channels * bits // 8
    fields = struct.pack("<HHIIHH", 0xFFFE if extensible else code, channels, rate, rate * align, align, bits)
    if extensible:
        fields += struct.pack("<HHIH", 22, bits, 0, code) + b"\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71"
    inside = b"WAVE" + chunk(b"fmt ", fields) + before + chunk(b"data", body)
    return b"RIFF" + struct.pack("<I", len(inside)) + inside


def encode(values: np.ndarray, code: int, bits: int) -> bytes:
    if code == 3:
        return values.astype("<f4" if bits == 32 else "<f8").tobytes()
    if bits == 8:
        return (values * 128 + 128).round().clip(0, 255).astype(np.uint8).tobytes()
    whole = (values * 2.0 ** (bits - 1)).round().clip(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1).astype("<i8")
    width = bits // 8
    return whole.reshape(-1, 1).view(np.uint8).reshape(-1, 8)[:, :width].tobytes()


VALUES = np.array([0.0, 0.25, -0.25, 0.5, -1.0, 0.75, -0.125, 0.625])


class TestDecoding:
    @pytest.mark.parametrize(("code", "bits"), _KINDS)
    @pytest.mark.parametrize("channels", [1, 2])
    @pytest.mark.parametrize("extensible", [False, True])
    def test_every_kind(self, tmp_path: Path, code: int, bits: int, channels: int, extensible: bool) -> None:
        content = wav(
            encode(VALUES, code, bits),
            code=code,
            bits=bits,
            channels=channels,
            rate=12345,
            extensible=extensible,
        )
        samples, rate = tf.function(decode_wav)(tf.constant(content))
        assert samples.dtype == tf.float32
        np.testing.assert_array_equal(samples.numpy(), VALUES.reshape(-1, channels).astype(np.float32))
        assert int(rate) == 12345
        path = tmp_path / "a.wav"
        path.write_bytes(content)
        assert probe(path) == audio.WavInfo(12345, channels, bits, code == 3, len(VALUES) // channels)

    def test_chunks_that_do_not_matter_are_passed_over(self) -> None:
        content = wav(encode(VALUES, 1, 16), before=chunk(b"LIST", b"odd") + chunk(b"fact", b"1234")) + chunk(
            b"LIST", b"behind"
        )
        assert decode_wav(content)[0].shape == (8, 1)

    @pytest.mark.parametrize("cut", [1, 2, 3, 15])
    def test_a_file_cut_short_gives_what_is_there(self, tmp_path: Path, cut: int) -> None:
        content = wav(encode(VALUES, 1, 16))[:-cut]
        path = tmp_path / "a.wav"
        path.write_bytes(content)
        whole = (16 - cut) // 2
        assert decode_wav(content)[0].shape[0] == whole
        assert probe(path).samples == whole

    def test_a_length_that_was_never_filled_in(self, tmp_path: Path) -> None:
        content = wav(encode(VALUES, 1, 16))
        content = content[:40] + b"\xff\xff\xff\xff" + content[44:]
        (tmp_path / "a.wav").write_bytes(content)
        assert decode_wav(content)[0].shape[0] == 8
        assert probe(tmp_path / "a.wav").samples == 8

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", "is empty"),
            (b"ID3\x04" + b"\0" * 60, "is MP3"),
            (b"fLaC" + b"\0" * 60, "is FLAC"),
            (b"OggS" + b"\0" * 60, "is Ogg"),
            (b"\0\0\0\x20ftypM4A " + b"\0" * 60, "is MP4"),
            (b"hello, world; this is text and no sound, really", "no WAV file"),
            (wav(b"\0" * 8, code=7, bits=8), "mu-law"),
            (wav(b"\0" * 8, code=1, bits=12), "12-bit"),
            (wav(b"\0" * 8, channels=0), "contradicts itself"),
            (wav(b"")[:36], "holds no samples"),
        ],
    )
    def test_another_format_is_told_at_construction(
        self, tmp_path: Path, content: bytes, message: str
    ) -> None:
        path = tmp_path / "a.wav"
        path.write_bytes(content)
        with pytest.raises(CfgfixError, match=message):
            probe(path)
        with pytest.raises(CfgfixError, match=message):
            features_from_wav([path], MelSettings(), hardware="cpu")

    def test_all_wrong_files_are_named_at_once(self, tmp_path: Path) -> None:
        for index in range(12):
            (tmp_path / f"{index:02}.wav").write_bytes(b"fLaC" + b"\0" * 60)
        with pytest.raises(CfgfixError, match=r"12 files cannot be decoded: .*00\.wav is FLAC.* and 2 more"):
            audio.probe_all(sorted(tmp_path.iterdir()))
        with pytest.raises(CfgfixError, match="cannot be read"):
            probe(tmp_path / "none.wav")

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(data=st.data())
    def test_hostile_bytes_give_one_error(self, tmp_path: Path, data: st.DataObject) -> None:
        content = bytearray(wav(encode(VALUES, 1, 16), before=chunk(b"LIST", b"abcd")))
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        del content[data.draw(st.integers(0, len(content))) :]
        path = tmp_path / "hostile.wav"
        path.write_bytes(content)
        try:
            found: audio.WavInfo | None = probe(path)
        except CfgfixError:
            found = None
        try:
            samples, rate = decode_wav(bytes(content))
        except tf.errors.InvalidArgumentError:
            return
        if found is not None:
            assert samples.shape == (found.samples, found.channels)
            assert int(rate) == found.rate


class TestResampling:
    @pytest.mark.parametrize(
        ("source", "target"), [(22050, 16000), (48000, 22050), (16000, 22050), (44100, 22050), (8000, 24000)]
    )
    def test_a_tone_stays_the_tone(self, source: int, target: int) -> None:
        frequency = 0.4 * min(source, target) / 2
        made = resample(
            tf.constant(np.sin(2 * np.pi * frequency * np.arange(source) / source), tf.float32),
            source,
            target,
        )
        wanted = np.sin(2 * np.pi * frequency * np.arange(target) / target)
        assert made.shape == (target,)
        inner = slice(target // 10, -target // 10)
        assert np.abs(made.numpy() - wanted)[inner].max() < 1e-4

    def test_what_lies_above_the_new_nyquist_rate_is_gone(self) -> None:
        tone = np.sin(2 * np.pi * 12500 * np.arange(48000) / 48000).astype(np.float32)
        made = resample(tone, 48000, 22050).numpy()
        assert np.abs(made[2000:-2000]).max() < 1e-5

    def test_lengths(self) -> None:
        for length in (1, 2, 99, 1000, 1001):
            assert resample(tf.zeros([length]), 22050, 16000).shape[0] == -(-length * 16000 // 22050)
            assert audio.resampled_length(length, 22050, 16000) == -(-length * 16000 // 22050)
        assert resample(tf.zeros([5]), 8000, 8000).shape[0] == 5

    def test_graph_and_xla_agree(self) -> None:
        data = tf.constant(np.random.default_rng(1).normal(size=(2, 3000)), tf.float32)
        plain = resample(data, 22050, 16000)
        unknown = tf.function(
            lambda x: resample(x, 22050, 16000), input_signature=[tf.TensorSpec([None, None])]
        )(data)
        compiled = tf.function(lambda x: resample(x, 22050, 16000), jit_compile=True)(data)
        np.testing.assert_allclose(unknown, plain, atol=1e-5)
        np.testing.assert_allclose(compiled, plain, atol=1e-5)

    def test_rates_without_a_common_factor(self) -> None:
        with pytest.raises(CfgfixError, match="common rate"):
            resample(tf.zeros([10]), 44101, 22050)

    @pytest.mark.parametrize("target", [16000, 24000])
    def test_speech_as_librosa_does_it(self, speech: list[Path], target: int) -> None:
        librosa = pytest.importorskip("librosa", reason="librosa is not installed")
        for path in speech:
            samples, rate = decode_wav(tf.io.read_file(str(path)))
            mono = samples[:, 0].numpy()
            made = resample(mono, int(rate), target).numpy()
            wanted = librosa.resample(mono, orig_sr=int(rate), target_sr=target, res_type="soxr_vhq")
            assert made.shape == wanted.shape
            assert np.abs(made - wanted).max() < 0.01 * np.abs(mono).max()


def as_librosa(librosa, samples: np.ndarray, one: MelSettings) -> np.ndarray:
    return librosa.feature.melspectrogram(
        y=samples, sr=one.sample_rate, n_fft=one.n_fft, hop_length=one.hop_length, win_length=one.window, center=one.center,
        pad_mode=one.pad_mode, power=one.power, n_mels=one.n_mels, fmin=one.fmin, fmax=one.top, htk=one.scale == "htk", norm=one.norm,
    ).T  # fmt: skip


VARIANTS = [
    MelSettings(),
    MelSettings(scale="htk"),
    MelSettings(scale="htk", norm=None, power=2.0),
    MelSettings(pad_mode="reflect", fmin=40.0, fmax=8000.0, n_mels=100),
    MelSettings(center=False, win_length=800, n_fft=1024, hop_length=200),
]


class TestLogMel:
    @pytest.mark.parametrize("one", VARIANTS, ids=str)
    def test_filters_are_librosas(self, one: MelSettings) -> None:
        librosa = pytest.importorskip("librosa", reason="librosa is not installed")
        wanted = librosa.filters.mel(
            sr=one.sample_rate,
            n_fft=one.n_fft,
            n_mels=one.n_mels,
            fmin=one.fmin,
            fmax=one.top,
            htk=one.scale == "htk",
            norm=one.norm,
        ).T
        np.testing.assert_allclose(audio.mel_filters(one), wanted, atol=1e-6 * wanted.max())

    @pytest.mark.parametrize("one", VARIANTS, ids=str)
    def test_speech_as_librosa_does_it(self, speech: list[Path], one: MelSettings) -> None:
        from dataclasses import replace

        librosa = pytest.importorskip("librosa", reason="librosa is not installed")
        for path in speech:
            samples = decode_wav(tf.io.read_file(str(path)))[0][:, 0].numpy()
            wanted = as_librosa(librosa, samples, one)
            energies, frames = LogMel(replace(one, log="none"))(samples)
            assert energies.shape == wanted.shape
            assert int(frames) == wanted.shape[0]
            assert np.abs(energies.numpy() - wanted).max() < 1e-4 * wanted.max()
            logs = LogMel(one)(samples)[0].numpy()
            apart = np.abs(logs - np.log(np.maximum(wanted, one.floor)))
            assert apart[wanted > 1e-3].max() < 0.002
            assert apart.max() < 0.02

    def test_decibels(self, speech: list[Path]) -> None:
        librosa = pytest.importorskip("librosa", reason="librosa is not installed")
        samples = decode_wav(tf.io.read_file(str(speech[0])))[0][:, 0].numpy()
        one = MelSettings(power=2.0, log="db", floor=1e-10)
        wanted = librosa.power_to_db(as_librosa(librosa, samples, one), ref=1.0, amin=1e-10, top_db=None)
        made = LogMel(one)(samples)[0].numpy()
        assert np.abs(made - wanted)[wanted > -60].max() < 0.02

    @pytest.mark.parametrize(
        "one",
        [
            *VARIANTS,
            MelSettings(normalize="utterance"),
            MelSettings(normalize="band", pad_mode="reflect"),
            MelSettings(peak=0.9),
        ],
        ids=str,
    )
    def test_padding_is_never_counted(self, one: MelSettings) -> None:
        generator = np.random.default_rng(2)
        lengths = [5000, 1100, 3333, 3072]
        clips = [generator.normal(size=length).astype(np.float32) * 0.1 for length in lengths]
        batch = np.full((4, 6000), 0.7, np.float32)  # what lies behind a clip's end must not matter
        for row, clip in zip(batch, clips, strict=True):
            row[: len(clip)] = clip
        frontend = LogMel(one)
        made, frames = frontend(batch, lengths)
        assert made.shape[1] == one.frames(6000)
        for index, clip in enumerate(clips):
            alone, count = frontend(clip)
            assert int(count) == int(frames[index]) == one.frames(len(clip)) == alone.shape[0]
            np.testing.assert_allclose(made[index, : int(count)], alone, atol=2e-4)
            assert np.unique(made[index, int(count) :]).tolist() in ([], [np.float32(frontend.silence)])

    @pytest.mark.parametrize(
        "one", [MelSettings(), MelSettings(pad_mode="reflect", normalize="utterance")], ids=str
    )
    def test_graph_and_xla_agree(self, one: MelSettings) -> None:
        data = np.random.default_rng(3).normal(size=(2, 4000)).astype(np.float32)
        lengths = np.array([4000, 2500], np.int32)
        frontend = LogMel(one)
        plain, frames = frontend(data, lengths)
        signature = [tf.TensorSpec([None, None]), tf.TensorSpec([None], tf.int32)]
        for made in (
            tf.function(frontend, input_signature=signature),
            tf.function(frontend, jit_compile=True),
        ):
            found, count = made(tf.constant(data), tf.constant(lengths))
            np.testing.assert_allclose(found, plain, atol=2e-3)
            np.testing.assert_array_equal(count, frames)

    def test_normalisation_over_true_frames(self) -> None:
        data = np.random.default_rng(4).normal(size=(1, 9000)).astype(np.float32)
        found, frames = LogMel(MelSettings(normalize="utterance"))(data, [5000])
        true = found[0, : int(frames[0])].numpy()
        assert abs(true.mean()) < 1e-4
        assert abs(true.std() - 1) < 1e-3
        found, frames = LogMel(MelSettings(normalize="band"))(data, [5000])
        true = found[0, : int(frames[0])].numpy()
        assert np.abs(true.mean(axis=0)).max() < 1e-4
        assert np.abs(true.std(axis=0) - 1).max() < 1e-3
        plain = LogMel(MelSettings())(data)[0].numpy()
        shifted = LogMel(MelSettings(normalize="global", mean=(-2.0,), std=(4.0,)))(data)[0].numpy()
        np.testing.assert_allclose(shifted, (plain + 2) / 4, atol=1e-5)

    def test_silence_and_nothing_at_all(self) -> None:
        found, frames = LogMel(MelSettings(peak=0.5))(tf.zeros([1, 2000]))
        assert np.isfinite(found).all()
        assert float(found[0, 0, 0]) == pytest.approx(np.log(1e-5))
        found, frames = LogMel(MelSettings(normalize="band"))(tf.zeros([2, 600]), [0, 600])
        assert np.isfinite(found).all()
        found, frames = LogMel(MelSettings(center=False))(tf.zeros([1, 100]))
        assert found.shape == (1, 0, 80)
        assert int(frames[0]) == 0

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"scale": "bark"}, "scale must be one of"),
            ({"fmax": 20000.0}, "half the rate"),
            ({"win_length": 2048}, "win_length"),
            ({"hop_length": 0}, "hop_length"),
            ({"n_mels": 400}, "always be empty"),
            ({"normalize": "global"}, "needs mean"),
            ({"mean": (1.0,)}, "alone"),
            ({"floor": 0.0}, "floor"),
            ({"peak": 2.0}, "peak"),
        ],
    )
    def test_settings_that_cannot_be(self, changes: dict[str, object], message: str) -> None:
        with pytest.raises(CfgfixError, match=message):
            LogMel(MelSettings(**changes))  # type: ignore[arg-type]

    def test_settings_from_a_config(self) -> None:
        one = MelSettings.from_config({"sample_rate": 16000, "hop_length": 200}, n_mels=40)
        assert (one.sample_rate, one.hop_length, one.n_mels) == (16000, 200, 40)


class TestDataset:
    def test_speech_of_several_rates_and_kinds(self, speech: list[Path], tmp_path: Path) -> None:
        paths = list(speech)
        tone = np.sin(2 * np.pi * 440 * np.arange(16000) / 16000)
        for index, (code, bits, channels, rate) in enumerate([(1, 24, 2, 16000), (3, 32, 1, 44100)]):
            path = tmp_path / f"{index}.wav"
            path.write_bytes(
                wav(
                    encode(np.repeat(tone, channels), code, bits),
                    code=code,
                    bits=bits,
                    channels=channels,
                    rate=rate,
                )
            )
            paths.append(path)
        data = features_from_wav(paths, MelSettings(), {"mel_pad_frames": 1000, "workers": 2}, "cpu,cpus=2")
        assert data.element_spec["mel"].shape == (1000, 80)
        rows = list(data)
        assert [int(row["index"]) for row in rows] == list(range(len(paths)))
        for path, row in zip(paths, rows, strict=True):
            info = probe(path)
            wanted = 1 + -(-info.samples * 22050 // info.rate) // 256
            assert int(row["frames"]) == wanted
            assert (row["mel"][wanted:].numpy() == np.float32(np.log(1e-5))).all()
            assert row["mel"][:wanted].numpy().max() > -5
        # The same tone at 16 kHz, in two channels of 24 bits, and at 44.1 kHz: its energy lies in the same band.
        bands = [int(np.argmax(row["mel"][20])) for row in rows[-2:]]
        assert bands[0] < bands[1]

    def test_too_long(self, speech: list[Path]) -> None:
        with pytest.raises(CfgfixError, match="longer than 50 frames"):
            features_from_wav(speech, MelSettings(), hardware="cpu", max_frames=50)
        data = features_from_wav(speech, MelSettings(), hardware="cpu", max_frames=50, too_long="cut")
        assert all(int(row["frames"]) == 50 and row["mel"].shape == (50, 80) for row in data)

    def test_without_a_limit_each_keeps_its_length(self, speech: list[Path]) -> None:
        for row in features_from_wav(speech, MelSettings(), hardware="cpu"):
            assert row["mel"].shape[0] == int(row["frames"])

    def test_no_python_runs_in_it(self, speech: list[Path]) -> None:
        from cfgfix.tf.dataset_graph import randomness
        from cfgfix.tf.pipeline import summarize

        data = features_from_wav(speech, MelSettings(), hardware="cpu")
        assert randomness(data) is None
        assert all(stage.remarks == "" for stage in summarize(data).stages)

    def test_no_files(self) -> None:
        with pytest.raises(CfgfixError, match="no file"):
            features_from_wav([])
