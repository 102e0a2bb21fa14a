"""What the text of the code around a config says of how it is read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cache_folders import after_a_first_run

from cfgfix.lint import runner as engine
from cfgfix.lint.request import FileReport, Request
from cfgfix.usage import nearby_code as around
from cfgfix.usage.nearby_code import NearbyCodeReader

CONFIG = "optimizer:\n  learning_rate: 1e-4\nbatch_size: 8\nepochs: 3\n"
HYDRA = '@hydra.main(config_path="conf", config_name="a")\ndef main(cfg):\n    pass\n'
OWN_LOADER = (
    "import re, yaml\nloader = yaml.SafeLoader\n"
    "loader.add_implicit_resolver(\n    'tag:yaml.org,2002:float', re.compile('^[0-9]+e[-+]?[0-9]+$'), list('0123456789')\n)\n"
    "def load(path):\n    return yaml.load(open(path), Loader=loader)\n"
)
PLAIN = "import yaml\n\nconfig = yaml.safe_load(open('conf/a.yaml'))\n"


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def report_of(folder: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> FileReport:
    monkeypatch.chdir(written(folder, files))
    (report,) = engine.check(Request(paths=("conf/a.yaml",))).files
    return report


def told(report: FileReport) -> list[tuple[str, str]]:
    return [(item.rule, item.severity.label) for item in report.findings if item.rule in ("YML001", "YML015")]


@pytest.mark.parametrize(
    ("files", "loader", "severity"),
    [
        ({}, "pyyaml", "error"),
        ({"train.py": "import hydra\n\n" + HYDRA}, "omegaconf", None),
        ({"train.py": "from hydra import initialize\nfrom omegaconf import DictConfig\n"}, "omegaconf", None),
        ({"train.py": "from omegaconf import OmegaConf\n\nc = OmegaConf.load('a')\n"}, "omegaconf", None),
        ({"src/pack/train.py": "import hydra\n\n" + HYDRA}, "omegaconf", None),
        ({"train.py": "import tensorflow as tf\n", "requirements.txt": "hydra-core==1.3\n"}, "omegaconf", None),
        ({"train.py": PLAIN}, "pyyaml", "error"),
        # Hydra reads what lies where it is told to look; what else there is, PyYAML may.
        ({"train.py": "import hydra\n\n" + HYDRA, "other.py": PLAIN}, "omegaconf", None),
        (
            {"train.py": "import hydra\n\n" + HYDRA.replace('"conf"', '"settings"'), "other.py": PLAIN},
            "pyyaml",
            "error",
        ),
        ({"types.py": "from omegaconf import DictConfig\n", "other.py": PLAIN}, "pyyaml", "error"),
        # The nearest folder that reads configs speaks for them.
        ({"conf/train.py": PLAIN, "other.py": "import hydra\n\n" + HYDRA}, "pyyaml", "error"),
        ({"train.py": "def f(c):\n    return float(c['model']['learning_rate'])\n" + PLAIN}, "pyyaml", "info"),
        ({"config.py": "from yacs.config import CfgNode\n", "other.py": PLAIN}, "pyyaml", "info"),
        ({"train.py": "def f(c):\n    return float(c.max_learning_rates)\n" + PLAIN}, "pyyaml", "error"),
        ({"train.py": "def f(c):\n    return float(\n        c['learning_rate']\n    )\n" + PLAIN}, "pyyaml", "info"),
        ({"train.py": "def f(c):\n    return np.float32(c['learning_rate'])\n" + PLAIN}, "pyyaml", "info"),
        ({"train.py": "def f(c):\n    return ast.literal_eval(c['learning_rate'])\n" + PLAIN}, "pyyaml", "info"),
        ({"train.py": "def f(c):\n    lr = c['learning_rate']\n    return float(lr)\n" + PLAIN}, "pyyaml", "info"),
        ({"train.py": "def f(c):\n    lr = c.get('learning_rate', 1)\n    return float(lr)\n" + PLAIN}, "pyyaml", "info"),
        ({"train.py": "def f(c):\n    lr = c['learning_rate']\n    rate = float(c['decay'])\n    return lr, rate\n" + PLAIN}, "pyyaml", "error"),
        ({"train.py": "def f(c):\n    for k in ('decay', 'learning_rate'):\n        c[k] = float(c[k])\n" + PLAIN}, "pyyaml", "info"),
        ({"train.py": "RATES = [\n    'decay',\n    'learning_rate',\n]\ndef f(c):\n    for k in RATES:\n        c[k] = float(c[k])\n" + PLAIN}, "pyyaml", "info"),
        ({"train.py": "def f(c):\n    for k in ('learning_rate',):\n        print(k, float(c['decay']))\n" + PLAIN}, "pyyaml", "error"),
        ({"model.py": "import pydantic\nclass C(pydantic.BaseModel):\n    learning_rate: float = 1.0\n", "train.py": PLAIN}, "pyyaml", "info"),
        ({"model.py": "class C:\n    learning_rate: float = 1.0\n", "train.py": PLAIN}, "pyyaml", "error"),
        ({"train.py": "p.add_argument('--learning-rate', type=float)\np.set_defaults(**c)\n" + PLAIN}, "pyyaml", "info"),
        ({"train.py": "p.add_argument('--learning_rate', type=float)\n" + PLAIN}, "pyyaml", "error"),
        # A loader that is told what else is a float reads a number; another one may be what reads this file.
        ({"train.py": OWN_LOADER}, "pyyaml-floats", None),
        ({"train.py": OWN_LOADER.replace("tag:yaml.org,2002:float", "!path")}, "pyyaml", "error"),
        ({"train.py": OWN_LOADER, "other.py": PLAIN}, "pyyaml", "info"),
    ],
)  # fmt: skip
def test_the_code_around_tells_what_reads_a_config(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, str],
    loader: str,
    severity: str | None,
) -> None:
    report = report_of(tmp_path, {"conf/a.yaml": CONFIG, **files}, monkeypatch)
    assert report.loader == loader
    assert told(report) == ([("YML001", severity)] if severity else [])


@pytest.mark.parametrize(
    "own",
    ["hydra:\n  job: {chdir: true}\n", "model:\n  _target_: pack.Model\n", "parts:\n  - _target_: a.B\n"],
)
def test_keys_of_hydra_tell_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str) -> None:
    report = report_of(tmp_path, {"conf/a.yaml": CONFIG + own, "train.py": PLAIN}, monkeypatch)
    assert (report.loader, told(report)) == ("omegaconf", [])


def test_a_setting_knows_better(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"train.py": "import hydra\n\n" + HYDRA, "cfgfix.toml": 'loader = "pyyaml"\n'}
    report = report_of(tmp_path, {"conf/a.yaml": CONFIG, **files}, monkeypatch)
    assert (report.loader, told(report)) == ("pyyaml", [("YML001", "error")])


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import torch\n", []),
        ("import torch\nimport tensorflow as tf\n", ["YML015"]),
        ("", ["YML015"]),
        ("import tensorflow as tf\n", ["YML015"]),
    ],
)
def test_another_framework_takes_another_rate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, found: list[str]
) -> None:
    config = CONFIG.replace("1e-4", "1")
    report = report_of(tmp_path, {"conf/a.yaml": config, "model.py": code}, monkeypatch)
    assert [rule for rule, _ in told(report)] == found


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        ({"train.py": PLAIN}, "info"),
        ({"train.py": PLAIN, "requirements.txt": "pyyaml\nruamel-yaml-like\n"}, "info"),
        ({"train.py": PLAIN, "requirements.txt": "pyyaml\nruamel.yaml>=0.18\n"}, "warning"),
        ({"train.py": PLAIN, "tools/write.py": "from ruamel.yaml import YAML\n"}, "warning"),
    ],
)
@pytest.mark.parametrize("config", [CONFIG, "trainer: {optimizer_config: {}}\ntask: {train_data: {}}\n"])
def test_ruamel_is_told_of_only_where_the_project_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], severity: str, config: str
) -> None:
    merged = config + "a: &a {k: 1}\nb: &b {m: 2}\nrun:\n  <<: *a\n  <<: *b\n"
    code = "import tensorflow as tf\n\nimport train\n\ntf.keras.Model().fit(train.config)\n"
    report = report_of(tmp_path, {"conf/a.yaml": merged, "main.py": code, **files}, monkeypatch)
    (found,) = [item for item in report.findings if item.rule == "YML011"]
    assert found.severity.label == severity
    assert ("ruamel" in found.message) == (severity == "warning")


def test_it_stops_at_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"train.py": "import hydra\n\n" + HYDRA, "inner/.git/HEAD": "", "inner/conf/a.yaml": CONFIG}
    written(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    assert not NearbyCodeReader().nearby_code("inner/conf/a.yaml").omegaconf
    assert NearbyCodeReader().nearby_code("conf/a.yaml").omegaconf


def test_what_is_read_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(around, "MAX_FILES", 5)
    monkeypatch.setattr(around, "MAX_FOLDERS", 3)
    files = {f"{folder}/m{number}.py": PLAIN for folder in "abcdefgh" for number in range(4)}
    monkeypatch.chdir(written(tmp_path, {"a.yaml": CONFIG, **files}))
    surroundings = NearbyCodeReader()
    surroundings.nearby_code("a.yaml")
    assert sum(path.endswith(".py") for path in surroundings.looked) <= 5
    assert sum(not path.endswith(".py") for path in surroundings.looked) <= 3


def test_long_runs_of_nothing_take_no_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = "hydra torch tensorflow yaml omegaconf float( config_path "
    files = {
        f"m{number}.py": words + run * (250_000 // len(run)) + words
        for number, run in enumerate(("\n", " ", "\t\n", " \n", "float(", "config_path=", "yaml."))
    }
    monkeypatch.chdir(written(tmp_path, {"a.yaml": CONFIG, "requirements.txt": "\n" * 250_000, **files}))
    assert not NearbyCodeReader().nearby_code("a.yaml").elsewhere


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_links_and_pipes_are_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path / "project", {"conf/a.yaml": CONFIG})
    outside = written(tmp_path / "outside", {"train.py": "import hydra\n\n" + HYDRA})
    (folder / "code").symlink_to(outside)
    (folder / "train.py").symlink_to(outside / "train.py")
    os.mkfifo(folder / "pipe.py")
    monkeypatch.chdir(folder)
    assert not NearbyCodeReader().nearby_code("conf/a.yaml").omegaconf
    written(outside, {"conf/b.yaml": CONFIG})
    (folder / "linked").symlink_to(outside)
    (folder / "conf/b.yaml").symlink_to(outside / "conf/b.yaml")
    (folder / ".git").mkdir()
    for path in ("linked/conf/b.yaml", "conf/b.yaml"):
        assert not NearbyCodeReader().nearby_code(path).omegaconf


def test_an_answer_is_given_anew_once_the_code_around_changes(tmp_path: Path) -> None:
    folder = written(tmp_path / "project", {"conf/a.yaml": CONFIG, "train.py": PLAIN})
    old = 1_700_000_000
    for path in [*folder.rglob("*"), folder]:
        os.utime(path, (old, old))

    def run() -> int:
        return subprocess.run(
            [sys.executable, "-m", "cfgfix", "check", "conf/a.yaml"],
            cwd=folder,
            env={**os.environ, "CFGFIX_CACHE_DIR": after_a_first_run(tmp_path / "cache")},
            capture_output=True,
            check=False,
        ).returncode

    assert (run(), run()) == (1, 1)
    (folder / "train.py").write_text("import hydra\n\n" + HYDRA, encoding="utf-8")
    assert run() == 0


def test_what_is_no_finding_is_not_repaired(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(written(tmp_path, {"conf/a.yaml": CONFIG, "train.py": "import hydra\n\n" + HYDRA}))
    report = engine.fix(Request(paths=("conf/a.yaml",)))
    assert not report.files[0].applied
    assert Path("conf/a.yaml").read_text(encoding="utf-8") == CONFIG
    Path("train.py").write_text(PLAIN, encoding="utf-8")
    assert engine.fix(Request(paths=("conf/a.yaml",))).files[0].applied
    assert "1.0e-4" in Path("conf/a.yaml").read_text(encoding="utf-8")
