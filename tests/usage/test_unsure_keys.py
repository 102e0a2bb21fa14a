"""Keys that a run does not read, and of which it may not be said that they are dead."""

import textwrap
from pathlib import Path

import pytest

from cfgfix.usage.project_code import ProjectCode

HEAD = "import argparse\nimport functools\nimport glob\nimport logging\nimport sys\nimport tensorflow as tf\nimport yaml\n"


def told(folder: Path, files: dict[str, str]) -> dict[str, list[tuple[str, str]]]:
    """What the code says of each config: the checks with their keys, info left out."""
    for name, text in files.items():
        (folder / name).write_text(textwrap.dedent(text), encoding="utf-8")
    code = ProjectCode(str(folder), lambda _path: False, keep=False)
    return {
        path: [
            (check, ".".join(map(str, hit.at.key_path or ())))
            for check, hit in says.hits
            if hit.values.get("severity") != "info" and getattr(hit, "severity", None) != "info"
        ]
        for path, says in code.all().items()
    }


def of_one(folder: Path, code: str, config: str) -> list[tuple[str, str]]:
    """What is said of `herd.yaml`, which the code loads as `herd`."""
    body = HEAD + "herd = yaml.safe_load(open('herd.yaml'))\n" + textwrap.dedent(code)
    return told(folder, {"train.py": body, "herd.yaml": config})["herd.yaml"]


def test_what_the_config_itself_chooses_from_is_not_dead(tmp_path: Path) -> None:
    code = """
    kind = herd["kind"]
    tf.keras.layers.Dense(herd["kinds"][kind]["legs"])
    """
    config = "kind: goat\nkinds:\n  goat: {legs: 4}\n  duck: {legs: 2}\nwool: 3\n"
    assert of_one(tmp_path, code, config) == [("dead-key", "wool")]


def test_what_the_code_chooses_stays_dead_elsewhere(tmp_path: Path) -> None:
    code = "tf.keras.layers.Dense(herd['kinds']['goat']['legs'])\n"
    config = "kinds:\n  goat: {legs: 4}\n  duck: {legs: 2}\n"
    assert ("dead-key", "kinds.duck") in of_one(tmp_path, code, config)


def test_the_level_of_a_log_has_an_effect(tmp_path: Path) -> None:
    code = """
    log = logging.getLogger("barn")
    log.setLevel(herd["level"])
    log.info("starts with %s", herd["motto"])
    tf.keras.layers.Dense(herd["legs"])
    """
    config = "level: INFO\nmotto: a b\nlegs: 4\n"
    assert of_one(tmp_path, code, config) == [("logged-key", "motto")]


def test_what_a_partial_function_of_a_library_holds_is_used(tmp_path: Path) -> None:
    code = """
    logging.info("config: %s", herd)
    reader = functools.partial(tf.data.TFRecordDataset, compression_type=herd["packed"])
    tf.data.Dataset.list_files("*").interleave(reader)
    """
    assert of_one(tmp_path, code, "packed: GZIP\n") == []


def test_a_value_that_counts_on_another_way_is_not_only_logged(tmp_path: Path) -> None:
    code = """
    logging.info("config: %s", herd)
    turns = herd["turns"]
    if herd["old"] is not None:
        tf.data.Dataset.range(turns)
    tf.keras.layers.Dense(herd["legs"])
    """
    assert of_one(tmp_path, code, "turns: 3\nold: null\nlegs: 4\n") == []


