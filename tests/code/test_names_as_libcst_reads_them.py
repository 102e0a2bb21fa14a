"""What a call is called, followed through imports, is what libcst says of the same file."""

from __future__ import annotations

import contextlib
import importlib.util
from pathlib import Path
from typing import Any

import libcst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider, QualifiedNameProvider, QualifiedNameSource

from cfgfix.code.inference.flow.flow import Flow, flow_of
from cfgfix.code.model import summary_cache as cache
from cfgfix.code.model.program import Program
from cfgfix.code.model.python_files import find_python
from cfgfix.code.model.values import External

pytestmark = pytest.mark.acceptance


def keras_files() -> list[Path]:
    """Return files that somebody else wrote and that call TensorFlow a good deal."""
    found = importlib.util.find_spec("keras")
    if found is None or not found.submodule_search_locations:
        return []
    folder = Path(found.submodule_search_locations[0]) / "src" / "backend" / "tensorflow"
    return [path for path in sorted(folder.glob("*.py")) if path.stat().st_size < 60_000]


def as_cfgfix_reads(path: Path) -> dict[tuple[int, ...], str]:
    with contextlib.closing(
        cache.SummaryStore("none", [b"tensorflow"], enabled=False, writes=False)
    ) as store:
        program = Program(find_python([str(path)], lambda _: False), store, [b"tensorflow"], {})
        program.scan(1, None)
        Flow(program).run()
        return {
            tuple(site.call.place): site.raw
            for site in flow_of(program).sites
            if site.raw.startswith("tensorflow.")
            and (site.receiver is None or isinstance(site.receiver, External))
        }


def plain(node: Any) -> bool:
    """Tell whether a name is dotted and nothing else: what a call returns has no name."""
    while isinstance(node, libcst.Attribute):
        node = node.value
    return isinstance(node, libcst.Name)


def as_libcst_reads(path: Path) -> dict[tuple[int, ...], set[str]]:
    wrapper = MetadataWrapper(libcst.parse_module(path.read_text(encoding="utf-8")))
    names, places = wrapper.resolve(QualifiedNameProvider), wrapper.resolve(PositionProvider)
    found: dict[tuple[int, ...], set[str]] = {}
    for node, place in places.items():
        if isinstance(node, libcst.Call) and plain(node.func):
            said = names.get(node.func, set())
            said = said() if callable(said) else said
            imported = {item.name for item in said if item.source is QualifiedNameSource.IMPORT}
            if any(name.startswith("tensorflow.") for name in imported):
                found[place.start.line, place.start.column, place.end.line, place.end.column] = imported
    return found


@pytest.mark.skipif(not keras_files(), reason="Keras is not installed")
@pytest.mark.parametrize("path", keras_files(), ids=lambda path: path.stem)
def test_names_are_the_same(path: Path) -> None:
    ours, theirs = as_cfgfix_reads(path), as_libcst_reads(path)
    assert theirs.keys() <= ours.keys()
    assert {spot: ours[spot] for spot, said in theirs.items() if ours[spot] not in said} == {}


def test_there_is_something_to_compare() -> None:
    if importlib.util.find_spec("keras") is None:
        pytest.skip("Keras is not installed")
    assert sum(len(as_libcst_reads(path)) for path in keras_files()[:6]) > 200
