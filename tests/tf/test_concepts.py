from __future__ import annotations

import sys

import pytest

from cfgfix.core.errors import CfgfixError
from cfgfix.tf.concepts import CONCEPTS, Concepts, read_concepts


def test_a_name_that_nothing_reads_is_refused() -> None:
    with pytest.raises(CfgfixError, match="did you mean 'workers'"):
        read_concepts({"wokers": 3})


def test_a_file_is_read_through_its_dialect(tmp_path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(
        "data:\n  batch_size: 8\n  num_workers: 4\ntraining:\n  mixed_precision: true\n  epochs: 3\n"
    )
    found = read_concepts(path)
    assert found.whole("batch_size") == 8
    assert found.whole("workers") == 4
    assert found.flag("mixed_precision") is True
    assert found.place("workers") == "data.num_workers"


def test_keys_that_only_the_code_knows_are_read_by_what_they_reach(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(
        "import tensorflow as tf\nimport yaml\n\nherd = yaml.safe_load(open('herd.yaml'))\n"
        "data = tf.data.Dataset.range(9).map(abs, num_parallel_calls=herd['hands'])\n"
        "data = data.batch(herd['pen']['flock']).prefetch(herd['gate'] + 1)\n"
    )
    path = tmp_path / "herd.yaml"
    path.write_text("pen: {flock: 8}\nhands: 4\ngate: 2\nbatch_size: 3\n")
    found = read_concepts("herd.yaml")
    assert found.whole("batch_size") == 8
    assert found.place("batch_size") == "pen.flock"
    assert found.whole("workers") == 4
    assert found.raw("prefetch") is None, "the code makes another number of it"


def test_a_number_in_quotes_is_named_with_its_key_and_file(tmp_path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text('data:\n  batch_size: 8\n  num_workers: "4"\n')
    with pytest.raises(
        CfgfixError, match=r"c\.yaml: data\.num_workers must be .* not '4' \(take the quotes away\)"
    ):
        read_concepts(path).whole("workers")


@pytest.mark.parametrize("value", [True, 1.5, "x", -2, [1]])
def test_what_is_no_count_is_refused(value: object) -> None:
    with pytest.raises(CfgfixError, match="whole number"):
        Concepts({"workers": value}).whole("workers", auto=True)


def test_autotune_can_be_written_in_two_ways() -> None:
    assert Concepts({"workers": -1}).whole("workers", auto=True) == -1
    assert Concepts({"workers": "AUTOTUNE"}).whole("workers", auto=True) == -1


def test_a_text_is_no_flag() -> None:
    with pytest.raises(CfgfixError, match="true or false"):
        Concepts({"xla": "false"}).flag("xla")


def test_a_file_that_is_no_mapping(tmp_path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("- 1\n")
    with pytest.raises(CfgfixError, match="no mapping"):
        read_concepts(path)
    path.write_text("a: [1\n")
    with pytest.raises(CfgfixError, match="not YAML"):
        read_concepts(path)


def test_every_concept_is_explained() -> None:
    assert all(CONCEPTS.values())


def test_the_package_imports_no_tensorflow(fresh) -> None:
    out = fresh(
        """
        import sys
        import cfgfix.tf
        from cfgfix.tf import environment
        environment({"seed": 1}, "rtx4090")
        from cfgfix.cli.tf_env import tf_env
        print([name for name in sys.modules if name.split(".")[0] in ("tensorflow", "keras", "numpy")])
        """
    )
    assert out.strip() == "[]"
    assert "cfgfix" in sys.modules


def test_a_default_of_the_dialect_is_called_one(tmp_path, repo_root) -> None:
    found = read_concepts(repo_root / "configs" / "speech.yaml")
    assert found.whole("batch_size") == 56
    assert found.place("batch_size") == "data.batch_size"
    assert found.place("xla_step").endswith(" (default)")
    # The default seed of a program's own sampling asks for no seed of the run.
    assert found.raw("seed") is None
