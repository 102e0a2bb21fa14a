"""Three readers that do not trust one another, and the trees they give.

cfgfix's own nodes under the project's loader; PyYAML's pure-Python parser, composer and constructors, which are what
`yaml.safe_load` runs; and ruamel.yaml under YAML 1.2. A tree holds mappings as lists of written entries, so that
duplicate keys, merge keys and key order are all in it. Foreign tags are kept as tags and never constructed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cfgfix.config.document.compose import (
    MAPPING,
    SCALAR,
    TAG_PREFIX,
    DataError,
    Document,
    Node,
    Tagged,
    deref,
    is_merge,
)
from cfgfix.config.document.data import Builder
from cfgfix.config.loaders.scalars import LOADERS, Loader, float_rule_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:  # see `nodes`
    from typing import Any


class ReadError(Exception):
    """A reader cannot read the text.

    The message names no position, so that two of them can be compared.
    """


class Slot:
    """One place for a value: an entry of a mapping, an item of a list, or a document.

    Attributes:
        key: The key as the reader constructs it; None outside mappings.
        text: The key as written; None for keys that are no scalars, and outside mappings.
        value: A `Tree` or a plain Python value.
        origin: The reader's node of the value; an alias has the node it stands for.
    """

    __slots__ = ("key", "origin", "text", "value")

    def __init__(self, key: object, text: str | None, value: object, origin: object) -> None:
        self.key = key
        self.text = text
        self.value = value
        self.origin = origin


class Tree:
    """A mapping or a list as written.

    Attributes:
        mapping: Whether it is a mapping.
        tag: The foreign tag it stands under, or None.
        slots: Its entries in order.
    """

    __slots__ = ("mapping", "slots", "tag")

    def __init__(self, *, mapping: bool, tag: str | None = None) -> None:
        self.mapping = mapping
        self.tag = tag
        self.slots: list[Slot] = []


class Foreign:
    """A scalar under a tag that is not YAML's own."""

    __slots__ = ("tag", "text")

    def __init__(self, tag: str, text: str) -> None:
        self.tag = tag
        self.text = text

    def __repr__(self) -> str:
        return f"{self.tag} {self.text!r}"


class _MergeKey:
    """The key of a merge."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<<"


MERGE = _MergeKey()


def _core_tag(tag: str) -> str | None:
    """Return the tag of a collection, or None where it says no more than the default."""
    return None if tag in (TAG_PREFIX + "map", TAG_PREFIX + "seq", "!", "") else tag


class Reader:
    """A reader: its title, its loader, and a function from document to slots."""

    def __init__(self, title: str, loader: Loader, read: Callable[[Document], list[Slot]]) -> None:
        self.title = title
        self.loader = loader
        self.read = read


def _read_nodes(loader: Loader) -> Callable[[Document], list[Slot]]:
    """Return a function that reads a document with cfgfix's own nodes."""

    def read(document: Document) -> list[Slot]:
        if document.problem is not None:
            raise ReadError(document.problem.message)
        done: dict[int, Tree] = {}
        builder = Builder(document.source, loader)

        def value(node: Node) -> object:
            """Read a node that is no alias."""
            if node.kind is SCALAR:
                return scalar(node)
            known = done.get(id(node))
            if known is None:
                known = done[id(node)] = Tree(mapping=node.kind is MAPPING, tag=_core_tag(node.tag or ""))
                if node.kind is MAPPING:
                    for key, item in node.items:
                        name, origin = deref(key), deref(item)
                        made = MERGE if is_merge(key) else value(name)
                        text = name.text if name.kind is SCALAR else None
                        known.slots.append(Slot(made, text, value(origin), origin))
                else:
                    for item in node.items:
                        origin = deref(item)
                        known.slots.append(Slot(None, None, value(origin), origin))
            return known

        def scalar(node: Node) -> object:
            tag = node.tag
            if tag is not None and tag != "!" and not tag.startswith(TAG_PREFIX):
                return Foreign(tag, node.text)
            if not node.style and node.text == "=":
                return "="
            try:
                made = builder.scalar(node)
            except DataError as error:
                raise ReadError(error.message) from None
            return Foreign(str(tag), node.text) if isinstance(made, Tagged) else made

        return [Slot(None, None, value(root), root) for root in document.roots]

    return read


def _read_pyyaml(loader: Loader) -> Callable[[Document], list[Slot]]:
    """Return a function that reads a document with PyYAML's pure-Python loader.

    The loader is taught the project's rules where there are any.
    """

    def read(document: Document) -> list[Slot]:
        import yaml

        reader = _pyyaml_loader(loader)
        try:
            stream = reader(document.source.text)
        except yaml.YAMLError as error:
            # A character that YAML does not allow, in a comment say: the text is refused before anything of it is read.
            raise ReadError(str(error).splitlines()[0][:200]) from None
        slots = []
        try:
            while stream.check_node():
                node = stream.get_node()
                slots.append(Slot(None, None, stream.construct_document(node), node))
        except yaml.MarkedYAMLError as error:
            raise ReadError(f"{error.context or ''} {error.problem or ''}".strip()) from None
        except (yaml.YAMLError, ValueError, OverflowError, KeyError, IndexError, TypeError) as error:
            raise ReadError(f"{type(error).__name__}: {error}"[:200]) from None
        except RecursionError:
            raise ReadError("nested too deep") from None
        finally:
            stream.dispose()
        return slots

    return read