def test_parameters_of_functions_that_get_sections_may_be_keys(tmp_path: Path) -> None:
    files = {
        "barn.py": """
        import tensorflow as tf

        class Barn:
            def __init__(self, **settings):
                self.settings = settings
                tf.keras.layers.Dense(settings["legs"])

            def run(self):
                return self._run(**self.settings["walk"])

            def _run(self, turns, pace=1):
                return tf.data.Dataset.range(turns * pace)
        """,
        "train.py": HEAD + "from barn import Barn\nBarn(**yaml.safe_load(open('herd.yaml'))).run()\n",
        "show.py": HEAD + "from barn import Barn\nBarn(**yaml.safe_load(open('shown.yaml')))\n",
        "herd.yaml": "legs: 4\nwalk: {turns: 3, pace: 2}\n",
        "shown.yaml": "legs: 4\nwalk: {turns: 3, pace: 2}\nhorn: 1\n",
    }
    assert told(tmp_path, files)["shown.yaml"] == [("dead-key", "horn")]


MAY_BE_TWO = """
def look(barn):
    if "walk" in barn:
        part = barn["walk"]
    else:
        part = barn
    return part["turns"]

parser = argparse.ArgumentParser()
parser.add_argument("--barn", default="herd.yaml")
parser.add_argument("--old", default=None)
args = vars(parser.parse_args())
if args["old"] is not None:
    args["barn"] = glob.glob(args["old"] + "/*.yaml")[0]
herd = yaml.safe_load(open(args["barn"]))
tf.data.Dataset.range(look(herd))
"""


@pytest.mark.parametrize(
    ("config", "lacks"), [("walk: {turns: 3}\n", False), ("turns: 3\n", False), ("walk: {pace: 3}\n", True)]
)
def test_a_condition_tells_apart_which_of_several_values_is_meant(
    tmp_path: Path, config: str, lacks: bool
) -> None:
    said = told(tmp_path, {"train.py": HEAD + MAY_BE_TWO, "herd.yaml": config}).get("herd.yaml", [])
    assert bool([check for check, _ in said if check != "dead-key"]) is lacks


def test_a_load_by_another_way_may_read_what_is_left(tmp_path: Path) -> None:
    files = {
        "settings.py": """
        import os, sys, yaml

        def read():
            path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "own.yaml")
            try:
                with open(path) as stream:
                    return yaml.safe_load(stream)
            except FileNotFoundError:
                sys.exit(1)

        def places():
            known = {"a": 1, "b": 2}
            return known[read()["place"]]

        def prepare():
            own = read()
            return own["legs"] + own["horns"]
        """,
        "train.py": HEAD
        + "import settings\nPLACE = settings.places()\ntf.data.Dataset.range(settings.prepare())\n",
        "own-example.yaml": "place: a\nlegs: 4\nhorns: 2\n",
    }
    said = told(tmp_path, files).get("own-example.yaml", [])
    assert ("dead-key", "place") not in said


def test_what_is_perhaps_popped_is_refused_by_no_call(tmp_path: Path) -> None:
    code = """
    def trained(loss, rows):
        if rows:
            share = loss.pop("share", None)
        tf.keras.losses.MeanSquaredError(**loss)
    trained(herd["loss"], sys.argv[1:])
    """
    assert of_one(tmp_path, code, "loss: {name: a, share: 2}\n") == []
    sure = code.replace("if rows:", "if True:")
    assert of_one(tmp_path, sure, "loss: {name: a, share: 2}\n") == []
    never = code.replace('loss.pop("share", None)', "1")
    assert [key for _, key in of_one(tmp_path, never, "loss: {name: a, share: 2}\n")] == ["loss.share"]


@pytest.mark.parametrize(
    "text", ["''.join(f.readlines())", "''.join(f)", "'\\\\n'.join(f.read().splitlines())"]
)
def test_the_joined_lines_of_a_file_are_its_text(tmp_path: Path, text: str) -> None:
    code = f"""
    with open("herd.yaml") as f:
        flock = yaml.safe_load({text})
    tf.keras.layers.Dense(flock["legs"])
    """
    body = HEAD + textwrap.dedent(code)
    found = told(tmp_path, {"train.py": body, "herd.yaml": "legs: 4\nwool: 3\n"})
    assert found["herd.yaml"] == [("dead-key", "wool")]


