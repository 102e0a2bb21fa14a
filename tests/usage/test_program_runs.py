"""Programs are run over the configs that they open: what is told of each key, and what is not."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from cfgfix.usage.project_code import ProjectCode

HEAD = "import tensorflow as tf\nimport yaml\n"
TAIL = "\ntf.keras.optimizers.Adam(0.1)\n"


def told(folder: Path, files: dict[str, str]) -> dict[str, list[tuple[str, str]]]:
    """What the code says of each config: the checks with their keys."""
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(textwrap.dedent(text), encoding="utf-8")
    code = ProjectCode(str(folder), lambda _path: False, keep=False)
    return {
        path: [(check, ".".join(map(str, hit.at.key_path or ()))) for check, hit in says.hits]
        for path, says in code.all().items()
        if says.framework
    }


def one(folder: Path, code: str, config: str) -> list[tuple[str, str]]:
    """What the code says of `run.yaml`, which it loads as `config`."""
    body = (
        HEAD
        + "with open('run.yaml') as stream:\n    config = yaml.safe_load(stream)\n"
        + textwrap.dedent(code)
        + TAIL
    )
    files = {"train.py": body, "run.yaml": config, "nets/__init__.py": "", "nets/small.py": SMALL}
    return told(folder, files)["run.yaml"]


SMALL = "def width(size):\n    return size['units']\n"
OWN_CLASS = """\
class Own(dict):
    def __init__(self, *args, **kwargs):
        if 'path' in kwargs:
            with open(kwargs['path']) as stream:
                super(Own, self).__init__(yaml.safe_load(stream))
        else:
            super(Own, self).__init__(*args, **kwargs)
    def __getattr__(self, name):
        if name not in self:
            self[name] = Own()
        if isinstance(self[name], dict):
            self[name] = Own(self[name])
        return self[name]
cfg = Own(path='run.yaml')
"""
"""A class that makes a config's sections objects of its own as they are asked for."""

