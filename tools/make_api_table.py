"""Read what TensorFlow's and Keras's wheels offer, and write it as the table that rules about removed API look in.

Nothing is installed or run: a wheel is an archive, and its generated `_api` packages say which public name comes from
which definition. Names, the members of some classes, the parameters of some callables, what is marked as deprecated
and what only raises are read from the source text in it.

    pip download --no-deps --only-binary=:all: -d WHEELS tensorflow-cpu==2.21.0 keras==3.15.1 ... keras==2.3.1
    python tools/make_api_table.py WHEELS            # write the table
    python tools/make_api_table.py WHEELS --check    # exit 1 if the table differs
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
import zipfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from api_signatures import Taken, signature

TARGET = Path(__file__).resolve().parent.parent / "cfgfix" / "code" / "tensorflow" / "tf_api.json"

PAIRS = (
    ("2.4.4", None),
    ("2.8.4", "2.8.0"),
    ("2.12.1", "2.12.0"),
    ("2.15.1", "2.15.0"),
    ("2.16.2", "3.3.3"),
    ("2.18.1", "3.8.0"),
    ("2.21.0", "3.15.1"),
)
"""Releases of TensorFlow and the Keras that pip chose for them when they were current; 2.4 carries its own Keras."""
BEFORE = "2.3.1"
"""The last Keras that was a package of its own, for several backends."""

CLASSES = (
    "tensorflow.data.Dataset",
    "tensorflow.data.Options",
    "tensorflow.data.ThreadingOptions",
    "tensorflow.data.experimental.OptimizationOptions",
    "tensorflow.data.experimental.AutotuneOptions",
    "tensorflow.data.experimental.DistributeOptions",
    "tensorflow.data.experimental.ThreadingOptions",
    "tensorflow.distribute.Strategy",
    "keras.Model",
    "keras.optimizers.Optimizer",
)
"""Classes whose members are kept."""
OBJECTS = ("keras.Model", "keras.layers.Layer", "keras.optimizers.Optimizer", "keras.metrics.Metric")
"""Keras classes of whose objects it is kept what Keras 3 took away."""
CALLABLES = re.compile(
    r"tensorflow\.(function$|py_function$|numpy_function$|data\.|config\.|distribute\.|train\.)"
    r"|keras\.(applications|callbacks|constraints|initializers|layers|losses|metrics|mixed_precision|models|optimizers|regularizers|utils)\."
    r"|keras\.(Input|Model|Sequential)$"
)
"""Public functions and classes whose parameters are kept."""
SKIPPED = re.compile(r"(^|\.)(raw_ops|__internal__|__operators__|lite|tpu)(\.|$)")
"""Parts of the API that no rule asks about."""
FILE_NAMES = {
    "keras.models.save_model": ("keras.src.saving.saving_api", "save_model"),
    "keras.models.load_model": ("keras.src.saving.saving_api", "load_model"),
    "keras.Model.save_weights": ("keras.src.saving.saving_api", "save_weights"),
    "keras.Model.load_weights": ("keras.src.saving.saving_api", "load_weights"),
    "keras.callbacks.ModelCheckpoint": ("keras.src.callbacks.model_checkpoint", "ModelCheckpoint"),
}
"""What Keras 3 takes the name of a file in, and where it looks at that name's end."""
ANY_POSITION = "_allow_non_tensor_positional_args"
"""The attribute by which a layer of Keras 3 says that it takes more than tensors by position."""


