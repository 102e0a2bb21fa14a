"""A key is what the call says that its value reaches, whatever it is called: rules about concepts on configs of strangers."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from cfgfix.core.findings import Confidence, Finding, Safety
from cfgfix.lint.request import Request
from cfgfix.lint.runner import check
from cfgfix.settings.reader import Settings

HEAD = "import tensorflow as tf\nimport yaml\n\nwith open('barn.yaml') as stream:\n    barn = yaml.safe_load(stream)\n"
MODEL = "model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n"
MACHINE = "t4,cpus=8,ram=64"


def found(
    folder: Path, code: str, config: str, *, hardware: str | None = None, head: str = HEAD
) -> list[Finding]:
    """What is found in `barn.yaml`, which `train.py` loads as `barn`, about values and the machine."""
    (folder / "train.py").write_text(head + textwrap.dedent(code), encoding="utf-8")
    (folder / "barn.yaml").write_text(config, encoding="utf-8")
    settings = Settings(root=str(folder), hardware=hardware)
    report = check(Request(paths=(str(folder),), settings=settings))
    return [
        finding
        for file in report.files
        for finding in file.findings
        if file.path.endswith("barn.yaml") and finding.rule.startswith(("CFG", "HWR"))
    ]


def keys(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.rule, ".".join(map(str, finding.key_path or ()))) for finding in findings]


DATA = "ds = tf.data.Dataset.range(9)\n"
REACHES = {
    "batch of a data set": (DATA + "ds.batch(barn['flock'])", "flock: 0\n", "CFG001", "flock"),
    "batch of fit": (
        MODEL + "model.fit([1.0], [1.0], batch_size=barn['flock'])",
        "flock: -4\n",
        "CFG001",
        "flock",
    ),
    "through a name and a function": (
        DATA + "def feed(n):\n    return ds.padded_batch(n, [])\nfeed(barn['pens']['flock'])",
        "pens:\n  flock: 0\n",
        "CFG001",
        "pens.flock",
    ),
    "converted": (DATA + "ds.batch(int(barn['flock']))", "flock: 0\n", "CFG001", "flock"),
    "parallel calls": (
        DATA + "ds.map(lambda i: i, num_parallel_calls=barn['porters'])",
        "porters: 0\n",
        "CFG002",
        "porters",
    ),
    "prefetch": (DATA + "ds.prefetch(barn['trough'])", "trough: 0\n", "CFG003", "trough"),
    "shuffle buffer": (DATA + "ds.shuffle(barn['hay'])", "hay: 1\n", "CFG017", "hay"),
    "policy": (
        "tf.keras.mixed_precision.set_global_policy(barn['wool'])",
        "wool: fp16\n",
        "CFG011",
        "wool",
    ),
    "eager": (
        MODEL + "model.compile('sgd', 'mse', run_eagerly=barn['shear'])",
        "shear: true\n",
        "CFG010",
        "shear",
    ),
    "spread into a call": (
        MODEL + "model.fit([1.0], [1.0], **barn['fit'])",
        "fit:\n  batch_size: 0\n",
        "CFG001",
        "fit.batch_size",
    ),
    "two norms": (
        "tf.keras.optimizers.Adam(0.1, clipnorm=barn['rope'], global_clipnorm=barn['fence'])",
        "rope: 1.0\nfence: 5.0\n",
        "CFG019",
        "rope",
    ),
    "more steps than data": (
        MODEL
        + "data = tf.data.Dataset.range(9).batch(barn['flock'])\nmodel.fit(data, steps_per_epoch=barn['rounds'])",
        "flock: 10\nrounds: 50\ndataset_size: 100\nepochs: 2\n",
        "",
        "",
    ),
}


@pytest.mark.parametrize("case", REACHES)
def test_a_key_of_any_name_is_what_it_reaches(tmp_path: Path, case: str) -> None:
    code, config, rule, key = REACHES[case]
    findings = [item for item in found(tmp_path, code, config) if item.confidence is Confidence.HIGH]
    if not rule:
        return
    assert (rule, key) in keys(findings)
    finding = next(item for item in findings if item.rule == rule)
    frame = finding.related[0]
    assert frame.path.endswith("train.py")
    assert f"`{key.rpartition('.')[2]}` reaches " in (frame.label or "")


MACHINES = {
    "more calls than CPUs": (
        DATA + "ds.map(lambda i: i, num_parallel_calls=barn['porters'])",
        "porters: 64\n",
        [("HWR001", "porters")],
    ),
    "as many": (DATA + "ds.map(lambda i: i, num_parallel_calls=barn['porters'])", "porters: 8\n", []),
    "threads": (
        "tf.config.threading.set_intra_op_parallelism_threads(barn['hands'])",
        "hands: 64\n",
        [("HWR026", "hands")],
    ),
    "brain floats on an old card": (
        "tf.keras.mixed_precision.set_global_policy(barn['wool'])",
        "wool: mixed_bfloat16\n",
        [("HWR010", "wool")],
    ),
}


@pytest.mark.parametrize("case", MACHINES)
def test_the_machine_is_held_against_what_a_key_reaches(tmp_path: Path, case: str) -> None:
    code, config, wanted = MACHINES[case]
    findings = found(tmp_path, code, config, hardware=MACHINE)
    assert keys(findings) == wanted
    assert all(item.confidence is Confidence.HIGH for item in findings)


SILENT = {
    "the name of a batch that goes elsewhere": (
        "tf.keras.layers.Dense(barn['batch_size'])\ntf.data.Dataset.range(9).shuffle(barn['batch_size'])",
        "batch_size: -2\nlearning_rate: 0.1\n",
    ),
    "a value that the code makes another of": (
        DATA + "ds.batch(barn['flock'] + 1)",
        "flock: 0\n",
    ),
    "zero stands for the program's own choice": (
        DATA + "ds.map(lambda i: i, num_parallel_calls=barn['porters'] or tf.data.AUTOTUNE)",
        "porters: 0\n",
    ),
    "a name beside a constant of the code": (
        DATA + "ds.batch(32)\nprint(barn['batch_size'])",
        "batch_size: 0\nlearning_rate: 0.1\n",
    ),
}


@pytest.mark.parametrize("case", SILENT)
def test_a_name_counts_only_where_the_code_says_nothing_else(tmp_path: Path, case: str) -> None:
    code, config = SILENT[case]
    assert [item for item in keys(found(tmp_path, code, config)) if item[0] == "CFG001"] == []


def test_names_stay_where_no_code_opens_the_file(tmp_path: Path) -> None:
    config = "batch_size: 0\nlearning_rate: 0.1\nepochs: 3\n"
    findings = found(tmp_path, "", config, head="import tensorflow as tf\n")
    assert keys(findings) == [("CFG001", "batch_size")]
    assert findings[0].confidence is Confidence.LOW


STRATEGY = (
    "strategy = tf.distribute.MirroredStrategy(devices={devices})\nwith strategy.scope():\n    "
    + MODEL
    + "    model.compile('sgd', 'mse')\ndata = tf.data.Dataset.range(99).batch({batch})\nmodel.fit(data)\n"
)
REPLICAS = {
    "devices of the code": ("['GPU:0', 'GPU:1']", "barn['flock']", "flock: 33\n", ["flock"]),
    "devices of the config": (
        "barn['pens']",
        "barn['flock']",
        "flock: 33\npens: ['GPU:0', 'GPU:1']\n",
        ["flock"],
    ),
    "a batch for each": ("['GPU:0', 'GPU:1']", "barn['flock'] * 2", "flock: 33\n", []),
    "even": ("['GPU:0', 'GPU:1']", "barn['flock']", "flock: 32\n", []),
    "devices that are not known": ("None", "barn['flock']", "flock: 33\n", []),
}


@pytest.mark.parametrize("case", REPLICAS)
def test_the_batch_is_held_against_the_replicas_of_the_code(tmp_path: Path, case: str) -> None:
    devices, batch, config, wanted = REPLICAS[case]
    findings = found(tmp_path, STRATEGY.format(devices=devices, batch=batch), config)
    assert [key for rule, key in keys(findings) if rule == "CFG022"] == wanted
    for finding in findings:
        assert any("replicas" in (place.label or "") for place in finding.related)


def test_a_key_with_two_meanings_is_not_changed_for_one(tmp_path: Path) -> None:
    code = DATA + "ds.batch(barn['flock']).prefetch(barn['flock'])"
    findings = found(tmp_path, code, "flock: 64\n")
    assert keys(findings) == [("HWR004", "flock")]
    assert findings[0].fix is None
    assert "Dataset.batch(batch_size)" in (findings[0].no_fix_reason or "")


def test_a_key_that_is_used_otherwise_as_well_is_not_changed_by_itself(tmp_path: Path) -> None:
    code = DATA + "ds.map(lambda i: i, num_parallel_calls=barn['porters'])\ntf.constant(barn['porters'] * 2)"
    findings = found(tmp_path, code, "porters: 64\n", hardware=MACHINE)
    assert keys(findings) == [("HWR001", "porters")]
    assert findings[0].fix is not None
    assert findings[0].fix.safety is Safety.UNSAFE


def test_the_batch_of_the_evaluation_is_one_too(tmp_path: Path) -> None:
    code = STRATEGY.format(devices="['GPU:0', 'GPU:1']", batch="barn['flock']")
    code += "model.evaluate(tf.data.Dataset.range(9).batch(barn['val_flock']))\n"
    findings = found(tmp_path, code, "val_flock: 7\nflock: 32\n")
    assert keys(findings) == [("CFG022", "val_flock")]


IMAGES = """
def decoded(record):
    image = tf.image.decode_png(tf.io.read_file(record), channels=3)
    return tf.image.resize(image, (barn['side'], barn['side']))
