from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cfgfix.core.errors import CfgfixError, UnreadableError
from cfgfix.tf import store as store_module
from cfgfix.tf.store import Store, keys_of
from cfgfix.tf.text_cache import TextCache

sys.path.insert(0, str(Path(__file__).parent))
import sample_functions

TEXTS = ["one", "two", "", "three", "two", "né\ud800"]


class Counted:
    """A tokenizer that counts its calls; the count is no part of its name."""

    def __init__(self, add: int = 0) -> None:
        self.add = add
        self.calls: list[str] = []

    def fingerprint(self) -> str:
        return f"counted {self.add}"

    def __call__(self, text: str) -> list[int]:
        self.calls.append(text)
        return [ord(letter) + self.add for letter in text]


def wanted(texts: list[str], add: int = 0) -> list[list[int]]:
    return [[ord(letter) + add for letter in text] for text in texts]


def as_lists(table) -> list[list[int]]:
    return [row.tolist() for row in table]


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_each_text_is_made_once(tmp_path: Path) -> None:
    tokenizer = Counted()
    first = TextCache(tmp_path).tokens(TEXTS, tokenizer)
    assert as_lists(first) == wanted(TEXTS)
    assert sorted(tokenizer.calls) == sorted(set(TEXTS))
    assert (first.report.hits, first.report.made) == (0, 5)
    second = TextCache(tmp_path).tokens([*TEXTS, "four"], tokenizer)
    assert as_lists(second) == wanted([*TEXTS, "four"])
    assert (second.report.hits, second.report.made) == (6, 1)
    assert tokenizer.calls.count("four") == 1
    assert len(tokenizer.calls) == 6


def test_another_tokenizer_or_setting_never_sees_it(tmp_path: Path) -> None:
    cache = TextCache(tmp_path)
    assert as_lists(cache.tokens(TEXTS, Counted())) == wanted(TEXTS)
    assert as_lists(cache.tokens(TEXTS, Counted(1))) == wanted(TEXTS, 1)
    assert cache.tokens(TEXTS, Counted(), settings={"language": "en"}).report.hits == 0
    assert cache.tokens(TEXTS, Counted(), settings={"language": "de"}).report.hits == 0
    assert cache.tokens(TEXTS, Counted(), settings={"language": "en"}).report.hits == 6
    assert cache.tokens(TEXTS, Counted(), fingerprint="v1").report.hits == 0


def test_a_tokenizer_whose_code_changes(tmp_path: Path) -> None:
    cache = TextCache(tmp_path)
    assert as_lists(cache.tokens(["ab"], lambda text: [len(text)])) == [[2]]
    assert as_lists(cache.tokens(["ab"], lambda text: [len(text) + 1])) == [[3]]


def test_rows_are_mapped_and_read_only(tmp_path: Path) -> None:
    table = TextCache(tmp_path).tokens(["abc"], Counted())
    assert table[0].dtype == np.int32
    assert not table[0].flags.writeable
    base = table[0]
    while base.base is not None and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)


def test_shapes_to_train_on(tmp_path: Path) -> None:
    table = TextCache(tmp_path).tokens(TEXTS, Counted())
    assert table.lengths.tolist() == [3, 3, 0, 5, 3, 3]
    values, splits = table.flat()
    assert values.tolist() == [token for row in wanted(TEXTS) for token in row]
    assert splits.tolist() == [0, 3, 6, 6, 11, 14, 17]
    assert table.padded(6, -1)[2].tolist() == [-1] * 6
    with pytest.raises(CfgfixError, match="text 3 has 5 tokens"):
        table.padded(4)
    with pytest.raises(IndexError):
        table[6]
    assert table[-1].tolist() == wanted(TEXTS)[-1]


@pytest.mark.tensorflow
def test_tensors(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow", reason="needs the tf extra")
    table = TextCache(tmp_path).tokens(TEXTS, Counted())
    assert table.ragged().to_list() == wanted(TEXTS)
    assert [row.tolist() for row in table.dataset().as_numpy_iterator()] == wanted(TEXTS)


def test_languages_and_normalised_texts(tmp_path: Path) -> None:
    cache = TextCache(tmp_path)
    made, report = cache.strings(TEXTS, str.upper, kind="normalized")
    assert made == [text.upper() for text in TEXTS]
    assert report.hits == 0
    made, report = cache.strings(TEXTS, str.upper, kind="normalized")
    assert made == [text.upper() for text in TEXTS]
    assert report.hits == 6
    made, report = cache.strings(TEXTS, lambda text: "en" if text.isascii() else "fr", kind="language")
    assert made == ["en"] * 5 + ["fr"]
    with pytest.raises(CfgfixError, match="gives a int"):
        cache.strings(["a"], len, kind="language")  # type: ignore[arg-type]
    with pytest.raises(CfgfixError, match="kind must be a name"):
        cache.strings(["a"], str.upper, kind="../x")


@pytest.mark.parametrize("result", [[1.5], ["a"], [[1], [2]], [2**31], 7])
def test_what_are_no_tokens(tmp_path: Path, result: object) -> None:
    with pytest.raises(CfgfixError, match="text 0"):
        TextCache(tmp_path).tokens(["a"], lambda _: result)  # type: ignore[arg-type,return-value]
    assert files(tmp_path) == []


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_file_is_made_again_and_never_used(tmp_path: Path, data: st.DataObject) -> None:
    folder = tmp_path / str(time.monotonic_ns())
    TextCache(folder).tokens(TEXTS, Counted())
    (path,) = files(folder)
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] ^= data.draw(st.integers(1, 255))
    else:
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    path.write_bytes(content)
    tokenizer = Counted()
    table = TextCache(folder).tokens(TEXTS, tokenizer)
    assert as_lists(table) == wanted(TEXTS)
    assert len(tokenizer.calls) == 5
    assert table.report.rebuilt == (str(path),)
    assert TextCache(folder).tokens(TEXTS, Counted()).report.hits == 6