class Archive:
    """One or two wheels as a tree of modules."""

    def __init__(self, *paths: Path) -> None:
        self._archives = [zipfile.ZipFile(path) for path in paths]
        self._names = {name: archive for archive in self._archives for name in archive.namelist()}
        self._parsed: dict[str, ast.Module | None] = {}

    def has(self, path: str) -> bool:
        """Tell whether a file is in the wheels."""
        return path in self._names

    def modules(self, below: str) -> Iterator[str]:
        """Yield the paths of packages below a folder."""
        for name in sorted(self._names):
            if name.startswith(below) and name.endswith("/__init__.py"):
                yield name

    def files(self, below: str) -> Iterator[str]:
        """Yield the paths of modules below a folder, tests left out."""
        for name in sorted(self._names):
            if name.startswith(below) and name.endswith(".py") and not name.endswith("_test.py"):
                yield name

    def tree(self, path: str) -> ast.Module | None:
        """Return a file's syntax tree, or None where there is no such file."""
        if path not in self._parsed:
            archive = self._names.get(path)
            self._parsed[path] = ast.parse(archive.read(path)) if archive is not None else None
        return self._parsed[path]

    def module(self, dotted: str) -> tuple[ast.Module, str] | None:
        """Return the syntax tree and path of a module by its dotted name."""
        base = dotted.replace(".", "/")
        for path in (base + ".py", base + "/__init__.py"):
            tree = self.tree(path)
            if tree is not None:
                return tree, path
        return None

    def definition(self, dotted: str, name: str, depth: int = 0) -> tuple[Any, str] | None:
        """Return the class or function that a name of a module stands for, and the module it is written in."""
        found = self.module(dotted)
        if found is None or depth > 12:
            return None
        tree, path = found
        answer: tuple[Any, str] | None = None
        for node in _top(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
                answer = node, dotted
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
                if any(isinstance(target, ast.Name) and target.id == name for target in node.targets):
                    answer = self.definition(dotted, node.value.id, depth + 1) or answer
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        source = _absolute(node, dotted, path)
                        answer = self.definition(source, alias.name, depth + 1) or answer
        return answer

    def dotted_definition(self, dotted: str, expr: ast.expr) -> tuple[Any, str] | None:
        """Return the class that an expression such as `options_lib.OptionsBase` in a module stands for."""
        if isinstance(expr, ast.Name):
            return self.definition(dotted, expr.id)
        if isinstance(expr, ast.Attribute) and isinstance(expr.value, ast.Name):
            found = self.module(dotted)
            if found is None:
                return None
            for node in _top(found[0]):
                if isinstance(node, ast.ImportFrom):
                    for alias in node.names:
                        if (alias.asname or alias.name) == expr.value.id:
                            source = _absolute(node, dotted, found[1])
                            return self.definition(f"{source}.{alias.name}", expr.attr)
        return None


def _top(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield a module's statements, those under `if` and `try` included."""
    pending: list[ast.stmt] = list(reversed(tree.body))
    while pending:
        node = pending.pop()
        yield node
        for field in ("body", "orelse"):
            if isinstance(node, (ast.If, ast.Try)):
                pending.extend(reversed(getattr(node, field)))


def _absolute(node: ast.ImportFrom, dotted: str, path: str) -> str:
    if not node.level:
        return node.module or ""
    parts = dotted.split(".")
    drop = node.level - (1 if path.endswith("/__init__.py") else 0)
    base = parts[: len(parts) - drop] if drop else parts
    return ".".join([*base, node.module] if node.module else base)


def exports(archive: Archive, folder: str, prefix: str) -> dict[str, tuple[str, str] | None]:
    """Return the public names below a generated package: name to the module and name of its definition, if any."""
    found: dict[str, tuple[str, str] | None] = {}
    for path in archive.modules(folder):
        inner = path[len(folder) : -len("__init__.py")].strip("/").replace("/", ".")
        package = f"{prefix}.{inner}" if inner else prefix
        if SKIPPED.search(package) or (inner.startswith("compat.") and prefix == "tensorflow"):
            continue
        found[package] = None
        tree = archive.tree(path)
        assert tree is not None
        _read(archive, tree, path, package, found)
    return found


def _read(
    archive: Archive, tree: ast.Module, path: str, package: str, found: dict[str, tuple[str, str] | None]
) -> None:
    dotted = path[: -len("/__init__.py")].replace("/", ".")
    for node in _top(tree):
        if isinstance(node, ast.ImportFrom):
            source = _absolute(node, dotted, path)
            for alias in node.names:
                name = alias.asname or alias.name
                if not name.startswith("_") or name == "__version__":
                    found[f"{package}.{name}"] = (source, alias.name)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name) and not target.id.startswith("_"):
                    found[f"{package}.{target.id}"] = None
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            call = node.value
            # `setattr(_current_module, "losses", ...)`: what is loaded when it is first used.
            if isinstance(call.func, ast.Name) and call.func.id == "setattr" and len(call.args) == 3:
                name_node = call.args[1]
                if isinstance(name_node, ast.Constant) and isinstance(name_node.value, str):
                    found[f"{package}.{name_node.value}"] = None
    del archive


def surface(archive: Archive) -> tuple[dict[str, tuple[str, str] | None], dict[str, tuple[str, str] | None]]:
    """Return the names of TensorFlow 2 with Keras, and those of `tf.compat.v1`."""
    two = exports(archive, "tensorflow/_api/v2/", "tensorflow")
    top = archive.tree("tensorflow/__init__.py")
    assert top is not None
    _read(archive, top, "tensorflow/__init__.py", "tensorflow", two)
    for folder in (
        "keras/_tf_keras/keras/",
        "keras/api/_v2/keras/",
        "tensorflow/python/keras/api/_v2/keras/",
        "tensorflow/keras/",
    ):
        if archive.has(folder + "__init__.py"):
            two.update(exports(archive, folder, "keras"))
            break
    else:
        sys.exit("no Keras in the wheels")
    one = exports(archive, "tensorflow/_api/v2/compat/v1/", "tensorflow.compat.v1")
    for name in ("compat.v1", "compat.v2", "compat.v1.keras", "compat.v2.keras"):
        one[f"tensorflow.{name}"] = None
    return two, one


def _decorations(node: Any) -> Iterator[tuple[str, ast.Call]]:
    for decorator in getattr(node, "decorator_list", ()):
        if isinstance(decorator, ast.Call):
            func = decorator.func
            yield (func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")), decorator


def deprecation(node: Any) -> str | None:
    """Return the replacement that a deprecated definition names (or empty text), or None where it is not deprecated."""
    for name, call in _decorations(node):
        if name == "deprecated":
            text = " ".join(
                item.value
                for item in ast.walk(call)
                if isinstance(item, ast.Constant) and isinstance(item.value, str)
            )
            match = re.search(r"\btf\.[a-zA-Z_][\w.]*\w", text)
            return match[0].replace("tf.", "tensorflow.", 1) if match else ""
    return None


def deprecated_arguments(node: Any) -> set[str]:
    """Return the parameters that a definition marks as deprecated."""
    found: set[str] = set()
    for name, call in _decorations(node):
        if name == "deprecated_args":
            for item in call.args[2:]:
                first = item.elts[0] if isinstance(item, ast.Tuple) and item.elts else item
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    found.add(first.value)
    return found


def only_raises(node: Any) -> bool:
    """Tell whether calling a definition can only raise."""
    if isinstance(node, ast.ClassDef):
        return any(
            isinstance(item, ast.FunctionDef) and item.name == "__init__" and only_raises(item)
            for item in node.body
        )
    if not isinstance(node, ast.FunctionDef):
        return False
    body = [
        item
        for item in node.body
        if not (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))
    ]
    return bool(body) and isinstance(body[0], ast.Raise) and "NotImplementedError" not in ast.dump(body[0])


def members(archive: Archive, node: ast.ClassDef, dotted: str, depth: int = 0) -> dict[str, Any]:
    """Return the public members of a class with those it inherits."""
    found: dict[str, Any] = {}
    if depth < 8:
        for base in reversed(node.bases):
            inherited = archive.dotted_definition(dotted, base)
            if inherited is not None and isinstance(inherited[0], ast.ClassDef):
                found.update(members(archive, inherited[0], inherited[1], depth + 1))
    for item in ast.walk(node):
        # Attributes that `__init__` and other methods set on the object count too.
        if not isinstance(item, ast.Attribute) or not isinstance(item.ctx, ast.Store):
            continue
        if isinstance(item.value, ast.Name) and item.value.id == "self" and not item.attr.startswith("_"):
            found.setdefault(item.attr, None)
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef):
            if not statement.name.startswith("_"):
                found[statement.name] = statement
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name) and not target.id.startswith("_"):
                    found[target.id] = None
    return found


