"""Idioms of public projects, in other words: which file a program gets, and what becomes of its keys."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from cfgfix.usage.project_code import ProjectCode

KERAS = "import tensorflow as tf\n"


def told(folder: Path, files: dict[str, str]) -> dict[str, set[tuple[str, str]]]:
    """What the code says of each config that TensorFlow's programs open: the checks with their keys, information left out."""
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(textwrap.dedent(text), encoding="utf-8")
    code = ProjectCode(str(folder), lambda _path: False, keep=False)
    found = {
        path: {
            (check, ".".join(map(str, hit.at.key_path or ())))
            for check, hit in says.hits
            if hit.severity != "info"
        }
        for path, says in code.all().items()
        if says.framework
    }
    assert not code.failures
    return found


def test_a_script_starts_the_program_beside_it(tmp_path: Path) -> None:
    """One of the same name in another folder is not what its command names."""
    one = (
        "import argparse, yaml\n" + KERAS + "parser = argparse.ArgumentParser()\n"
        "parser.add_argument('--plan', default='plans/base.yml')\nargs = parser.parse_args()\n"
        "plan = yaml.safe_load(open(args.plan))\ntf.keras.layers.Dense(plan['{key}'])\n"
    )
    found = told(
        tmp_path,
        {
            "mill/run.py": one.format(key="stones"),
            "mill/go.sh": "python3 run.py --speed 3\n",
            "mill/plans/base.yml": "stones: 3\n",
            "oven/run.py": one.format(key="loaves"),
            "oven/plans/base.yml": "loaves: 3\n",
        },
    )
    assert found == {"mill/plans/base.yml": set(), "oven/plans/base.yml": set()}


ALIASED = """
    import hydra
    import tensorflow as tf

    def made(shape, depth, wings):
        tf.keras.Input(tuple(shape))
        return tf.keras.layers.Dense(depth, name=wings["left"])

    @hydra.main(config_path="conf", config_name="mill")
    def main(cfg):
        made(**cfg.net)

    if __name__ == "__main__":
        main()
"""


def test_a_section_named_by_an_interpolation_is_read_under_both_names(tmp_path: Path) -> None:
    """What names it is read where the section is taken, and the section where it is named."""
    config = """
        house: {size: [3, 4], wings: {left: a, right: b}}
        net: {shape: "${house.size}", depth: 3, wings: "${house.wings}"}
        spare: {shape: "${house.size}"}
    """
    found = told(tmp_path, {"run.py": ALIASED, "conf/mill.yaml": config})
    assert found == {"conf/mill.yaml": {("dead-key", "house.wings.right"), ("dead-key", "spare")}}


@pytest.mark.parametrize(
    "keeps", ["paddles.settings.SIZE = mill['size']", "paddles.settings['SIZE'] = mill['size']"]
)
def test_what_an_object_of_another_package_is_given_may_be_read_there(tmp_path: Path, keeps: str) -> None:
    """A list or section that becomes its attribute or entry has gone where nothing can be followed."""
    code = (
        "import paddles\nimport yaml\n" + KERAS + "mill = yaml.safe_load(open('mill.yml'))\n"
        f"print(mill['size'], mill['other'])\n{keeps}\ntf.keras.layers.Dense(mill['width'])\n"
    )
    found = told(tmp_path, {"run.py": code, "mill.yml": "size: [3, {deep: 4}]\nwidth: 3\nother: 1\n"})
    assert found == {"mill.yml": {("logged-key", "other")}}


LOUD = """
    import sys
    import yaml
    import tensorflow as tf

    mill = yaml.safe_load(open("mill.yml"))
    try:
        stones, wheel = mill["stones"], mill["wheel"]
    except KeyError as fault:
        print(f"the plan lacks {fault}")
        sys.exit(%s)
    tf.keras.layers.Dense(stones, name=wheel)
"""


@pytest.mark.parametrize(("code", "stops"), [("1", True), ("'no plan'", True), ("0", False)])
def test_a_handler_that_ends_the_program_saves_nothing(tmp_path: Path, code: str, stops: bool) -> None:
    """A key whose absence ends the run with a message is needed all the same."""
    found = told(tmp_path, {"run.py": LOUD % code, "mill.yml": "stones: 3\n"})
    assert found == {"mill.yml": {("missing-key", "wheel")} if stops else set()}


