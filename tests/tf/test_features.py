from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from cfgfix.core.errors import CfgfixError, UnreadableError

tf = pytest.importorskip("tensorflow", reason="needs the tf extra")

from cfgfix.tf import features
from cfgfix.tf.audio import MelSettings, features_from_wav
from cfgfix.tf.dataset_graph import randomness
from cfgfix.tf.features import identity_of, precomputed
from cfgfix.tf.pipeline import summarize

pytestmark = pytest.mark.tensorflow


class Maker:
    """Makes a dataset and counts how often it was asked to."""

    def __init__(self, count: int = 10, *, known: bool = True) -> None:
        self.count = count
        self.known = known
        self.calls = 0

    def __call__(self):
        self.calls += 1
        data = tf.data.Dataset.range(self.count).map(
            lambda n: {
                "mel": tf.cast(n, tf.float32) * tf.ones([n % 3 + 1, 2]),
                "n": n,
                "name": tf.strings.as_string(n),
            }
        )
        return data if self.known else data.filter(lambda row: row["n"] >= 0)


def numbers(build, **arguments) -> list[int]:
    return [int(row["n"]) for row in build.dataset("cpu", **arguments)]


@pytest.mark.parametrize("compression", ["", "GZIP"])
@pytest.mark.parametrize("known", [True, False])
def test_made_once_and_read_back(tmp_path: Path, known: bool, compression: str) -> None:
    maker = Maker(known=known)
    first = precomputed(maker, tmp_path, settings={"a": 1}, shards=3, compression=compression)
    second = precomputed(maker, tmp_path, settings={"a": 1}, shards=3, compression=compression)
    assert (first.built, second.built, maker.calls) == (True, False, 1)
    assert second.records == 10
    data = second.dataset("cpu")
    assert data.element_spec["mel"].shape.as_list() == [None, 2]
    assert data.element_spec["name"].dtype == tf.string
    rows = {int(row["n"]): row for row in data}
    assert sorted(rows) == list(range(10))
    for number, row in rows.items():
        np.testing.assert_array_equal(row["mel"], np.full((number % 3 + 1, 2), number, np.float32))
        assert row["name"].numpy() == str(number).encode()
    assert numbers(second) == numbers(second)
    assert randomness(data) is None
    assert all(stage.remarks == "" for stage in summarize(data).stages)


def test_another_setting_or_input_makes_another_build(tmp_path: Path) -> None:
    source = tmp_path / "a.wav"
    source.write_bytes(b"one")
    maker = Maker()
    for settings in ({"hop": 1}, {"hop": 2}):
        assert precomputed(maker, tmp_path / "f", settings=settings, inputs=[source]).built
        assert not precomputed(maker, tmp_path / "f", settings=settings, inputs=[source]).built
    source.write_bytes(b"other")
    assert precomputed(maker, tmp_path / "f", settings={"hop": 1}, inputs=[source]).built
    assert maker.calls == 3


def test_settings_may_be_a_dataclass(tmp_path: Path) -> None:
    maker = Maker()
    assert precomputed(maker, tmp_path, settings=MelSettings()).built
    assert not precomputed(maker, tmp_path, settings=MelSettings()).built
    assert not precomputed(maker, tmp_path, settings=MelSettings().as_dict()).built
    assert precomputed(maker, tmp_path, settings=MelSettings(hop_length=200)).built
    assert maker.calls == 2


@pytest.mark.parametrize("settings", [MelSettings, "hop=1", [("hop", 1)], None])
def test_settings_of_another_kind_are_refused(tmp_path: Path, settings) -> None:
    with pytest.raises(CfgfixError, match="neither a mapping nor a dataclass"):
        precomputed(Maker(), tmp_path, settings=settings)
    assert list(tmp_path.iterdir()) == []


def test_inputs_told_apart_by_content(tmp_path: Path) -> None:
    source = tmp_path / "a.wav"
    source.write_bytes(b"one")
    before = identity_of([source], "content"), identity_of([source], "stat")
    os.utime(source, (1, 1))
    assert identity_of([source], "content") == before[0]
    assert identity_of([source], "stat") != before[1]
    source.write_bytes(b"two")
    assert identity_of([source], "content") != before[0]
    with pytest.raises(UnreadableError):
        identity_of([tmp_path / "none"])
    with pytest.raises(CfgfixError, match="stat or content"):
        identity_of([source], "name")


