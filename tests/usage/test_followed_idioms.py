"""Idioms by which values of a config travel through a program, and what is told of the keys behind them."""

import textwrap
from pathlib import Path

import pytest

from cfgfix.usage.project_code import ProjectCode

HEAD = "import tensorflow as tf\nimport yaml\n"


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


LOAD = "mill = yaml.safe_load(open('mill.yaml'))\n"
FIELDS = """
    import dataclasses, typing
    from dataclasses import dataclass

    @dataclass
    class Wheel:
        spokes: int = 3
        width: float = 1.0

    def made(cls, raw):
        hints = typing.get_type_hints(cls)
        given = {}
        for item in dataclasses.fields(cls):
            if item.name not in raw:
                continue
            value = raw[item.name]
            given[item.name] = made(hints[item.name], value) if dataclasses.is_dataclass(hints[item.name]) else value
        return cls(**given)

    @dataclass
    class Mill:
        wheel: Wheel = None
        stones: int = 2

    whole = made(Mill, mill)
    tf.keras.layers.Dense(whole.wheel.spokes + whole.stones)
    tf.keras.layers.Dropout(whole.wheel.width)
"""
GUARDED = """
    class Attributes(dict):
        def __getattr__(self, name):
            try:
                return self[name]
            except KeyError:
                raise AttributeError(name) from None
    mill = Attributes(mill)
    tf.keras.layers.Dense(mill.spokes)
    for name, value in mill.items():
        tf.keras.layers.Dense(value)
"""
IDIOMS = {
    "fields of a dataclass gone through": (
        LOAD + textwrap.dedent(FIELDS),
        "wheel:\n  spoke: 4\n  width: 0.5\nstones: 3\nroof: 1\n",
        [("misspelt-key", "wheel.spoke"), ("dead-key", "roof")],
    ),
    "an object that asks a dictionary for its attributes": (
        LOAD + textwrap.dedent(GUARDED),
        "wheel: 3\n",
        [("missing-key", "spokes")],
    ),
    "such an object that is asked with a default": (
        LOAD + textwrap.dedent(GUARDED).replace("mill.spokes", "getattr(mill, 'spokes', 3)"),
        "wheel: 3\n",
        [],
    ),
    "a registry by the names of functions": (
        LOAD
        + textwrap.dedent("""
            KINDS = {}
            def keep(function):
                KINDS[function.__name__] = function
                return function
            @keep
            def water(spokes, width=1):
                return tf.keras.layers.Dense(spokes + width)
            options = dict(mill['wheel'])
            KINDS[options.pop('kind')](**options)
        """),
        "wheel:\n  kind: water\n  spokes: 3\n  widht: 2\n",
        [("misspelt-key", "wheel.widht")],
    ),
    "a registry that classes enter as they are derived": (
        LOAD
        + textwrap.dedent("""
            class Part:
                kinds = {}
                def __init_subclass__(cls, **rest):
                    super().__init_subclass__(**rest)
                    Part.kinds[cls.__name__.lower()] = cls
                def __init__(self, options):
                    self.layer = self.made(options)
            class Water(Part):
                def made(self, options):
                    return tf.keras.layers.Dense(options['spokes'])
            class Wind(Part):
                def made(self, options):
                    return tf.keras.layers.Dense(options['blades'])
            Part.kinds[mill['kind']](mill)
        """),
        "kind: water\nspokes: 3\nrope: 2\n",
        [("dead-key", "rope")],
    ),
    "a registry whose names stand in the heads of classes": (
        LOAD
        + textwrap.dedent("""
            class Part:
                kinds = {}
                def __init_subclass__(cls, kind, **rest):
                    Part.kinds[kind] = cls
                def __init__(self, options):
                    self.layer = tf.keras.layers.Dense(options['spokes'])
            class Water(Part, kind="water"):
                pass
            Part.kinds[mill['kind']](mill)
        """),
        "kind: water\nspokes: 3\n",
        [],
    ),
    "what itemgetter takes": (
        LOAD + "from operator import itemgetter\nfirst, *rest = itemgetter('a', 'b', 'c')(mill)\n"
        "tf.keras.layers.Dense(first + rest[0] + rest[1])\n",
        "a: 1\nb: 2\nc: 3\nd: 4\n",
        [("dead-key", "d")],
    ),
    "a manager of a context that yields the config": (
        (
            "import contextlib\n@contextlib.contextmanager\ndef opened():\n    yield yaml.safe_load(open('mill.yaml'))\n"
            "with opened() as mill:\n    tf.keras.layers.Dense(mill['a'])\n"
        ),
        "a: 1\nb: 2\n",
        [("dead-key", "b")],
    ),
    "a decorator that gives parameters by their names": (
        LOAD
        + textwrap.dedent("""
            import functools, inspect
            def filled(name):
                table = mill[name]
                def decorate(function):
                    known = inspect.signature(function).parameters
                    @functools.wraps(function)
                    def call(*args, **kwargs):
                        given = {key: value for key, value in table.items() if key in known}
                        return function(*args, **{**given, **kwargs})
                    return call
                return decorate
            @filled('wheel')
            def build(x, spokes, width=1):
                return tf.keras.layers.Dense(spokes + width)(x)
            build(1)
        """),
        "wheel:\n  width: 2\n  sails: 1\n",
        [("missing-key", "wheel.spokes"), ("dead-key", "wheel.sails")],
    ),
    "arguments of the command line handed on": (
        (
            "import sys\ndef main(path='mill.yaml'):\n    mill = yaml.safe_load(open(path))\n"
            "    tf.keras.layers.Dense(mill['a'])\nmain(*sys.argv[1:])\n"
        ),
        "a: 1\nb: 2\n",
        [("dead-key", "b")],
    ),
    "an argument or a file of its own": (
        (
            "import sys\nmill = yaml.safe_load(open(sys.argv[1] if len(sys.argv) > 1 else 'mill.yaml'))\n"
            "for name in ('a', 'c'):\n    if name not in mill:\n        continue\n    tf.keras.layers.Dense(mill[name])\n"
        ),
        "a: 1\nb: 2\n",
        [("dead-key", "b")],
    ),
    "an option that opens its file": (
        (
            "import argparse\nparser = argparse.ArgumentParser()\n"
            "parser.add_argument('--mill', type=argparse.FileType('r'), default='mill.yaml')\n"
            "parser.add_argument('--rate', type=float, default=0.1)\nparser.add_argument('--a', type=int)\n"
            "given = vars(parser.parse_args())\nmill = yaml.safe_load(given.pop('mill'))\n"
            "if given['a'] is None:\n    del given['a']\nmill.update(given)\n"
            "tf.keras.layers.Dense(mill['a'])\ntf.keras.optimizers.Adam(mill['rate'])\n"
        ),
        "a: 1\nrate: 0.2\n",
        [("replaced-key", "rate")],
    ),
    "a word in the head of a class": (
        LOAD + "class Part:\n    parts = {}\n    def __init_subclass__(cls, *, under, as_=None, **more):\n"
        "        super().__init_subclass__(**more)\n        cls.parts[under, as_ or cls.__name__] = cls\n"
        "class Sail(Part, under='wind'):\n    def __init__(self, cloth):\n        tf.keras.layers.Dense(cloth)\n"
        "class Wheel(Part, under='water', as_='overshot'):\n    def __init__(self, paddles, depth=2):\n"
        "        tf.keras.layers.Dense(paddles * depth)\n"
        "given = dict(mill['drive'])\nPart.parts[given.pop('by'), given.pop('kind')](**given)\n",
        "drive: {by: water, kind: overshot, paddles: 3, dpeth: 4, cloth: 2}\n",
        [("misspelt-key", "drive.dpeth"), ("refused-key", "drive.cloth")],
    ),
    "a named tuple of all names": (
        LOAD
        + "from collections import namedtuple\nMill = namedtuple('Mill', mill.keys())\nwhole = Mill(**mill)\n"
        "for count in whole.sails:\n    tf.keras.layers.Dense(count + whole.wheel)\n",
        "sails: 4\nwheel: 3\nrats: 2\n",
        [("refused-value", "sails"), ("dead-key", "rats")],
    ),
    "a named tuple of some names": (
        LOAD
        + "import collections\nMill = collections.namedtuple('Mill', 'sails, wheel', defaults=[3])\nwhole = Mill(**mill)\n"
        "[tf.keras.layers.Dense(count) for count in whole.sails]\ntf.keras.layers.Dense(whole.wheel)\n",
        "sails: [4]\nwhele: 3\n",
        [("misspelt-key", "whele")],
    ),
    "a pattern that asks for keys": (
        LOAD
        + "match mill['pace']:\n    case {'kind': 'slow', 'every': every}:\n        tf.keras.layers.Dense(every)\n"
        "    case {'start': start}:\n        tf.keras.layers.Dense(start)\n",
        "pace:\n  kind: slow\n  start: 2\n  evry: 3\n",
        [("misspelt-key", "pace.evry")],
    ),
    "a pattern that fits": (
        LOAD
        + "match mill:\n    case {'kind': 'slow', 'every': every}:\n        tf.keras.layers.Dense(every)\n"
        "    case {'kind': 'fast', **rest}:\n        tf.keras.layers.Dense(rest['start'])\n",
        "kind: fast\nstart: 2\n",
        [],
    ),
    "an operator of an own class": (
        LOAD
        + "class Node:\n    def __init__(self, tree):\n        self.tree = tree\n    def __truediv__(self, name):\n"
        "        return Node(self.tree[name])\n    def __call__(self, name, default):\n        return self.tree.get(name, default)\n"
        "wheel = Node(mill) / 'wheel'\ntf.keras.layers.Dense(wheel('spokes', 3))\n",
        "wheel:\n  spokes: 4\n  sails: 1\n",
        [("dead-key", "wheel.sails")],
    ),
    "a property that nothing asks for": (
        LOAD
        + "class Mill:\n    @property\n    def spokes(self):\n        return mill['spokes']\n    @property\n"
        "    def sails(self):\n        return mill['sails']\ntf.keras.layers.Dense(Mill().spokes)\n",
        "spokes: 3\nsails: 4\n",
        [("dead-key", "sails")],
    ),
    "a key of one item of a list": (
        LOAD + "for step in mill['steps']:\n    tf.keras.layers.Dense(step['units'])\n",
        "steps:\n  - units: 3\n  - units: 4\n    clip: 1\n",
        [("dead-key", "steps.1.clip")],
    ),
    "items of a list that make objects": (
        LOAD + "import dataclasses\n@dataclasses.dataclass\nclass Step:\n    units: int\n    clip: int = 0\n"
        "steps = [Step(**step) for step in mill['steps']]\nprint(max(step.units for step in steps))\ntf.constant(len(steps))\n",
        "steps:\n  - units: 3\n  - units: 4\n    clip: 1\n",
        [],
    ),
    "a text that is filled in before it is parsed": (
        (
            "import os, string\nmill = yaml.safe_load(string.Template(open('mill.yaml').read()).substitute(os.environ))\n"
            "tf.keras.layers.Dense(mill['a'])\ntf.keras.optimizers.Adam(mill['rate'])\n"
        ),
        "a: ${SPOKES}\nrate: 1e-2\nb: 2\n",
        [("refused-value", "rate"), ("dead-key", "b")],
    ),
    "lists and mappings with tags of the program's own": (
        (
            "import os\nclass Loader(yaml.SafeLoader):\n    pass\nLoader.add_constructor('!pick', lambda l, n: 3)\n"
            "mill = yaml.load(open('mill.yaml'), Loader=Loader)\ntf.keras.layers.Dense(3, activation=mill['act'])\n"
        ),
        "act: !pick [ACT, wrong]\n",
        [],
    ),
}