def methods(archive: Archive, node: ast.ClassDef, dotted: str) -> set[str]:
    """Return the public methods and properties of a class with those it inherits."""
    return {name for name, item in members(archive, node, dotted).items() if item is not None}


def called(archive: Archive, node: ast.ClassDef, dotted: str) -> dict[str, bool]:
    """Return the public methods and properties of a class with those it inherits, and whether each is called to have its value."""
    found: dict[str, bool] = {}
    for name, item in members(archive, node, dotted).items():
        if item is not None:
            names = {getattr(part, "id", getattr(part, "attr", "")) for part in item.decorator_list}
            found[name] = names.isdisjoint({"property", "setter", "cached_property"})
    return found


def given_from_outside(archive: Archive, folder: str) -> set[str]:
    """Return the attributes that the modules of a folder set on something else than `self`, as a callback does on its model."""
    found: set[str] = set()
    for path in archive.files(folder):
        tree = archive.tree(path)
        assert tree is not None
        for item in ast.walk(tree):
            if (
                isinstance(item, ast.Attribute)
                and isinstance(item.ctx, ast.Store)
                and not (isinstance(item.value, ast.Name) and item.value.id == "self")
            ):
                found.add(item.attr)
    return found


def ancestors(archive: Archive, node: ast.ClassDef, dotted: str, depth: int = 0) -> Iterator[ast.ClassDef]:
    """Yield a class and those it inherits from."""
    yield node
    for base in node.bases if depth < 8 else ():
        found = archive.dotted_definition(dotted, base)
        if found is not None and isinstance(found[0], ast.ClassDef):
            yield from ancestors(archive, found[0], found[1], depth + 1)