COMMANDS = """
    import click
    import tensorflow as tf
    import yaml

    @click.group()
    def app():
        pass

    @app.command()
    @click.argument("plan-file")
    @click.option("--loud", is_flag=True, default=False)
    @click.option("--width", default=10)
    @click.option("--fast/--slow", default=False)
    def grind(plan_file, loud, width, fast):
        with open(plan_file) as stream:
            plan = yaml.safe_load(stream)
        if loud or fast:
            print(plan)
        tf.keras.layers.Dense(plan["stones"] + width)

    @app.command("sweep-up")
    @click.argument("plan")
    def clean(plan):
        tf.keras.layers.Dense(yaml.safe_load(open(plan))["brooms"])

    if __name__ == "__main__":
        app()
"""


def test_a_command_of_a_group_gets_the_arguments_behind_its_name(tmp_path: Path) -> None:
    """The others of the group do not run, and flags take no value."""
    files = {
        "mill.py": COMMANDS,
        "README.md": "```\npython mill.py grind --loud plans/a.yml\npython mill.py sweep-up plans/b.yml\n```\n",
        "plans/a.yml": "stones: 3\n",
        "plans/b.yml": "brooms: 3\nrooms: 2\n",
        "plans/c.yml": "stones: 3\nstone: 4\n",
        "grind-2025-03-24-22:00:57/plan.yml": "stones: 3\nstone: 4\n",
    }
    assert told(tmp_path, files) == {
        "plans/a.yml": set(),
        "plans/b.yml": {("dead-key", "rooms")},
        "plans/c.yml": {("dead-key", "stone")},
    }
    code = ProjectCode(str(tmp_path), lambda _path: False, keep=False)
    assert code.options() == ()


GROUPS = """
    import hydra
    import tensorflow as tf

    @hydra.main(config_path="conf", config_name="mill")
    def main(cfg):
        tf.keras.layers.Dense(cfg.wheel.spokes, name=cfg.name)
        tf.keras.layers.Dropout(cfg.train.grain.rate)
        tf.keras.layers.Dropout(cfg.check.grain.rate)
        tf.keras.optimizers.Adam(cfg.stones.speed, epsilon=cfg.env.damp)
        tf.keras.Input((cfg.wandb.width,))

    if __name__ == "__main__":
        main()
"""
PLAN = {
    "conf/mill.yaml": """
        defaults:
          - /wheel/oak
          - grain@train.grain: fine
          - /grain/fine@check.grain
          - plan: small
          - env: wet
          - wandb: plain
          - _self_
        name: mill
        wheel: ???
    """,
    "conf/wheel/oak.yaml": "spokes: 8\nspoke: 3\n",
    "conf/grain/fine.yaml": "rate: 0.5\n",
    "conf/grain/odd.yaml": 'rate: "0.5,"\n',
    "conf/plan/small.yaml": "# @package _global_\ndefaults:\n  - /stones/flint@stones\n",
    "conf/stones/flint.yaml": "speed: 1.5\nweight: 4\n",
    "conf/stones/chalk.yaml": "speed: 2.5\n",
    "conf/env/wet.yaml": "damp: 1.0e-7\n",
    "conf/wandb/plain.yaml": "width: 3\n",
    "conf/other.yaml": """
        defaults: [mill, _self_]
        name: other
        named: 3
    """,
    "conf/notes.yaml": "defaults: [kept]\nread_by: people\n",
    "conf/wandb/run-1/files.yaml": "defaults: [mill]\nname: 1\n",
}


def test_options_of_groups_and_other_configs_of_hydra(tmp_path: Path) -> None:
    """What the command line may choose is judged as well; what no list leads to is not."""
    found = told(tmp_path, {"run.py": GROUPS, **PLAN})
    whole = {"conf/mill.yaml", "conf/other.yaml", "conf/plan/small.yaml", "conf/env/wet.yaml"}
    parts = {
        f"conf/{name}.yaml"
        for name in ("wheel/oak", "grain/fine", "grain/odd", "stones/flint", "wandb/plain")
    }
    assert set(found) == whole | parts
    assert {path: said for path, said in found.items() if said} == {
        "conf/wheel/oak.yaml": {("dead-key", "spoke")},
        "conf/grain/odd.yaml": {("refused-value", "rate")},
        "conf/stones/flint.yaml": {("dead-key", "weight")},
        "conf/other.yaml": {("dead-key", "named")},
    }


ESTIMATED = """
    import argparse
    import json
    from functools import partial
    import tensorflow as tf

    def mill(features, labels, mode, params):
        return tf.compat.v1.layers.dense(features, params["stones"], name=params["name"])

    def grain(params, shuffled=False):
        return tf.data.Dataset.range(9).batch(params["sacks"])

    parser = argparse.ArgumentParser()
    parser.add_argument("--plan")
    plan = json.load(open(parser.parse_args().plan))
    run = tf.estimator.Estimator(model_fn=mill, params=plan, model_dir=plan["folder"])
    run.train(input_fn=partial(grain, shuffled=True), steps=10)
"""


