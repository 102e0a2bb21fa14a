"""`cfgfix explain` and `cfgfix recommend` as users run them."""

from __future__ import annotations

import json

import yaml


def test_a_setting_on_a_machine(cfgfix):
    done = cfgfix("explain", "batch_size", "--hardware", "rtx4090x2")
    assert done.code == 0
    page = " ".join(done.out.split())
    for said in (
        "one GPU: 8 for 4 GB, 16 for 8 GB, 32 for 16 GB and more - for this card (24 GiB): 32",
        "16 to 24 for 24 GB; 32 ran out of memory - for this card (24 GiB): 24",
        "128, then 256",
        "for 24 GB: 16 to 24, 32, 48, 64, 128 and 256 are all recommended",
        "memory tier: 24 GB",
        "cfgfix recommends for rtx4090x2, in the keys of MyXTTS",
        "data.batch_size: 32",
        "bytes of a padded batch",
        "HWR022",
    ):
        assert said in page


def test_memory_and_topology(cfgfix):
    page = " ".join(cfgfix("explain", "ram", "--hardware", "rtx4090x2,cpus=16,ram=64").out.split())
    assert "at least 16 GB, by `free -h` - is met here (64 GiB)" in page
    assert "what these settings hold together" in page
    page = " ".join(cfgfix("explain", "gpu_topology", "--hardware", "rtx4090x2").out.split())
    assert "GPU 1: NVIDIA GeForce RTX 4090" in page
    assert "nvidia-smi topo -m" in page


def test_a_key_path_says_its_schema(cfgfix):
    done = cfgfix("explain", "data.num_workers")
    assert done.code == 0
    assert "by default 18" in " ".join(done.out.split())
    assert "name the training machine" in " ".join(done.out.split())


def test_a_rule_shows_what_was_measured_and_where(cfgfix):
    page = " ".join(cfgfix("explain", "HWR001").out.split())
    assert "CPU-bound map, 192 images (times as fast as the first)" in page
    assert "TensorFlow 2." in page
    data = json.loads(cfgfix("explain", "HWR001", "--json").out)
    assert data["results"][0]["script"] == "benchmarks/evidence/workers.py"
    assert data["results"][0]["rows"]["1 calls"] == 1.0


def test_the_same_as_json(cfgfix):
    data = json.loads(cfgfix("explain", "workers", "--hardware", "t4,cpus=4", "--json").out)
    assert data["version"] == 1
    assert "Measured" in data["sections"]


def test_something_unknown_gets_a_suggestion(cfgfix):
    done = cfgfix("explain", "batch_sise")
    assert done.code == 2
    assert "batch_size" in done.err


def test_recommend_prints_a_block(cfgfix, config):
    done = cfgfix("recommend", "--hardware", "rtx4090x2,cpus=16,ram=64", "--dialect", "myxtts")
    assert done.code == 0
    block = yaml.safe_load(done.out)
    assert block["data"]["num_workers"] == 16
    assert "RTX 4090" in done.out.splitlines()[0]
    path = config(done.out)
    after = cfgfix("check", path, "--dialect", "myxtts", "--hardware", "rtx4090x2,cpus=16,ram=64")
    assert (after.code, "no findings" in after.out) == (0, True)


def test_recommend_takes_sizes_from_a_config_and_leaves_it(cfgfix, config):
    path = config(
        "model: {}\ndata: {batch_size: 8, num_workers: 99, add_blank: true}\ntraining: {mel_loss_weight: 1.0}\n"
    )
    before = path.read_bytes()
    done = cfgfix("recommend", path, "--hardware", "t4,cpus=4,ram=16")
    assert yaml.safe_load(done.out)["data"]["num_workers"] == 4
    assert yaml.safe_load(done.out)["data"]["batch_size"] == 8
    assert path.read_bytes() == before


def test_recommend_as_json(cfgfix):
    data = json.loads(cfgfix("recommend", "--hardware", "t4,cpus=4", "--dialect", "keras-flat", "--json").out)
    assert data["dialect"] == "keras-flat"
    assert all(item["reason"] and item["source"] for item in data["settings"])


