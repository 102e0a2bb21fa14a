"""A recommended block: readable by every loader, free of findings, true to the sizes it is given."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
import yaml
from ruamel.yaml import YAML

from cfgfix.advice.block import render
from cfgfix.advice.recommend import Advice, Choice, Omission, memory_use, recommend, tier_of
from cfgfix.cli.recommend import view_of
from cfgfix.config.dialects.dialect import dialects
from cfgfix.hardware.presets import parse_profile
from cfgfix.lint.runner import Request, check
from cfgfix.settings.reader import Settings

MACHINES = [
    "rtx4090x2,cpus=16,ram=64",
    "rtx4090x2",
    "t4,cpus=4,ram=15",
    "cpu,cpus=8,ram=16",
    "gtx1080ti,cpus=6,ram=32",
    "h100x8,cpus=96,ram=1000",
    "rtx3050,cpus=2,ram=2",
    "cpu",
]


def advice_for(machine: str, dialect: str, config: str | None = None) -> Advice:
    hardware = parse_profile(machine)
    view, schema, _ = view_of(config, dialect, Settings(root="."), hardware)
    return recommend(view, hardware, schema)


def values(advice: Advice) -> dict[str, Any]:
    return {choice.concept: choice.value for choice in advice.choices}


@pytest.mark.parametrize("machine", MACHINES)
def test_a_block_loads_alike_everywhere_and_has_no_findings(
    machine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = 0
    for name in dialects():
        advice = advice_for(machine, name)
        text = render(advice, ["for a test"])
        loaded = yaml.safe_load(text)
        assert YAML(typ="safe", pure=True).load(io.StringIO(text)) == loaded
        if not advice.choices:
            assert loaded is None
            continue
        blocks += 1
        for choice in advice.choices:
            place = loaded
            for step in choice.path:
                place = place[step]
            assert place == choice.value
            assert type(place) is type(choice.value)
        settings = Settings(root=".", dialect=name, hardware=machine)
        report = check(Request(stdin=text.encode(), stdin_name="block.yaml", settings=settings))
        # A block is no whole config: what else a file of this kind must have is not its matter.
        assert [str(finding.message) for finding in report.findings() if finding.rule != "SCH005"] == []
    assert blocks >= 4


@pytest.mark.parametrize("machine", MACHINES)
def test_every_value_has_its_reason_and_source_above_it(machine: str) -> None:
    lines = render(advice_for(machine, "myxtts"), ["for a test"]).splitlines()
    keys = [number for number, line in enumerate(lines) if ": " in line and not line.lstrip().startswith("#")]
    assert len(keys) >= 8
    for number in keys:
        above = lines[number - 1].strip()
        assert above.startswith("#")
        assert above.endswith("]")
    assert all(len(line) <= 110 for line in lines if " " in line.strip("# "))


def test_the_values_for_two_cards_of_24_gigabytes() -> None:
    advice = advice_for("rtx4090x2,cpus=16,ram=64", "myxtts")
    assert values(advice) == {
        "batch_size": 32,
        "workers": 16,
        "pipeline_buffer": 10,
        "device_prefetch": True,
        "mixed_precision": True,
        "xla_step": False,
        "xla_auto": False,
        "graph_mode": True,
        "eager_debug": False,
        "data_gpu": None,
        "model_gpu": None,
    }
    reasons = {choice.concept: choice.reason for choice in advice.choices}
    assert "24 where data_gpu and model_gpu are both set" in reasons["batch_size"]
    assert "16 CPUs" in reasons["workers"]
    # 32 x (1024 x 80 x 4 + 200 x 4 + 8) bytes, 12 of them in host memory
    assert "with batches of 10.5 MB it holds 126 MB" in reasons["pipeline_buffer"]


def test_unknown_cpus_are_not_made_up() -> None:
    advice = advice_for("rtx4090", "myxtts")
    (workers,) = advice.about("workers")
    assert isinstance(workers, Choice)
    assert workers.value == -1
    assert "not stated" in workers.reason
    (generic,) = advice_for("rtx4090", "generic").about("workers")
    assert isinstance(generic, Omission)


def test_a_quarter_of_a_cpu_carries_one_call() -> None:
    assert values(advice_for("cpu,cpus=0.25,ram=4", "myxtts"))["workers"] == 1


def test_small_memory_shortens_the_buffer(tmp_path: Any) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("data: {batch_size: 128, max_mel_frames: 800, max_text_length: 200}\n")
    advice = advice_for("rtx3070,cpus=4,ram=2", "myxtts", str(path))
    # The guides name 16 for 8 GB: 16 x 256,808 bytes a batch. A tenth of 2 GiB holds 52 of them, 5 % of the card over a hundred.
    assert values(advice)["batch_size"] == 16
    assert values(advice)["pipeline_buffer"] == 10
    image = tmp_path / "image.yaml"
    image.write_text(
        "batch_size: 64\nepochs: 2\ninput_shape: [512, 512, 3]\nprefetch: 100\nnum_parallel_calls: 4\n"
    )
    advice = advice_for("cpu,cpus=64,ram=8", "generic", str(image))
    # A batch is 64 x 512 x 512 x 3 x 4 = 201 MB; a tenth of 8 GiB is 859 MB: four of them, two beside the buffer.
    assert values(advice)["host_buffer"] == 2
    # A sample is 3.1 MB: a tenth of the memory would hold 273.
    assert values(advice)["workers"] == 64
    (batch,) = advice.about("batch_size")
    assert isinstance(batch, Omission)
    assert "64 stays as the file has it" in batch.reason


def test_the_file_at_hand_decides_where_keys_stand(tmp_path: Any) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("training: {batch_size: 8, epochs: 1}\ndataset: {num_workers: 3}\n")
    advice = advice_for("t4,cpus=4,ram=16", "generic", str(path))
    paths = {choice.concept: choice.path for choice in advice.choices}
    assert paths["workers"] == ("dataset", "num_workers")
    assert paths["run_eagerly"] == ("training", "run_eagerly")


@pytest.mark.parametrize(
    ("machine", "value"),
    [("gtx1080ti,cpus=4", False), ("t4,cpus=4", True), ("rtx4090,cpus=4", True), ("cpu,cpus=4", False)],
)
def test_16_bit_by_card(machine: str, value: bool) -> None:
    assert values(advice_for(machine, "myxtts"))["mixed_precision"] is value


@pytest.mark.parametrize(
    ("machine", "value"), [("t4", "mixed_float16"), ("rtx4090", "mixed_bfloat16"), ("cpu", "float32")]
)
def test_16_bit_by_policy_name(tmp_path: Any, machine: str, value: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("batch_size: 8\nepochs: 1\nmixed_precision_policy: mixed_float16\n")
    assert values(advice_for(machine, "generic", str(path)))["mixed_precision"] == value


def test_tiers_count_from_092_of_their_size() -> None:
    tiers = {8: "a", 16: "b"}
    assert tier_of(tiers, 15109 / 1024) == "b"
    assert tier_of(tiers, 14.5) == "a"
    assert tier_of(tiers, 7.0) is None
    assert tier_of(tiers, None) is None


def test_memory_of_the_settings() -> None:
    hardware = parse_profile("rtx4090,cpus=16,ram=64")
    view, schema, _ = view_of(None, "myxtts", Settings(root="."), hardware)
    rows = list(memory_use(recommend(view, hardware, schema), view, hardware))
    sample = 1024 * 80 * 4 + 200 * 4 + 2 * 4
    assert [size for _, size, _ in rows] == [12 * 32 * sample, 16 * sample]
    assert rows[0][2] == pytest.approx(12 * 32 * sample / (64 * 2**30))


def test_the_model_that_the_code_builds_says_the_largest_batch(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.py").write_text(
        "import tensorflow as tf\nimport yaml\n\n"
        "cfg = yaml.safe_load(open('config.yaml'))\n"
        "model = tf.keras.Sequential([tf.keras.layers.Input((1000,)), tf.keras.layers.Dense(cfg['units'])])\n"
        "model.compile(optimizer='adam', loss='mse')\n"
        "model.fit(tf.data.Dataset.range(9).batch(cfg['flock']))\n"
    )
    (tmp_path / "config.yaml").write_text("flock: 33\nunits: 5000\n")
    monkeypatch.chdir(tmp_path)

    def reason(machine: str) -> str:
        hardware = parse_profile(machine)
        view, schema, _ = view_of("config.yaml", None, Settings(root="."), hardware)
        left = recommend(view, hardware, schema).left_out
        return next(item.reason for item in left if item.path == ("flock",))

    assert "the most that a card may hold" in reason("rtx4090,cpus=8,ram=32")
    assert "the model that the code builds needs" in reason("rtx4090,cpus=8,ram=32")
    assert "activations decide, and no config tells their size" in reason("cpu,cpus=8,ram=16")
