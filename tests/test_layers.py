from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

LAYERS = (
    {"core"},
    {"rules", "hardware"},
    {"code"},
    {"config"},
    {"settings"},
    {"usage"},
    {"lint"},
    {"output", "advice", "measure", "tf", "diagnose"},
    {"lsp", "cli"},
    {"__main__"},
)
"""The packages, lowest first: a package imports from the layers below its own."""
BESIDE = {("tf", "measure"), ("diagnose", "measure"), ("diagnose", "tf"), ("cli", "lsp")}
"""Which package imports from which of its own layer."""
INSIDE = {
    "code": ("tensorflow", "model", "inference", "fixes", "checks", "finding_maker", "scan", "language"),
    "config": ("loaders", "document", "dialects", "schema", "values", "compose"),
}
"""The parts of the two big packages, lowest first."""
BUILT = {"_data", "_compiled"}
"""What only a built package has."""


def modules(root: Path) -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in sorted((root / "cfgfix").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if parts[1] not in BUILT:
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(text: str, known: Mapping[str, Path]) -> set[str]:
    """Modules that a text imports: in functions and for types, too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, "imports name the whole module"
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                found.add(name if name in known else node.module)
    return {name for name in found if name.partition(".")[0] == "cfgfix"}


def started(text: str, known: Mapping[str, Path]) -> set[str]:
    """Modules that texts in a text name: what is handed to another interpreter, or imported by name."""
    found: set[str] = set()
    if not re.search(
        r"^(?!\s*(?:from|import) ).*\bcfgfix\.\w", text, re.MULTILINE
    ):  # most texts are not worth parsing
        return found
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= set(re.findall(r"(?<![\w.])cfgfix(?:\.\w+)+", node.value)) & known.keys()
    return found


@functools.cache
def graph(root: Path) -> dict[str, set[str]]:
    known = modules(root)
    return {name: imports(path.read_text(encoding="utf-8"), known) - {name} for name, path in known.items()}


def wrong_imports(arrows: Mapping[str, set[str]]) -> Iterator[str]:
    """Imports that no layer allows."""
    layer = {package: number for number, packages in enumerate(LAYERS) for package in packages}
    for module, others in arrows.items():
        own = module.split(".")[1:]
        for other in sorted(others):
            parts = other.split(".")[1:]
            if not own or not parts:
                continue
            here, there = own[0], parts[0]
            if here != there:
                if layer[there] > layer[here] or (
                    layer[there] == layer[here] and (here, there) not in BESIDE
                ):
                    yield f"{module} imports {other}"
            elif here in INSIDE and len(own) > 1 and len(parts) > 1:
                order = INSIDE[here].index
                if order(parts[1]) > order(own[1]):
                    yield f"{module} imports {other}"


def circles(arrows: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of modules that need one another."""
    needs: dict[str, set[str]] = {}
    for module in arrows:
        reached: set[str] = set()
        pending = [module]
        while pending:
            for other in arrows.get(pending.pop(), ()):
                if other not in reached:
                    reached.add(other)
                    pending.append(other)
        needs[module] = reached
    groups = {
        tuple(sorted(other for other in reached if module in needs.get(other, ())))
        for module, reached in needs.items()
        if module in reached
    }
    return [list(group) for group in sorted(groups)]


def test_the_top_level_holds_packages_and_two_files():
    names = {path.name for path in (ROOT / "cfgfix").iterdir()} - BUILT - {"__pycache__"}
    packages = set().union(*LAYERS) - {"__main__"}
    assert names == packages | {"__init__.py", "__main__.py", "py.typed"}


def test_the_parts_of_the_big_packages_are_all_known():
    for package, parts in INSIDE.items():
        names = {path.stem for path in (ROOT / "cfgfix" / package).iterdir()} - {"__pycache__", "__init__"}
        assert names == set(parts)


def test_every_package_has_an_init_file_that_says_what_it_is():
    for folder in {path.parent for path in modules(ROOT).values()}:
        init = folder / "__init__.py"
        assert init.is_file(), f"{folder} is no package"
        assert ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))), f"{init} says nothing"


def test_a_package_imports_only_from_layers_below():
    assert not list(wrong_imports(graph(ROOT)))


def test_a_package_starts_nothing_of_the_layers_above():
    known = modules(ROOT)
    assert not list(
        wrong_imports({name: started(path.read_text("utf-8"), known) for name, path in known.items()})
    )


def test_no_modules_import_one_another():
    assert not circles(graph(ROOT))