@pytest.mark.parametrize("name", IDIOMS)
def test_an_idiom_is_followed(tmp_path: Path, name: str) -> None:
    code, config, expected = IDIOMS[name]
    assert told(tmp_path, {"train.py": HEAD + code, "mill.yaml": config}).get("mill.yaml") == expected


SCHEMA = """
    import sys
    from dataclasses import dataclass, field
    from typing import Optional
    import tensorflow as tf
    from omegaconf import MISSING, OmegaConf

    @dataclass
    class Wheel:
        spokes: int = 3
        width: float = 1.0
        clip: Optional[float] = None

    @dataclass
    class Mill:
        name: str = MISSING
        wheel: Wheel = field(default_factory=Wheel)

    mill = OmegaConf.merge(OmegaConf.structured(Mill), OmegaConf.load("mill.yaml"))
    print(mill.name)
    tf.keras.layers.Dense(mill.wheel.spokes)
    tf.keras.optimizers.Adam(mill.wheel.width, clipnorm=mill.wheel.clip)
"""
SCHEMAS = {
    "wheel:\n  spoke: 4\n  width: 2e-3\n": [("missing-key", "name"), ("misspelt-key", "wheel.spoke")],
    "name: a\nwheel:\n  spokes: 2.5\n": [("refused-value", "wheel.spokes")],
    "name: a\nwheel:\n  spokes: '4'\n  width: 1\n  clip: 1.0\n": [("logged-key", "name")],
}


