"""Make edits with other tools, in an environment of theirs: pairs on standard input, results on standard output.

pip install yamlpath yaml-edit ruamel.yaml        # in a virtual environment of its own
python benchmarks/edit_peers.py --pairs pairs.jsonl --python THAT/bin/python
"""

from __future__ import annotations

import io
import json
import signal
import sys
from typing import Any


class Refused(Exception):  # noqa: N818 - an answer, not a fault
    pass


def enter(data: Any, path: list[Any]) -> Any:
    for step in path:
        data = data[key_of(data, step)]
    return data


def key_of(mapping: Any, step: Any) -> Any:
    """The key that is written like the step: keys of a path are text, those of a tool are values."""
    if isinstance(step, int) or not hasattr(mapping, "keys"):
        return step
    if step in mapping:
        return step
    found = [key for key in mapping if str(key) == step]
    if len(found) != 1:
        raise Refused(f"no key {step!r}")
    return found[0]


def change_data(data: Any, change: dict[str, Any]) -> Any:
    """Make a change on ruamel.yaml's round-trip data."""
    kind, path = change["kind"], change["path"]
    if kind == "insert":
        home = enter(data, path)
        if not hasattr(home, "insert"):
            raise Refused("no mapping")
        position = len(home)
        if change["after"] is not None:
            position = list(home).index(key_of(home, change["after"])) + 1
        home.insert(position, change["key"], change["value"])
        return data
    if not path:
        return change["value"]
    parent = enter(data, path[:-1])
    key = key_of(parent, path[-1])
    if kind == "set":
        parent[key] = change["value"]
    elif kind == "delete":
        del parent[key]
    else:
        position = list(parent).index(key)
        value = parent.pop(key)
        parent.insert(position, change["new"], value)
    return data


def ruamel(text: str, change: dict[str, Any]) -> str:
    from ruamel.yaml import YAML

    tool = YAML()
    tool.preserve_quotes = True
    tool.width = 4096
    documents = list(tool.load_all(text))
    documents[change["document"]] = change_data(documents[change["document"]], change)
    out = io.StringIO()
    if len(documents) == 1:
        tool.dump(documents[0], out)
    else:
        tool.dump_all(documents, out)
    return out.getvalue()


def yamlpath(text: str, change: dict[str, Any]) -> str:
    from types import SimpleNamespace

    from yamlpath import Processor, YAMLPath
    from yamlpath.common import Parsers
    from yamlpath.enums import YAMLValueFormats
    from yamlpath.wrappers import ConsolePrinter

    log = ConsolePrinter(SimpleNamespace(quiet=True, verbose=False, debug=False))
    tool = Parsers.get_yaml_editor()
    tool.width = 4096
    documents = list(tool.load_all(text))
    data = documents[change["document"]]
    kind = change["kind"]
    if kind == "rename":
        raise Refused("it renames no keys")

    def escaped(step: Any) -> str:
        if isinstance(step, int):
            return f"[{step}]"
        return "".join("\\" + char if char in "\\./ '\"[](){}*&!<>=~^$%,:#" else char for char in step)

    steps = [*change["path"], *([change["key"]] if kind == "insert" else [])]
    if kind == "insert" and (change["after"] is not None or isinstance(change["value"], (dict, list))):
        raise Refused("it appends scalars only")
    if not steps:
        raise Refused("it has no path for the document itself")
    path = YAMLPath("/" + "/".join(map(escaped, steps)))
    processor = Processor(log, data)
    if kind == "delete":
        gone = list(processor.delete_nodes(path))
        if not gone:
            raise Refused("nothing matched")
    else:
        processor.set_value(
            path, change["value"], value_format=YAMLValueFormats.DEFAULT, mustexist=kind == "set"
        )
    out = io.StringIO()
    if len(documents) == 1:
        tool.dump(documents[0], out)
    else:
        tool.dump_all(documents, out)
    return out.getvalue()


def yaml_edit(text: str, change: dict[str, Any]) -> str:
    import yaml_edit as tool

    whole = tool.YamlFile.parse(text)
    document = whole[change["document"]]
    kind, path = change["kind"], change["path"]
    node = document.as_mapping() if document.as_mapping() is not None else document.as_sequence()
    if node is None:
        raise Refused("no collection")
    for step in path if kind == "insert" else path[:-1]:
        node = node[step]
        for name in ("as_mapping", "as_sequence"):
            if hasattr(node, name) and getattr(node, name)() is not None:
                node = getattr(node, name)()
                break
    if kind == "insert":
        if change["after"] is None:
            node[change["key"]] = change["value"]
        elif not node.insert_after(change["after"], change["key"], change["value"]):
            raise Refused("no such key")
    elif not path:
        raise Refused("no path for the document itself")
    elif kind == "set":
        node[path[-1]] = change["value"]
    elif kind == "delete":
        del node[path[-1]]
    elif not node.rename_key(path[-1], change["new"]):
        raise Refused("no such key")
    return str(whole)


TOOLS = {"ruamel.yaml round trip": ruamel, "yamlpath": yamlpath, "yaml-edit": yaml_edit}


def main() -> None:
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError("20 s")))
    from importlib.metadata import version

    versions = {name: version(name) for name in ("ruamel.yaml", "yamlpath", "yaml-edit")}
    sys.stdout.write(json.dumps({"versions": versions}) + "\n")
    for line in sys.stdin:
        pair = json.loads(line)
        answers = {}
        for name, tool in TOOLS.items():
            signal.alarm(20)
            try:
                answers[name] = {"after": tool(pair["before"], pair["change"])}
            except BaseException as error:  # noqa: BLE001 - whatever it raises, it made no edit (a Rust panic is none of Exception)
                answers[name] = {"error": f"{type(error).__name__}: {error}"[:200]}
            finally:
                signal.alarm(0)
        sys.stdout.write(json.dumps(answers) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