def damage_byte(folder: Path) -> None:
    path = next(folder.glob("*.tfrecord"))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def damage_size(folder: Path) -> None:
    path = next(folder.glob("*.tfrecord"))
    path.write_bytes(path.read_bytes()[:-1])


def damage_missing(folder: Path) -> None:
    next(folder.glob("*.tfrecord")).unlink()


def damage_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_text("{")


def damage_name(folder: Path) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["shards"][0]["name"] = "../../etc/passwd"
    path.write_text(json.dumps(manifest))


def damage_fingerprint(folder: Path) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["fingerprint"] = "0" * 32
    path.write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    "damage", [damage_byte, damage_size, damage_missing, damage_manifest, damage_name, damage_fingerprint]
)
def test_a_damaged_build_is_made_again(tmp_path: Path, damage) -> None:
    maker = Maker()
    first = precomputed(maker, tmp_path, settings={})
    damage(Path(first.folder))
    second = precomputed(maker, tmp_path, settings={})
    assert second.built
    assert "damaged" in second.reason
    assert sorted(numbers(second)) == list(range(10))
    assert not precomputed(maker, tmp_path, settings={}).built


def test_a_build_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def broken():
        return tf.data.Dataset.range(3).map(
            lambda n: {"n": tf.debugging.check_numerics(1.0 / tf.cast(2 - n, tf.float32), "x")}
        )

    with pytest.raises(tf.errors.InvalidArgumentError):
        precomputed(broken, tmp_path, settings={})
    assert list(tmp_path.iterdir()) == []


def test_two_builders_at_once(tmp_path: Path) -> None:
    inner = Maker()

    def slow():
        # Another program finishes the same build while this one is at it.
        assert precomputed(inner, tmp_path, settings={}).built
        return Maker()()

    made = precomputed(slow, tmp_path, settings={})
    assert sorted(numbers(made)) == list(range(10))
    assert [path.name for path in tmp_path.iterdir()] == [Path(made.folder).name]


def test_what_builders_left_is_removed_in_time(tmp_path: Path) -> None:
    left = tmp_path / ".building-00"
    left.mkdir()
    precomputed(Maker(), tmp_path, settings={})
    assert left.exists()
    os.utime(left, (0, 0))
    precomputed(Maker(), tmp_path, settings={})
    assert not left.exists()


def test_the_folder_stays_within_its_size(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x" * 10_000)
    builds = [precomputed(Maker(), tmp_path, settings={"n": index}, max_bytes=6_000) for index in range(6)]
    left = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert Path(builds[-1].folder) in left
    assert len(left) < 6
    assert (tmp_path / "mine").exists()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (lambda: tf.data.Dataset.range(3), "mapping of names"),
        (
            lambda: tf.data.Dataset.range(3).map(lambda n: {"a": tf.RaggedTensor.from_row_lengths([n], [1])}),
            "cannot be stored",
        ),
        (lambda: tf.data.Dataset.range(3).map(lambda _: {"a": tf.constant(["x"])}), "only single ones"),
        (lambda: tf.data.Dataset.range(3).filter(lambda n: n > 5).map(lambda n: {"a": n}), "no elements"),
    ],
)
def test_what_cannot_be_stored(tmp_path: Path, data, message: str) -> None:
    with pytest.raises(CfgfixError, match=message):
        precomputed(data, tmp_path, settings={})


def test_shards_in_another_order_with_a_seed(tmp_path: Path) -> None:
    build = precomputed(Maker(40), tmp_path, settings={}, shards=8)
    assert numbers(build, shuffle_files=True, seed=1, workers=1) == numbers(
        build, shuffle_files=True, seed=1, workers=1
    )
    assert sorted(numbers(build, shuffle_files=True, seed=2)) == list(range(40))


def test_mel_frames_of_speech_once(speech: list[Path], tmp_path: Path) -> None:
    one = MelSettings()

    def build(settings: MelSettings):
        return precomputed(
            lambda: features_from_wav(speech, settings, hardware="cpu"),
            tmp_path,
            settings=settings.as_dict(),
            inputs=speech,
            shards=2,
        )

    assert build(one).built
    again = build(one)
    assert not again.built
    stored = {int(row["index"]): row for row in again.dataset("cpu")}
    for row in features_from_wav(speech, one, hardware="cpu"):
        np.testing.assert_array_equal(stored[int(row["index"])]["mel"], row["mel"])
    assert build(MelSettings(hop_length=200)).built
    assert features.FORMAT == 1