@pytest.mark.parametrize("config", SCHEMAS)
def test_a_schema_of_omegaconf(tmp_path: Path, config: str) -> None:
    found = told(tmp_path, {"train.py": SCHEMA, "mill.yaml": config})["mill.yaml"]
    assert [item for item in found if item != ("logged-key", "name")] == [
        item for item in SCHEMAS[config] if item != ("logged-key", "name")
    ]


MODEL = """
    from pathlib import Path
    from typing import Literal
    import tensorflow as tf
    from pydantic import AliasChoices, BaseModel, ConfigDict, Field, PositiveInt

    class Wheel(BaseModel):
        model_config = ConfigDict(extra="forbid")
        spokes: list[PositiveInt]
        kind: Literal["water", "wind"] = "water"
        width: float = Field(alias="breadth", gt=0)
        clip: float = Field(0.0, validation_alias=AliasChoices("clip", "cut"))

    wheel = Wheel.model_validate_json(Path("mill.json").read_text())
    tf.keras.layers.Dense(wheel.spokes[0])
    tf.keras.optimizers.Adam(wheel.width, clipnorm=wheel.clip)
    print(wheel.kind)
"""
MODELS = {
    '{"spokes": [3, 0], "breadth": 1.0}': [("refused-value", "spokes.1")],
    '{"spokes": [3], "breadth": 0, "cut": 1}': [("refused-value", "breadth")],
    '{"spokes": [3], "width": 1.0, "cut": 1}': [("refused-key", "width")],
    '{"spokes": [3], "breadth": 1.0, "kind": "sand"}': [("refused-value", "kind")],
    '{"spokes": [3], "breadth": 1.0, "cut": 1}': [],
}