READS = {
    "returned in a tuple": (
        "def load():\n    return config, 3\ncfg, n = load()\ntf.keras.layers.Dense(cfg['units'])",
        "units: 4\nother: 1\n",
        [("dead-key", "other")],
    ),
    "merged with defaults": (
        "cfg = {**{'units': 3, 'rate': 0.1}, **config}\ntf.keras.layers.Dense(cfg['units'])\ntf.constant(cfg['rate'])",
        "rate: 0.2\nunitz: 4\n",
        [("dead-key", "unitz")],
    ),
    "put on an object by a loop": (
        (
            "class C:\n    def __init__(self, d):\n        for k, v in d.items():\n            setattr(self, k, v)\n"
            "c = C(config)\ntf.keras.layers.Dense(c.units)"
        ),
        "units: 4\nunused: 1\n",
        [("dead-key", "unused")],
    ),
    "given to a pool": (
        (
            "import functools, multiprocessing\ndef work(n, c):\n    return n * c['steps']\n"
            "tf.constant(multiprocessing.Pool(2).map(functools.partial(work, c=config['data']), [1, 2])[0])"
        ),
        "data:\n  steps: 2\n  stepp: 3\n",
        [("dead-key", "data.stepp")],
    ),
    "chosen from a registry": (
        (
            "KINDS = {}\ndef known(name):\n    def keep(cls):\n        KINDS[name] = cls\n        return cls\n    return keep\n"
            "@known('a')\nclass A:\n    def __init__(self, c):\n        self.layer = tf.keras.layers.Dense(c['units'])\n"
            "@known('b')\nclass B:\n    def __init__(self, c):\n        self.layer = tf.keras.layers.Dense(c['width'])\n"
            "KINDS[config['kind']](config)"
        ),
        "kind: a\nunits: 3\nwidth: 2\n",
        [("unused-here", "width")],
    ),
    "spread into a function": (
        "def fit(epochs, rate=0.1, **rest):\n    return tf.keras.optimizers.Adam(rate), tf.constant(epochs)\nfit(**config['fit'])",
        "fit:\n  epochs: 2\n  rote: 0.2\n",
        [("misspelt-key", "fit.rote")],
    ),
    "a dataclass for a section": (
        (
            "from dataclasses import dataclass\n@dataclass\nclass Fit:\n    epochs: int\n    rate: float = 0.1\n"
            "fit = Fit(**config['fit'])\ntf.keras.optimizers.Adam(fit.rate + fit.epochs)"
        ),
        "fit:\n  epochs: 2\n  speed: 1\n",
        [("refused-key", "fit.speed")],
    ),
    "a module imported by a name of the config": (
        (
            "module = __import__('nets.%s' % (config['net'],), fromlist=['nets'])\n"
            "tf.keras.layers.Dense(module.width(config['size']))"
        ),
        "net: small\nsize:\n  units: 4\n  depth: 2\n",
        [("dead-key", "size.depth")],
    ),
    "a table of objects that hold the config": (
        (
            "import sys\nclass A:\n    def __init__(self, c):\n        self.c = c\n    def run(self):\n"
            "        tf.keras.layers.Dense(self.c['units'])\nclass B(A):\n    def run(self):\n"
            "        tf.keras.layers.Dropout(self.c['rate'])\n{'a': A(config), 'b': B(config)}[sys.argv[1]].run()"
        ),
        "units: 4\nrate: 0.1\nwidth: 2\n",
        [("dead-key", "width")],
    ),
    "a class of its own that is asked a hundred times": (
        OWN_CLASS
        + "for n in range(60):\n    tf.constant(cfg.a.x + cfg.b.y)\n"
        + "tf.constant(cfg.a.x + cfg.b.y)\n" * 60,
        "a:\n  x: 1\n  u: 2\nb:\n  y: 3\n",
        [("dead-key", "a.u")],
    ),
    "a class of its own under a condition that is not known": (
        OWN_CLASS
        + "import sys\nif len(sys.argv) > 4:\n"
        + "    tf.constant(cfg.a.x)\n" * 9
        + "tf.constant(cfg.a.y)\n",
        "a:\n  x: 1\n  y: 2\n  u: 2\n",
        [("dead-key", "a.u")],
    ),
    "a section in a place where nothing looks": (
        "tf.keras.layers.Dense(config['net']['size']['units'])\ntf.constant(config['net']['rate'])",
        "size:\n  units: 4\nnet:\n  rate: 0.1\n",
        [("misplaced-key", "size")],
    ),
    "the hyperparameters of TensorFlow 1": (
        (
            "params = tf.contrib.training.HParams(**config['model'])\nparams.add_hparam('depth', 2)\n"
            "tf.keras.layers.Dense(params.units + params.depth)\ntf.constant(params.width)"
        ),
        "model:\n  units: 4\n  unused: 1\n",
        [("missing-key", "model.width"), ("dead-key", "model.unused")],
    ),
    "a class derived from hyperparameters": (
        (
            "from tensorflow.contrib.training import HParams\nclass Params(HParams):\n    def __init__(self, section):\n"
            "        HParams.__init__(self)\n        for name, value in section.items():\n            self.add_hparam(name, value)\n"
            "params = Params(config['model'])\nparams.depth = 3\n"
            "tf.keras.layers.Dense(params.units + params.depth)"
        ),
        "model:\n  units: 4\n  depth: 2\n  unused: 1\n",
        [("replaced-key", "model.depth"), ("dead-key", "model.unused")],
    ),
    "a class derived from EasyDict": (
        (
            "from easydict import EasyDict\nclass Own(EasyDict):\n    def __init__(self, d):\n        super().__init__(d)\n"
            "    @property\n    def double(self):\n        return self.net.units * 2\n"
            "tf.keras.layers.Dense(Own(config).double)"
        ),
        "net:\n  units: 4\n  depth: 2\n",
        [("dead-key", "net.depth")],
    ),
    "only written on a way that is not always taken": (
        "import sys\nif sys.argv[1:]:\n    config['fit']['step'] = 3\ntf.constant(config['fit']['rate'])",
        "fit:\n  rate: 0.1\n  step: 0\n",
        [("dead-key", "fit.step")],
    ),
    "names made in a loop": (
        "for part in ('train', 'valid'):\n    tf.data.Dataset.range(config[f'{part}_count'])",
        "train_count: 3\nvalid_count: 2\ntest_count: 1\n",
        [("dead-key", "test_count")],
    ),
}


