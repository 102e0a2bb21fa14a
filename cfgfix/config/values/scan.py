"""One pass over a document for all checks.

Every scalar is looked up once by its text; only the few that are special get a key path and a closer look. Each
scalar gives one finding at most: the first check that speaks ends its turn. A value that a later duplicate key
overrides is not looked at, since nothing reads it.
"""

from __future__ import annotations

import gc

from cfgfix.config.document.compose import Kind as NodeKind
from cfgfix.config.document.compose import Node, is_merge
from cfgfix.config.values import lookalike_words, mappings, texts
from cfgfix.config.values import numbers as numeric
from cfgfix.config.values import setting_names as names
from cfgfix.config.values.context import Context
from cfgfix.config.values.place import Place
from cfgfix.config.values.readings import Kind, readings
from cfgfix.core.findings import KeyPath
from cfgfix.rules.hit import Hit

CHECKS = frozenset({
    "float_without_dot_is_str", "yaml11_bool_word", "norway_in_string_list", "bool_word_as_key", "sexagesimal_int",
    "octal_looking_int", "duplicate_key", "tab_indentation", "null_word_is_str", "empty_value_is_null",
    "merge_key_pitfall", "quoted_bool_or_number", "bool_for_number", "float_for_int", "int_learning_rate",
    "human_number", "version_float_truncation", "double_quoted_backslash", "unsafe_python_tag", "special_plain_start",
})  # fmt: skip
"""Names that `scan` knows."""

_PLAIN = {
    Kind.NUMBER_TEXT: numeric.number_text,
    Kind.BOOL_WORD: lookalike_words.bool_word,
    Kind.BOOL_WORD_TEXT: lookalike_words.bool_word_text,
    Kind.BOOL: numeric.boolean,
    Kind.BASE_60: numeric.base_60,
    Kind.OCTAL: numeric.octal,
    Kind.FLOAT: numeric.floating,
    Kind.INT: numeric.integer,
    Kind.NULL_WORD: lookalike_words.null_word,
    Kind.HUMAN: numeric.human,
}
_INT = Kind.INT
_KEY_WORDS = frozenset(
    spelling
    for word in ("yes", "no", "on", "off", "true", "false", "null")
    for spelling in (word, word.title(), word.upper())
)
"""Keys that may be no text for some loader; the loader's resolver then says."""
_SCALAR, _MAPPING, _SEQUENCE = NodeKind.SCALAR, NodeKind.MAPPING, NodeKind.SEQUENCE


def scan(context: Context, wanted: frozenset[str]) -> dict[str, list[Hit]]:
    """Return the hits of the wanted checks by check name, in text order.

    A file that does not load gives only what is known about its fault. Nothing is raised for bad input.
    """
    found: dict[str, list[Hit]] = {name: [] for name in wanted & CHECKS}
    if not found:
        return {}
    walk = _DocumentWalk(context, found)
    enabled = gc.isenabled()
    # Nothing made here forms a circle, and one collection in between visits every node of the document.
    gc.disable()
    try:
        walk.file()
    finally:
        if enabled:
            gc.enable()
    return found