_pyyaml_loaders: dict[str, Any] = {}


def _pyyaml_loader(loader: Loader) -> Any:
    known = _pyyaml_loaders.get(loader.name)
    if known is not None:
        return known
    import yaml

    class Reader(yaml.SafeLoader):
        """PyYAML's loader with trees for collections."""

    _teach_constructor(Reader, yaml.ScalarNode, yaml.MappingNode)
    pattern = float_rule_pattern(loader)
    if pattern is not None:
        Reader.add_implicit_resolver(TAG_PREFIX + "float", pattern, list("-+0123456789."))
    if not loader.timestamps:
        Reader.yaml_implicit_resolvers = {
            first: [(tag, rule) for tag, rule in rules if tag != TAG_PREFIX + "timestamp"]
            for first, rules in Reader.yaml_implicit_resolvers.items()
        }
    _pyyaml_loaders[loader.name] = Reader
    return Reader


def _read_ruamel(document: Document) -> list[Slot]:
    """Read with ruamel.yaml under YAML 1.2."""
    import warnings

    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    reader = YAML(typ="safe", pure=True)
    reader.Constructor = _ruamel_constructor()
    slots: list[Slot] = []
    try:
        with warnings.catch_warnings():
            # A reused anchor is worth a warning to ruamel.yaml; the same text before and after is what counts here.
            warnings.simplefilter("ignore")
            for tree in reader.load_all(document.source.text):
                slots.append(Slot(None, None, tree, tree if isinstance(tree, Tree) else object()))
    except MarkedYAMLError as error:
        raise ReadError(f"{error.context or ''} {error.problem or ''}".strip()) from None
    except (YAMLError, ValueError, OverflowError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise ReadError(f"{type(error).__name__}: {error}"[:200]) from None
    except RecursionError:
        raise ReadError("nested too deep") from None
    return slots


_ruamel_constructors: list[Any] = []


def _ruamel_constructor() -> Any:
    if not _ruamel_constructors:
        from ruamel.yaml.constructor import SafeConstructor
        from ruamel.yaml.nodes import MappingNode, ScalarNode

        class Constructor(SafeConstructor):
            """ruamel.yaml's constructor with trees for collections."""

        _teach_constructor(Constructor, ScalarNode, MappingNode)
        _ruamel_constructors.append(Constructor)
    return _ruamel_constructors[0]


def _teach_constructor(constructor: Any, scalar_node: Any, mapping_node: Any) -> None:
    """Make a PyYAML or ruamel.yaml constructor build trees for collections.

    Scalars under YAML's own tags are left to the constructor.
    """

    def build(loader: Any, node: Any) -> Iterator[object]:
        tree = Tree(mapping=isinstance(node, mapping_node), tag=_core_tag(str(node.tag)))
        yield tree
        if tree.mapping:
            for key_node, value_node in node.value:
                text = key_node.value if isinstance(key_node, scalar_node) else None
                key = loader.construct_object(key_node, deep=True)
                tree.slots.append(Slot(key, text, loader.construct_object(value_node), value_node))
        else:
            for item in node.value:
                tree.slots.append(Slot(None, None, loader.construct_object(item), item))

    def collection(loader: Any, node: Any) -> object:
        # A scalar may stand under the tag of a collection: `!!seq x`.
        if isinstance(node, scalar_node):
            return Foreign(str(node.tag), node.value)
        return build(loader, node)

    def foreign(loader: Any, _suffix: str, node: Any) -> object:
        return collection(loader, node)

    for name in ("map", "seq", "omap", "pairs", "set"):
        constructor.add_constructor(TAG_PREFIX + name, collection)
    constructor.add_constructor(TAG_PREFIX + "merge", lambda _loader, _node: MERGE)
    constructor.add_constructor(TAG_PREFIX + "value", lambda _loader, _node: "=")
    constructor.add_multi_constructor("", foreign)


def readers(loader: Loader) -> tuple[Reader, ...]:
    """Return the three readers for a project's loader, cfgfix's own nodes first."""
    eleven = loader if loader.yaml_version == "1.1" else LOADERS["pyyaml"]
    return (
        Reader(loader.title, loader, _read_nodes(loader)),
        Reader("PyYAML", eleven, _read_pyyaml(eleven)),
        Reader("ruamel.yaml", LOADERS["ruamel"], _read_ruamel),
    )