def test_functions_of_an_estimator_get_its_settings(tmp_path: Path) -> None:
    """The function of the model and that of the data read what stands in `params`."""
    files = {
        "run.py": ESTIMATED,
        "oak.json": '{"stones": 3, "name": "oak", "sacks": 4, "folder": "out", "wings": 4}',
        "pine.json": '{"stones": 3, "name": "pine", "folder": "out"}',
    }
    assert told(tmp_path, files) == {
        "oak.json": {("dead-key", "wings")},
        "pine.json": {("missing-key", "sacks")},
    }


def test_files_that_are_named_in_turn_differ_in_their_numbers(tmp_path: Path) -> None:
    """One that lacks something, or has another name, is not taken for what the code named before."""
    code = (
        "import json\n" + KERAS + "plan = json.load(open('plans/mill_3.json'))\n"
        "tf.keras.layers.Dense(plan['stones'], name=plan['name'])\n"
    )
    files = {
        "run.py": code,
        "plans/mill_3.json": '{"stones": 3, "name": "oak"}',
        "plans/mill_12.json": '{"stones": 3, "name": "oak", "wings": 4}',
        "plans/mill_1.json": '{"name": "oak"}',
        "plans/mill_old.json": '{"stones": 3, "name": "oak"}',
    }
    assert told(tmp_path, files) == {
        "plans/mill_3.json": set(),
        "plans/mill_12.json": {("dead-key", "wings")},
    }


def test_an_item_taken_out_of_a_list_is_no_longer_in_it(tmp_path: Path) -> None:
    """Classes are found by a dotted name that is taken apart so."""
    code = (
        "import importlib\nimport yaml\n" + KERAS + "def found(path):\n    parts = path.rsplit('.', 1)\n"
        "    parts.insert(0, 'none')\n    parts.pop(0)\n    module = parts.pop(0)\n"
        "    return getattr(importlib.import_module(module), parts[0])\n"
        "mill = yaml.safe_load(open('mill.yml'))\nfound(mill['kind'])(**mill['how'])\n"
    )
    config = 'kind: tensorflow.keras.layers.Dropout\nhow: {rate: "0.5,", sed: 1}\n'
    assert told(tmp_path, {"run.py": code, "mill.yml": config}) == {
        "mill.yml": {("refused-value", "how.rate"), ("misspelt-key", "how.sed")}
    }


KEPT = """
    from dataclasses import dataclass
    import yaml
    import tensorflow as tf

    @dataclass
    class Mill:
        millstones: int
        millrace: int
        sails: int

        @classmethod
        def read(cls, raw):
            return cls(millstones=raw["mill"]["stones"], millrace=raw["mill"]["race"], sails=raw["mill"]["sail_count"])

    class Settings:
        def __init__(self, path):
            with open(path) as stream:
                raw = yaml.safe_load(stream)
            self.mill = Mill.read(raw)
            self.house_name = raw["house"]

    class Run:
        def __init__(self, settings):
            self.settings = settings
            tf.keras.layers.Dense(settings.mill.sails)

        def grind(self):
            return tf.keras.layers.Dense(self.settings.mill.millstones)

    if __name__ == "__main__":
        run = Run(Settings("plans\\\\\\\\mill.yml"))
        # run.grind()
"""


def test_what_code_reads_that_is_not_run_is_not_unused(tmp_path: Path) -> None:
    """A value counts as used where a method reads the attribute that it is kept as; a path of Windows names the file."""
    config = "mill: {stones: 3, race: 4, sail_count: 2}\nhouse: east\n"
    assert told(
        tmp_path,
        {"run.py": KEPT + "\n", "use.py": "import run\nprint(run.Run.grind)\n", "plans/mill.yml": config},
    ) == {"plans/mill.yml": {("unused-value", "mill.race"), ("unused-value", "house")}}


SPREAD = """
    import argparse, os
    import tensorflow as tf
    import yaml

    def grind(stones=3, speed=1.0, grain="rye"):
        tf.keras.layers.Dense(stones, name=grain)
        return tf.keras.optimizers.SGD(speed)

    parser = argparse.ArgumentParser()
    parser.add_argument("--mill", default="mill.yml")
    parser.add_argument("--fast", action="store_true")
    args = parser.parse_args()
    with open(args.mill) as stream:
        mill = yaml.safe_load(stream)
    if args.fast:
        part = mill["fast"]
    else:
        part = mill["slow"]
    if mill["runs"] > 1:
        grind(**part)
"""


