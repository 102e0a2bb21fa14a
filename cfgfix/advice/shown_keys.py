"""The keys of a config in any format that is read, each with its line and value as a reader sees them."""

from __future__ import annotations

import json

from cfgfix.config.document.compose import Document, compose
from cfgfix.core.findings import KeyPath
from cfgfix.core.records import dataclass
from cfgfix.core.source_file import SourceFile
from cfgfix.usage.config_files import ConfigFile, DocumentStep, Entry, Unread

MAX_SHOWN = 60
"""Most characters of a value that are shown."""


@dataclass(frozen=True, slots=True)
class ShownKey:
    """A key of a config, with its line and value for a reader.

    Attributes:
        path: Its key path, inside the document that holds it.
        line: Where it stands.
        value: What the file says, where that is one line.
        is_section: Whether it holds further keys.
    """

    path: KeyPath
    line: int
    value: str
    is_section: bool


def shown_keys(file: ConfigFile, loader: str) -> tuple[ShownKey, ...]:
    """Return the keys of a config in the order of the file.

    Items of lists are no keys, unless they are mappings.
    """
    tree = file.documents(loader) or file.tree(loader)[0]
    found: dict[KeyPath, ShownKey] = {}
    for entry in tree.walk() if tree is not None else ():
        path = entry.path[1:] if entry.path and isinstance(entry.path[0], DocumentStep) else entry.path
        if path and (isinstance(path[-1], str) or entry.kind == "map"):
            line, _ = file.source.position(entry.key[0])
            found.setdefault(path, ShownKey(path, line, _entry_text(file.source, entry), entry.kind == "map"))
    return tuple(found.values())


def _entry_text(source: SourceFile, entry: Entry) -> str:
    if entry.kind == "map":
        return ""
    lines = source.text[slice(*entry.value)].splitlines()
    return lines[0][:MAX_SHOWN] if len(lines) == 1 else ""


def as_yaml(file: ConfigFile, loader: str) -> Document:
    """Return a config of any format as a YAML document.

    For TOML or INI the document has the values of the file, but not its places.
    """
    if file.form in ("yaml", "json"):
        return file.document
    tree, _ = file.tree(loader)
    text = json.dumps(_entry_data(tree), ensure_ascii=False) if tree is not None else ""
    return compose(SourceFile.from_bytes(text.encode("utf-8", "surrogatepass"), file.path))


def _entry_data(entry: Entry) -> object:
    if entry.kind == "map":
        return {str(name): _entry_data(child) for name, child in entry.children}
    if entry.kind == "list":
        return [_entry_data(child) for _, child in entry.children]
    plain = isinstance(entry.raw, (bool, int, float, str)) or entry.raw is None
    return entry.raw if plain and not isinstance(entry.raw, Unread) else str(entry.raw)
