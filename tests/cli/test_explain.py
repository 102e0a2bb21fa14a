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