def test_who_gets_a_method_does_not_read_its_object(tmp_path: Path) -> None:
    code = """
    class Barn:
        def __init__(self, settings):
            self.settings = settings
        def rows(self):
            yield self.settings["legs"]
        def left(self):
            return self.settings["hay"]
    tf.data.Dataset.from_generator(Barn(herd).rows, tf.int32)
    """
    assert of_one(tmp_path, code, "legs: 4\nwool: 3\n") == [("dead-key", "wool")]


def test_what_no_one_calls_of_an_object_handed_over_stops_no_run(tmp_path: Path) -> None:
    code = """
    class Barn:
        def __init__(self, settings):
            self.settings = settings
            self.legs = settings["legs"]
        def left(self):
            return self.settings["hay"]
    tf.py_function(lambda barn: barn.legs, [Barn(herd)], tf.int32)
    """
    assert of_one(tmp_path, code, "legs: 4\n") == []


SWITCHES = {
    "popped": ("if not herd.pop('enabled', True):\n        continue", "enabled: false"),
    "a word": ("if herd.get('state') == 'sold':\n        continue", "state: sold"),
    "in a function that returns": ("if skips(herd):\n        continue", "skip: true"),
}


@pytest.mark.parametrize(("test", "switch"), SWITCHES.values(), ids=SWITCHES)
def test_a_file_that_switches_itself_off(tmp_path: Path, test: str, switch: str) -> None:
    code = f"""{HEAD}
def skips(herd):
    return herd.get("skip", False)


for path in sorted(glob.glob("farm_*.yaml")):
    with open(path) as f:
        herd = yaml.safe_load(f)
    {test}
    tf.keras.layers.Dense(herd["legs"])
"""
    says = told(
        tmp_path,
        {
            "train.py": code,
            "farm_a.yaml": "legs: 4\nwool: 1\n",
            "farm_b.yaml": f"{switch}\nlegs: 2\n",
            "farm_c.yaml": f"{switch}\nlegs: 6\nwool: 2\n",
        },
    )
    assert says["farm_a.yaml"] == [("dead-key", "wool")]
    assert says["farm_b.yaml"] == []
    assert says["farm_c.yaml"] == [("dead-key", "wool")]


def test_what_a_function_shows_of_its_further_arguments(tmp_path: Path) -> None:
    code = """
    def shear(sheep, **how):
        logging.info("shears %d: %s", sheep, ", ".join(f"{k}={v}" for k, v in how.items()))

    def count(sheep, wool=0):
        print(sheep, wool)

    shear(3, **herd["shear"])
    count(3, **herd["count"])
    tf.keras.layers.Dense(herd["legs"])
    """
    config = "legs: 4\nshear: {slow: true, blade: 3}\ncount: {wool: 2}\n"
    assert of_one(tmp_path, code, config) == [("logged-key", "count.wool")]


@pytest.mark.parametrize(
    ("way", "dead"),
    [
        ("eval('herd[\"legs\"]')", []),
        ("eval('settings.legs')", ["wool"]),
        ("eval('settings.' + name)", []),
        ("eval(f'settings.{name}')", []),
        ("eval(name)", []),
        ("eval('len(settings.legs)')", []),
        ("exec('n = settings.legs')", []),
    ],
)
def test_texts_of_code_read_what_they_name(tmp_path: Path, way: str, dead: list[str]) -> None:
    code = f"""
    def main():
        settings = argparse.Namespace(**herd)
        name = sys.argv[1]
        tf.keras.layers.Dense({way})
        tf.keras.layers.Dropout(settings.rate)
    main()
    """
    config = "legs: 4\nrate: 0.5\nwool: 3\n"
    told_of = [key for check, key in of_one(tmp_path, code, config) if check == "dead-key"]
    assert told_of == dead


