"""Whether a file, or a function in it, is written for TensorFlow 1."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from cfgfix.code.inference.entry_points import is_reached_from_scripts
from cfgfix.code.inference.guards import guarding_default
from cfgfix.code.inference.references import (
    NEVER_IN_TWO,
    Reference,
    absence_expected,
    api,
    binder_of,
    callers_ask,
    is_doubtful,
    references,
)
from cfgfix.code.model.expressions import text
from cfgfix.code.model.module import Module, absolute
from cfgfix.code.model.nodes import Attribute, Name
from cfgfix.code.model.program import Program, is_keras_part, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.tensorflow.api import WHOLE, Api, Presence
from cfgfix.code.tensorflow.requirement import LATER_MINORS
from cfgfix.core.records import dataclass


def is_for_other_releases(program: Program, module: Module) -> bool:
    """Tell whether a module is for releases that are not asked for.

    How it is imported, or what it says, tells.
    """
    return id(module) in _for_another_release(program) or _says_one(program, module)


@once
def _for_another_release(program: Program) -> set[int]:
    """Return the modules, by identity, that are only imported under a version test.

    Such a module may be meant for older releases, so a name that the newest one lacks may be right there.
    """
    # Modules that are read already: a lookup by import would read others for nothing.
    modules = {module.name: id(module) for module in program.modules}
    tested: set[int] = set()
    plain: set[int] = set()
    for module in program.modules:
        for scope in module.summary.scopes:
            for star in scope.stars:
                # `import *` does not say under which test it stands.
                plain.add(modules.get(absolute(star, module), 0))
            if not scope.imports:
                continue
            for event in scope.events():
                if event.kind != "import":
                    continue
                targets = set()
                for _, source in event.imports:
                    name = absolute(source, module)
                    # `from a.b import c`: c is a module or a name of one.
                    target = modules.get(name) or modules.get(name.rpartition(".")[0])
                    if target is not None and target != id(module):
                        targets.add(target)
                if not targets:
                    continue
                under = any(
                    scope.blocks[number].kind == "if"
                    and scope.blocks[number].test is not None
                    and "version" in text(scope.blocks[number].test).lower()
                    for number in scope.block_numbers(event.block)
                )
                (tested if under else plain).update(targets)
    return (tested - plain) | _named_for_one(program)


_SAYS_ONE = re.compile(r"\b(?:tensorflow|tf)\s*(?:version\s*)?v?1\.(?:\d+|x)\b", re.IGNORECASE)
_SAYS_TWO = re.compile(r"\b(?:tensorflow|tf)\s*(?:version\s*)?v?2\b", re.IGNORECASE)
_HEAD = 40


@once
def _says_one(program: Program, module: Module) -> bool:
    """Tell whether the text before a file's first import names TensorFlow 1 alone.

    A comment such as `# Uses the TF 1.x summary writer` does so.
    """
    del program
    head: list[str] = []
    if module.path.endswith(".py"):
        for line in module.source_file().text.splitlines()[:_HEAD]:
            if line.startswith(("import ", "from ")):
                break
            head.append(line)
    said = "\n".join(head)
    return _SAYS_ONE.search(said) is not None and _SAYS_TWO.search(said) is None


_NAMED = re.compile(r"(?:^|[_.-])tf_?(?P<major>[12])(?:x|[._]\d+)?(?=[_.-]|$)", re.IGNORECASE)


_FOLDER = re.compile(
    r"(?P<named>(?:\w{1,40}[_-])?(?:tf|tensorflow)_?v?)(?P<major>1)(?:[._]?x)?|v(?P<other>1)x", re.IGNORECASE
)


def _named_for_one(program: Program) -> set[int]:
    """Return the modules, by identity, whose file or folder is named for TensorFlow 1.

    A file such as `train_tf1.py` counts only beside its twin `train_tf2.py`.
    """
    names = {os.path.splitext(module.path)[0]: module for module in program.modules}
    found = _in_folders_for_one(names)
    for path, module in names.items():
        folder, name = os.path.split(path)
        match = _NAMED.search(name)
        if match is not None and match["major"] == "1":
            at = match.start("major")
            if os.path.join(folder, f"{name[:at]}2{name[at + 1 :]}") in names:
                found.add(id(module))
    return found


def _in_folders_for_one(names: Mapping[str, Module]) -> set[int]:
    """Return the modules, by identity, below a folder named for TensorFlow 1.

    A folder such as `v1x` counts only beside its twin for TensorFlow 2.

    Args:
        names: The modules by their paths without the ending.
    """
    folders: set[str] = set()
    for path in names:
        folder = os.path.dirname(path)
        while folder not in folders and folder != os.path.dirname(folder):
            folders.add(folder)
            folder = os.path.dirname(folder)
    found: set[int] = set()
    for folder in folders:
        above, last = os.path.split(folder)
        match = _FOLDER.fullmatch(last)
        if match is None:
            continue
        at = match.start("other" if match["named"] is None else "major")
        below = {id(module) for path, module in names.items() if path.startswith(folder + os.sep)}
        beside = os.path.join(above, "") if above else ""
        # What is named `tf1` needs no twin where the program is for TensorFlow 2 beside it.
        if os.path.join(above, f"{last[:at]}2{last[at + 1 :]}") in folders or (
            match["named"] is not None
            and any(path.startswith(beside) for path in names if id(names[path]) not in below)
        ):
            found |= below
    return found


def asks_only_before(program: Program, minor: int) -> bool:
    """Tell whether files ask only for releases of TensorFlow 2 before 2.`minor`."""
    requirement = api(program).requirement
    return (
        bool(requirement.text)
        and not requirement.installed
        and not requirement.admits_tf1()
        and not requirement.of_two(range(minor, LATER_MINORS))
    )


def release_in_words(table: Api) -> str:
    """Return in words the TensorFlow release asked for and the file that says so."""
    if table.requirement.installed:
        return (
            f"TensorFlow {table.requirement.text.partition('==')[2]} is installed in {table.requirement.path}"
        )
    if table.requirement.stated:
        end = table.requirement.text.rpartition("<")[2]
        return f"{table.requirement.path} asks for {table.requirement.stated}, which ends before TensorFlow {end}"
    if table.requirement.text:
        return f"{table.requirement.path} asks for {table.requirement.text}"
    if table.requirement.whatever:
        return f"{table.requirement.path} asks for TensorFlow of any release, and pip installs the newest"
    if table.requirement.keras:
        return f"{table.requirement.path} asks for {table.requirement.keras}"
    if table.requirement.computed:
        return f"which release {table.requirement.path} asks for only running it tells"
    if table.requirement.contradicts:
        return "what is asked for does not go together, and says no release"
    return "nothing here pins a release, and pip installs the newest"


def _severity_and_confidence(table: Api, presence: Presence) -> tuple[str, str] | None:
    """Return severity and confidence of a finding on a missing name.

    None where the releases asked for have the name, or it is not known which these are.
    """
    if table.early:
        return _grade_early(presence)
    if not table.admitted or (table.computed and presence.mask):
        return None
    if presence.mask & table.admitted == table.admitted:
        return None
    if not presence.mask & table.admitted:
        return (
            (severity_by_releases(table, "error") or "error", "medium")
            if presence.mask
            else ("error", "high")
        )
    if presence.mask & table.newest:
        # Only older releases lack it: the requirement is too wide, which is another matter.
        return None
    return severity_by_releases(table, "warning") or "error", "medium"


def _grade_early(presence: Presence) -> tuple[str, str] | None:
    """Return severity and confidence for a missing name in TensorFlow 2.0 to 2.3.

    They came before the inspected releases. What 2.4 does not have they lack as well, but for what is experimental and for
    Keras, of which names went between them: version 2 of the API takes no other name back (tensorflow.org, "TensorFlow
    version compatibility").
    """
    if presence.mask or "experimental" in presence.name or presence.name.startswith("keras."):
        return None
    return "error", "medium"


def severity_by_releases(table: Api, severity: str) -> str | None:
    """Return the severity of a finding by how the project asks for its releases.

    That is the given severity where a release is known, info where it is only guessed, and None, the rule's own, where
    nothing says which release is meant: it is then the one that `pip install tensorflow` gives today.
    """
    if table.requirement.open:
        return None
    return severity if table.requirement.known else "info"


def severity_by_keras_releases(table: Api, severity: str) -> str | None:
    """Return the severity of a finding on a name that Keras lacks in some releases.

    A release of Keras that is asked for decides as well as one of TensorFlow; `severity_by_releases` says the rest.
    """
    return severity if table.requirement.keras else severity_by_releases(table, severity)


_ONE_ONLY = re.compile(
    r"tensorflow\.(?:contrib|Session|InteractiveSession|placeholder|get_variable|variable_scope|app|flags|gfile"
    r"|ConfigProto|global_variables_initializer|initialize_all_variables|layers|logging|python_io|get_default_graph"
    r"|train\.(?:\w+Optimizer|Saver|Session\w+|Monitored\w+|Scaffold|get_(?:or_create_)?global_step)|summary\.FileWriter|estimator\.inputs|reset_default_graph"
    r"|get_collection|add_to_collection|GraphKeys|placeholder_with_default)(?:\.|$)"
)
"""Names of TensorFlow 1 that programs for it are built on; each of them alone says what a file is written for."""


_TWO = (
    "tensorflow.function.",
    "tensorflow.GradientTape.",
    "tensorflow.config.",
    "tensorflow.data.AUTOTUNE.",
    "tensorflow.random.set_seed.",
    "tensorflow.distribute.Strategy.",
    "tensorflow.distribute.get_strategy.",
    "tensorflow.keras.mixed_precision.",
    "tensorflow.summary.create_file_writer.",
    "tensorflow.saved_model.load.",
    "tensorflow.debugging.enable_check_numerics.",
)
"""Beginnings of names that a program for TensorFlow 2 uses and one for TensorFlow 1 as a rule does not."""


_BRIDGE = ("tensorflow.compat.v1.", "tensorflow.compat.v2.")
"""Names that programs on the way use: TensorFlow 1.13 to 1.15 has them too."""


MANY = 6
"""From so many places on, old names in a file without newer ones are one finding where TensorFlow 2 is asked for: to convert the
file is one decision."""


FEW = 3
"""From so many places on, old names say what a file is written for even where none of them is in `_ONE_ONLY`."""


@dataclass(frozen=True, slots=True)
class Eras:
    """Which files are written for TensorFlow 1.

    Attributes:
        old: Their names of TensorFlow 1, by the identity of the module.
        two: Whether any file of the program uses TensorFlow 2.
    """

    old: dict[int, list[Reference]]
    two: bool


def written_for_one(program: Program, scope: Scope) -> bool:
    """Tell whether a scope's file is for TensorFlow 1, as the project allows."""
    table = api(program)
    if table.requirement.text and not table.admitted:
        # None of the inspected releases: TensorFlow 1, unless an early one of TensorFlow 2 is asked for.
        return not table.requirement.of_two(range(4))
    written = eras(program)
    if id(scope.module) in written.old or _from_inside_one(program, scope.module):
        return True
    return bool(written.old) and not written.two and table.requirement.admits_tf1()


@once
def _from_inside_one(program: Program, module: Module) -> bool:
    """Tell whether a module imports from `tensorflow._api.v1`, which only TensorFlow 1 has as its own."""
    del program
    return any(
        source.startswith("tensorflow._api.v1")
        for item in module.summary.scopes
        for source in item.imports.values()
    )


def admits_tf1(program: Program, module: Module) -> bool:
    """Tell whether a module's nearest requirements may mean TensorFlow 1.

    The nearest folder that has some counts.
    """
    requirement = api(program).requirement
    below = dict(requirement.below)
    folder = os.path.abspath(module.path)
    while below and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
        if folder in below:
            own = below[folder]
            return own.admits_tf1() if own.text or own.computed else requirement.admits_tf1()
    return requirement.admits_tf1()


@once
def eras(program: Program) -> Eras:
    """Return which files are written for TensorFlow 1."""
    old: dict[int, list[Reference]] = {}
    later: set[int] = set()
    for reference, _, _ in missing_names(program):
        if is_old(reference.presence) and not absence_expected(reference):
            old.setdefault(id(reference.scope.module), []).append(reference)
    if old:
        modules = {id(module): module for module in program.modules}
        two = {number for number, module in modules.items() if uses_tf2_names(program, module)}
        later = two | {
            number for number, module in modules.items() if uses_tf2_names(program, module, _BRIDGE)
        }
        strong = {
            number
            for number, items in old.items()
            if any(_ONE_ONLY.match(item.presence.name) for item in items)
        }
        paths = (
            {modules[number].path for number in strong - two},
            {modules[number].path for number in later - strong},
        )
        for number, items in list(old.items()):
            if not admits_tf1(program, modules[number]):
                # TensorFlow 2 is asked for: one finding stands for all only where nothing in the file is newer.
                plain = number not in later and len(items) >= MANY
            elif number in two:
                # `tf.contrib` was never in TensorFlow 2, whatever else the file uses.
                plain = any(item.presence.name.startswith(NEVER_IN_TWO) for item in items)
            else:
                plain = (
                    number in strong or not later or len(items) >= FEW or _among_old(modules[number], *paths)
                )
            if not plain:
                del old[number]
    return Eras(old, bool(later))


def is_old(presence: Presence) -> bool:
    """Tell whether a name is one of TensorFlow 1 and of no TensorFlow 2."""
    return bool(presence.old and not presence.mask) or presence.name.startswith(NEVER_IN_TWO)


@once
def uses_tf2_names(program: Program, module: Module, names: tuple[str, ...] = _TWO) -> bool:
    """Tell whether a file uses names that only TensorFlow 2 programs use.

    It is found once for each file. The last releases of TensorFlow 1 had many of these names for who asked for eager
    execution.
    """
    return _uses_names(program, module, names)


def _uses_names(program: Program, module: Module, names: tuple[str, ...]) -> bool:
    if names is _TWO and _asks_for_eager(program, module):
        return False
    for scope in module.summary.scopes:
        if any(f"{source}.".startswith(names) for source in scope.imports.values()):
            return True
        for expr, _ in scope.references:
            name = program.static_name(expr, scope)
            if name is not None and f"{name}.".startswith(names):
                return True
    return False


def _asks_for_eager(program: Program, module: Module) -> bool:
    """Tell whether a file calls `tf.enable_eager_execution`, which only TensorFlow 1 has."""
    return any(
        program.static_name(expr, scope) == "tensorflow.enable_eager_execution"
        for scope in module.summary.scopes
        for expr, _ in scope.references
    )


def _among_old(module: Module, strong: set[str], two: set[str]) -> bool:
    """Tell whether more files near a module use TensorFlow 1 than TensorFlow 2.

    The nearest folder above it with files of either counts.
    """
    folder = os.path.dirname(module.path)
    while True:
        start = folder + os.sep if folder else ""
        first = sum(path.startswith(start) for path in strong)
        second = sum(path.startswith(start) for path in two)
        if first or second or not folder:
            return first > second
        folder = os.path.dirname(folder)


@once
def missing_names(program: Program) -> list[tuple[Reference, str, str]]:
    """Return references to missing names, each with severity and confidence."""
    return list(_look_up(program))


def _look_up(program: Program) -> Iterator[tuple[Reference, str, str]]:
    table = api(program)
    seen: set[tuple[int, str, int]] = set()
    failing: dict[int, list[str]] = {}
    ready: dict[int, list[str]] = {}
    graded = []
    for reference in references(program):
        grade = _severity_and_confidence(table, reference.presence)
        if (
            grade is None
            or is_for_other_releases(program, reference.scope.module)
            or _over_updates(reference)
        ):
            continue
        graded.append((reference, grade))
        if reference.expr is None:
            names = ready if absence_expected(reference) else failing
            names.setdefault(id(reference.scope.module), []).append(reference.raw)
    for reference, grade in graded:
        # A package that is gone as a whole is told once in a file.
        line = 0 if reference.presence.name == WHOLE else reference.place.line
        key = (id(reference.scope.module), reference.presence.name, line)
        if key in seen or is_doubtful(program, reference):
            continue
        if reference.expr is not None and any(
            reference.raw == name or reference.raw.startswith(name + ".")
            for name in failing.get(id(reference.scope.module), ())
        ):
            # The import of it raises first, and is told.
            continue
        if callers_ask(program, reference.scope):
            continue
        seen.add(key)
        severity, confidence = grade
        if severity != "info" and is_old(reference.presence) and _may_be_meant(program, reference):
            severity = "info"
        if reference.expr is not None and _brought_by(reference, ready.get(id(reference.scope.module), ())):
            # The file is ready for the import to fail: what needs it is for the releases that have it.
            severity = "info"
        place = reference.place if reference.expr is not None else None
        if severity == "error" and guarding_default(reference.scope, reference.block, place):
            # Only a caller that gives another value than the default comes to the name.
            severity = "warning"
        yield reference, severity, confidence


def _may_be_meant(program: Program, reference: Reference) -> bool:
    """Tell whether a name of TensorFlow 1 may be meant as it is.

    It may where its file uses nothing of TensorFlow 2, or TensorFlow 1 may be asked for.

    In files that use TensorFlow 2 themselves readers agreed with 28 of 34 findings where nothing says that TensorFlow 1 may be meant. In
    others they agreed with 16 of 21 about what runs while a file is imported, with 6 of 14 about what a script's calls lead to (the 8 stand
    in one program), and with 16 of 50 about the rest: most of that is kept for TensorFlow 1, or nothing comes to it
    (`benchmarks/precision`).
    """
    requirement = api(program).requirement
    if requirement.text and not requirement.installed and admits_tf1(program, reference.scope.module):
        return True
    module = reference.scope.module
    if uses_tf2_names(program, module) or (
        requirement.text and not requirement.installed and _of_keras(program, reference.scope)
    ):
        return False
    scope = reference.scope
    while scope.kind == "class" and scope.parent >= 0:
        # A class's statements run where those around it do.
        scope = module.summary.scopes[scope.parent]
    return _unknown_for(program, module) or not (
        scope is module.scope or is_reached_from_scripts(program, scope)
    )


def _of_keras(program: Program, scope: Scope) -> bool:
    """Tell whether a scope is a method of a layer or a model of Keras."""
    owner = program.owner(scope)
    return owner is not None and is_keras_part(program, owner)


def _unknown_for(program: Program, module: Module) -> bool:
    """Tell whether nothing states the TensorFlow release that a module is for."""
    requirement = api(program).requirement
    return admits_tf1(program, module) and not (requirement.installed or requirement.whatever)


def _over_updates(reference: Reference) -> bool:
    """Tell whether a reference is in a loop over `updates`, empty in TensorFlow 2.

    Keras runs the updates of a layer when `add_update` is called, and keeps none (TensorFlow 2.3 and tf_keras 2.21,
    `engine/base_layer.py`, `add_update` and `updates`).
    """
    return any(
        block.kind == "for"
        and block.test is not None
        and isinstance(block.test, Attribute)
        and block.test.attribute == "updates"
        for block in reference.scope.block_chain(reference.block)
    )


def _brought_by(reference: Reference, names: Sequence[str]) -> bool:
    """Tell whether an import of some dotted names binds a reference's first name.

    Args:
        reference: The reference.
        names: The imported dotted names.
    """
    head = reference.expr
    while head is not None and isinstance(head, Attribute):
        head = head.base
    if head is None or not isinstance(head, Name):
        return False
    here = binder_of(reference.scope, head.name)
    return here is not None and here.imports.get(head.name) in names


def may_be_older_than_table(table: Api) -> bool:
    """Tell whether TensorFlow 2.0 to 2.3, older than the table, may be meant."""
    return not table.requirement.text or any(table.requirement.admits((2, minor, 0)) for minor in range(4))
