"""Keys that only reach a log, a tracker or a record of the run, and their neighbours that count."""

from pathlib import Path

import pytest

from tests.usage.test_unsure_keys import of_one, told

CONFIG = "run:\n  note: spring\n  floor: 3\n  legs: 4\nlegs: 4\n"
DENSE = "tf.keras.layers.Dense(herd['legs'])\ntf.keras.layers.Dense(herd['run']['legs'])\n"
DEAD = [("dead-key", "run.note"), ("dead-key", "run.floor")]
RECORDS = {
    "parameters made flat by a function that calls itself": """
        import mlflow

        def flat(part, name="", path="", first=True):
            if isinstance(part, dict):
                for key, value in part.items():
                    yield from flat(value, key, (path + name + "_") if not first else name, False)
            else:
                yield path + name, part

        mlflow.log_params(dict(flat(herd)))
        """,
    "a loop that logs": """
        import mlflow

        for key, value in herd["run"].items():
            mlflow.log_param(key, value)
        """,
    "a function of its own that only writes": """
        import json

        def keep(section, where):
            with open(where + "/config.json", "w") as out:
                json.dump(dict(section), out)

        keep(herd["run"], "results")
        """,
    "a table for TensorBoard": """
        rows = [["name", "value"]]
        for key in herd["run"]:
            rows.append([key, str(herd["run"][key])])
        tf.summary.text("run", tf.convert_to_tensor(rows), step=0)
        """,
    "a tracker that is given the config": """
        import wandb

        wandb.init(project="herds", config=herd)
        """,
}


@pytest.mark.parametrize("code", RECORDS.values(), ids=RECORDS)
def test_what_is_only_recorded_has_no_effect(tmp_path: Path, code: str) -> None:
    import textwrap

    found = of_one(tmp_path, textwrap.dedent(code) + DENSE, CONFIG)
    assert [path for _, path in found] == ["run.note", "run.floor"]


USES = {
    "a tracker whose settings the program goes on with": """
        import wandb

        wandb.init(project="herds", config=herd["run"])
        herd["run"] = settings = wandb.config
        settings.legs
        tf.keras.layers.Dense(wandb.config.floor)
        tf.constant(wandb.config["note"])
        """,
    "a tracker's run": """
        import wandb

        run = wandb.init(config=herd)
        tf.keras.layers.Dense(run.config["run"]["floor"])
        tf.constant(run.config.run.note)
        """,
    "a tensor that goes on": """
        rows = tf.convert_to_tensor([herd["run"]["floor"]])
        tf.summary.text("run", herd["run"]["note"], step=0)
        tf.gather(rows, 0)
        herd["run"]["note"] + "x"
        tf.io.write_file(herd["run"]["note"], "")
        """,
    "an array whose method is called": """
        import numpy as np

        floor = np.array([herd["run"]["floor"]])
        tf.io.write_file(herd["run"]["note"], "")
        floor.repeat(2).tofile("x")
        """,
    "entries under names that are not known": """
        import numpy as np

        table = {}
        for key, value in herd["run"].items():
            table[np.random.rand()] = value
        for value in table.values():
            tf.constant(value)
        """,
}


@pytest.mark.parametrize("code", USES.values(), ids=USES)
def test_what_is_recorded_and_counts_is_not_told(tmp_path: Path, code: str) -> None:
    import textwrap

    assert of_one(tmp_path, textwrap.dedent(code) + DENSE, CONFIG) == []


def test_what_the_config_takes_is_judged(tmp_path: Path) -> None:
    code = """
    kind = herd["kinds"][herd["kind"].lower()]
    wool = kind["wool"]
    tf.keras.layers.Dense(kind["legs"])
    """
    config = "kind: GOAT\nkinds:\n  goat: {legs: 4, wool: 3, horns: 2}\n  duck: {legs: 2, wool: 0}\n"
    assert sorted(of_one(tmp_path, code, config)) == [
        ("dead-key", "kinds.goat.horns"),
        ("unused-value", "kinds.duck.wool"),
        ("unused-value", "kinds.goat.wool"),
    ]


def test_a_package_that_puts_a_function_in_its_module_s_place(tmp_path: Path) -> None:
    for name in ("builders",):
        (tmp_path / name).mkdir()
    main = """
    import yaml
    import tensorflow as tf
    from builders import build

    herd = yaml.safe_load(open("herd.yaml"))
    build(herd)
    """
    (tmp_path / "builders" / "__init__.py").write_text("from .build import build\n", encoding="utf-8")
    (tmp_path / "builders" / "build.py").write_text(
        "import tensorflow as tf\n\ndef build(herd):\n    return tf.keras.layers.Dense(herd['legs'])\n",
        encoding="utf-8",
    )
    found = told(tmp_path, {"train.py": main, "herd.yaml": "legs: 4\nwool: 3\n"})
    assert found["herd.yaml"] == [("dead-key", "wool")]


TOOLS = {
    "a manifest of Kubernetes": (
        "apiVersion: v1\nkind: Herd\nspec: {command: run}\nrun: {units: 4}\n",
        "cfg['run']['units']",
    ),
    "what Hydra reads": (
        "hydra: {run: {dir: out}}\ndefaults: [{herd: small}]\nrun: {units: 4}\n",
        "cfg['run']['units']",
    ),
}


@pytest.mark.parametrize(("config", "read"), TOOLS.values(), ids=TOOLS)
def test_what_other_tools_read_is_not_dead(tmp_path: Path, config: str, read: str) -> None:
    import json
    import subprocess
    import sys

    (tmp_path / "train.py").write_text(
        f"import tensorflow as tf\nimport yaml\ncfg = yaml.safe_load(open('herd.yaml'))\ntf.keras.layers.Dense({read})\n"
    )
    (tmp_path / "herd.yaml").write_text(config)
    command = [sys.executable, "-m", "cfgfix", "check", ".", "--output-format", "json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert [item for file in json.loads(done.stdout)["files"] for item in file["findings"]] == []
