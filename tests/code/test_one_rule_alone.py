"""A rule that is selected alone tells what it tells among all."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.core.records import replace
from cfgfix.lint.runner import Request, check
from cfgfix.settings.reader import Settings

FILES = {
    "reading.py": (
        "import tensorflow as tf\n\n\ndef read(size):\n"
        "    data = tf.data.Dataset.from_tensor_slices(tf.zeros([90, 3])).map(lambda row: row + 1)\n"
        "    return data.shuffle(90, reshuffle_each_iteration=False).batch(size)\n"
    ),
    "keeping.py": (
        "import tensorflow as tf\n\nfrom reading import read\n\n\nclass Keeper(tf.Module):\n"
        "    def __init__(self):\n        self.rows = read(10)\n"
    ),
    "running.py": (
        "import os\n\nfrom keeping import Keeper\n\n\ndef rounds(step):\n    keeper = Keeper()\n"
        "    for _ in range(8):\n        for row in keeper.rows:\n            step(row)\n"
    ),
    "start.py": (
        "import tensorflow as tf\n\nfrom running import rounds\n\n"
        "rounds(tf.function(lambda row: tf.reduce_sum(row)))\n"
    ),
}


def _told(settings: Settings) -> set[tuple[str, str, int]]:
    report = check(Request(paths=(settings.root,), settings=settings))
    return {
        (finding.rule, Path(file.path).name, finding.location.line)
        for file in report.files
        for finding in file.findings
    }


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return Settings(root=str(tmp_path))


def test_each_rule_tells_alone_what_it_tells_among_all(settings: Settings) -> None:
    among_all = _told(settings)
    rules = {rule for rule, _, _ in among_all}
    assert rules
    for rule in rules:
        alone = _told(replace(settings, select=(rule,)))
        assert alone == {found for found in among_all if found[0] == rule}