@pytest.mark.parametrize(("code", "config", "expected"), READS.values(), ids=READS)
def test_reads_are_followed_through_the_code(
    tmp_path: Path, code: str, config: str, expected: list[tuple[str, str]]
) -> None:
    assert one(tmp_path, code, config) == expected


SILENT = {
    "the whole mapping goes to unknown code": ("import plugin\nplugin.run(config)", "a: 1\nb: {c: 2}\n"),
    "names that are only known at run time": ("import sys\nprint(config[sys.argv[1]] + 1)", "a: 1\nb: 2\n"),
    "a walk over all keys": ("for key, value in config.items():\n    tf.constant(value)", "a: 1\nb: 2\n"),
    "a guard and a default": ("if 'x' in config:\n    tf.constant(config['x'])\ntf.constant(config.get('y', 2) + config['z'])", "z: 1\n"),
    "a handler for what is not there": ("try:\n    n = config['n']\nexcept KeyError:\n    n = 3\ntf.constant(n + config['z'])", "z: 1\n"),
    "anchors": ("tf.constant(config['a']['x'] + config['b']['x'])", "_base: &base\n  x: 1\na: *base\nb:\n  <<: *base\n"),
    "a value under a key that is an object": (
        "place = tf.compat.v1.placeholder('float32')\nfeed = {place: config['rate'] * 2}\ntf.compat.v1.Session().run(place, feed)",
        "rate: 2\n",
    ),
    "where a log goes": (
        "import os\nfrom loguru import logger\nlogger.add(os.path.join(config['logs'], 'a.log'))\nlogger.info(config['logs'])",
        "logs: out\n",
    ),
    "written on a way, and read": (
        "import sys\nif sys.argv[1:]:\n    config['step'] = 3\ntf.constant(config['step'])", "step: 0\n",
    ),
    "hyperparameters that a text may add to": (
        "import sys\nparams = tf.contrib.training.HParams(**config)\nparams.parse(sys.argv[1])\ntf.constant(params.units)",
        "units: 4\n",
    ),
    "hyperparameters that other code gets": (
        "import plugin\nplugin.run(tf.contrib.training.HParams(**config))", "units: 4\ndepth: 2\n",
    ),
    "a name that a text is made of": ("tf.constant(len('%s-%d' % (config['name'], 3)))", "name: a\n"),
    "a table of sections": (
        "import sys\ntf.constant(len({'a': config['a'], 'b': config['b']}[sys.argv[1]]['x']))",
        "a:\n  x: [1]\n  y: 2\nb:\n  x: [2]\n",
    ),
    "a module imported by a name that is not known": (
        "import sys\nmodule = __import__(sys.argv[1])\nmodule.run(config)", "a: 1\nb: 2\n",
    ),
    "a way that only an argument opens": (
        (
            "class Net:\n    def __init__(self, c):\n        self.ratio = c['ratio']\n"
            "    def build(self, boost=False):\n        if boost:\n            tf.keras.layers.Dense(self.ratio)\n"
            "Net(config).build()"
        ),
        "ratio: 2\n",
    ),
    "converted at the read": ("tf.keras.optimizers.Adam(float(config['rate']))", "rate: 1e-3\n"),
}  # fmt: skip


@pytest.mark.parametrize(("code", "config"), SILENT.values(), ids=SILENT)
def test_nothing_is_said_where_it_is_not_sure(tmp_path: Path, code: str, config: str) -> None:
    assert one(tmp_path, code, config) == []


def test_commands_say_which_file_a_program_gets(tmp_path: Path) -> None:
    code = (
        HEAD + "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--config')\n"
        "args = parser.parse_args()\nconfig = yaml.safe_load(open(args.config))\ntf.constant(config['units'])\n"
    )
    found = told(
        tmp_path,
        {
            "train.py": code,
            "conf/a.yaml": "units: 1\nextra: 2\n",
            "other/b.yaml": "units: 3\n",
            "mkdocs.yml": "site_name: x\nnav: []\n",
            "run.sh": "for f in conf/*.yaml; do\n  python train.py --config $f\ndone\n",
        },
    )
    # The second is taken for its keys, the third has none that are read.
    assert found == {"conf/a.yaml": [("dead-key", "extra")], "other/b.yaml": []}


