"""A key is dead only if it is proven: every way of a mapping into a class, a call or an expression keeps its keys alive."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.settings.reader import Settings
from cfgfix.usage.checks import project_files, usage_of
from cfgfix.usage.key_uses import LIVE, NEVER, UNSURE

PATHS = [("model", "a"), ("model", "b"), ("train", "a"), ("lr",)]
START = """
import yaml
import external

{before}
def main(path):
    with open(path) as stream:
        cfg = yaml.safe_load(stream)
{body}

if __name__ == "__main__":
    main("c.yaml")
"""


def statuses(folder: Path, before: str, body: str) -> dict[str, str]:
    (folder / "lib.py").write_text("import external\n\nCFG = {}\n")
    (folder / "main.py").write_text(START.format_map({"before": before, "body": body}))
    settings = Settings(root=str(folder))
    usage = usage_of(project_files(settings), settings, None, PATHS, "test", use_cache=False)
    return {".".join(path): use.status for path, use in usage.keys.items()}


WAYS = {
    "Model(cfg) stored read in method": (
        """
class Model:
    def __init__(self, cfg):
        self.cfg = cfg

    def run(self):
        external.go(self.cfg['model']['a'])
""",
        """
    Model(cfg).run()
""",
    ),
    "Trainer(config=cfg)": (
        """
class Trainer:
    def __init__(self, config):
        self.config = config

    def run(self):
        external.go(self.config['model']['a'])
""",
        """
    Trainer(config=cfg).run()
""",
    ),
    "cls(**cfg)": (
        """
class C:
    def __init__(self, model, train, lr):
        self.model = model
        self.lr = lr

    @classmethod
    def load(cls, raw):
        return cls(**raw)
""",
        """
    c = C.load(cfg)
    external.go(c.model['a'])
""",
    ),
    "__dict__.update": (
        """
class C:
    def __init__(self, d):
        self.__dict__.update(d)
""",
        """
    c = C(cfg)
    external.go(c.model['a'])
""",
    ),
    "__dict__ = ": (
        """
class C:
    def __init__(self, d):
        self.__dict__ = d
""",
        """
    c = C(cfg)
    external.go(c.model['a'])
""",
    ),
    "setattr loop recursive": (
        """
class C:
    def __init__(self, d):
        for k, v in d.items():
            if isinstance(v, dict):
                v = C(v)
            setattr(self, k, v)
""",
        """
    c = C(cfg)
    external.go(c.model.a)
""",
    ),
    "dict subclass attr": (
        """
class AttrDict(dict):
    def __getattr__(self, name):
        return self[name]
""",
        """
    c = AttrDict(cfg)
    external.go(c.model['a'])
""",
    ),
    "dict subclass init": (
        """
class Conf(dict):
    def __init__(self, d):
        super().__init__(d)
""",
        """
    c = Conf(cfg)
    external.go(c['model']['a'])
""",
    ),
    "wrapper get(key)": (
        """
class Conf:
    def __init__(self, d):
        self._d = d

    def get(self, key, default=None):
        return self._d.get(key, default)
""",
        """
    c = Conf(cfg)
    external.go(c.get('model')['a'])
""",
    ),
    "dotted": (
        """
class Conf:
    def __init__(self, d):
        self._d = d

    def get(self, path):
        v = self._d
        for k in path.split('.'):
            v = v[k]
        return v
""",
        """
    c = Conf(cfg)
    external.go(c.get('model.a'))
""",
    ),
    "dataclass passed": (
        """
from dataclasses import dataclass

@dataclass
class M:
    a: int
    b: int = 2

class T:
    def __init__(self, m):
        self.m = m
    def run(self):
        external.go(self.m.a)
""",
        """
    T(M(**cfg['model'])).run()
""",
    ),
    "dataclass filter": (
        """
from dataclasses import dataclass, fields

@dataclass
class M:
    a: int
    b: int = 2

    @classmethod
    def make(cls, d):
        names = {f.name for f in fields(cls)}
        return cls(**{k: v for k, v in d.items() if k in names})