class _DocumentWalk:
    """The state of one pass; the key path is one list, copied only for a hit."""

    def __init__(self, context: Context, found: dict[str, list[Hit]]) -> None:
        self.context = context
        self.found = found
        self.document = 0
        self.path: list[str | int] = []
        self.readings = readings(context.loader)
        self._builds: bool | None = None
        """Whether the file is for a loader that builds what it names."""

    def add(self, name: str, hit: Hit) -> None:
        """Keep a hit if its check is wanted."""
        hits = self.found.get(name)
        if hits is not None:
            hits.append(hit)

    def file(self) -> None:
        """Look at the tabs and documents of a file, or at its fault if it does not load."""
        document = self.context.document
        if document.problem is not None:
            from cfgfix.config.values import broken

            for name, hit in broken.problems(self.context):
                self.add(name, hit)
            return
        if "\t" in document.source.text:
            from cfgfix.config.values import broken

            for name, hit in broken.separating_tabs(self.context):
                self.add(name, hit)
        for number, root in enumerate(document.roots):
            self.document = number
            if root.kind is not _SCALAR:
                self.collection(root)

    def collection(self, node: Node) -> None:
        """Look at a mapping or sequence and everything in it.

        Nesting is bounded when a document is composed.
        """
        if node.tag is not None and node.tag.startswith(texts.PYTHON_TAG):
            self.tagged(node)
        if node.kind is _MAPPING:
            self.mapping(node)
        elif node.kind is _SEQUENCE:
            path = self.path
            path.append(0)
            readings_of = self.readings
            for index, item in enumerate(node.items):
                if item.kind is _SCALAR:
                    if item.tag is None:
                        reading = readings_of[item.text]
                        if item.style:
                            if reading is None and item.text.isprintable():
                                continue
                        elif reading is None or reading.ordinary:
                            continue
                    path[-1] = index
                    self.scalar(item, node, None)
                    continue
                path[-1] = index
                if item.items:
                    self.collection(item)
                elif item.tag is not None:
                    self.tagged(item)
            path.pop()

    def mapping(self, node: Node) -> None:
        """Look at the keys of a mapping, then at its values."""
        readings_of = self.readings
        items = node.items
        skipped: frozenset[int] | set[int] = frozenset()
        keys = {key.text for key, _value in items}
        # Digits, signs, quotes and `<` sort before letters, so the smallest key tells whether all are plain names.
        if len(keys) != len(items) or not keys.isdisjoint(_KEY_WORDS) or (keys and min(keys) < "A"):
            skipped = self.keys(node)
        if skipped:
            items = [
                (key, value)
                for position, (key, value) in enumerate(items)
                if position not in skipped or not (value.kind is _SCALAR or value.items)
            ]
        path = self.path
        may_be_rate = names.may_be_rate
        tails = self.context.tails
        path.append("")
        for key, value in items:
            if value.kind is _SCALAR:
                # The common case, kept free of calls: ordinary text or an ordinary number.
                text = value.text
                if value.tag is None:
                    reading = readings_of[text]
                    if value.style:
                        if reading is None and text.isprintable():
                            continue
                    elif reading is None or (reading.ordinary and not may_be_rate(key.text)):
                        continue
                    elif reading.known_place and tails is not None and key.kind is _SCALAR:
                        name = key.text
                        if name not in tails and not names.is_version(name):
                            continue
                path[-1] = key.text if key.kind is _SCALAR else self.key_text(key)
                self.scalar(value, node, key)
            elif value.items:
                path[-1] = key.text if key.kind is _SCALAR else self.key_text(key)
                self.collection(value)
            elif value.tag is not None:
                path[-1] = key.text if key.kind is _SCALAR else self.key_text(key)
                self.tagged(value)
        path.pop()

    def key_text(self, key: Node) -> str:
        """Return the source text of a key that is no scalar, for a key path."""
        from cfgfix.config.document.compose import key_text

        return key_text(key, self.context.document.source)

    def keys(self, node: Node) -> set[int]:
        """Look at the keys of a mapping; return the positions of overridden entries.

        Looked for are duplicate keys, merge keys and keys that load as a bool.
        """
        overridden: set[int] = set()
        path: KeyPath = tuple(self.path)
        for positions in mappings.duplicates(node, self.context).values():
            overridden.update(positions[:-1])
            self.add(*mappings.duplicate_key(node, positions, self.context, path, self.document))
        if any(is_merge(key) for key, _value in node.items):
            for name, hit in mappings.merges(node, self.context, path):
                self.add(name, hit)
        for position, (key, _value) in enumerate(node.items):
            if key.kind is not _SCALAR or key.style or key.tag is not None or position in overridden:
                continue
            reading = self.readings[key.text]
            if reading is not None and reading.kind == Kind.BOOL_WORD:
                self.add(
                    *lookalike_words.bool_key(self.context, key, (*path, key.text), reading, self.document)
                )
        return overridden

    def scalar(self, node: Node, parent: Node, key: Node | None) -> None:
        """Look at one scalar value."""
        style = node.style
        if node.tag is not None:
            self.tagged(node)
            return
        if not style:
            reading = self.readings[node.text]
            if reading is None:
                return
            kind = reading.kind
            if reading.ordinary and (kind is not _INT or key is None):
                return
            place = Place(self.context, node, tuple(self.path), parent, self.document)
            if kind == Kind.EMPTY:
                result = lookalike_words.empty(place, key) if key is not None else None
            elif kind == Kind.EQUALS:
                result = texts.equals_sign(place)
            else:
                result = _PLAIN[kind](place, reading)
        elif style in "'\"":
            text = node.text
            reading = self.readings[text] if len(text) <= 40 and "\n" not in text else None
            escaped = style == '"' and not text.isprintable()
            if reading is None and not escaped:
                return
            place = Place(self.context, node, tuple(self.path), parent, self.document)
            result = texts.escaped_path(place) if escaped else None
            if result is None and reading is not None:
                result = lookalike_words.quoted(place, reading)
        else:
            return
        if result is not None:
            self.add(*result)

    def tagged(self, node: Node) -> None:
        """Look at the tag of a node."""
        if node.tag is not None and node.tag.startswith(texts.PYTHON_TAG):
            if self._builds is None:
                self._builds = texts.HYPERPYYAML.search(self.context.document.source.text) is not None
            if self._builds:
                return
            result = texts.python_tag(self.context, node, tuple(self.path))
            if result is not None:
                self.add(*result)
