"""What the code does with each key of a config."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.config.schema.infer import infer
from cfgfix.settings.reader import Settings
from cfgfix.usage.checks import project_files, usage_of
from cfgfix.usage.key_uses import INFERENCE, LIVE, NEVER, ONLY_LOGGED, OVERWRITTEN, TOOLS, UNSURE, Usage

CONFIG = """
from dataclasses import dataclass, field
import yaml

@dataclass
class Data:
    a: int = 1
    b: int = 2
    c: int = 3

@dataclass
class Config:
    data: Data = field(default_factory=Data)
    name: str = ""

    @classmethod
    def load(cls, path):
        raw = yaml.safe_load(open(path))
        return cls(data=Data(**raw["data"]), name=raw["name"])
"""


def used(folder: Path, **files: str) -> Usage:
    (folder / "config.py").write_text(CONFIG)
    for name, text in files.items():
        place = folder / (name.replace("__", "/") + ".py")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    settings = Settings(root=str(folder))
    inferred = infer("config.py:Config", str(folder))
    return usage_of(project_files(settings), settings, inferred, (), "test", use_cache=False)


def statuses(folder: Path, body: str, **files: str) -> dict[str, str]:
    text = f"import external\nfrom config import Config, Data\n\ndef main(path):\n    config = Config.load(path)\n{body}"
    usage = used(folder, main=text, **files)
    return {".".join(path): use.status for path, use in usage.keys.items()}


LIVE_WAYS = {
    "attribute": "    external.go(config.data.a)\n",
    "alias": "    data = config.data\n    external.go(data.a)\n",
    "getattr": "    external.go(getattr(config.data, 'a', 0))\n",
    "names in a loop": "    for name in ('a',):\n        external.go(getattr(config.data, name))\n",
    "mapping of a class": "    external.go(vars(config.data)['a'])\n",
    "asdict": "    from dataclasses import asdict\n    external.go(asdict(config)['data']['a'])\n",
    "passed to a function": "    inner(config.data)\n\ndef inner(d):\n    external.go(d.a)\n",
    "passed by name": "    inner(d=config.data)\n\ndef inner(*, d=None):\n    external.go(d.a)\n",
    "stored in a class": (
        "    Thing(config).run()\n\nclass Thing:\n    def __init__(self, config):\n        self.config = config\n\n"
        "    def run(self):\n        external.go(self.config.data.a)\n"
    ),
    "stored in a base class": (
        "    Thing(config.data).run()\n\nclass Base:\n    def __init__(self, data):\n        self.data = data\n\n"
        "class Thing(Base):\n    def run(self):\n        external.go(self.data.a)\n"
    ),
    "returned by a function": "    external.go(pick(config).a)\n\ndef pick(config):\n    return config.data\n",
    "value through names": "    x = config.data.a\n    y = x + 1\n    external.go(y)\n",
    "value stored and read": (
        "    Thing(config.data.a).run()\n\nclass Thing:\n    def __init__(self, a):\n        self.a_value = a\n\n"
        "    def run(self):\n        external.go(self.a_value)\n"
    ),
    "decides": "    if config.data.a:\n        external.go()\n",
    "test of a choice that is thrown away": "    external.go() if config.data.a else None\n",
    "test of a choice that is stored": "    x = external.go() if config.data.a else None\n    print(x)\n",
    "test of a choice, by a name": "    flag = config.data.a\n    y = external.go() if flag else None\n",
    "test of a choice, by an attribute": (
        "    Thing(config).run()\n\nclass Thing:\n    def __init__(self, config):\n        self.flag = config.data.a\n\n"
        "    def run(self):\n        self.step() if self.flag else None\n\n    def step(self):\n        external.go(1)\n"
    ),
    "first of two with and": "    config.data.a and external.go()\n",
    "first of two with or": "    config.data.a > 2 or external.go()\n",
    "condition of a comprehension": "    [external.go(x) for x in range(4) if config.data.a]\n",
    "condition of a mapping": "    external.go({x: 1 for x in range(4) if x < config.data.a})\n",
    "test of a loop": "    while config.data.a:\n        external.go()\n",
    "subject of a match": "    match config.data.a:\n        case 1:\n            external.go()\n",
    "guard of a match": "    match path:\n        case 1 if config.data.a:\n            external.go()\n",
    "asserted": "    assert config.data.a > 3, 'no'\n",
    "index of what is deleted": "    del external.items[config.data.a]\n",
    "test of a parameter's default": "    def f(x=external.go() if config.data.a else 2):\n        return x\n",
    "annotated parameter": "    pass\n\ndef other(data: Data):\n    external.go(data.a)\n",
    "a method as callback": "    external.later(inner, config.data)\n\ndef inner(thing):\n    external.go(thing.a)\n",
    "bound with partial": (
        "    from functools import partial\n    external.each(partial(inner, d=config.data))\n\n"
        "def inner(x, d):\n    external.go(d.a)\n"
    ),
    "subclass": "    pass\n\nclass More(Data):\n    def run(self):\n        external.go(self.a)\n",
    "unpacked into a function": "    inner(**vars(config.data))\n\ndef inner(a, b, c):\n    external.go(a)\n",
    "whole section to something unknown": "    external.go(config.data)\n",
    "whole section in a list": "    external.go([config.data])\n",
    "a name worked out": "    external.go(getattr(config.data, path))\n",
    "an unknown object": "    external.each(lambda thing: external.go(thing.a))\n",
    "dumped and read again": "    import json\n    json.dump({'x': config.data.a}, open('x', 'w'))\n",
}
"""Ways in which `data.a` counts, or may count: nothing may be said of it."""

DEAD_WAYS = {
    "nothing": ("    pass\n", NEVER),
    "written only": ("    config.data.a = path\n", NEVER),
    "logged": ("    print(f'a is {config.data.a}')\n", ONLY_LOGGED),
    "logged by a logger": (
        "    import logging\n    logger = logging.getLogger()\n    x = config.data.a\n    logger.info('%s', x)\n",
        ONLY_LOGGED,
    ),
    "decides what is logged": ("    if config.data.a:\n        print('on')\n", ONLY_LOGGED),
    "decides in an expression what is logged": ("    print('on' if config.data.a else 'off')\n", ONLY_LOGGED),
    "decides whether something is logged": ("    config.data.a and print('on')\n", ONLY_LOGGED),
    "in the message of an assertion": ("    assert path, f'{config.data.a}'\n", ONLY_LOGGED),
    "stored and never read": (
        "    Thing(config.data.a)\n\nclass Thing:\n    def __init__(self, value):\n        self.value_of_a = value\n",
        ONLY_LOGGED,
    ),
    "checked": ("    if config.data.a < 0:\n        raise ValueError('too small')\n", ONLY_LOGGED),
    "whole section written down": (
        "    import yaml\n    from dataclasses import asdict\n    yaml.dump(asdict(config), open('x', 'w'))\n",
        NEVER,
    ),
    "another object's attribute": (
        "    external.go(Other().a)\n\nclass Other:\n    def __init__(self):\n        self.a = 1\n",
        NEVER,
    ),
    "copied into the same class": ("    Data(a=config.data.a)\n", NEVER),
    "its section bound with partial": (
        (
            "    from functools import partial\n    external.each(partial(inner, d=config.data))\n\n"
            "def inner(x, d):\n    external.go(d.b)\n"
        ),
        NEVER,
    ),
    "overwritten": ("    config.data.a = 3\n    external.go(config.data.a)\n", OVERWRITTEN),
}


@pytest.mark.parametrize("body", LIVE_WAYS.values(), ids=LIVE_WAYS.keys())
def test_nothing_is_said_of_a_key_that_may_count(tmp_path, body):
    assert statuses(tmp_path, body)["data.a"] in (LIVE, UNSURE)


@pytest.mark.parametrize(("body", "status"), DEAD_WAYS.values(), ids=DEAD_WAYS.keys())
def test_a_dead_key_is_told_with_its_kind(tmp_path, body, status):
    assert statuses(tmp_path, body)["data.a"] == status


def test_tests_and_inference_are_told_apart(tmp_path):
    found = statuses(
        tmp_path,
        "    external.go(config.data.c)\n",
        tests__test_it="from config import Config\n\ndef test_it():\n    assert Config.load('x').data.a\n",
        inference="import external\nfrom config import Config\n\ndef say(path):\n    external.go(Config.load(path).data.b)\n",
    )
    assert found == {"data.a": TOOLS, "data.b": INFERENCE, "data.c": LIVE, "name": NEVER}


def test_guards_are_the_settings_without_which_no_use_is_reached(tmp_path):
    usage = used(
        tmp_path,
        main=(
            "import external\nfrom config import Config\n\ndef main(path):\n    config = Config.load(path)\n"
            "    wide = config.data.b if config.data.a else 0\n    if config.data.a and config.name == 'x':\n"
            "        external.go(wide, config.data.c)\n"
        ),
    )
    assert usage.keys[("data", "b")].guards == ((("data", "a"), "true", None), (("name",), "==", "x"))
    assert usage.keys[("data", "a")].guards == ()


@pytest.mark.parametrize(
    ("call", "loader"),
    [
        ("import yaml\nraw = yaml.load(open('x'), Loader=yaml.FullLoader)\n", "pyyaml-full"),
        ("from ruamel.yaml import YAML\nraw = YAML(typ='safe').load(open('x'))\n", "ruamel"),
        ("from ruamel import yaml\nraw = yaml.load(open('x'), version=(1, 1))\n", "pyyaml"),
        (
            "import tensorflow as tf\nimport yaml\nwith tf.io.gfile.GFile('x') as f:\n    raw = yaml.safe_load(f)\n",
            "pyyaml",
        ),
        (
            "import hydra\n\n@hydra.main(config_path='.')\ndef main(raw):\n    import external\n    external.go(raw.a)\n\nraw = {}\n",
            "omegaconf",
        ),
        ("from omegaconf import OmegaConf\nraw = OmegaConf.load('x')\n", "omegaconf"),
        (
            (
                "import yaml\nloader = yaml.SafeLoader\n"
                "loader.add_implicit_resolver('tag:yaml.org,2002:float', None, ['1'])\nraw = yaml.load(open('x'), Loader=loader)\n"
            ),
            "pyyaml-floats",
        ),
        (
            (
                "import yaml\nclass Own(yaml.FullLoader):\n    pass\n"
                "Own.add_implicit_resolver('tag:yaml.org,2002:float', None, ['1'])\nraw = yaml.load(open('x'), Loader=Own)\n"
            ),
            "pyyaml-floats",
        ),
        (
            (
                "import yaml\nyaml.add_implicit_resolver('tag:yaml.org,2002:float', None, ['1'], Loader=yaml.SafeLoader)\n"
                "raw = yaml.safe_load(open('x'))\n"
            ),
            "pyyaml-floats",
        ),
        (
            (
                "import yaml\nyaml.FullLoader.add_implicit_resolver('tag:yaml.org,2002:float', None, ['1'])\n"
                "raw = yaml.safe_load(open('x'))\n"
            ),
            "pyyaml",
        ),
    ],
)
def test_the_loader_is_found(tmp_path, call, loader):
    (tmp_path / "main.py").write_text(call + "import external\nexternal.go(raw['a'])\n")
    settings = Settings(root=str(tmp_path), source_roots=(".",))
    usage = usage_of(project_files(settings), settings, None, [("a",), ("b",)], "test", use_cache=False)
    assert usage.loader == loader
    assert (usage.keys[("a",)].status, usage.keys[("b",)].status) == (LIVE, NEVER)


def test_nothing_is_said_of_a_mapping_when_nothing_loads_one(tmp_path):
    (tmp_path / "main.py").write_text("def main(config):\n    return config['a']\n")
    settings = Settings(root=str(tmp_path), source_roots=(".",))
    usage = usage_of(project_files(settings), settings, None, [("a",), ("b",)], "test", use_cache=False)
    assert {use.status for use in usage.keys.values()} == {UNSURE}


def test_a_cached_answer_is_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("CFGFIX_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "config.py").write_text(CONFIG)
    settings = Settings(root=str(folder))
    inferred = infer("config.py:Config", str(folder))
    files = project_files(settings)
    first = usage_of(files, settings, inferred, (), "test")
    assert usage_of(files, settings, inferred, (), "test") == first
    assert usage_of(files, settings, inferred, (), "test", use_cache=False) == first
