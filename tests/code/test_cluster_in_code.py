"""TF_CONFIG as programs write it: CLU009, and GPU015 where it comes too late."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

CLUSTERS = """\
import json
import os
from json import dumps
from os import environ
import sys
import tensorflow as tf

CHIEF = "10.0.0.1:2222"
WORKERS = ["10.0.0.2:2222", "10.0.0.3:2222"]


def literal():
    os.environ["TF_CONFIG"] = '{"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 1}}'  # found
    os.environ["TF_CONFIG"] = "{'cluster': {'worker': ['a:1']}, 'task': {'type': 'worker', 'index': 0}}"  # found


def of_names(index):
    config = dict(cluster=dict(chief=[CHIEF], worker=WORKERS), task=dict(type="worker", index=2))
    environ["TF_CONFIG"] = dumps(config)  # found
    known = {"cluster": {"chief": [CHIEF], "worker": WORKERS}, "task": {"type": "worker", "index": index}}
    environ["TF_CONFIG"] = dumps(known)


def without_task():
    os.environ.update({"TF_CONFIG": json.dumps({"cluster": {"worker": ["a:1"]}})})  # found
    os.environ.update(TF_CONFIG=json.dumps({"cluster": {"worker": ["a:1"]}, "task": {"index": 0}}))  # found
    os.environ.setdefault("TF_CONFIG", json.dumps({"cluster": {"worker": ["a:1"]}, "task": {"type": "ps", "index": 0}}))  # found


def set_later(rank):
    tf_config = {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}}
    tf_config["task"]["index"] = 5
    os.environ["TF_CONFIG"] = json.dumps(tf_config)  # found
    other = {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 7}}
    other["task"]["index"] = int(sys.argv[1])
    os.environ["TF_CONFIG"] = json.dumps(other)
    hosts = {"cluster": {"worker": []}, "task": {"type": "worker", "index": 0}}
    hosts["cluster"]["worker"].append("a:1")
    os.environ["TF_CONFIG"] = json.dumps(hosts)


class Launcher:
    def no_text(self):
        os.environ["TF_CONFIG"] = {"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}}  # found

    def two_chiefs(self):
        os.environ["TF_CONFIG"] = json.dumps(  # found
            {"cluster": {"chief": ["a:1", "b:1"]}, "task": {"type": "chief", "index": 0}}
        )

    def mixed(self):
        os.environ["TF_CONFIG"] = json.dumps(  # found
            {"cluster": {"worker": ["localhost:1", "gpu2:1"]}, "task": {"type": "worker", "index": 0}}
        )

    def right(self, rank, hosts):
        os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": rank}})
        os.environ["TF_CONFIG"] = json.dumps(
            {"cluster": {"worker": ["localhost:1", "localhost:2"]}, "task": {"type": "worker", "index": 1}}
        )
        os.environ["TF_CONFIG"] = ""


for call in (literal, of_names, without_task, set_later):
    call(1)
Launcher().no_text()
"""


def test_clusters_that_are_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The last five begin their line with os.environ, so that the marks stand in the first of each statement's lines.
    check_marked(tmp_path, monkeypatch, "CLU009", CLUSTERS, severity="error")


BY_FUNCTIONS = """\
import json
import os
import tensorflow as tf

CONFIG = {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}}


def make_strategy():
    return tf.distribute.experimental.MultiWorkerMirroredStrategy()


def tell():
    os.environ["TF_CONFIG"] = json.dumps(CONFIG)  # found


def main():
    strategy = make_strategy()
    tell()
    with strategy.scope():
        return tf.keras.Sequential([tf.keras.layers.Dense(1)])


if __name__ == "__main__":
    main()
"""
IN_THE_MODULE = """\
import json
import os
import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
os.environ.update(TF_CONFIG=json.dumps({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}}))  # found
"""
IMPORTED = """\
import json
import os
from b import strategy

os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}})  # found
with strategy.scope():
    pass
"""
MAKES_IT = """\
import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
"""


@pytest.mark.parametrize(
    "texts",
    [
        (BY_FUNCTIONS,),
        (IN_THE_MODULE,),
        (IMPORTED, MAKES_IT),
        (BY_FUNCTIONS.replace("    strategy = make_strategy()\n    tell()", "    tell()\n    strategy = make_strategy()").replace("  # found", ""),),
        (IMPORTED.replace("from b import strategy\n", "").replace("with", "from b import strategy\nwith").replace("  # found", ""), MAKES_IT),
        (IN_THE_MODULE.replace("  # found", "\nif 'TF_CONFIG' not in os.environ or os.environ.get('TF_CONFIG'):\n    pass"),),
    ],
    ids=["functions", "module", "import", "functions in time", "import in time", "asked"],
)  # fmt: skip
def test_cluster_told_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: tuple[str, ...]) -> None:
    check_marked(tmp_path, monkeypatch, "GPU015", *texts, severity="error")