def test_one_of_several_sections_is_spread_over_parameters(tmp_path: Path) -> None:
    """Whichever it is, its keys are those of the call; what else stands beside them is read by nothing."""
    config = """
        runs: 2
        fast: {stones: 3, speed: 2.0, grain: oat}
        slow: {stones: 4, speed: 1.0, grain: rye}
        spare: 1
    """
    found = told(tmp_path, {"run.py": SPREAD, "mill.yml": config})
    assert found == {"mill.yml": {("dead-key", "spare")}}


HANDED_OVER = """
    import tensorflow as tf
    import yaml

    class Feed:
        def __init__(self, mill, kind="day"):
            assert kind in {"day", "night"}
            self.rows = mill["feed"][f"{kind}_rows"]

    mill = yaml.safe_load(open("mill.yml"))
    tf.keras.layers.Dense(Feed(mill, mill["feed"]["%s"]).rows)
"""


@pytest.mark.parametrize(("key", "expected"), [("path", set()), ("kind", {("refused-choice", "feed.kind")})])
def test_a_path_in_the_place_of_a_word(tmp_path: Path, key: str, expected: set[tuple[str, str]]) -> None:
    """Who gets a path for a word got the wrong argument: no path would be right; a wrong word is the file's fault."""
    config = f"feed: {{{key}: ../rows/day.txt, day_rows: 3}}\n"
    if key == "kind":
        config = config.replace("../rows/day.txt", "dawn")
    found = told(tmp_path, {"run.py": HANDED_OVER % key, "mill.yml": config})
    assert found["mill.yml"] - {("dead-key", "feed.day_rows")} == expected


MAYBE_TAKEN = """
    import tensorflow as tf
    import yaml

    class Miller:
        def __init__(self, mill):
            self.wheel = tf.keras.optimizers.SGD(**mill["wheel"])

    mill = yaml.safe_load(open("mill.yml"))
    tf.keras.layers.Dense(mill["stones"].get("width", 3))
    %s
"""


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("makers = {'miller': Miller}", set()),
        ("del Miller.wheel", set()),
        ("", {("misplaced-key", "spare.width")}),
    ],
)
def test_a_key_in_a_section_that_code_may_take_as_a_whole(
    tmp_path: Path, more: str, expected: set[tuple[str, str]]
) -> None:
    """A key of the same name that is asked for elsewhere with a default is no reason to move it."""
    section = "wheel" if more else "spare"
    config = f"stones: {{depth: 2}}\n{section}: {{width: 4, momentum: 0.5}}\n"
    found = told(tmp_path, {"run.py": MAYBE_TAKEN % more, "mill.yml": config})
    assert {item for item in found["mill.yml"] if item[0] != "dead-key"} == expected


FIRST = "import json, sys\nimport yaml\n" + KERAS + "mill = yaml.safe_load(open('mill.yml'))\n"


@pytest.mark.parametrize(
    ("code", "config", "expected"),
    [
        (
            ("rows = []\nfor row in json.load(open('/far/away.json'))['rows']:\n    rows.append(int(row['kg']))\n"
            "assert mill['least'] <= len(sorted(rows))\n"),
            "least: 3\n",
            set(),
        ),
        (
            "rows = []\nfor row in (1, 2):\n    rows.append(row)\nassert mill['least'] <= len(sorted(rows))\n",
            "least: 3\n",
            {("refused-choice", "least")},
        ),
        (
            "part = mill['parts'][sys.argv[1]]\ntf.keras.layers.Dense(part['width'])\n",
            "parts: {wheel: {width: 3}, stone: {width: 2}, seed: {number: 1}}\n",
            set(),
        ),
        (
            "tf.keras.layers.Dense(mill['parts']['seed']['width'])\n",
            "parts: {seed: {number: 1}}\n",
            {("missing-key", "parts.seed.width"), ("dead-key", "parts.seed.number")},
        ),
        (
            ("for part in mill['parts']:\n"
            "    tf.keras.layers.Dense(part['width'], use_bias='dry' not in part)\n"),
            "parts: [{width: 3, dry: 1}, {width: 2, wet: 1}]\n",
            {("dead-key", "parts[1].wet")},
        ),
    ],
    ids=[
        "a count that is not known", "a count that is known", "one of several sections", "one section",
        "a key that need only be there",
    ],
)  # fmt: skip
def test_what_is_known_only_in_part(
    tmp_path: Path, code: str, config: str, expected: set[tuple[str, str]]
) -> None:
    """How many items a list gets, or which of several sections is meant, may be known to nobody."""
    found = told(tmp_path, {"run.py": FIRST + code, "mill.yml": config})["mill.yml"]
    assert {(check, key.replace("parts.1.", "parts[1].")) for check, key in found} == expected