def test_recommend_says_what_it_cannot_do(cfgfix, config):
    assert cfgfix("recommend", "--hardware", "rtx9999").code == 2
    assert "did you mean" in cfgfix("recommend", "--hardware", "t4", "--dialect", "myxts").err
    assert cfgfix("recommend", "--hardware", "none").code == 2
    assert cfgfix("recommend", config("- 1\n"), "--hardware", "t4").code == 2
    assert cfgfix("recommend", config("a: [\n"), "--hardware", "t4").code == 2
    assert cfgfix("recommend", "--hardware", "t4", "--dialect", "rasa").code == 2


BARN = (
    "import tensorflow as tf\nimport yaml\n\nwith open('barn.yaml') as stream:\n    barn = yaml.safe_load(stream)\n"
    "ds = tf.data.Dataset.range(9).map(lambda i: i, num_parallel_calls=barn['porters']).batch(barn['pens']['flock'])\n"
    "tf.keras.optimizers.Adam(barn['pace'])\ntf.keras.layers.Dense(barn['hay'])\n"
)
FARM = "porters: 64\npens:\n  flock: 33\npace: 0.01\nhay: 3\nepochs: 2\n"


def test_a_key_of_the_project_comes_first(cfgfix, config, tmp_path):
    config(FARM, "barn.yaml")
    (tmp_path / "run.py").write_text(BARN, encoding="utf-8")
    page = cfgfix("explain", "flock").out
    assert page.splitlines()[:5] == [
        "flock: the concept batch_size",
        "",
        "In this project",
        "  barn.yaml:3: pens.flock is 33",
        "    reaches Dataset.batch(batch_size) in run.py:6, which takes an integer above 0",
    ]
    assert "In known families of configs" not in page
    by_concept = cfgfix("explain", "learning_rate").out
    assert "barn.yaml:4: pace is 0.01" in by_concept
    judged = " ".join(cfgfix("explain", "porters", "--hardware", "t4,cpus=8").out.split())
    assert "warning HWR001: porters is 64" in judged
    assert "in the keys of barn.yaml porters: 8" in judged


def test_a_key_without_a_concept_says_what_it_reaches(cfgfix, config, tmp_path):
    config(FARM, "barn.yaml")
    (tmp_path / "run.py").write_text(BARN, encoding="utf-8")
    done = cfgfix("explain", "hay")
    assert done.code == 0
    assert "reaches layers.Dense(units) in run.py:8" in done.out


def test_a_name_without_a_project_begins_with_what_it_means(cfgfix):
    lines = cfgfix("explain", "lr").out.splitlines()
    assert lines[2:4] == ["What it is", "  learning_rate: The learning rate, or its peak (per step)"]


def test_recommend_names_the_keys_of_the_project(cfgfix, config, tmp_path):
    config(FARM, "barn.yaml")
    (tmp_path / "run.py").write_text(BARN, encoding="utf-8")
    done = cfgfix("recommend", "--hardware", "t4,cpus=8,ram=64")
    assert yaml.safe_load(done.out) == {"porters": 8}
    heading = " ".join(line.lstrip("# ") for line in done.out.splitlines()[:3])
    assert "keys and sizes of barn.yaml, as the code reads them" in heading
    assert "pens.flock is left out" in done.out


def test_recommend_adds_no_key_to_a_file_whose_program_is_unknown(cfgfix, config):
    config("learning_rate: 0.1\nbatch_size: 8\nnum_workers: 3\n")
    done = cfgfix("recommend", "--hardware", "t4,cpus=8,ram=64")
    assert yaml.safe_load(done.out) == {"num_workers": 8}


def test_recommend_says_that_no_config_is_known(cfgfix):
    done = cfgfix("recommend", "--hardware", "t4,cpus=8,ram=64")
    assert "no config is known here" in " ".join(line.lstrip("# ") for line in done.out.splitlines()[:3])
