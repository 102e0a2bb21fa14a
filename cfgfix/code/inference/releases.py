"""Which TensorFlow and which Keras a program, its files and its single names are meant for.

What the requirement files ask for, what stands beside it, what a file is written for, and which of its names that release does
not have. Rules ask here before they hold a release against anybody.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from cfgfix.code.inference.eras import (
    is_for_other_releases,
    missing_names,
    release_in_words,
    severity_by_keras_releases,
    written_for_one,
)
from cfgfix.code.inference.guards import expects_absence
from cfgfix.code.inference.references import Reference, api, is_keras_2, public_name
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Place
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.tensorflow.api import Api
from cfgfix.core.records import dataclass

IMPORTS = (
    b"import tensorflow",
    b"from tensorflow import",
    b"from tensorflow.keras",
    b"from tensorflow.compat",
    b"from tensorflow.contrib",
    b"from tensorflow.data",
    b"from tensorflow.distribute",
    b"from tensorflow.config",
    b"import keras",
    b"from keras",
)
"""How files come to have TensorFlow's and Keras's public names; its own modules import `tensorflow.python` and are passed over."""


@once
def modules_of_keras_2(program: Program) -> frozenset[int]:
    """Return the modules, by identity, whose own folder asks for Keras 2.

    In a collection of projects each folder has its own requirements. A name that the newest release lacks, mostly because of
    Keras 3, may be right in such a module.
    """
    versions = api(program).releases
    three = next(number for number, text in enumerate(api(program).versions) if text == "2.16")
    apart = {
        folder
        for folder, asked in program.requirement.below
        if asked.keras_2 or max(asked.admitted(versions), default=0) < three
    }
    return _modules_for_older_releases(program, apart)


def passed_over_for_keras_2(program: Program, check: object) -> frozenset[int]:
    """Return the modules for Keras 2, by identity: any check passes them over."""
    del check
    return modules_of_keras_2(program)


@once
def modules_of_old_releases(program: Program) -> frozenset[int]:
    """Return the modules, by identity, for releases before the inspected ones.

    Their own folder asks for such releases alone. A name that no inspected release has may be in theirs.
    """
    versions = api(program).releases
    apart = {
        folder for folder, asked in program.requirement.below if asked.text and not asked.admitted(versions)
    }
    return _modules_for_older_releases(program, apart)


def _modules_for_older_releases(program: Program, apart: set[str]) -> frozenset[int]:
    newer = {folder for folder, _ in program.requirement.below} - apart
    return frozenset(
        id(module) for module in program.modules if _is_nearest_in(os.path.abspath(module.path), apart, newer)
    )


def _is_nearest_in(path: str, apart: set[str], newer: set[str]) -> bool:
    """Tell whether a path's nearest folder in `apart` or `newer` is in `apart`."""
    while apart and path != os.path.dirname(path):
        path = os.path.dirname(path)
        if path in apart or path in newer:
            return path in apart
    return False


def values_of(table: Api, reference: Reference) -> dict[str, object]:
    """Return the operands of the messages about a missing name."""
    presence = reference.presence
    end, seen = table.end(presence.mask)
    return {
        "name": public_name(presence.name),
        "fate": "does not exist in",
        "gone": table.since(presence.mask),
        "end": end,
        "seen": seen,
        "asked": release_in_words(table),
    }


def missing(program: Program) -> Iterator[tuple[Reference, str, str]]:
    """Yield the references to missing names, each with severity and confidence.

    Files for TensorFlow 1 are left out: `names_of_old_releases` tells of each once.
    """
    for reference, severity, confidence in missing_names(program):
        if written_for_one(program, reference.scope):
            continue
        yield reference, severity, confidence


def is_tf_keras(program: Program, scope: Scope) -> bool:
    """Tell whether a module's Keras is TensorFlow's."""
    return not standalone(program, scope.module)


def keras_of_release(program: Program, scope: Scope) -> bool:
    """Tell whether a module's Keras is the one that comes with TensorFlow.

    That is `tf.keras`, or the package `keras` beside it. TensorFlow from 2.6 on installs the Keras of its own number, from
    2.16 on Keras 3 (METADATA of its wheels); a project may have a package of that name itself.
    """
    return _keras_of_release(program, scope.module)