def objects(archive: Archive, two: dict[str, tuple[str, str] | None]) -> dict[str, tuple[set[str], set[str]]]:
    """Return for the classes of `OBJECTS` their methods, and all that an object of them or of a public class below may have."""
    everywhere = (
        given_from_outside(archive, "keras/src/") if archive.has("keras/src/models/model.py") else set()
    )
    classes = []
    for name, target in two.items():
        found = archive.definition(*target) if target is not None and name.startswith("keras.") else None
        if found is not None and isinstance(found[0], ast.ClassDef):
            classes.append((name, *found))
    # What `Model(inputs, outputs)` makes is no public name.
    functional = archive.definition("keras.src.models.functional", "Functional")
    classes += [("", *functional)] if functional is not None else []
    result: dict[str, tuple[set[str], set[str]]] = {}
    for owner in OBJECTS:
        top = next((node for name, node, _ in classes if name == owner), None)
        if top is None:
            continue
        own: set[str] = set()
        had = set(everywhere)
        for name, node, dotted in classes:
            if any(item is top for item in ancestors(archive, node, dotted)):
                had.update(members(archive, node, dotted))
                if name == owner:
                    own = methods(archive, node, dotted)
        result[owner] = own, had
    return result


def file_endings(archive: Archive, module: str, name: str) -> set[str]:
    """Return the ends of file names that a function, or a class's constructor, asks about."""
    found = archive.definition(module, name)
    if found is None:
        sys.exit(f"no {name} in {module}")
    node = found[0]
    if isinstance(node, ast.ClassDef):
        node = next(item for item in node.body if getattr(item, "name", "") == "__init__")
    asked: set[str] = set()
    for item in ast.walk(node):
        test = item.test if isinstance(item, (ast.If, ast.IfExp)) else getattr(item, "value", None)
        if not isinstance(test, ast.expr):
            continue
        parts = list(ast.walk(test))
        # `max_shard_size is not None and not name.endswith(...)` is about calls with another argument.
        if any(isinstance(part, ast.IsNot) for part in parts):
            continue
        if any(isinstance(part, ast.Attribute) and part.attr == "endswith" for part in parts):
            asked |= {
                part.value
                for part in parts
                if isinstance(part, ast.Constant)
                and isinstance(part.value, str)
                and re.fullmatch(r"\.?\w+(\.\w+)*", part.value)
            }
    return {item if item.startswith(".") else f".{item}" for item in asked}