"""
BUFFERS = {
    "decoded before": ("tf.data.Dataset.list_files('*').map(decoded).shuffle(barn['hay']).batch(8)", 1),
    "through other steps": (
        "tf.data.Dataset.list_files('*').map(lambda f: decoded(f)).cache('c').repeat().shuffle(barn['hay'])",
        1,
    ),
    "decoded behind": ("tf.data.Dataset.list_files('*').shuffle(barn['hay']).map(decoded)", 0),
    "files by the key, images by a constant": (
        "tf.data.Dataset.list_files('*').shuffle(barn['hay']).map(decoded).shuffle(9)",
        0,
    ),
    "written again as bytes": (
        "tf.data.Dataset.list_files('*').map(decoded).map(tf.io.encode_png).shuffle(barn['hay'])",
        0,
    ),
    "small": ("tf.data.Dataset.list_files('*').map(decoded).take(3).shuffle(barn['few'])", 0),
}


@pytest.mark.parametrize("case", BUFFERS)
def test_a_shuffle_buffer_is_held_against_what_it_holds(tmp_path: Path, case: str) -> None:
    code, wanted = BUFFERS[case]
    config = "side: 512\nhay: 20000\nfew: 100\n"
    findings = found(tmp_path, IMAGES + code, config, hardware="cpu,cpus=8,ram=32")
    assert [rule for rule, _ in keys(findings)] == ["HWR006"] * wanted
    for finding in findings:
        assert finding.confidence is Confidence.HIGH
        # 20,000 images of 512 x 512 x 3 floats.
        assert "62.9 GB" in finding.message


def test_a_json_config_is_judged_by_what_its_keys_reach(tmp_path: Path) -> None:
    code = (
        "import json\nimport tensorflow as tf\nwith open('barn.json') as stream:\n    barn = json.load(stream)\n"
        "ds = tf.data.Dataset.range(9).map(lambda i: i, num_parallel_calls=barn['pens']['porters']).batch(barn['flock'])\n"
    )
    (tmp_path / "train.py").write_text(code, encoding="utf-8")
    (tmp_path / "barn.json").write_text(
        '{"flock": 0, "pens": {"porters": 64}, "batch_size": 0}\n', encoding="utf-8"
    )
    settings = Settings(root=str(tmp_path), hardware=MACHINE)
    report = check(Request(paths=(str(tmp_path),), settings=settings))
    findings = [finding for file in report.files if file.path.endswith(".json") for finding in file.findings]
    assert [item for item in keys(findings) if item[0] in ("CFG001", "HWR001")] == [
        ("CFG001", "flock"),
        ("HWR001", "pens.porters"),
    ]
    assert all(finding.fix is None for finding in findings if finding.rule in ("CFG001", "HWR001"))