def test_options_of_optparse_name_the_file(tmp_path: Path) -> None:
    code = HEAD + (
        "from optparse import OptionParser\nparser = OptionParser()\n"
        "parser.add_option('-c', '--config', type='string', dest='chosen', default='a.yaml')\n"
        "parser.add_option('-n', type='int', default=3)\n(options, rest) = parser.parse_args()\n"
        "with open(options.chosen) as stream:\n    config = yaml.safe_load(stream)\n"
        "tf.keras.layers.Dense(config['units'] + options.n)\n"
    )
    config = "units: 1\nunused: 2\n"
    found = told(
        tmp_path,
        {"train.py": code, "b.yaml": config, "run.sh": "python train.py -c b.yaml -n 2\n"},
    )
    assert found == {"b.yaml": [("dead-key", "unused")]}


def test_a_file_whose_keys_another_way_asks_for_fits_the_program(tmp_path: Path) -> None:
    code = HEAD + (
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--config', default='one.yaml')\n"
        "def build(c):\n    if c['kind'] == 'flat':\n        tf.keras.layers.Dense(c['units'])\n"
        "    else:\n        tf.keras.layers.Conv2D(c['filters'], c['kernel'], strides=c['strides'])\n"
        "with open(parser.parse_args().config) as stream:\n    build(yaml.safe_load(stream))\n"
    )
    other = "kind: deep\nfilters: 2\nkernel: 3\nstrides: 1\nstridez: 2\n"
    found = told(
        tmp_path,
        {
            "train.py": code,
            "one.yaml": "kind: flat\nunits: 1\n",
            "two.yaml": other,
            "colours.yaml": "red: 1\nblue: 2\nkind: cold\n",
        },
    )
    assert found == {"one.yaml": [], "two.yaml": [("dead-key", "stridez")]}


def test_json_and_toml_are_told_at_their_keys(tmp_path: Path) -> None:
    code = (
        "import json, tomllib\nimport tensorflow as tf\na = json.load(open('a.json'))\n"
        "b = tomllib.load(open('b.toml', 'rb'))\ntf.constant(a['x']['y'] + b['fit']['epochs'])\n"
    )
    found = told(
        tmp_path,
        {
            "train.py": code,
            "a.json": '{"x": {"y": 1, "w": 2}}',
            "b.toml": "[fit]\nepohcs = 2\n",
        },
    )
    assert found == {"a.json": [("dead-key", "x.w")], "b.toml": [("misspelt-key", "fit.epohcs")]}


def test_a_file_that_cannot_be_loaded_is_told_where_it_breaks(tmp_path: Path) -> None:
    code = "import json\nimport tensorflow as tf\ntf.constant(json.load(open('a.json'))['x'])\n"
    found = told(tmp_path, {"train.py": code, "a.json": '{"x": 1,}'})
    assert found == {"a.json": [("not-loadable", "")]}


def test_hydra_composes_groups_and_overrides(tmp_path: Path) -> None:
    code = """
        import hydra
        import tensorflow as tf

        @hydra.main(version_base=None, config_path="conf", config_name="main")
        def main(cfg):
            tf.keras.layers.Dense(cfg.net.units)
            tf.keras.optimizers.Adam(cfg.rate)
            tf.constant(cfg.missing_one)

        if __name__ == "__main__":
            main()
        """
    found = told(
        tmp_path,
        {
            "train.py": code,
            "conf/main.yaml": "defaults:\n  - net: small\n  - _self_\nrate: 0.1\nunused: 1\n",
            "conf/net/small.yaml": "units: 3\nunit: 4\n",
        },
    )
    assert ("dead-key", "unused") in found["conf/main.yaml"]
    assert ("absent-key", "missing_one") in [
        ("absent-key" if c == "missing-key" else c, k) for c, k in found["conf/main.yaml"]
    ]
    assert found["conf/net/small.yaml"] == [("dead-key", "unit")]


def test_a_program_of_another_framework_makes_no_training_config(tmp_path: Path) -> None:
    code = "import torch\nimport yaml\nconfig = yaml.safe_load(open('run.yaml'))\nprint(config['lr'] + 1)\n"
    assert told(tmp_path, {"train.py": code, "run.yaml": "lr: 0.1\nother: 2\n"}) == {}