def test_a_file_moved_from_another_namespace_is_not_used(tmp_path: Path) -> None:
    cache = TextCache(tmp_path)
    cache.tokens(TEXTS, Counted())
    (path,) = files(tmp_path)
    cache.tokens(["zzz"], Counted(1))
    other = next(item for item in files(tmp_path) if item.parent != path.parent)
    os.replace(path, other.parent / path.name)
    assert as_lists(cache.tokens(TEXTS, Counted(1))) == wanted(TEXTS, 1)


def test_a_crash_while_writing_leaves_nothing_to_be_read(tmp_path: Path) -> None:
    code = """
        import os, sys
        from cfgfix.tf import store
        store.os.replace = lambda *_: os._exit(9)
        from cfgfix.tf.text_cache import TextCache
        TextCache(sys.argv[1]).tokens(["a", "b"], lambda text: [1], fingerprint="x")
    """
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)], check=False, env=environment
    )
    assert done.returncode == 9
    (left,) = files(tmp_path)
    assert left.name.endswith(".part")
    table = TextCache(tmp_path).tokens(["a", "b"], lambda _: [1], fingerprint="x")
    assert table.report.hits == 0
    os.utime(left, (0, 0))
    assert TextCache(tmp_path).tokens(["a", "b"], lambda _: [1], fingerprint="x").report.hits == 2
    assert not left.exists()


def test_many_writers_at_once(tmp_path: Path) -> None:
    code = """
        import sys
        from cfgfix.tf.text_cache import TextCache
        texts = [f"text {index}" for index in range(int(sys.argv[2]), int(sys.argv[2]) + 300)]
        for _ in range(5):
            part = texts[: 60 * (_ + 1)]
            table = TextCache(sys.argv[1], mode="serial").tokens(part, lambda text: list(text.encode()), fingerprint="x")
            assert [bytes(row.astype("u1")) for row in table] == [text.encode() for text in part]
    """
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code), str(tmp_path), str(start)],
            env=environment,
            stderr=subprocess.PIPE,
        )
        for start in (0, 100, 200, 0)
    ]
    for process in running:
        _, problem = process.communicate(timeout=120)
        assert process.returncode == 0, problem.decode()
    texts = [f"text {index}" for index in range(500)]
    table = TextCache(tmp_path).tokens(texts, lambda text: list(text.encode()), fingerprint="x")
    assert table.report.hits == 500
    assert not table.report.rebuilt


def test_the_folder_stays_within_its_size(tmp_path: Path) -> None:
    for index in range(12):
        cache = TextCache(tmp_path, max_bytes=20_000)
        table = cache.tokens([f"{index} {number}" for number in range(50)], Counted(index))
        assert len(table) == 50
        for path in files(tmp_path)[:-1]:
            os.utime(path, (index, index))
    total = sum(path.stat().st_size for path in files(tmp_path))
    assert total <= 20_000
    assert TextCache(tmp_path).tokens([f"11 {number}" for number in range(50)], Counted(11)).report.hits == 50


def test_only_its_own_files_are_removed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "photo.seg").write_bytes(b"x" * 10_000)
    TextCache(tmp_path, max_bytes=10).tokens(["a"], Counted())
    TextCache(tmp_path, max_bytes=10).tokens(["b"], Counted())
    assert (tmp_path / "mine" / "photo.seg").exists()


def test_many_small_files_are_merged(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(store_module, "MAX_SEGMENTS", 4)
    texts: list[str] = []
    for index in range(12):
        texts += [f"{index} {number}" for number in range(3)]
        assert as_lists(TextCache(tmp_path).tokens(texts, Counted())) == wanted(texts)
    assert len(files(tmp_path)) <= 5
    assert TextCache(tmp_path).tokens(texts, Counted()).report.hits == len(texts)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UnreadableError, match="cannot be made"):
        TextCache(tmp_path / "file").tokens(["a"], Counted())


def test_processes_fill_it_too(tmp_path: Path) -> None:
    texts = [f"text {index}" for index in range(300)]
    table = TextCache(tmp_path, workers=2, mode="processes").tokens(texts, sample_functions.letters)
    assert as_lists(table) == [sample_functions.letters(text) for text in texts]
    assert table.report.way is not None
    assert table.report.way.mode == "processes"


@settings(deadline=None)
@given(st.lists(st.text(), max_size=30, unique=True))
def test_keys_tell_texts_apart(texts: list[str]) -> None:
    keys = keys_of(texts)
    assert keys.shape == (len(texts), 2)
    assert len({key.tobytes() for key in keys}) == len(texts)


def test_an_empty_store_finds_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path, "tokens", "0" * 32, max_bytes=100)
    where, rows = store.find(keys_of(["a"]))
    assert where.tolist() == rows.tolist() == [-1]
    assert len(TextCache(tmp_path).tokens([], Counted())) == 0