def test_imports_in_functions_and_for_types_count(tmp_path):
    for name, text in {
        "core/low.py": "def late():\n    from cfgfix.cli.high import main\n",
        "cli/high.py": "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from cfgfix.core import low\n",
        "code/model/node.py": "import cfgfix.code.checks.use\n",
        "code/checks/use.py": "",
        "tf/run.py": "from cfgfix.diagnose.live import probe\n",
        "diagnose/live.py": "from cfgfix.tf.run import go\n",
    }.items():
        place = tmp_path / "cfgfix" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    known = modules(tmp_path)
    program = "child = ['-c', 'from cfgfix.cli.high import main; main()']"
    assert list(wrong_imports({"cfgfix.core.low": started(program, known)})) == [
        "cfgfix.core.low imports cfgfix.cli.high"
    ]
    arrows = graph(tmp_path)
    assert sorted(wrong_imports(arrows)) == [
        "cfgfix.code.model.node imports cfgfix.code.checks.use",
        "cfgfix.core.low imports cfgfix.cli.high",
        "cfgfix.tf.run imports cfgfix.diagnose.live",
    ]
    assert circles(arrows) == [
        ["cfgfix.cli.high", "cfgfix.core.low"],
        ["cfgfix.diagnose.live", "cfgfix.tf.run"],
    ]


def test_only_the_command_line_prints_or_exits():
    wrong: list[str] = []
    for path in modules(ROOT).values():
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


GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
TREE = {
    path.parent.relative_to(ROOT / "cfgfix").as_posix()
    for path in modules(ROOT).values()
    if path.name == "__init__.py" and path.parent != ROOT / "cfgfix"
}
"""Every package below `cfgfix/`, as its path there."""
OF_USERS = {"setup.py", "docker"}
"""What pages name of a user's project."""


def rows(heading: str) -> list[list[str]]:
    """The rows of the table under a heading of the guide, without those that name the columns."""
    section = GUIDE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def packages_in(text: str) -> list[str]:
    return re.findall(r"`(\w+)/`", text)


def test_the_guide_draws_the_layers_as_they_are():
    drawn: dict[int, set[str]] = {}
    for layer, packages, _ in rows("The house"):
        drawn.setdefault(int(layer), set()).update(packages_in(packages))
    assert [drawn[number] for number in sorted(drawn)] == [set(layer) for layer in LAYERS[:-1]]


def test_the_guide_names_every_package_in_the_row_of_its_layer_and_no_other():
    for _, packages, text in rows("The house"):
        tops = packages_in(packages)
        inner = {path for path in TREE if path.partition("/")[0] in tops and "/" in path}
        assert sorted(path.rpartition("/")[2] for path in inner) == sorted(packages_in(text)), tops


def test_the_guide_orders_the_parts_of_the_big_packages():
    for package, parts in INSIDE.items():
        (text,) = (text for _, packages, text in rows("The house") if packages == f"`{package}/`")
        named = [name for name in re.findall(r"`(\w+)/?`", text) if name in parts]
        assert named == list(parts)


def test_what_pages_for_contributors_name_is_there():
    """Paths stand from the top, from `cfgfix/` or from `cfgfix/code/`; a name alone may be of any file."""
    files = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if ".venv" not in path.parts]
    lost = []
    for page in ("CONTRIBUTING.md", "docs/source-checks.md", "docs/write-a-rule.md"):
        text = re.sub(r"```.*?```", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
        named = re.findall(r"`((?:\w[\w.-]*/)*\w[\w.-]*\.(?:py|md|json))`|`((?:\w[\w.-]*/)+)`", text)
        for name in (first or second.rstrip("/") for first, second in named):
            if name not in OF_USERS and not any(f"/{path}".endswith(f"/{name}") for path in files):
                lost.append(f"{page}: {name}")
    assert not lost


def test_every_word_of_the_glossary_is_a_word_of_the_code():
    used: set[str] = set()
    for path in modules(ROOT).values():
        names = [path.parent.name, path.stem]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                names.append(node.name)
            elif isinstance(node, (ast.arg, ast.alias)):
                names.append(node.arg if isinstance(node, ast.arg) else node.name)
            elif isinstance(node, ast.Attribute):
                names.append(node.attr)
        used.update(
            part.lower() for name in names for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
        )
    words = [word.strip() for row in rows("Words") for word in row[0].strip("*").split(",")]
    parts = {part for word in words for part in word.split()}
    unused = sorted(part for part in parts if part not in used and f"{part}s" not in used)
    assert len(words) == len(set(words)), "one word for one thing"
    assert not unused, "a word for what is not in the code"


def test_test_modules_have_names_of_their_own():
    places = sorted(Path(__file__).parent.rglob("test_*.py"))
    names = [place.name for place in places]
    assert sorted(set(names)) == sorted(names), "two test modules of one name cannot be collected together"