def test_a_library_does_not_look_into_objects_of_the_projects_classes(tmp_path: Path) -> None:
    code = """
    class Barn(tf.keras.Model):
        def __init__(self, settings):
            super().__init__()
            self.settings = settings
            self.out = tf.keras.layers.Dense(settings['legs'])

        def call(self, x):
            return self.out(x) * self.settings['weight']

    barn = Barn(herd)
    checkpoint = tf.train.Checkpoint(model=barn, barns=[barn])
    barn.compile('adam', 'mse')
    """
    config = "legs: 4\nweight: 0.5\nwool: 3\n"
    assert of_one(tmp_path, code, config) == [("dead-key", "wool")]


def test_a_library_may_look_at_what_it_is_given_itself(tmp_path: Path) -> None:
    code = """
    class Barn(tf.keras.Model):
        def __init__(self, settings, more):
            super().__init__()
            self.out = tf.keras.layers.Dense(settings['legs'])
            self.more = tf.nest.flatten(more)

    barn = Barn(herd, [{'a': herd['pens']}])
    tf.print(*herd['gates'])
    """
    config = "legs: 4\npens: {wool: 3}\ngates: [1, 2]\n"
    assert of_one(tmp_path, code, config) == []


def test_a_table_of_the_programs_own_is_followed_into_what_it_holds(tmp_path: Path) -> None:
    code = """
    class Runs:
        def __init__(self):
            self.runs = {}

        def add(self, name, settings):
            assert name not in self.runs
            self.runs[name] = {'settings': settings, 'done': False}

        def end(self, name):
            assert name in self.runs
            run = self.runs[name]
            run['done'] = True
            return READ

    runs = Runs()
    runs.add(sys.argv[1], herd)
    tf.keras.layers.Dense(herd['legs'])
    tf.keras.layers.Dropout(runs.end(sys.argv[1]))
    """
    config = "legs: 4\nrate: 0.5\nwool: 3\n"
    assert of_one(tmp_path, code.replace("READ", "0.5"), config) == [
        ("dead-key", "rate"),
        ("dead-key", "wool"),
    ]
    assert of_one(tmp_path, code.replace("READ", "run['settings']['rate']"), config) == [("dead-key", "wool")]


def test_options_laid_over_each_key_of_a_file_leave_the_others_dead(tmp_path: Path) -> None:
    code = """
    from collections import namedtuple

    def as_tuple(settings):
        for name, value in settings.items():
            settings[name] = as_tuple(value) if isinstance(value, dict) else value
        return namedtuple('Herd', settings.keys())(**settings)

    parser = argparse.ArgumentParser()
    parser.add_argument('--legs', type=int)
    args = parser.parse_args()
    for name in herd:
        if hasattr(args, name) and eval('args.{}'.format(name)) is not None:
            herd[name] = eval('args.{}'.format(name))
    barn = as_tuple(herd)
    tf.keras.layers.Dense(barn.legs)
    tf.keras.layers.Dropout(barn.rate)
    """
    config = "legs: 4\nrate: 0.5\nwool: 3\n"
    assert of_one(tmp_path, code, config) == [("dead-key", "wool")]


@pytest.mark.parametrize(
    "test", ["part in barn.held.parts", "part not in barn.held.parts", "'goats' in barn.held.parts"]
)
def test_a_list_is_used_by_who_asks_what_is_in_it(tmp_path: Path, test: str) -> None:
    code = f"""
    from types import SimpleNamespace

    class Barn(tf.keras.Model):
        def __init__(self, held):
            super().__init__()
            self.held = held

    barn = Barn(SimpleNamespace(**herd))
    tf.train.Checkpoint(model=barn)
    tf.keras.layers.Dense(barn.held.legs)
    for part in glob.glob('*'):
        if {test}:
            tf.keras.layers.Dense(barn.held.legs)
    """
    config = "legs: 4\nparts: [goats, ducks]\nwool: 3\n"
    assert of_one(tmp_path, code, config) == [("dead-key", "wool")]