@once
def _keras_of_release(program: Program, module: Module) -> bool:
    """Tell whether a module's Keras is the one that comes with TensorFlow."""
    heads = standalone(program, module)
    return "tf_keras" not in heads and ("keras" not in heads or program.path_of("keras", module) is None)


@once
def standalone(program: Program, module: Module) -> frozenset[str]:
    """Return the packages of Keras beside TensorFlow's own that a module imports.

    They are `keras` and `tf_keras`.
    """
    del program
    return frozenset(
        source.partition(".")[0]
        for item in module.summary.scopes
        if item.imports
        for source in item.imports.values()
        if source.startswith(("keras", "tf_keras")) and source.partition(".")[0] in ("keras", "tf_keras")
    )


@dataclass(frozen=True, slots=True)
class FailingImport:
    """An import from standalone Keras of what the newest one does not have.

    Attributes:
        name: What is gone: a module, or a name of one.
        whole: Whether it is a module.
        mask: One bit for each inspected release that has it.
        source: The dotted name that is imported.
        scope, place, block: Where the import stands.
    """

    name: str
    whole: bool
    mask: int
    source: str
    scope: Scope
    place: Place
    block: int


@once
def failing_imports(program: Program, module: Module) -> list[FailingImport]:
    """Return the imports from standalone Keras that fail with the newest release.

    Imports in code that is ready for that are left out.
    """
    return list(_failing_imports(program, module))


def _failing_imports(program: Program, module: Module) -> Iterator[FailingImport]:
    table = api(program)
    if "keras" not in standalone(program, module) or table.silent or module.scope is None:
        return
    if not keras_of_release(program, module.scope) or is_for_other_releases(program, module):
        return
    for scope in module.summary.scopes:
        if not any(source.startswith("keras.") for source in scope.imports.values()):
            continue
        for event in scope.events() if not written_for_one(program, scope) else ():
            for _, source in event.imports:
                whole = table.keras_module(source)
                gone = whole or table.keras_name(source)
                if (
                    gone is not None
                    and not gone[1] & table.newest
                    and not expects_absence(scope, event.block, event.place)
                ):
                    yield FailingImport(
                        gone[0], whole is not None, gone[1], source, scope, event.place, event.block
                    )


def as_written(program: Program, scope: Scope, name: str) -> str:
    """Return a name of Keras as a file has it.

    That is `keras.Model` where the file imports the package, else `tf.keras.Model`.
    """
    return f"tf.{name}" if is_tf_keras(program, scope) else name


def keras_three(program: Program) -> str:
    """Tell whether the project's `tf.keras` is Keras 3.

    The answer is `all` or `some` of the releases it asks for, or empty for none.
    """
    table = api(program)
    workers = table.accepts("keras.Model.fit", "workers")
    if table.silent or workers is None or is_keras_2(program) or workers & table.newest:
        return ""
    return "some" if workers & table.admitted else "all"


@once
def _of_the_copy(program: Program, module: Module) -> bool:
    """Tell whether a file's only Keras is the copy of Keras 2 inside TensorFlow.

    That is `tensorflow.python.keras`.
    """
    del program
    return any(
        f"{source}.".startswith("tensorflow.python.keras.")
        for item in module.summary.scopes
        for source in item.imports.values()
    ) and not re.search(r"\b(?:tf|tensorflow)\.keras\b", module.source_file().text)


def refused_by_three(program: Program, scope: Scope) -> tuple[str | None] | None:
    """Return the severity of a finding that is true of Keras 3 alone, in a tuple.

    None where the file of the scope does not run with Keras 3. The severity in the tuple is None, the rule's own, where every
    release asked for has Keras 3 or nothing says which is meant; otherwise it is a warning or info.
    """
    three = keras_three(program)
    if (
        not three
        or not keras_of_release(program, scope)
        or _of_the_copy(program, scope.module)
        or written_for_one(program, scope)
    ):
        return None
    table = api(program)
    two = three == "some" or table.requirement.of_two(range(16))
    return (severity_by_keras_releases(table, "warning") if two else None,)
