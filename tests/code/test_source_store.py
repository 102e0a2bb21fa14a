"""Summaries between runs: what they save, and that they never change an answer."""

from __future__ import annotations

import functools
import multiprocessing
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from cfgfix.code.model import program_files, scanning
from cfgfix.code.model.python_files import find_python
from cfgfix.code.scan import scan, source_hits
from cfgfix.core.findings import Finding
from cfgfix.rules.catalogue import read_folder

ROOT = Path(__file__).resolve().parents[2]
PIPELINE = """import tensorflow as tf
from helper import finish


def build(paths):
    ds = tf.data.Dataset.from_tensor_slices(paths)
    ds = ds.map(lambda p: tf.io.read_file(p))
    ds.shuffle(10)
    return finish(ds)
"""
HELPER = """def finish(ds):
    return ds.batch(4).cache().map(lambda x: x + 1)
"""
OTHER = """import tensorflow as tf


@tf.function
def step(x):
    print(tf.reduce_sum(x))
    return x.numpy()
"""
Scan = Callable[..., dict[str, list[Finding]]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scan:
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in (("pipeline.py", PIPELINE), ("helper.py", HELPER), ("other.py", OTHER)):
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv("CFGFIX_CACHE_DIR", str(tmp_path / "cache"))
    rules = read_folder(str(ROOT / "rules" / "function"))

    def made(
        *, without: str = "", key: object = "", use_cache: bool = True, **more: object
    ) -> dict[str, list[Finding]]:
        chosen = [rule for rule in rules if rule.id != without]
        return scan(
            find_python([str(folder)], lambda _: False),
            chosen,
            (),
            severity=lambda _, severity: severity,
            key=key,
            use_cache=use_cache,
            hits=functools.partial(source_hits, chosen),
            **more,  # type: ignore[arg-type]
        ).findings

    return made


@pytest.fixture
def summarised(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    seen: list[str] = []
    real = scanning.summarise

    def noted(text: str, path: str = "<text>") -> object:
        seen.append(os.path.basename(path))
        return real(text, path)

    monkeypatch.setattr(scanning, "summarise", noted)
    return seen


def store(tmp_path: Path) -> Path:
    (found,) = (tmp_path / "cache").glob("source-*.summaries")
    return found


def test_other_rules_use_the_summaries_there_are(run: Scan, summarised: list[str]) -> None:
    plain = run(use_cache=False)
    assert {item.rule for items in plain.values() for item in items} >= {"TFF003"}
    summarised.clear()
    assert run() == plain
    assert sorted(summarised) == ["helper.py", "other.py", "pipeline.py"]
    summarised.clear()
    assert run(key="other rule files") == plain
    fewer = run(without="TFF003")
    assert not summarised
    assert fewer == run(without="TFF003", use_cache=False) != plain


def test_only_what_changed_is_summarised_again(run: Scan, summarised: list[str], tmp_path: Path) -> None:
    run()
    summarised.clear()
    changed = tmp_path / "project" / "helper.py"
    changed.write_text(HELPER.replace("4", "8") + "\n", encoding="utf-8")
    found = run()
    assert summarised == ["helper.py"]
    assert found == run(use_cache=False)
    summarised.clear()
    assert run(key="again") == found
    assert not summarised
    changed.unlink()
    assert run() == run(use_cache=False)


@pytest.mark.parametrize("part", [0.0, 0.05, 0.3, 0.6, 0.9, 0.99])
def test_a_damaged_store_is_no_store(run: Scan, summarised: list[str], tmp_path: Path, part: float) -> None:
    plain = run()
    data = store(tmp_path).read_bytes()
    place = int(len(data) * part)
    store(tmp_path).write_bytes(data[:place])
    assert run(key="cut off") == plain
    # It is whole again. Its bytes may be others: equal values are marshalled as one or as two, as memory has it.
    summarised.clear()
    assert run(key="whole") == plain
    assert not summarised


def test_a_damaged_list_of_entries_is_no_store(run: Scan, summarised: list[str], tmp_path: Path) -> None:
    plain = run()
    data = store(tmp_path).read_bytes()
    start = int.from_bytes(data[8:16], "little")
    for place in (0, 8, 15, start, start + 2):
        store(tmp_path).write_bytes(data[:place] + b"\xff" * 8 + data[place + 8 :])
        assert run(key=place) == plain
        summarised.clear()
        assert run(key=("whole", place)) == plain
        assert not summarised


def test_a_run_that_is_stopped_leaves_nothing_half_written(run: Scan, tmp_path: Path) -> None:
    def stop(done: int, _: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(progress=stop)
    assert not list((tmp_path / "cache").glob("source-*"))


def test_what_a_killed_run_left_behind_goes(run: Scan, tmp_path: Path) -> None:
    left = tmp_path / "cache" / "source-0123.summaries.77.tmp"
    run()
    left.write_bytes(b"half")
    (tmp_path / "project" / "new.py").write_text("import tensorflow as tf\n", encoding="utf-8")
    run()
    assert left.exists(), "another run may still be writing it"
    os.utime(left, (1, 1))
    (tmp_path / "project" / "new.py").write_text("import tensorflow as tf  # changed\n", encoding="utf-8")
    run()
    assert not left.exists()


def test_other_processes_give_the_same_answer(
    run: Scan, summarised: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if "fork" not in multiprocessing.get_all_start_methods() or threading.active_count() > 1:
        pytest.skip("processes are only forked where there are no threads")
    plain = run(use_cache=False)
    monkeypatch.setattr(program_files, "POOL_BYTES", 0)
    monkeypatch.setenv("CFGFIX_JOBS", "2")
    summarised.clear()
    assert run() == plain
    # The helper is not in the prefilter: it is read when the pipeline calls it.
    assert summarised == ["helper.py"]