class Call(NamedTuple):
    """How objects of a layer's class are called.

    Attributes:
        order: The parameters of `call` that go by position, the object left out.
        own: Whether the class or one above it, `Layer` left out, has a `__call__` of its own.
        any_position: Whether one of them says that it takes more than tensors by position.
    """

    order: tuple[str, ...]
    own: bool
    any_position: bool


def layer_calls(archive: Archive, two: dict[str, tuple[str, str] | None]) -> dict[str, Call]:
    """Return how the layers that Keras brings are called, by their last name."""
    target = two["keras.layers.Layer"]
    layer = archive.definition(*target) if target is not None else None
    if layer is None:
        sys.exit("no keras.layers.Layer in the wheels")
    top, shared = layer[0], list(ancestors(archive, *layer))
    found: dict[str, Call] = {}
    for name, place in two.items():
        if place is None or not name.startswith("keras.layers.") or name.count(".") != 2:
            continue
        definition = archive.definition(*place)
        if definition is None or not isinstance(definition[0], ast.ClassDef) or definition[0] is top:
            continue
        above = list(ancestors(archive, *definition))
        if not any(item is top for item in above):
            continue
        functions = [
            item
            for node in above
            if node not in shared
            for item in node.body
            if isinstance(item, ast.FunctionDef)
        ]
        call = next((item for item in functions if item.name == "call"), None)
        if call is not None:
            found[name.rpartition(".")[2]] = Call(
                tuple(item.arg for item in (*call.args.posonlyargs, *call.args.args))[1:],
                any(item.name == "__call__" for item in functions),
                any(_sets(item, ANY_POSITION) for item in functions),
            )
    return found


INSIDE = (
    "keras/src/",
    "keras/api/",
    "keras/_tf_keras/",
    "keras/benchmarks/",
    "keras/integration_test/",
    "keras/tests/",
    "keras/testing_infra/",
)
"""Folders of a wheel of Keras whose modules nobody imports by these names."""


def modules_of_keras(archive: Archive) -> Iterator[str]:
    """Yield the dotted names of the modules that standalone Keras has below its first level."""
    for path in archive.files("keras/"):
        if not path.startswith(INSIDE):
            name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            if name.count(".") > 0 and not any(part.startswith("_") for part in name.split(".")):
                yield name


def names_of_keras(archive: Archive) -> dict[str, set[str]]:
    """Return the names that standalone Keras has in its package and in the modules right below and one further: by module."""
    found: dict[str, set[str]] = {}
    for path in archive.files("keras/"):
        # Keras 3.3 and 3.8 have their public modules in a folder that `keras` adds to its own.
        inner = path.replace("keras/api/", "keras/", 1) if not archive.has("keras/api/_v2/") else path
        if inner.startswith(INSIDE) or inner.count("/") > 3:
            continue
        name = inner.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if not any(part.startswith("_") for part in name.split(".")):
            found.setdefault(name, set()).update(_bound(archive, path))
    return found


