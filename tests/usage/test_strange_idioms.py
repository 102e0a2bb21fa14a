"""Ways of strangers' programs to get at a config and to hand it on, each with a neighbour of which nothing is said."""

import textwrap
from pathlib import Path

import pytest

from cfgfix.usage.project_code import ProjectCode

ADAM = "tf.keras.optimizers.Adam"


def told(folder: Path, files: dict[str, str]) -> dict[str, list[tuple[str, str]]]:
    """What the code says of each config: the checks with their keys, info left out."""
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(textwrap.dedent(text), encoding="utf-8")
    code = ProjectCode(str(folder), lambda _path: False, keep=False)
    return {
        path: [
            (check, ".".join(map(str, hit.at.key_path or ())))
            for check, hit in says.hits
            if hit.severity != "info"
        ]
        for path, says in code.all().items()
        if says.framework
    }


def of_one(folder: Path, code: str, config: str, **more: str) -> list[tuple[str, str]]:
    """What is said of `barn.yaml`, which the code may load."""
    body = "import tensorflow as tf\nimport yaml\n" + textwrap.dedent(code)
    return told(folder, {"train.py": body, "barn.yaml": config, **more}).get("barn.yaml", [])


PACKAGES = {
    "a class of a package that is not known": (
        f"import stable\nbarn = stable.Config('barn.yaml')\n{ADAM}(barn.rate)\n",
        [("dead-key", "hay")],
    ),
    "a function of such a package, asked for items": (
        f"from stable.io import load_config\nbarn = load_config('barn.yaml')\n{ADAM}(barn['rate'])\n",
        [("dead-key", "hay")],
    ),
    "what the class may read by a method of its own": (
        f"import stable\nbarn = stable.Config('barn.yaml')\n{ADAM}(barn.rate)\nfor cow in barn.to_dict(): print(cow)\n",
        [],
    ),
    "what goes on to the package": (
        f"import stable\nbarn = stable.Config('barn.yaml')\n{ADAM}(barn.rate)\nstable.Feeder(barn).go()\n",
        [],
    ),
    "a table of data that a package reads": (
        f"import stable\nrows = stable.read_table('barn.yaml')\n{ADAM}(rows['rate'])\n",
        [],
    ),
}


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_that_loads_a_config(tmp_path: Path, name: str) -> None:
    code, expected = PACKAGES[name]
    assert of_one(tmp_path, code, "rate: 0.1\nhay: 3\n") == expected


HANDED = {
    "named arguments beside the function of a library's caller": (
        (
            "def build(barn, other):\n    return tf.keras.layers.Dense(barn['cows'])\n"
            "import stable\nstable.Runner(build=build, build_kwargs={'barn': barn}, turns=3)\n"
        ),
        [("dead-key", "hay")],
    ),
    "named arguments beside no function": (
        "import stable\nstable.Runner(build='net', build_kwargs={'barn': barn}, turns=barn['cows'])\n",
        [],
    ),
    "a scope of arguments of TensorFlow 1": (
        (
            "from tensorflow.contrib.framework import arg_scope\n"
            "def stall(x, size=1, barn=None):\n    return tf.layers.dense(x, barn['cows'])\n"
            "with arg_scope([stall], barn=barn):\n    stall(1)\n"
        ),
        [("dead-key", "hay")],
    ),
    "such a scope for functions of a library": (
        (
            "from tensorflow.contrib import slim\nimport stable\nprint(barn['cows'])\n"
            "with slim.arg_scope([stable.conv], barn=barn):\n    stable.conv(1)\n"
        ),
        [],
    ),
    "a function that is entered many times": (
        "def stall(x, barn, size):\n    for turn in range(2):\n        x = tf.keras.layers.Dense(barn['cows'])(x)\n    return x\n"
        "x = 1\n" + "x = stall(x, barn, 'small')\n" * 44,
        [("dead-key", "hay")],
    ),
    "such a function that is told the name of a key late": (
        "def stall(x, barn, size):\n    for turn in range(2):\n        x = tf.keras.layers.Dense(barn[size])(x)\n    return x\n"
        "x = 1\n" + "x = stall(x, barn, 'cows')\n" * 44 + "x = stall(x, barn, 'hay')\n",
        [],
    ),
    "what a tracker of runs keeps": (
        "import comet_ml\nrun = comet_ml.Experiment()\nrun.log_parameters(barn)\ntf.keras.layers.Dense(barn['cows'])\n",
        [("dead-key", "hay")],
    ),
    "what a tracker is set up with": (
        "import comet_ml\nrun = comet_ml.Experiment(api_key=barn['hay'])\ntf.keras.layers.Dense(barn['cows'])\n",
        [],
    ),
}


