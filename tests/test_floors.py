from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

FLOORS = {
    "errors": 0, "edits": 0, "findings": 0, "files": 0, "caching": 0, "suppressions": 0, "records": 0,
    "documents": 1, "hardware": 1, "catalog": 1,
    "dialects": 2, "schema": 2, "pitfalls": 2, "source": 2,
    "settings_table": 3, "settings": 3, "discovery": 3, "request": 3, "vocabulary": 3, "overrides": 3, "runs": 3, "silence": 3, "baseline": 3, "around": 3, "judge": 3, "fixing": 3, "sourcing": 3, "crossref": 3, "codecases": 3, "engine": 3, "rulecases": 3, "keyuse": 3,
    "advice": 3, "report": 4, "measure": 4, "tf": 4, "scaffold": 4, "diagnose": 4, "settings_schema": 4,
    "cli": 5, "lsp": 5, "__main__": 6,
}  # fmt: skip
"""Which floor each room is on."""
WITHIN = {
    "findings": {"edits", "records"}, "edits": {"records"}, "files": {"errors", "findings", "records"}, "suppressions": {"records"},
    "schema": {"dialects"}, "dialects": set(), "pitfalls": set(), "source": {"dialects", "schema"},
    "documents": set(), "hardware": set(), "catalog": set(),
    "settings": {"settings_table"}, "discovery": {"settings"}, "fixing": set(), "around": {"settings_table"}, "judge": {"around", "silence", "crossref"}, "crossref": {"settings", "sourcing"}, "codecases": {"crossref", "fixing", "judge", "settings"},
    "rulecases": {"judge", "fixing", "overrides", "codecases"}, "keyuse": {"crossref", "discovery", "runs", "settings"},
    "sourcing": {"silence", "discovery", "settings"},
    "request": {"judge", "settings"}, "vocabulary": {"settings"}, "overrides": set(),
    "runs": {"around", "baseline", "crossref", "judge", "request", "settings", "vocabulary"},
    "engine": {"baseline", "crossref", "discovery", "fixing", "judge", "overrides", "request", "runs", "settings", "silence", "sourcing"},
    "advice": set(), "measure": {"report"}, "tf": {"measure"}, "diagnose": {"measure", "tf", "report"}, "cli": {"lsp"},
}  # fmt: skip
"""Which rooms of its own floor a room may use; no circles."""


def room(module: str) -> str | None:
    parts = module.split(".")
    if parts[0] != "cfgfix" or len(parts) == 1:
        return None
    return parts[1]


def imports(path: Path) -> set[str]:
    """Rooms that a file imports, wherever in the file."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = (
                [f"{node.module}.{alias.name}" for alias in node.names]
                if node.module == "cfgfix"
                else [node.module]
            )
        else:
            continue
        found |= {name for name in map(room, names) if name}
    return found


def test_a_room_imports_only_from_floors_below():
    wrong: list[str] = []
    for path in sorted((ROOT / "cfgfix").rglob("*.py")):
        relative = path.relative_to(ROOT / "cfgfix")
        own = relative.parts[0].removesuffix(".py")
        if own in ("__init__", "_data") or own.startswith("_compiled"):
            continue
        assert own in FLOORS, f"{relative} stands on no floor"
        for other in imports(path):
            if other in ("__version__", own) or other.startswith("_"):
                continue
            assert other in FLOORS, f"{relative} imports {other}, which stands on no floor"
            if FLOORS[other] > FLOORS[own] or (
                FLOORS[other] == FLOORS[own] and other not in WITHIN.get(own, set())
            ):
                wrong.append(f"{relative} imports {other}")
    assert not wrong


def test_only_the_command_line_prints_or_exits():
    wrong: list[str] = []
    for path in sorted((ROOT / "cfgfix").rglob("*.py")):
        own = path.relative_to(ROOT / "cfgfix").parts[0]
        if own in ("cli", "lsp", "__main__.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("print", "exit", "quit")
            ):
                wrong.append(f"{path.name}:{node.lineno}")
            if (
                isinstance(node, ast.Attribute)
                and node.attr in ("exit", "_exit")
                and isinstance(node.value, ast.Name)
                and node.value.id in ("sys", "os")
            ):
                wrong.append(f"{path.name}:{node.lineno}")
    assert not wrong


def test_test_modules_have_names_of_their_own():
    places = sorted(Path(__file__).parent.rglob("test_*.py"))
    names = [place.name for place in places]
    assert sorted(set(names)) == sorted(names), "two test modules of one name cannot be collected together"