@pytest.mark.parametrize("config", MODELS)
def test_a_model_of_pydantic_with_other_names_and_limits(tmp_path: Path, config: str) -> None:
    assert told(tmp_path, {"train.py": MODEL, "mill.json": config})["mill.json"] == MODELS[config]


def test_cattrs_converts_what_it_structures(tmp_path: Path) -> None:
    code = """
        import attrs, cattrs, yaml
        import tensorflow as tf

        @attrs.frozen
        class Wheel:
            rate: float
            turns: int

        @attrs.frozen
        class Mill:
            wheel: Wheel

        mill = cattrs.structure(yaml.safe_load(open("mill.yaml")), Mill)
        tf.keras.optimizers.Adam(mill.wheel.rate)
        tf.data.Dataset.range(mill.wheel.turns)
    """
    config = "wheel:\n  rate: 1e-3\n  turns: '2'\n  sails: 3\n"
    assert told(tmp_path, {"train.py": code, "mill.yaml": config}) == {
        "mill.yaml": [("dead-key", "wheel.sails")]
    }


def test_a_chain_of_mappings_does_not_merge_sections(tmp_path: Path) -> None:
    code = """
        from collections import ChainMap
        import yaml
        import tensorflow as tf

        def read(name):
            with open(f"{name}.yaml") as stream:
                return yaml.safe_load(stream) or {}

        mill = ChainMap(read("mine"), read("base"))
        tf.keras.layers.Dense(mill["wheel"]["spokes"])
        tf.keras.layers.Dense(mill["wheel"]["width"])
        tf.keras.layers.Dense(mill["stones"])
    """
    files = {
        "train.py": code,
        "mine.yaml": "wheel: {spokes: 3}\n",
        "base.yaml": "wheel: {width: 1}\nstones: 2\n",
    }
    assert told(tmp_path, files) == {"mine.yaml": [("missing-key", "wheel.width")], "base.yaml": []}