""",
        """
    m = M.make(cfg['model'])
    external.go(m.a)
""",
    ),
    "pydantic": (
        """
from pydantic import BaseModel

class M(BaseModel):
    a: int
    b: int = 2

class C(BaseModel):
    model: M
    lr: float = 1
""",
        """
    c = C(**cfg)
    external.go(c.model.a)
""",
    ),
    "attrs": (
        """
import attr

@attr.s(auto_attribs=True)
class M:
    a: int
    b: int = 2
""",
        """
    m = M(**cfg['model'])
    external.go(m.a)
""",
    ),
    "keras Model subclass stored": (
        """
import tensorflow as tf

class M(tf.keras.Model):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg

    def build(self, shape):
        self.d = tf.keras.layers.Dense(self.cfg['model']['a'])
""",
        """
    M(cfg)(1)
""",
    ),
    "lightning super init(cfg)": (
        """
class Base:
    def __init__(self, cfg):
        self.cfg = cfg

class M(Base):
    def __init__(self, cfg):
        super().__init__(cfg)

    def run(self):
        external.go(self.cfg['model']['a'])
""",
        """
    M(cfg).run()
""",
    ),
    "super kwargs": (
        """
class Base:
    def __init__(self, cfg=None, **kw):
        self.cfg = cfg

class M(Base):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)

    def run(self):
        external.go(self.cfg['model']['a'])
""",
        """
    M(cfg=cfg).run()
""",
    ),
    "external base": (
        """
class M(external.Base):
    def __init__(self, cfg):
        super().__init__(cfg)
""",
        """
    M(cfg).run()
""",
    ),
    "external base self.cfg": (
        """
class M(external.Base):
    def __init__(self, cfg):
        self.cfg = cfg
        super().__init__()
""",
        """
    M(cfg).run()
""",
    ),
    "registry decorator": (
        """
REG = {}

def register(cls):
    REG[cls.__name__] = cls
    return cls

@register
class A:
    def __init__(self, cfg):
        self.cfg = cfg
    def run(self):
        external.go(self.cfg['model']['a'])
""",
        """
    REG[path](cfg).run()
""",
    ),
    "new kwargs": (
        """
class A:
    def __init__(self, a, b=1):
        self.a = a
    def run(self):
        external.go(self.a)
""",
        """
    A(**cfg['model']).run()
""",
    ),
    "property": (
        """
class C:
    def __init__(self, d):
        self._d = d

    @property
    def model(self):
        return self._d['model']
""",
        """
    c = C(cfg)
    external.go(c.model['a'])
""",
    ),
    "class attr": (
        """
class C:
    cfg = None
""",
        """
    C.cfg = cfg
    run()

def run():
    external.go(C.cfg['model']['a'])
""",
    ),
    "from_dict": (
        """
class C:
    @classmethod
    def from_dict(cls, d):
        obj = cls()
        obj.d = d
        return obj
    def run(self):
        external.go(self.d['model']['a'])
""",
        """
    C.from_dict(cfg).run()
""",
    ),
    "object_hook": (
        """
import json
from types import SimpleNamespace
""",
        """
    c = json.loads(json.dumps(cfg), object_hook=lambda d: SimpleNamespace(**d))
    external.go(c.model.a)
""",
    ),
    "type()": (
        "",
        """
    c = type('C', (), cfg)
    external.go(c.model['a'])
""",
    ),
    "stored then vars": (
        """
class T:
    def __init__(self, cfg):
        self.cfg = cfg
    def run(self):
        external.go(**vars(self))
""",
        """
    T(cfg).run()
""",
    ),
    "stored then given": (
        """
class T:
    def __init__(self, cfg):
        self.cfg = cfg
    def run(self):
        external.go(self)
""",
        """
    T(cfg).run()
""",
    ),
    "stored, obj returned unknown": (
        """
class T:
    def __init__(self, cfg):
        self.cfg = cfg
""",
        """
    external.go(T(cfg))
""",
    ),
    "mixin": (
        """
class Mixin:
    def run(self):
        external.go(self.cfg['model']['a'])

