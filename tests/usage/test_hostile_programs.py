"""What a program asks for that has no bounds costs neither memory nor time: no text, list or number grows beyond what is kept."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cfgfix.usage.mentions import MentionIndex, Mentions
from cfgfix.usage.project_code import ProjectCode
from cfgfix.usage.run_results import RunResult

DOUBLES = {
    "a list and itself": "grown = [1]\n" + "grown = grown + grown\n" * 60,
    "a tuple and itself": "grown = (1,)\n" + "grown += grown\n" * 60,
    "a list of a config": "grown = [cfg['name']]\n" + "grown += grown\n" * 60,
    "extended by itself": "grown = [1]\n" + "grown.extend(grown)\n" * 60,
    "spread into a list": "grown = [1]\n" + "grown = [*grown, *grown]\n" * 60,
    "twice in a list": "grown = [1]\n"
    + "grown = [grown, grown]\n" * 60
    + "tf.data.Dataset.from_tensor_slices(grown)\n",
    "twice in a mapping": "grown = {}\n"
    + "grown = {'a': grown, 'b': grown}\n" * 60
    + "tf.data.Dataset.from_tensor_slices(grown)\n",
}
GROWS = [
    'cfg["name"] * cfg["many"]',
    '[0] * cfg["many"]',
    'cfg["many"] ** cfg["many"] ** 5',
    "1 << cfg['many']",
    '"x".ljust(cfg["many"])',
    '"x".center(cfg["many"])',
    '"7".zfill(cfg["many"])',
    "f\"{cfg['rate']:{cfg['many']}}\"",
    "f\"{cfg['name']:9999999999}\"",
    '"{:>9999999999}".format(cfg["name"])',
    '"%9999999999d" % cfg["epochs"]',
    '"%*d" % (cfg["many"], 3)',
    '"%.9999999999f" % cfg["rate"]',
    'list(range(cfg["many"]))',
    "bytes(cfg['many'])",
    '("ab" * 500).replace("a", "c" * 1900).replace("b", "d" * 1900)',
    '"-".join(str(number) for number in range(cfg["many"]))',
    "dict.fromkeys(range(10 ** 10))",
    "{number for number in range(10 ** 10)}",
    "sorted(itertools.count())",
    "str(10 ** 10 ** 7)",
]
PROGRAM = """\
import itertools

import tensorflow as tf
import yaml