@pytest.mark.parametrize(("sacks", "is_data"), [('[{"id": 1, "kg": 3}]', True), ('{"id": 1}', False)])
def test_lists_of_records_are_data(tmp_path: Path, sacks: str, is_data: bool) -> None:
    """What a program takes of data is its own affair, even where the file is small."""
    code = (
        "import json\n" + KERAS + "rows = json.load(open('rows.json'))\n"
        "for sack in rows['sacks']:\n    tf.constant(rows['farms'][0]['id'])\n"
    )
    rows = f'{{"info": 1, "sacks": {sacks}, "farms": [{{"id": 1, "name": "a"}}], "mills": []}}'
    found = told(tmp_path, {"run.py": code, "rows.json": rows})["rows.json"]
    assert (not found) == is_data


TRAINED_BY_PATH = (
    "from pathlib import Path\nimport yaml\n" + KERAS + "\n\ndef load(path):\n    return yaml.safe_load(path.read_text(encoding='utf-8')) or {}\n\n\n"
    "def train_from(plan: Path):\n    cfg = load(plan)\n    tf.keras.layers.Dense(cfg['width'])\n    tf.keras.layers.Dropout(cfg['drop'])\n"
)  # fmt: skip
PLAN_KEYS = "width: 4\ndrop: 0.5\npace: 3\n"


@pytest.mark.parametrize(
    "cli",
    [
        ("import typer\n\napp = typer.Typer()\nPLAN = typer.Option(..., '--plan', exists=True)\n\n\n@app.command()\n"
        "def train(plan: Path = PLAN):\n    train_from(plan=plan)\n"),
        ("import typer\nfrom typing import Annotated\n\napp = typer.Typer()\ntrain_app = typer.Typer()\napp.add_typer(train_app, name='train')\n\n\n"
        "@train_app.command('net')\ndef train(plan: Annotated[Path, typer.Option('--plan')]):\n    train_from(plan)\n"),
        ("import argparse\n\n\ndef app():\n    parser = argparse.ArgumentParser()\n    parser.add_argument('--plan', type=Path, required=True)\n"
        "    train_from(parser.parse_args().plan)\n"),
        ("import click\n\n\n@click.group()\ndef app():\n    pass\n\n\n@click.command()\n@click.option('--plan')\ndef train(plan):\n    train_from(Path(plan))\n\n\n"
        "app.add_command(train, 'train')\n"),
    ],
)  # fmt: skip
def test_a_path_that_only_the_command_line_gives_is_read(tmp_path: Path, cli: str) -> None:
    """The file that has the keys is tried, whichever way its path comes in."""
    found = told(
        tmp_path,
        {
            "net/__init__.py": "",
            "net/training.py": TRAINED_BY_PATH,
            "net/cli.py": f"from pathlib import Path\nfrom net.training import train_from\n{cli}",
            "net/__main__.py": "from net.cli import app\n\nif __name__ == '__main__':\n    app()\n",
            "plans/small.yaml": PLAN_KEYS,
            "plans/other.yaml": "image: registry\nports: [80]\n",
        },
    )
    assert found == {"plans/small.yaml": {("dead-key", "pace")}}


def test_a_text_that_a_template_fills_in_is_still_the_settings(tmp_path: Path) -> None:
    program = (
        "import os, string\nimport yaml\n" + KERAS + "\n\ndef filled(item):\n    if isinstance(item, dict):\n"
        "        return {name.replace('-', '_'): filled(part) for name, part in item.items()}\n"
        "    if isinstance(item, str):\n        return string.Template(item).safe_substitute(os.environ)\n    return item\n\n\n"
        "plan = filled(yaml.safe_load(open('barn.yaml')))\ntf.keras.layers.Dense(plan['width'])\n"
        "tf.keras.callbacks.TensorBoard(plan['log_dir'])\ntf.keras.optimizers.Adam(float(plan['first_rate']))\n"
    )  # fmt: skip
    found = told(
        tmp_path,
        {
            "train.py": program,
            "barn.yaml": "width: 3\nlog-dir: ${HOME}/logs\nfirst-rate: '2e-3'\nlast-rate: '2e-4'\n",
        },
    )
    assert found == {"barn.yaml": {("dead-key", "last-rate")}}
