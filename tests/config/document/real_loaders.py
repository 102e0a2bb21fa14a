"""What the real PyYAML, ruamel.yaml, OmegaConf's and Model Garden's loaders give, for tests to compare with."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml
from ruamel.yaml import YAML
from ruamel.yaml import nodes as ruamel_nodes
from ruamel.yaml.constructor import SafeConstructor

from cfgfix.config.document.compose import Tagged


class OmegaConfLoader(yaml.SafeLoader):
    """As `omegaconf._utils.get_yaml_loader` makes it, duplicate keys aside."""


OmegaConfLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        """^(?:
         [-+]?(?:[0-9][0-9_]*)\\.[0-9_]*(?:[eE][-+]?[0-9]+)?
        |[-+]?(?:[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)
        |\\.[0-9_]+(?:[eE][-+][0-9]+)?
        |[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\\.[0-9_]*
        |[-+]?\\.(?:inf|Inf|INF)
        |\\.(?:nan|NaN|NAN))$""",
        re.VERBOSE,
    ),
    list("-+0123456789."),
)


class FloatsLoader(yaml.SafeLoader):
    """As projects write it who add that pattern to PyYAML."""


FloatsLoader.yaml_implicit_resolvers = {
    first: list(rules) for first, rules in OmegaConfLoader.yaml_implicit_resolvers.items()
}
OmegaConfLoader.yaml_implicit_resolvers = {
    first: [(tag, rule) for tag, rule in rules if tag != "tag:yaml.org,2002:timestamp"]
    for first, rules in OmegaConfLoader.yaml_implicit_resolvers.items()
}


class ModelGardenLoader(yaml.SafeLoader):
    """As `official/modeling/hyperparams/params_dict.py` makes it, doubled backslashes included."""


ModelGardenLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"""
    ^(?:[-+]?(?:[0-9][0-9_]*)\\.[0-9_]*(?:[eE][-+]?[0-9]+)?
    |
    [-+]?(?:[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)
    |
    \\.[0-9_]+(?:[eE][-+][0-9]+)?
    |
    [-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\\.[0-9_]*)$""",
        re.VERBOSE,
    ),
    list("-+0123456789."),
)


class UniqueKeyLoader(yaml.SafeLoader):
    """As projects write it who do not want PyYAML to drop a key that is given twice."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen = [self.construct_object(key, deep=True) for key, _ in node.value]
        if len(seen) != len(set(seen)):
            raise yaml.constructor.ConstructorError(None, None, "duplicate key", node.start_mark)
        return super().construct_mapping(node, deep=deep)


FAILS = object()
"""Stands for the value of a scalar on which the loader fails."""


def _pyyaml_scalar(loader: Any) -> Callable[[str], tuple[str, object]]:
    def scalar(text: str) -> tuple[str, object]:
        reader = loader("")
        tag = reader.resolve(yaml.ScalarNode, text, (True, False))
        name = tag.rsplit(":", 1)[1]
        if name in ("merge", "value"):
            return name, text
        try:
            return name, reader.construct_object(yaml.ScalarNode(tag, text))
        except Exception:  # noqa: BLE001 - whatever it raises, it fails
            return name, FAILS

    return scalar


_RUAMEL = YAML(typ="safe", pure=True)
_RUAMEL_CONSTRUCTOR, _ = _RUAMEL.get_constructor_parser("")


def _ruamel_scalar(text: str) -> tuple[str, object]:
    tag = _RUAMEL.resolver.resolve(ruamel_nodes.ScalarNode, text, (True, False))
    name = str(tag).rsplit(":", 1)[1]
    if name in ("merge", "value"):
        return name, text
    try:
        return name, _RUAMEL_CONSTRUCTOR.construct_object(ruamel_nodes.ScalarNode(tag, text))
    except Exception:  # noqa: BLE001 - whatever it raises, it fails
        return name, FAILS
    finally:
        _RUAMEL_CONSTRUCTOR.recursive_objects.clear()
        _RUAMEL_CONSTRUCTOR.constructed_objects.clear()


REAL_SCALARS: dict[str, Callable[[str], tuple[str, object]]] = {
    "pyyaml": _pyyaml_scalar(yaml.SafeLoader),
    "pyyaml-full": _pyyaml_scalar(yaml.FullLoader),
    "pyyaml-unsafe": _pyyaml_scalar(yaml.Loader),
    "pyyaml-unique": _pyyaml_scalar(UniqueKeyLoader),
    "pyyaml-floats": _pyyaml_scalar(FloatsLoader),
    "omegaconf": _pyyaml_scalar(OmegaConfLoader),
    "model-garden": _pyyaml_scalar(ModelGardenLoader),
    "ruamel": _ruamel_scalar,
}


def same_value(first: object, second: object) -> bool:
    """Equal in type, value and, for dictionaries, order; nan equals nan, and 0.0 is not -0.0."""
    if isinstance(first, dict) and isinstance(second, dict):
        return len(first) == len(second) and all(
            same_value(one, other) and same_value(first[one], second[other])
            for one, other in zip(first, second, strict=True)
        )
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        return len(first) == len(second) and all(map(same_value, first, second))
    if isinstance(first, Tagged) and isinstance(second, Tagged):
        return first.tag == second.tag and same_value(first.value, second.value)
    if isinstance(first, (set, frozenset)):
        return first == second
    if hasattr(first, "isoformat"):
        # ruamel.yaml has a subclass of datetime.
        return isinstance(second, type(first)) and first == second and str(first) == str(second)
    return type(first) is type(second) and repr(first) == repr(second)


def _foreign(loader: Any, _suffix: str, node: Any) -> Any:
    kind = type(node).__name__
    if kind == "ScalarNode":
        return Tagged(str(node.tag), node.value)
    if kind == "SequenceNode":
        return Tagged(str(node.tag), loader.construct_sequence(node, deep=True))
    return Tagged(str(node.tag), loader.construct_mapping(node, deep=True))


class ForeignLoader(yaml.SafeLoader):
    """`yaml.safe_load` that keeps foreign tags as `Tagged`."""


class _ForeignConstructor(SafeConstructor):
    pass


for _class in (ForeignLoader, _ForeignConstructor):
    # Everything YAML itself does not define; its own kinds have constructors of their own, which come first.
    _class.add_multi_constructor("!", _foreign)
    _class.add_multi_constructor("tag:yaml.org,2002:python/", _foreign)
    _class.add_multi_constructor("tag:example", _foreign)
    _class.add_multi_constructor("tag:clarkevans", _foreign)


def load_pyyaml(text: str) -> list[Any]:
    """Every document of a text as `yaml.safe_load` gives it."""
    return list(yaml.load_all(text, Loader=ForeignLoader))


def load_ruamel(text: str) -> list[Any]:
    """Every document of a text as `YAML(typ="safe", pure=True)` gives it."""
    reader = YAML(typ="safe", pure=True)
    reader.Constructor = _ForeignConstructor
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(reader.load_all(text))


REAL_LOADS: dict[str, Callable[[str], list[Any]]] = {"pyyaml": load_pyyaml, "ruamel": load_ruamel}


def configs(shared: Path) -> list[Path]:
    """The real configurations, in a fixed order."""
    return sorted(path for path in (shared / "corpus" / "configs").rglob("*.y*ml") if path.is_file())


def suite(shared: Path) -> list[Path]:
    """The inputs of the YAML test suite, in a fixed order."""
    return sorted((shared / "corpus" / "yaml-test-suite" / "data").rglob("in.yaml"))


def scalars(root: Any) -> Iterator[Any]:
    """Every scalar node below a node, keys included."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.kind == 0:
            yield node
        elif node.kind == 1:
            waiting.extend(child for pair in node.items for child in pair)
        elif node.kind == 2:
            waiting.extend(node.items)