cfg = yaml.safe_load(open("config.yaml"))
grown = {grows}
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.SGD(cfg["rate"]), "mse")
model.fit(tf.zeros([1, 1]), epochs=cfg["epochs"])
"""
CONFIG = "name: abc\nmany: 99999999999\nrate: fast\nepochs: 3\n"


@pytest.mark.parametrize("doubles", DOUBLES.values(), ids=DOUBLES)
def test_what_doubles_ends(tmp_path: Path, doubles: str) -> None:
    (tmp_path / "train.py").write_text(PROGRAM.replace("grown = {grows}\n", doubles))
    (tmp_path / "config.yaml").write_text(CONFIG)
    code = ProjectCode(str(tmp_path), lambda _path: False, keep=False)
    assert calls_made(code.all) < 3_000_000
    assert not code.failures
    # The run went on behind it.
    assert ("rate",) in [hit.at.key_path for _, hit in code.all()["config.yaml"].hits]


@pytest.mark.parametrize("grows", GROWS)
def test_what_grows_is_not_made(tmp_path: Path, grows: str) -> None:
    (tmp_path / "train.py").write_text(PROGRAM.format(grows=grows))
    (tmp_path / "config.yaml").write_text(CONFIG)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))

    done = subprocess.run(
        [sys.executable, "-m", "cfgfix", "check", ".", "--output-format", "concise"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=limited,
    )
    assert done.returncode == 1, done.stderr
    # The run went on behind it.
    assert "config.yaml:3:7: error REF018" in done.stdout
    assert "internal error" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "written", ['"run_%d_2024" % 7', 'f"{7:03d}_2024"', '"7".zfill(4)', '"a2024".replace("a", "b")']
)
def test_plain_texts_are_still_made(tmp_path: Path, written: str) -> None:
    text = eval(written)
    program = PROGRAM.format(grows=written) + f'print(cfg["only"] if grown == {text!r} else cfg["other"])\n'
    (tmp_path / "train.py").write_text(program)
    (tmp_path / "config.yaml").write_text(CONFIG.replace("fast", "0.5") + "only: 1\n")
    done = subprocess.run(
        [sys.executable, "-m", "cfgfix", "check", ".", "--output-format", "concise"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "other" not in done.stdout


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("config.yaml", "rate: 0x" + "f" * 4_000 + "\nepochs: 1\n"),
        ("config.yaml", "rate: 0" + "7" * 9_000 + "\nepochs: 1\n"),
        ("config.yaml", "rate: " + "9" * 5_000 + "\nepochs: 1\n"),
        ("config.toml", "rate = 0x" + "f" * 4_000 + "\nepochs = 1\n"),
        ("config.toml", "rate = " + "9" * 5_000 + "\nepochs = 1\n"),
        ("config.json", '{"rate": ' + "9" * 5_000 + ', "epochs": 1}'),
    ],
)
def test_integers_that_python_does_not_write(tmp_path: Path, name: str, text: str) -> None:
    loads = {
        "config.yaml": "yaml.safe_load(open('config.yaml'))",
        "config.toml": "tomllib.load(open('config.toml', 'rb'))",
        "config.json": "json.load(open('config.json'))",
    }
    (tmp_path / name).write_text(text)
    (tmp_path / "train.py").write_text(
        "import json, tomllib\nimport tensorflow as tf\nimport yaml\n"
        f"cfg = {loads[name]}\ntf.keras.layers.Dense(cfg['rate'] * 2)\ntf.keras.layers.Dropout(cfg['rate'])\n"
    )
    for command in (["check", "."], ["fix", "."], ["explain", name]):
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "cfgfix",
                *command,
                *(["--output-format", "concise"] if command[0] != "explain" else []),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode < 4, done.stderr
        assert "internal error" not in done.stdout + done.stderr
        assert max(map(len, done.stdout.splitlines()), default=0) < 1_000
    assert (tmp_path / name).read_text() == text


def calls_made(work: Callable[[], object]) -> int:
    """Return how many functions something calls, of Python and of C."""
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


KEYS = {
    "numbered ones that nothing reads": (lambda number: f"k{number}: {number}\n", ""),
    "others that nothing reads": (lambda number: f"name_{'abcdefghij'[number % 10]}_{number:x}: 1\n", ""),
    "ones that are only written down": (lambda number: f"k{number}: {number}\n", "print(c)\n"),
    "ones whose section goes elsewhere": (lambda number: f"k{number}: {number}\n", "elsewhere(**c)\n"),
    "ones that lack what is read": (lambda number: f"k{number}: {number}\n", "c['rat']\nc['epoch']\nc['pach']\n"),
}  # fmt: skip


@pytest.mark.parametrize(("key", "code"), KEYS.values(), ids=KEYS)
def test_a_config_of_many_keys_is_judged_in_time(
    tmp_path: Path, key: Callable[[int], str], code: str
) -> None:
    (tmp_path / "train.py").write_text(
        "import tensorflow as tf\nimport yaml\n\nc = yaml.safe_load(open('run.yaml'))\n"
        f"tf.data.Dataset.range(9).batch(c['pack'])\n{code}"
    )
    counts = []
    for number in (800, 3200):
        (tmp_path / "run.yaml").write_text("pack: 3\n" + "".join(map(key, range(number))))
        counts.append(
            calls_made(lambda: ProjectCode(str(tmp_path), lambda _path: False, keep=False).all()["run.yaml"])
        )
    # Four times the keys are sixteen times the work where each is held against all others.
    assert counts[1] < 7 * counts[0]


def test_what_code_mentions_is_asked_once_for_all_keys_of_a_section(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.py").write_text(
        "import tensorflow as tf\nimport yaml\n\nc = yaml.safe_load(open('run.yaml'))\n"
        "tf.data.Dataset.range(9).batch(c['data']['pack'])\n"
    )
    asked = []
    answer = MentionIndex.mentions_for

    def counted(index: MentionIndex, path: str, results: list[RunResult], *, everywhere: bool) -> Mentions:
        asked[-1] += 1
        return answer(index, path, results, everywhere=everywhere)

    monkeypatch.setattr(MentionIndex, "mentions_for", counted)
    for number in (20, 80):
        keys = "".join(f"  k{count}: {count}\n" for count in range(number))
        (tmp_path / "run.yaml").write_text("data:\n  pack: 3\n" + keys)
        asked.append(0)
        assert ProjectCode(str(tmp_path), lambda _path: False, keep=False).all()["run.yaml"]
    # Each answer looks through all keys.
    assert asked[0] == asked[1]


def test_many_keys_that_a_config_lacks_are_told_in_time(tmp_path: Path) -> None:
    counts = []
    for number in (1_100, 4_400):
        (tmp_path / "run.yaml").write_text("pack: 3\n" + "".join(f"k{count}: 1\n" for count in range(number)))
        (tmp_path / "train.py").write_text(
            "import tensorflow as tf\nimport yaml\n\nc = yaml.safe_load(open('run.yaml'))\n"
            "tf.data.Dataset.range(9).batch(c['pack'])\n"
            + "".join(f"x{count} = c['wanted_{count:x}']\n" for count in range(number // 20))
        )
        counts.append(
            calls_made(lambda: ProjectCode(str(tmp_path), lambda _path: False, keep=False).all()["run.yaml"])
        )
    assert counts[1] < 7 * counts[0]
