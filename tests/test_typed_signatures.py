"""`Any` stands in signatures only at borders: where data of another program, or of any shape, comes in or goes out."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "cfgfix"
BORDERS = {
    "advice": (14, "values of configs and of JSON"),
    "cli": (63, "what click hands on, JSON, values of configs"),
    "code": (3, "values of configs"),
    "code.checks": (10, "constants of Python"),
    "code.fixes": (22, "nodes of ast and libcst"),
    "code.inference": (56, "constants of Python, values of configs"),
    "code.model": (65, "nodes of ast, packed summaries, constants of Python"),
    "code.tensorflow": (18, "tables in JSON, constants of Python"),
    "config.compose": (1, "values of configs"),
    "config.dialects": (25, "dialects in YAML, values of configs"),
    "config.document": (19, "objects of PyYAML and ruamel.yaml, values of configs"),
    "config.schema": (96, "JSON Schema, values of configs"),
    "core": (23, "packed records, JSON, parsed files of any language"),
    "diagnose": (39, "JSON of measured runs, values of configs"),
    "hardware": (12, "JSON of tools and saved profiles"),
    "lint": (25, "cases of rule files, values of configs"),
    "lint.checkers": (2, "JSON Schema"),
    "lsp": (4, "messages of editors"),
    "measure": (177, "objects of TensorFlow, JSON of child processes"),
    "output": (40, "JSON, SARIF and the like"),
    "rules": (45, "rule files, operands of expressions"),
    "settings": (11, "settings in TOML"),
    "tf": (129, "objects of TensorFlow and of the user's program"),
    "usage": (47, "packed answers, values of configs, constants of Python"),
}
"""For each package how many functions have `Any` in their signature, and what they meet. The numbers only go down."""


def functions_with_any() -> Counter[str]:
    """Return how many functions of each package have `Any` in their signature."""
    found: Counter[str] = Counter()
    for path in sorted(PACKAGE.rglob("*.py")):
        package = ".".join(path.relative_to(PACKAGE).parts[:-1][:2])
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            given = node.args
            every = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
            annotations = [node.returns, *(item.annotation for item in every if item is not None)]
            found[package] += any(
                isinstance(part, ast.Name) and part.id == "Any"
                for annotation in annotations
                if annotation is not None
                for part in ast.walk(annotation)
            )
    return +found


def test_any_stands_in_signatures_only_at_borders():
    found = functions_with_any()
    more = {package: count for package, count in found.items() if count > BORDERS.get(package, (0, ""))[0]}
    assert not more, "name the type, or say which border it is"
