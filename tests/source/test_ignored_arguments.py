"""What stays of arguments that Keras ignores: the one that shows what was meant."""

from __future__ import annotations

from pathlib import Path

from cfgfix.engine import Request, fix
from cfgfix.settings import Settings

PROGRAM = """\
import sys
import tensorflow as tf

size = int(sys.argv[1])
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.fit(tf.data.Dataset.range(9).batch(3), batch_size=size, shuffle=True)
"""


def test_an_argument_that_says_something_stays_when_the_other_goes(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(PROGRAM, encoding="utf-8")
    settings = Settings(root=str(tmp_path), select=("TFF027",))
    fix(Request(paths=(str(path),), settings=settings))
    assert path.read_text(encoding="utf-8") == PROGRAM.replace(", shuffle=True", "")