@pytest.mark.parametrize("name", HANDED)
def test_a_config_that_is_handed_on(tmp_path: Path, name: str) -> None:
    code, expected = HANDED[name]
    body = "barn = yaml.safe_load(open('barn.yaml'))\n" + code
    assert of_one(tmp_path, body, "cows: 4\nhay: 3\n") == expected


UNCALLED = {
    "a method that nothing calls": (
        (
            "class Barn:\n    def __init__(self, cows):\n        self.cows = cows\n    def fodder(self):\n        return self.cows['hay']\n"
            "tf.keras.layers.Dense(Barn(barn).cows['cows'])\n"
        ),
        [("dead-key", "hay")],
    ),
    "a method that a class of a library may call": (
        (
            "import stable\nclass Barn(stable.Base):\n    def feed(self, cows):\n        return cows['hay']\n"
            "tf.keras.layers.Dense(barn['cows'])\nstable.run(Barn())\n"
        ),
        [],
    ),
    "a function that a script names": (
        "def feed(cows):\n    return cows['hay']\ntf.keras.layers.Dense(barn['cows'])\n",
        [],
    ),
    "a function that nothing names": (
        "def water(cows):\n    return cows['hay']\ntf.keras.layers.Dense(barn['cows'])\n",
        [("dead-key", "hay")],
    ),
    "functions that are looked up by names made while it runs": (
        "import sys\ndef water(cows):\n    return cows['hay']\nprint(globals()[sys.argv[1]])\ntf.keras.layers.Dense(barn['cows'])\n",
        [],
    ),
    "a key that is only given a value where nothing calls it": (
        "def water(cows):\n    cows['hay'] = 3\nprint(water)\ntf.keras.layers.Dense(barn['cows'])\n",
        [("dead-key", "hay")],
    ),
}


@pytest.mark.parametrize("name", UNCALLED)
def test_what_code_mentions_that_nothing_comes_to(tmp_path: Path, name: str) -> None:
    code, expected = UNCALLED[name]
    body = "barn = yaml.safe_load(open('barn.yaml'))\n" + code
    more = {"go.sh": "python -c 'import train; train.feed({})'\n"}
    assert of_one(tmp_path, body, "cows: 4\nhay: 3\n", **more) == expected


LOADER = """
    import argparse
    import yaml

    def settings():
        parser = argparse.ArgumentParser()
        parser.add_argument("--settings", required=True)
        with open(parser.parse_args().settings) as stream:
            return yaml.safe_load(stream)
"""


def test_a_section_spread_into_a_function_says_which_file_is_meant(tmp_path: Path) -> None:
    main = """
        import tensorflow as tf
        from loader import settings

        def train(rate, cows, milk=2, **rest):
            tf.keras.optimizers.Adam(rate)
            return tf.keras.layers.Dense(cows + milk)

        train(**settings())
    """
    files = {
        "train.py": main,
        "loader.py": LOADER,
        "barns/small.yaml": "rate: 0.1\ncows: 3\nhay: 2\n",
        "others/list.yaml": "name: list\nrows: 3\n",
    }
    assert told(tmp_path, files) == {"barns/small.yaml": [("dead-key", "hay")]}


def test_a_script_that_takes_values_out_of_a_config_that_it_is_given(tmp_path: Path) -> None:
    main = "import tensorflow as tf\nimport yaml\nbarn = yaml.safe_load(open('barn.yaml'))\ntf.keras.layers.Dense(barn['cows'])\n"
    files = {
        "train.py": main,
        "barn.yaml": "cows: 4\nhay: 3\nimage: a/b\n",
        "launch": '#!/bin/sh\neval "$(yq -r to_entries $1)"\ndocker run $image\n',
    }
    assert told(tmp_path, files) == {"barn.yaml": [("dead-key", "hay")]}