class T(Mixin):
    def __init__(self, cfg):
        self.cfg = cfg
""",
        """
    T(cfg).run()
""",
    ),
    "subclass elsewhere reads": (
        """
class T:
    def __init__(self, cfg):
        self.cfg = cfg['model']

class U(T):
    def run(self):
        external.go(self.cfg['a'])
""",
        """
    U(cfg).run()
""",
    ),
    "callable": (
        """
class T:
    def __init__(self, cfg):
        self.cfg = cfg
    def __call__(self, x):
        return x * self.cfg['model']['a']
""",
        """
    external.map(T(cfg))
""",
    ),
    "contextmgr": (
        """
class T:
    def __init__(self, cfg):
        self.cfg = cfg
    def __enter__(self):
        return self.cfg
    def __exit__(self, *a):
        pass
""",
        """
    with T(cfg) as c:
        external.go(c['model']['a'])
""",
    ),
    "iter class": (
        """
class T:
    def __init__(self, cfg):
        self.cfg = cfg
    def __iter__(self):
        return iter(self.cfg.items())
""",
        """
    for k, v in T(cfg):
        external.go(k, v)
""",
    ),
    "dataclass post_init": (
        """
from dataclasses import dataclass

@dataclass
class M:
    raw: dict
    def __post_init__(self):
        self.a = self.raw['model']['a']
    def run(self):
        external.go(self.a)
""",
        """
    M(cfg).run()
""",
    ),
    "thread target": (
        """
import threading

class T:
    def __init__(self, cfg):
        self.cfg = cfg
    def run(self):
        external.go(self.cfg['model']['a'])
""",
        """
    threading.Thread(target=T(cfg).run).start()
""",
    ),
    "partial class": (
        """
from functools import partial

class T:
    def __init__(self, x, cfg):
        self.cfg = cfg
    def run(self):
        external.go(self.cfg['model']['a'])
""",
        """
    external.each(partial(T, cfg=cfg))
""",
    ),
    "class loads itself cfg": (
        """
class T:
    def __init__(self, path):
        with open(path) as f:
            self.cfg = yaml.safe_load(f)
        self.setup(**self.cfg['model'])
    def setup(self, a=1, b=2):
        self.a = a
    def run(self):
        external.go(self.a)
""",
        """
    T(path).run()
""",
    ),
    "or empty": (
        "",
        """
    external.go(cfg["model"] or {})
""",
    ),
    "ifexp arg": (
        "",
        """
    external.go(cfg["model"] if path else None)
""",
    ),
    "walrus arg": (
        "",
        """
    external.go(m := cfg["model"])
""",
    ),
    "binary": (
        "",
        """
    external.go(3 * cfg["model"])
""",
    ),
    "binary or merge name": (
        "",
        """
    m = cfg["model"] | {'x': 1}
    external.go(m)
""",
    ),
    "dict call": (
        "",
        """
    external.go(dict(x=cfg["model"]))
""",
    ),
    "json.dumps cli": (
        "",
        """
    import json, subprocess
    subprocess.run(['x', json.dumps(cfg)])
""",
    ),
    "percent": (
        "",
        """
    external.go('%s' % cfg["model"])
""",
    ),
    "yield": (
        """
def gen(cfg):
    yield cfg['model']
""",
        """
    for m in gen(cfg):
        external.go(m)
""",
    ),
    "lambda use": (
        "",
        """
    f = lambda: cfg["model"]
    external.go(f())
""",
    ),
    "global": (
        """
G = None
""",
        """
    global G
    G = cfg["model"]
    use()

def use():
    external.go(G)
""",
    ),
    "locals": (
        "",
        """
    m = cfg["model"]
    external.go(**locals())
""",
    ),
    "comp list": (
        "",
        """
    external.go([x for x in cfg["model"]])
""",
    ),
    "sorted": (
        "",
        """
    external.go(sorted(cfg["model"]))
""",
    ),
    "in": (
        "",
        """
    external.go(path in cfg["model"])
""",
    ),
    "eq": (
        "",
        """
    external.go(cfg["model"] == path)