def test_texts_that_differ_in_a_number_are_two_texts(tmp_path: Path) -> None:
    code = (
        LOAD + "if mill['size'] == 'b460':\n    tf.keras.layers.Dense(3)\ntf.keras.layers.Dense(mill['a'])\n"
    )
    assert told(tmp_path, {"train.py": HEAD + code, "mill.yaml": "size: b960\na: 1\n"})["mill.yaml"] == []


SHOWN = {
    "print(mill['motto'], tf.reduce_mean([1.0]))\n": [],
    "print('motto', mill['motto'])\n": [("logged-key", "motto")],
    "print(mill['spokes'], tf.reduce_mean([1.0]))\ntf.constant(mill['motto'])\n": [("logged-key", "spokes")],
}


@pytest.mark.parametrize("code", SHOWN)
def test_a_name_that_is_printed_beside_results(tmp_path: Path, code: str) -> None:
    config = "motto: north\n" if "spokes" not in code else "motto: north\nspokes: 3\n"
    assert told(tmp_path, {"train.py": HEAD + LOAD + code, "mill.yaml": config})["mill.yaml"] == SHOWN[code]


def test_what_is_only_asked_whether_it_is_none_and_swallowed(tmp_path: Path) -> None:
    code = """
        def build(units, dense_activation="relu", **ignored):
            return tf.keras.layers.Dense(units, activation=dense_activation)
        options = {**mill["net"], **mill["more"]}
        build(**{name: value for name, value in options.items() if value is not None})
    """
    config = "net:\n  units: 3\n  roof: red\nmore: {}\n"
    files = {"train.py": HEAD + LOAD + textwrap.dedent(code), "mill.yaml": config}
    assert told(tmp_path, files)["mill.yaml"] == [("dead-key", "net.roof")]
    files["mill.yaml"] = config.replace("roof: red", "dense_activation: elu")
    assert told(tmp_path, files)["mill.yaml"] == []


def test_words_that_changed_places(tmp_path: Path) -> None:
    code = (
        LOAD + "tf.keras.layers.Dense(mill['dense_units'])\ntf.keras.layers.Dense(mill.get('test_size', 3))\n"
    )
    config = "units_dense: 3\ntrain_size: 2\n"
    found = told(tmp_path, {"train.py": HEAD + code, "mill.yaml": config})["mill.yaml"]
    assert found == [("misspelt-key", "units_dense"), ("dead-key", "train_size")]