def _bound(archive: Archive, path: str, depth: int = 0) -> Iterator[str]:
    """Yield the public names that a module's statements bind."""
    tree = archive.tree(path)
    assert tree is not None
    dotted = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    for node in _top(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            other = archive.module(_absolute(node, dotted, path)) if depth < 4 else None
            if other is not None:
                yield from _bound(archive, other[1], depth + 1)
        elif isinstance(node, (ast.Import, ast.ImportFrom)) and getattr(node, "module", "") != "__future__":
            yield from ((item.asname or item.name).partition(".")[0] for item in node.names)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else (node.target,):
                yield from (item.id for item in ast.walk(target) if isinstance(item, ast.Name))


def _sets(node: ast.FunctionDef, attribute: str) -> bool:
    """Tell whether a method sets an attribute of its object to True."""
    return any(
        isinstance(item, ast.Assign)
        and isinstance(item.value, ast.Constant)
        and item.value.value is True
        and any(isinstance(target, ast.Attribute) and target.attr == attribute for target in item.targets)
        for item in ast.walk(node)
    )


def calls_of_layers(two: dict[str, Call], threes: list[dict[str, Call]]) -> dict[str, Any]:
    """Return what a rule asks about the calls of layers: the last release before Keras 3 beside those of Keras 3.

    `order` has the parameters in the order before Keras 3, up to the first that a release of Keras 3 has not; `own_before` says that
    a layer had a `__call__` of its own then, `own` that it has one in all of Keras 3, and `any` that some release of Keras 3 takes
    anything by position.
    """
    found: dict[str, Any] = {}
    for name in sorted({*two, *(name for three in threes for name in three)}):
        later = [three[name] for three in threes if name in three]
        before = two.get(name)
        if not later:
            continue
        order = (before or later[-1]).order
        # The first are the inputs, which go by position whatever they are called.
        kept = next(
            (n for n, item in enumerate(order) if n and any(item not in call.order for call in later)),
            len(order),
        )
        entry = {
            "order": list(order[:kept]),
            "own_before": before is not None and before.own,
            "own": all(call.own for call in later),
            "any": any(call.any_position for call in later),
        }
        if kept > 1 or entry["own_before"] or entry["own"] or entry["any"]:
            found[name] = {key: value for key, value in entry.items() if value}
    return found


def table(folder: Path) -> dict[str, Any]:
    """Return the table for the wheels in a folder."""
    names: dict[str, dict[str, int]] = {}
    old: dict[str, dict[str, int]] = {}
    deprecated: dict[str, list[Any]] = {}
    arguments: dict[str, dict[str, int]] = {}
    raising: dict[str, int] = {}
    inside: dict[str, dict[str, int]] = {}
    second: dict[str, int] = {}
    accepted: dict[str, Accepted] = {}
    bases: dict[str, int] = {}
    had: dict[str, dict[str, int]] = {name: {} for name in OBJECTS}
    kept: dict[str, set[str]] = {name: set() for name in OBJECTS}
    endings: dict[str, dict[str, int]] = {name: {} for name in FILE_NAMES}
    asked: dict[str, dict[str, int]] = {name: {} for name in OBJECTS}
    values: dict[str, set[str]] = {name: set() for name in OBJECTS}
    before: dict[str, Call] = {}
    later: list[dict[str, Call]] = []
    alone: dict[str, dict[str, int]] = {}
    exported: dict[str, dict[str, int]] = {}
    now: dict[str, set[str]] = {}
    # What only the last Keras before has is there with no bit.
    first = Archive(_wheel(folder, f"Keras-{BEFORE}-"))
    for name in modules_of_keras(first):
        package, _, last = name.rpartition(".")
        alone.setdefault(package, {})[last] = 0
    for package, bound in names_of_keras(first).items():
        exported[package] = dict.fromkeys(bound, 0)
    for number, (tensorflow, keras) in enumerate(PAIRS):
        bit = 1 << number
        paths = [_wheel(folder, f"tensorflow_cpu-{tensorflow}-")]
        paths += [_wheel(folder, f"keras-{keras}-")] if keras else []
        archive = Archive(*paths)
        two, one = surface(archive)
        # `tf.compat.v2` has all of `tf` and what its template adds, such as `enable_v2_behavior`.
        beside: dict[str, tuple[str, str] | None] = {}
        path = "tensorflow/_api/v2/compat/v2/__init__.py"
        tree = archive.tree(path)
        if tree is None:
            sys.exit("no tf.compat.v2 in the wheels")
        _read(archive, tree, path, "tensorflow.compat.v2", beside)
        for name in beside:
            last = name.rpartition(".")[2]
            if "tensorflow." + last not in two and not SKIPPED.search(name):
                second[last] = second.get(last, 0) | bit
        for found, store in ((two, names), (one, old)):
            for name in found:
                package, _, last = name.rpartition(".")
                if not SKIPPED.search(name):
                    entry = store.setdefault(package, {})
                    entry[last] = entry.get(last, 0) | bit
        for name in modules_of_keras(archive) if keras else ():
            package, _, last = name.rpartition(".")
            entry = alone.setdefault(package, {})
            entry[last] = entry.get(last, 0) | bit
        now = names_of_keras(archive) if keras else {}
        for package, bound in now.items():
            for last in bound:
                entry = exported.setdefault(package, {})
                entry[last] = entry.get(last, 0) | bit
        three = keras is not None and keras.startswith("3.")
        for owner in OBJECTS:
            target = two.get(owner)
            place = archive.definition(*target) if target is not None else None
            for member, by_call in called(archive, *place).items() if place is not None else ():
                if by_call:
                    asked[owner][member] = asked[owner].get(member, 0) | bit
                elif three:
                    values[owner].add(member)
        for owner, (own, there) in objects(archive, two).items():
            if three:
                kept[owner] |= there
            else:
                for member in own:
                    had[owner][member] = had[owner].get(member, 0) | bit
        if three:
            later.append(layer_calls(archive, two))
            for name, place in FILE_NAMES.items():
                for ending in file_endings(archive, *place):
                    endings[name][ending] = endings[name].get(ending, 0) | bit
        else:
            before = layer_calls(archive, two)
        definition = lru_cache(maxsize=None)(archive.definition)
        for name, target in two.items():
            if target is None or SKIPPED.search(name):
                continue
            found_at = definition(*target)
            if found_at is None:
                continue
            node, dotted = found_at
            _note(name, node, bit, deprecated, arguments, raising)
            if CALLABLES.match(name):
                _accept(accepted, name, signature(archive, node, dotted), bit)
            if name in CLASSES and isinstance(node, ast.ClassDef):
                for member, method in members(archive, node, dotted).items():
                    entry = inside.setdefault(name, {})
                    entry[member] = entry.get(member, 0) | bit
                    if method is not None:
                        full = f"{name}.{member}"
                        _note(full, method, bit, deprecated, arguments, {})
                        _accept(accepted, full, signature(archive, method, dotted, method=True), bit)
    everything = (1 << len(PAIRS)) - 1
    only_old: dict[str, dict[str, int]] = {}
    for package, entries in old.items():
        modern = "tensorflow" + package[len("tensorflow.compat.v1") :]
        known = names.get(modern, {})
        left = {last: mask for last, mask in entries.items() if mask & ~known.get(last, 0) & everything}
        if left:
            only_old[package] = left
    return {
        "tensorflow": [pair[0] for pair in PAIRS],
        "keras": [pair[1] or "" for pair in PAIRS],
        "names": _sorted(names),
        "compat_v1": _sorted(only_old),
        "compat_v2": dict(sorted(second.items())),
        "members": _sorted(inside),
        "gone": _sorted(
            {
                owner: {member: mask for member, mask in entries.items() if member not in kept[owner]}
                for owner, entries in had.items()
            }
        ),
        "values": _sorted(
            {
                owner: {member: mask for member, mask in entries.items() if member in values[owner]}
                for owner, entries in asked.items()
            }
        ),
        "layers": calls_of_layers(before, later),
        "file_names": _sorted(endings),
        "modules": _sorted(
            {
                package: {last: mask for last, mask in entries.items() if not mask >> (len(PAIRS) - 1)}
                for package, entries in alone.items()
            }
        ),
        "alone": _sorted(
            {
                package: left
                for package, entries in exported.items()
                if package in now
                and (
                    left := {
                        last: mask
                        for last, mask in entries.items()
                        if last not in now[package] and not last.startswith("_") and last.isidentifier()
                    }
                )
            }
        ),
        "parameters": {name: item.entry(bases) for name, item in sorted(accepted.items())},
        "bases": [json.loads(text) for text in bases],
        "deprecated": dict(sorted(deprecated.items())),
        "deprecated_arguments": _sorted(arguments),
        "raises": dict(sorted(raising.items())),
    }


def _note(
    name: str,
    node: Any,
    bit: int,
    deprecated: dict[str, list[Any]],
    arguments: dict[str, dict[str, int]],
    raising: dict[str, int],
) -> None:
    replacement = deprecation(node)
    if replacement is not None:
        entry = deprecated.setdefault(name, [0, ""])
        entry[0] |= bit
        entry[1] = replacement or entry[1]
    for argument in deprecated_arguments(node):
        item = arguments.setdefault(name, {})
        item[argument] = item.get(argument, 0) | bit
    if only_raises(node):
        raising[name] = raising.get(name, 0) | bit


class Accepted:
    """What one callable takes, release by release."""

    def __init__(self) -> None:
        self.known = self.open = 0
        self.own: dict[str, int] = {}
        self.inherited: dict[str, int] = {}
        self.ignored: dict[str, int] = {}
        self.orders: dict[tuple[str, ...], int] = {}

    def add(self, taken: Taken, bit: int) -> None:
        """Add what one release takes."""
        self.known |= bit
        self.open |= bit if taken.any_other else 0
        self.orders[taken.order] = self.orders.get(taken.order, 0) | bit
        for names, store in (
            (sorted(taken.own), self.own),
            (sorted(taken.inherited), self.inherited),
            (sorted(taken.ignored), self.ignored),
        ):
            for name in names:
                store[name] = store.get(name, 0) | bit

    def entry(self, bases: dict[str, int]) -> dict[str, Any]:
        """Return it for the table: what many have in common, base classes give, stands there once."""
        newest = max(self.orders, key=lambda order: self.orders[order], default=())
        # The names stand in the newest order, which is then not written again.
        names = {name: self.own.pop(name) for name in newest if name in self.own} | self.own
        for name in [name for name in names if name in self.inherited]:
            names[name] |= self.inherited.pop(name)
        found: dict[str, Any] = {"names": names, "open": self.open, "known": self.known}
        if self.inherited:
            found["base"] = bases.setdefault(json.dumps(self.inherited, sort_keys=True), len(bases))
        if self.ignored:
            found["ignored"] = self.ignored
        # The number of them that go by position, and the releases with another order, by which of the names they have.
        found["position"] = [
            [mask, len(order)] if order == tuple(names)[: len(order)] else [mask, list(order)]
            for order, mask in sorted(self.orders.items(), key=lambda item: item[1])
        ]
        return found


def _accept(accepted: dict[str, Accepted], name: str, found: Taken | None, bit: int) -> None:
    entry = accepted.setdefault(name, Accepted())
    if found is not None:
        entry.add(found, bit)


def _sorted(groups: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    return {name: dict(sorted(groups[name].items())) for name in sorted(groups)}


def _wheel(folder: Path, start: str) -> Path:
    found = sorted(folder.glob(start + "*.whl"))
    if not found:
        sys.exit(f"{folder} has no wheel {start}*.whl")
    return found[0]


def main() -> int:
    """Write the table, or compare it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheels", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = json.dumps(table(options.wheels), indent=None, separators=(",", ":"), sort_keys=False)
    # One package a line, so that a change can be read.
    text = re.sub(r'(\},|\{)("[a-z]+(?:\.[\w.]+)?":\{)', r"\1\n\2", text) + "\n"
    if options.check:
        same = TARGET.exists() and json.loads(TARGET.read_text(encoding="utf-8")) == json.loads(text)
        print("the table is current" if same else "the table differs")
        return 0 if same else 1
    TARGET.write_text(text, encoding="utf-8")
    print(f"{TARGET}: {len(text)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