""",
    ),
    "len": (
        "",
        """
    external.go(len(cfg["model"]))
""",
    ),
    "yaml.dump then subprocess": (
        "",
        """
    import subprocess
    with open('x.yaml', 'w') as f:
        yaml.dump(cfg, f)
    subprocess.run(['train', 'x.yaml'])
""",
    ),
    "wandb.config": (
        "",
        """
    import wandb
    wandb.init(config=cfg)
    c = wandb.config
    external.go(c['model']['a'])
""",
    ),
    "match2": (
        "",
        """
    match cfg["model"]:
        case {'a': a}:
            external.go(a)
""",
    ),
    "json copy": (
        "",
        """
    import json
    c = json.loads(json.dumps(cfg))
    external.go(c['model'])
""",
    ),
    "super dict": (
        """
class C(dict):
    def __init__(self, d):
        super().__init__(d)
        self.x = 1
""",
        """
    c = C(cfg)
    external.go(c['model'])
""",
    ),
    "setattr ext": (
        "",
        """
    setattr(external, 'd', cfg)
""",
    ),
    "attr unknown obj": (
        "",
        """
    o = external.Obj()
    o.cfg = cfg
    o.run()
""",
    ),
    "attr of param": (
        """
def fill(o, m):
    o.cfg = m
""",
        """
    o = external.Obj()
    fill(o, cfg)
    o.run()
""",
    ),
    "class attr cls": (
        """
class C:
    cfg = {}
    @classmethod
    def set(cls, d):
        cls.cfg = d
    @classmethod
    def get(cls):
        return cls.cfg['model']
""",
        """
    C.set(cfg)
    external.go(C.get())
""",
    ),
    "module attr": (
        """
import lib
""",
        """
    lib.CFG = cfg
    external.go(lib.CFG['model'])
""",
    ),
    "rec objectify2": (
        """
class O:
    def __init__(self, **kw):
        for k, v in kw.items():
            setattr(self, k, O(**v) if isinstance(v, dict) else v)
""",
        """
    c = O(**cfg)
    external.go(c.model.a)
""",
    ),
    "object of a dataclass given away": (
        """
from dataclasses import dataclass

@dataclass
class M:
    a: int
    b: int = 2
""",
        """
    m = M(**cfg['model'])
    external.go(m)
""",
    ),
}
"""Before the program, and in it: ways by which `model.a` counts, or may count."""

DEAD = {
    "stored in an object whose reads are known": (
        """
class Model:
    def __init__(self, cfg):
        self.cfg = cfg

    def run(self):
        external.go(self.cfg["model"]["b"])
""",
        "    Model(cfg).run()\n",
    ),
    "stored in a layer of Keras": (
        """
import tensorflow as tf

class Model(tf.keras.Model):
    def __init__(self, cfg):
        super().__init__()
        self.part = cfg["model"]
        self.dense = tf.keras.layers.Dense(self.part["b"])
""",
        "    Model(cfg).fit(external.data())\n",
    ),
    "field of a dataclass that nothing reads": (
        """
from dataclasses import dataclass

@dataclass
class Part:
    a: int
    b: int = 2
""",
        "    part = Part(**cfg['model'])\n    external.go(part.b)\n",
    ),
    "a section that only tests whether it is there": (
        "",
        "    if cfg['model'] is None:\n        external.go(1)\n",
    ),
    "a section of which one key is compared": ("", "    external.go(cfg['model']['b'] == path)\n"),
}


@pytest.mark.parametrize(("before", "body"), WAYS.values(), ids=WAYS.keys())
def test_nothing_is_said_of_a_key_whose_mapping_goes_somewhere(tmp_path, before, body):
    assert statuses(tmp_path, before, body)["model.a"] in (LIVE, UNSURE)


@pytest.mark.parametrize(("before", "body"), DEAD.values(), ids=DEAD.keys())
def test_a_key_that_no_way_leads_to_is_dead(tmp_path, before, body):
    assert statuses(tmp_path, before, body)["model.a"] == NEVER