def test_the_only_file_that_a_program_can_get(tmp_path: Path) -> None:
    train = "import tensorflow as tf\nfrom loader import settings\nbarn = settings()\n"
    reads = "tf.keras.layers.Dense(barn['cows'])\ntf.keras.optimizers.Adam(barn['rate'])\n"
    files = {
        "train.py": train + reads,
        "look.py": train + reads,
        "score.py": train + reads + "tf.keras.layers.Dense(barn['milk'])\n",
        "loader.py": LOADER,
        "barn.yaml": "cows: 4\nrate: 0.1\n",
        "README.md": "```\npython train.py --settings barn.yaml\n```\n",
    }
    assert told(tmp_path, files)["barn.yaml"] == [("missing-key", "milk")]
    # Where another file is there that it may get, it may be meant for that one.
    files["other.yaml"] = "cows: 4\nrate: 0.1\nmilk: 3\n"
    assert told(tmp_path, files)["barn.yaml"] == []


def test_of_several_programs_a_file_is_for_the_one_with_its_name(tmp_path: Path) -> None:
    head = "import sys\nimport tensorflow as tf\nimport yaml\nbarn = yaml.safe_load(open(sys.argv[1]))\n"
    reads = "tf.keras.layers.Dense(barn['cows'])\ntf.keras.optimizers.Adam(barn['rate'])\n"
    files = {
        "train_geese.py": head + reads + "tf.data.Dataset.range(barn['eggs'])\n",
        "train_goats.py": head + reads,
        "runs/goats.yaml": "cows: 4\nrate: 0.1\neggs: 2\n",
        "runs/geese.yaml": "cows: 4\nrate: 0.1\neggs: 3\n",
    }
    assert told(tmp_path, files) == {"runs/goats.yaml": [("dead-key", "eggs")], "runs/geese.yaml": []}
    for name in ("goats", "geese"):
        (tmp_path / f"runs/{name}.yaml").rename(tmp_path / f"runs/{name[1:]}.yaml")
    del files["runs/goats.yaml"], files["runs/geese.yaml"]
    assert told(tmp_path, files) == {"runs/oats.yaml": [], "runs/eese.yaml": []}


def test_a_text_of_a_file_is_not_the_object_that_stands_in_the_code(tmp_path: Path) -> None:
    code = "barn = yaml.safe_load(open('barn.yaml'))\nassert barn['kind'] is not 'cow'\ntf.keras.layers.Dense(barn['cows'])\n"
    assert of_one(tmp_path, code, "kind: cow\ncows: 4\n") == []
    code = code.replace("is not", "!=")
    assert of_one(tmp_path, code, "kind: cow\ncows: 4\n") == [("refused-choice", "kind")]


CHOICES = {
    "a table that other code fills": (
        (
            "BARNS = {'cow': 1}\ndef known(name):\n    def keep(made):\n        BARNS[name] = made\n        return made\n    return keep\n"
            "def later():\n    known('goat')(3)\nprint(later)\ntf.keras.layers.Dense(BARNS[barn['kind']])\n"
        ),
        [],
    ),
    "a table without the word": (
        "tf.keras.layers.Dense({'cow': 1, 'hen': 2}[barn['kind']])\n",
        [("refused-choice", "kind")],
    ),
    "a table with a default": ("tf.keras.layers.Dense({'cow': 1, 'hen': 2}.get(barn['kind'], 3))\n", []),
    "a program that ends with a message": (
        "import sys\nif barn['kind'] != 'cow':\n    sys.exit('cows only')\ntf.keras.layers.Dense(3)\n",
        [("refused-choice", "kind")],
    ),
    "a program that is done": (
        "import sys\nif barn['kind'] != 'cow':\n    sys.exit(0)\ntf.keras.layers.Dense(3)\n",
        [],
    ),
    "a test that an option decides too": (
        "import sys\nif barn['kind'] == 'goat' and len(sys.argv) > 3:\n    raise ValueError\ntf.keras.layers.Dense(3)\n",
        [],
    ),
    "an error on a way that may not be taken": (
        "import os\nif os.path.exists('x'):\n    if barn['kind'] == 'goat':\n        raise ValueError\ntf.keras.layers.Dense(3)\n",
        [],
    ),
}


@pytest.mark.parametrize("name", CHOICES)
def test_a_value_for_which_the_program_ends(tmp_path: Path, name: str) -> None:
    code, expected = CHOICES[name]
    body = "barn = yaml.safe_load(open('barn.yaml'))\n" + code
    assert of_one(tmp_path, body, "kind: goat\n") == expected
