"""Draw names and docstrings for a reader who has not seen the code: `python benchmarks/names.py --seed N [--count 60]`.

Names are those of modules, classes and functions, private ones included, with their signatures; docstrings are of other definitions than
the names drawn and stand without their name. A reader counts how many took a second reading; `trips.md` has the counts.
"""

from __future__ import annotations

import argparse
import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "cfgfix"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Definition:
    """A module, class or function: how it is written and what its docstring says."""

    title: str
    docstring: str


def definitions(folder: Path) -> Iterator[Definition]:
    """Yield the modules, classes and functions below a folder; none inside functions, and no special methods."""
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if not path.name.startswith("__"):
            name = path.relative_to(folder.parent).with_suffix("").as_posix().replace("/", ".")
            yield Definition(f"module {name}", docstring(tree))
        yield from defined_in(tree, "")


def defined_in(node: ast.Module | ast.ClassDef, owner: str) -> Iterator[Definition]:
    """Yield what a module or class defines."""
    for item in node.body:
        if isinstance(item, FUNCTIONS) and not item.name.startswith("__"):
            yield Definition(signature(item, owner), docstring(item))
        elif isinstance(item, ast.ClassDef):
            bases = ", ".join(ast.unparse(base) for base in item.bases)
            yield Definition(f"class {owner}{item.name}" + (f"({bases})" if bases else ""), docstring(item))
            yield from defined_in(item, f"{owner}{item.name}.")


def signature(function: ast.FunctionDef | ast.AsyncFunctionDef, owner: str) -> str:
    """Return a function's name with its class, parameters and result."""
    result = f" -> {ast.unparse(function.returns)}" if function.returns is not None else ""
    kind = (
        "property "
        if any("property" in ast.unparse(item) for item in function.decorator_list)
        else "async def "
        if isinstance(function, ast.AsyncFunctionDef)
        else "def "
    )
    return f"{kind}{owner}{function.name}({ast.unparse(function.args)}){result}"


def docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return the first paragraph of a docstring as one line."""
    return " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split())


def main() -> None:
    """Print the names and docstrings that a seed draws."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=60, help="how many of each")
    options = parser.parse_args()
    every = list(definitions(PACKAGE))
    chooser = random.Random(options.seed)  # noqa: S311 - it draws a sample, no secret
    chooser.shuffle(every)
    names, rest = every[: options.count], every[options.count :]
    described = [item for item in rest if item.docstring][: options.count]
    print(f"# Names ({len(every):,} definitions, seed {options.seed})\n")
    for number, item in enumerate(names, 1):
        print(f"{number}. {item.title}")
    print("\n# Docstrings\n")
    for number, item in enumerate(described, 1):
        print(f"{number}. {item.docstring}")


if __name__ == "__main__":
    main()