def test_a_text_that_is_being_written_is_judged_by_the_same_code(tmp_path: Path) -> None:
    from cfgfix.core.source_file import SourceFile

    one(tmp_path, "tf.keras.layers.Dense(config['units'])", "units: 4\nother: 1\n")
    code = ProjectCode(str(tmp_path), lambda _path: False, keep=False)
    path = str(tmp_path / "run.yaml")
    code.all()
    says = code.facts_about(path, SourceFile.from_bytes(b"unitz: 4\n", path))
    assert says is not None
    assert [(check, hit.at.key_path) for check, hit in says.hits] == [("misspelt-key", ("unitz",))]


def test_a_program_made_to_be_slow_ends(tmp_path: Path) -> None:
    loops = "".join(f"{'    ' * depth}for i{depth} in range(60):\n" for depth in range(12))
    code = f"{loops}{'    ' * 12}x = config['units']\ndef f(n):\n    return f(n + 1) + f(n + 2)\nf(0)"
    assert ("dead-key", "units") not in one(tmp_path, code, "units: 4\n")


def test_a_run_that_is_cut_off_inside_an_import_ends_in_order(tmp_path: Path) -> None:
    loops = "".join(
        f"{'    ' * (depth + 1)}for i{depth} in [1, 2, 3, 4, 5, 6, 7, 8, 9]:\n" for depth in range(8)
    )
    found = told(
        tmp_path,
        {
            "train.py": "import sys, yaml\nimport tensorflow as tf\nif sys.argv[1]:\n    import slow\n"
            "config = yaml.safe_load(open('run.yaml'))\ntf.constant(config['a'])\n",
            "slow.py": f"if True:\n{loops}{'    ' * 9}x = i0 + i1\n",
            "run.yaml": "a: 1\n",
        },
    )
    assert found == {}


FLOAT_RULE = '"tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9]+[eE][-+]?[0-9]+$"), list("-+0123456789")'


@pytest.mark.parametrize(
    ("made", "load", "number"),
    [
        ("", "yaml.safe_load(stream)", False),
        ("class L(yaml.SafeLoader):\n    pass\n", "yaml.load(stream, Loader=L)", False),
        (f"L = yaml.SafeLoader\nL.add_implicit_resolver({FLOAT_RULE})\n", "yaml.load(stream, L)", True),
        (f"yaml.SafeLoader.add_implicit_resolver({FLOAT_RULE})\n", "yaml.safe_load(stream)", True),
        (f"yaml.FullLoader.add_implicit_resolver({FLOAT_RULE})\n", "yaml.safe_load(stream)", False),
        (
            f"yaml.add_implicit_resolver({FLOAT_RULE}, Loader=yaml.SafeLoader)\n",
            "yaml.safe_load(stream)",
            True,
        ),
        (f"yaml.add_implicit_resolver({FLOAT_RULE})\n", "yaml.safe_load(stream)", False),
        (f"yaml.add_implicit_resolver({FLOAT_RULE})\n", "yaml.full_load(stream)", True),
        (
            f"def made():\n    loader = yaml.FullLoader\n    loader.add_implicit_resolver({FLOAT_RULE})\n    return loader\n",
            "yaml.load(stream, Loader=made())",
            True,
        ),
        (
            f"class L(yaml.SafeLoader):\n    pass\nL.add_implicit_resolver({FLOAT_RULE})\nclass M(L):\n    pass\n",
            "yaml.load(stream, Loader=M)",
            True,
        ),
        (
            f"class L(yaml.SafeLoader):\n    pass\nyaml.add_implicit_resolver({FLOAT_RULE}, L)\n",
            "yaml.load(stream, Loader=L)",
            True,
        ),
        (
            "class L(yaml.SafeLoader):\n    pass\nL.add_implicit_resolver('!x', re.compile('^x'), ['x'])\n",
            "yaml.load(stream, Loader=L)",
            False,
        ),
    ],
)
def test_a_loader_that_is_told_what_else_is_a_float_reads_numbers(tmp_path, made, load, number):
    code = (
        f"import re\n{HEAD}{made}with open('run.yaml') as stream:\n    config = {load}\n"
        "tf.keras.optimizers.Adam(config['learning_rate'])\n"
    )
    found = told(tmp_path, {"train.py": code, "run.yaml": "learning_rate: 1e-3\n"})
    assert found["run.yaml"] == ([] if number else [("refused-value", "learning_rate")])
