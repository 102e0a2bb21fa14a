"""Which TensorFlow and which Keras a program, its files and its single names are meant for.

What the requirement files ask for, what stands beside it, what a file is written for, and which of its names that release does
not have. Rules ask here before they hold a release against anybody.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from cfgfix.code.inference.entry_points import comes_to
from cfgfix.code.inference.guards import behind_a_default, expects_absence
from cfgfix.code.model.expressions import constant, dotted, is_name, place_of, text, walk
from cfgfix.code.model.nodes import Attribute, Expr, Literal, Name, Place
from cfgfix.code.model.program import Module, Program, absolute, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.tensorflow.api import WHOLE, Api, Presence, load
from cfgfix.code.tensorflow.requirement import Requirement
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


NEVER_IN_TWO = ("tensorflow.contrib", "tensorflow.examples")
"""Modules of TensorFlow 1 that `tf.compat.v1` does not have either (release notes of TensorFlow 2.0.0)."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A name of TensorFlow in the code.

    Attributes:
        raw: Its dotted name as imported.
        scope, place, block: Where it stands; the place is the whole dotted expression.
        expr: The expression, None for an import statement.
        presence: Where it is there.
    """

    raw: str
    scope: Scope
    place: Place
    block: int
    expr: Expr | None
    presence: Presence


@once
def api(program: Program) -> Api:
    """Return the table for the project's requirement."""
    return load(program.requirement)


def requirement_of(program: Program) -> Requirement:
    """Return the releases that the project of a program asks for."""
    return api(program).requirement


@once
def references(program: Program) -> list[Reference]:
    """Return every name of TensorFlow in the program that the table knows of."""
    found: list[Reference] = []
    table = api(program)
    if not table.admitted:
        return found
    legacy = keras_is_two(program)
    known: dict[str, Presence | None] = {}
    for module in program.modules:
        rebound = _rebound(module)
        for scope in module.summary.scopes:
            for expr, block in scope.references:
                raw = program.static_name(expr, scope)
                if raw is None:
                    continue
                choice = _meanings(program, rebound, expr, scope, block) if rebound else None
                if choice:
                    # What has the name, or is not known to lack it, is what the code means where several may be meant.
                    raw = max(choice, key=lambda name: _found(table.presence(name), table))
                if raw not in known:
                    known[raw] = table.presence(raw)
                presence = known[raw]
                if presence is not None and not (legacy and presence.name.startswith("keras.")):
                    found.append(Reference(raw, scope, expr.place, block, expr, presence))
            if not scope.imports:
                continue
            for event in scope.events():
                if event.kind != "import":
                    continue
                for _, source in event.extra:
                    if not source.startswith("tensorflow."):
                        continue
                    presence = table.presence(source)
                    if presence is not None and not (legacy and presence.name.startswith("keras.")):
                        found.append(Reference(source, scope, event.place, event.block, None, presence))
    return found


_Imports = dict[int, dict[str, list[tuple[Event, str]]]]


def _rebound(module: Module) -> _Imports:
    """Return the names of a module that several imports bind: by number of the scope, in order."""
    found: _Imports = {}
    for scope in module.summary.scopes:
        if not scope.imports:
            continue
        names: dict[str, list[tuple[Event, str]]] = {}
        for event in scope.events():
            if event.kind == "import":
                for name, source in event.extra:
                    if name:
                        names.setdefault(name, []).append((event, source))
        several = {name: items for name, items in names.items() if len({source for _, source in items}) > 1}
        if several:
            found[scope.number] = several
    return found


def _meanings(program: Program, rebound: _Imports, expr: Expr, scope: Scope, block: int) -> list[str]:
    """Return the dotted names an expression may have where several imports bind its first name.

    Seen from inside the scope of the imports, the last one on the way there hides those before it; one in a branch
    beside it may or may not have run.
    """
    head, _, rest = (dotted(expr) or "").partition(".")
    here: Scope | None = scope
    while here is not None and head not in here.imports:
        here = program.outer(here)
    found = rebound.get(here.number, {}).get(head) if here is not None else None
    if here is None or not found:
        return []
    around = {0}
    if here is scope:
        around.update(scope.block_numbers(block))
        place = place_of(expr, scope) or scope.place
        found = [item for item in found if item[0].place < place] or found
    sources: list[str] = []
    for event, source in found:
        if event.block in around:
            sources.clear()
        if source not in sources:
            sources.append(source)
    return [f"{name}.{rest}" if rest else name for name in (absolute(item, here.module) for item in sources)]


def _found(presence: Presence | None, table: Api) -> int:
    """Return in how many of the releases asked for a name is there; a name the table does not know is in all."""
    return (table.admitted if presence is None else presence.mask & table.admitted).bit_count()


@once
def with_other_releases(program: Program) -> frozenset[int]:
    """Return the modules, by identity, whose own folder asks for Keras 2.

    A collection of projects has requirements in each project's folder. What the newest release lacks says nothing of such a
    module, and Keras 3 is what took most away.
    """
    versions = api(program).releases
    three = next(number for number, text in enumerate(api(program).versions) if text == "2.16")
    apart = {
        folder
        for folder, asked in program.requirement.below
        if asked.keras_2 or max(asked.admitted(versions), default=0) < three
    }
    return _modules_below(program, apart)


def of_other_releases(program: Program, check: object) -> frozenset[int]:
    """Return what `with_other_releases` does, whatever check is asked about."""
    del check
    return with_other_releases(program)


@once
def with_old_releases(program: Program) -> frozenset[int]:
    """Return the modules, by identity, for releases before the inspected ones.

    Their own folder asks for such releases alone. A name that no inspected release has may be in theirs.
    """
    versions = api(program).releases
    apart = {
        folder for folder, asked in program.requirement.below if asked.text and not asked.admitted(versions)
    }
    return _modules_below(program, apart)


def _modules_below(program: Program, apart: set[str]) -> frozenset[int]:
    newer = {folder for folder, _ in program.requirement.below} - apart
    return frozenset(
        id(module) for module in program.modules if _nearest(os.path.abspath(module.path), apart, newer)
    )


def _nearest(path: str, apart: set[str], newer: set[str]) -> bool:
    """Tell whether the nearest folder above a path that is in one of two sets is in the first."""
    while apart and path != os.path.dirname(path):
        path = os.path.dirname(path)
        if path in apart or path in newer:
            return path in apart
    return False


def _imports(program: Program, package: str) -> bool:
    return any(
        source.partition(".")[0] == package
        for module in program.modules
        for scope in module.summary.scopes
        for source in scope.imports.values()
    )


@once
def keras_is_two(program: Program) -> bool:
    """Tell whether the project asks for Keras 2 with any TensorFlow.

    It does so through `TF_USE_LEGACY_KERAS` or `tf_keras`.
    """
    return _asks_for_keras_two(program)


def _asks_for_keras_two(program: Program) -> bool:
    if program.requirement.keras_2 or _imports(program, "tensorflow_gnn"):
        # TensorFlow GNN refuses Keras 3 while it is imported (tensorflow_gnn 1.0.3, `_check_keras_version`).
        return True
    for module in program.modules:
        if "TF_USE_LEGACY_KERAS" not in module.summary.words and "tf_keras" not in module.summary.words:
            continue
        for scope in module.summary.scopes:
            if any(source.split(".")[0] == "tf_keras" for source in scope.imports.values()):
                return True
            for call in scope.calls:
                if any(
                    isinstance(item, Literal) and item.value == "TF_USE_LEGACY_KERAS" for item in call.args
                ):
                    return True
            if "environ" in module.summary.words:
                for event in scope.events():
                    if any("TF_USE_LEGACY_KERAS" in text(target, scope) for target in event.targets):
                        return True
    return False


def absence_expected(reference: Reference, *, keras: bool = True) -> bool:
    """Tell whether the code around a name is ready for it not to be there."""
    return expects_absence(reference.scope, reference.block, reference.place, keras=keras)


def callers_ask(program: Program, scope: Scope, depth: int = 3) -> bool:
    """Tell whether all callers of a function ask for a release or a name first.

    A function that nothing calls has no such callers.
    """
    if scope.kind != "function" or depth == 0:
        return False
    sites = program.flow.callers(scope)
    return bool(sites) and all(
        expects_absence(site.scope, site.call.block, site.call.place, eager=False, tries=False)
        or callers_ask(program, site.scope, depth - 1)
        for site in sites
    )


def doubtful(program: Program, reference: Reference) -> bool:
    """Tell whether a name of TensorFlow may be something else, or is never looked up.

    It may be another name where its first part is bound in more than one way, or where the program sets it itself
    (`tf.tensor = tf.convert_to_tensor`); an annotation is not looked up under `from __future__ import annotations`.
    """
    return rebound(program, reference.raw, reference.expr, reference.scope)


def rebound(program: Program, raw: str, expr: Expr | None, scope: Scope) -> bool:
    """Tell whether a dotted name of TensorFlow may be something else.

    The program sets it, or binds its first part in more than one way, or it stands in an annotation. `expr` is the
    expression that has the name, None for an import statement.
    """
    if any(raw == name or raw.startswith(name + ".") for name in _set_by_program(program)):
        return True
    if expr is None:
        return False
    head = expr
    while isinstance(head, Attribute):
        head = head.base
    return isinstance(head, Name) and (
        _assigned(scope, head.name)
        or _in_annotation(expr, scope)
        or any(
            # `global tf; import tensorflow.compat.v1 as tf` in a function.
            head.name in item.outer and head.name in item.imports
            for item in scope.module.summary.scopes
        )
    )


@once
def _set_by_program(program: Program) -> set[str]:
    """Return the names of TensorFlow, Keras and NumPy that the program sets."""
    found: set[str] = set()
    for module in program.modules:
        for scope, _, target in module.stores():
            # What is set is an attribute of an import, and so a reference.
            name = program.static_name(target, scope) if scope.references else None
            if name is not None and name.startswith(("tensorflow.", "keras.", "numpy.")):
                found.add(name)
    for site in program.flow.named("builtins.setattr"):
        call = site.call
        if len(call.args) == 3:
            name = program.static_name(call.args[0], site.scope)
            last = constant(call.args[1])
            if (
                name is not None
                and name.startswith(("tensorflow", "keras", "numpy"))
                and isinstance(last, str)
            ):
                found.add(f"{name}.{last}")
    return found


def _binder(scope: Scope, name: str) -> Scope | None:
    """Return the scope, from one outwards, that imports a name."""
    here: Scope | None = scope
    while here is not None and name not in here.imports and name not in here.names:
        here = here.module.summary.scopes[here.parent] if here.parent >= 0 else None
    return here


def _assigned(scope: Scope, name: str) -> bool:
    """Tell whether a name is assigned as well in the scope that imports it."""
    here = _binder(scope, name)
    return here is not None and any(
        is_name(target, name) for event in here.events() for target in event.targets
    )


def bound_twice(scope: Scope, name: str) -> bool:
    """Tell whether the scope that binds a name does so more than once.

    The name is imported from several places, or imported and assigned.
    """
    here = _binder(scope, name)
    if here is None:
        return False
    sources: set[str] = set()
    assigned = 0
    for event in here.events():
        if event.kind == "import":
            sources.update(source for bound, source in event.extra if bound == name)
        elif any(is_name(target, name) for target in event.targets):
            assigned += 1
    return len(sources) + assigned > 1


def _in_annotation(name: Expr, scope: Scope) -> bool:
    """Tell whether a name only stands in an annotation that Python does not evaluate."""
    later = any(
        item.get("annotations") == "__future__.annotations"
        for item in (here.imports for here in scope.module.summary.scopes)
    )

    def holds(expr: Expr | None) -> bool:
        return expr is not None and any(part is name for part in walk(expr, scope))

    for event in scope.events():
        # The annotation of a local variable is never evaluated.
        if event.kind == "annotate" and (later or scope.kind == "function") and holds(event.extra):
            return True
    return later and any(
        holds(inner.returns) or any(holds(annotation) for _, annotation, _, _ in inner.params)
        for inner in scope.module.summary.scopes
        if inner.kind == "function" and inner.parent == scope.number
    )


def for_others(program: Program, module: Module) -> bool:
    """Tell whether a module is for releases that are not asked for.

    How it is imported, or what it says, tells.
    """
    return id(module) in _for_another_release(program) or _says_one(program, module)


@once
def _for_another_release(program: Program) -> set[int]:
    """Return the modules that the program only imports under a test of a version, by identity.

    What such a module lacks under the newest release says nothing: it may be the one for the older.
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
                for _, source in event.extra:
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
                    and "version" in text(scope.blocks[number].test, scope).lower()
                    for number in scope.block_numbers(event.block)
                )
                (tested if under else plain).update(targets)
    return (tested - plain) | _named_for_one(program)


_SAYS_ONE = re.compile(r"\b(?:tensorflow|tf)\s*(?:version\s*)?v?1\.(?:\d+|x)\b", re.IGNORECASE)
_SAYS_TWO = re.compile(r"\b(?:tensorflow|tf)\s*(?:version\s*)?v?2\b", re.IGNORECASE)
_HEAD = 40


@once
def _says_one(program: Program, module: Module) -> bool:
    """Tell whether a file says before its first import that it is for TensorFlow 1: `# Uses the TF 1.x summary writer`."""
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
    """Return the modules whose file or folder is named for TensorFlow 1, `train_tf1.py`, beside its twin for 2, `train_tf2.py`, by identity."""
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
    """Return the modules, given by path, below a folder named for TensorFlow 1, by identity; one called `v1x` beside its twin for 2 alone."""
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


def public_name(name: str) -> str:
    """Return a name of the table as people write it."""
    if name.startswith("keras"):
        return "tf." + name
    return "tf" + name[len("tensorflow") :]


def values_of(table: Api, reference: Reference) -> dict[str, object]:
    """Return what the messages about a missing name are filled with."""
    presence = reference.presence
    end, seen = table.end(presence.mask)
    return {
        "name": public_name(presence.name),
        "fate": "does not exist in",
        "gone": table.since(presence.mask),
        "end": end,
        "seen": seen,
        "asked": asked_for(table),
    }


def asked_for(table: Api) -> str:
    """Return in words which release is asked for, and by what."""
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


def _grade(table: Api, presence: Presence) -> tuple[str, str] | None:
    """Return severity and confidence for a name that is missing somewhere, or None where it is nowhere missing."""
    if not table.admitted or (table.computed and presence.mask):
        return None
    if presence.mask & table.admitted == table.admitted:
        return None
    if not presence.mask & table.admitted:
        return (where_known(table, "error") or "error", "medium") if presence.mask else ("error", "high")
    if presence.mask & table.newest:
        # Only older releases lack it: the requirement is too wide, which is another matter.
        return None
    return where_known(table, "warning") or "error", "medium"


def where_known(table: Api, severity: str) -> str | None:
    """Return a severity for what some of the releases asked for have.

    None, the rule's own, stands for a project that does not say which release is meant: what `pip install tensorflow`
    gives today is meant then. What the code only imports beside TensorFlow is a guess: info.
    """
    if table.requirement.open:
        return None
    return severity if table.requirement.known else "info"


def where_keras_known(table: Api, severity: str) -> str | None:
    """Return a severity for what Keras lacks in some of the releases asked for.

    A release of Keras that is asked for decides as well as one of TensorFlow; `where_known` says the rest.
    """
    return severity if table.requirement.keras else where_known(table, severity)


def missing(program: Program) -> Iterator[tuple[Reference, str, str]]:
    """Yield the names that are not there.

    Those of a file for TensorFlow 1 are left out: `only_old` tells of it once.
    """
    for reference, severity, confidence in missing_names(program):
        if written_for_one(program, reference.scope):
            continue
        yield reference, severity, confidence


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
    return bool(written.old) and not written.two and table.requirement.admits_one()


@once
def _from_inside_one(program: Program, module: Module) -> bool:
    """Tell whether a module imports from `tensorflow._api.v1`, which only TensorFlow 1 has as its own."""
    del program
    return any(
        source.startswith("tensorflow._api.v1")
        for item in module.summary.scopes
        for source in item.imports.values()
    )


def admits_one(program: Program, module: Module) -> bool:
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
            return own.admits_one() if own.text or own.computed else requirement.admits_one()
    return requirement.admits_one()


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
        two = {number for number, module in modules.items() if uses_two(program, module)}
        later = two | {number for number, module in modules.items() if uses_two(program, module, _BRIDGE)}
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
            if not admits_one(program, modules[number]):
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
def uses_two(program: Program, module: Module, names: tuple[str, ...] = _TWO) -> bool:
    """Tell whether a file uses names that only TensorFlow 2 programs use.

    It is found once for each file. The last releases of TensorFlow 1 had many of these names for who asked for eager
    execution.
    """
    return _uses(program, module, names)


def _uses(program: Program, module: Module, names: tuple[str, ...]) -> bool:
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
    """Tell whether more files near a module are built on TensorFlow 1 than use TensorFlow 2: in the nearest folder with any."""
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
    """Return the names that are missing, each with severity and confidence."""
    return list(_look_up(program))


def _look_up(program: Program) -> Iterator[tuple[Reference, str, str]]:
    table = api(program)
    seen: set[tuple[int, str, int]] = set()
    failing: dict[int, list[str]] = {}
    ready: dict[int, list[str]] = {}
    graded = []
    for reference in references(program):
        grade = _grade(table, reference.presence)
        if grade is None or for_others(program, reference.scope.module) or _over_updates(reference):
            continue
        graded.append((reference, grade))
        if reference.expr is None:
            names = ready if absence_expected(reference) else failing
            names.setdefault(id(reference.scope.module), []).append(reference.raw)
    for reference, grade in graded:
        # A package that is gone as a whole is told once in a file.
        line = 0 if reference.presence.name == WHOLE else reference.place[0]
        key = (id(reference.scope.module), reference.presence.name, line)
        if key in seen or doubtful(program, reference):
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
        if severity == "error" and behind_a_default(reference.scope, reference.block, place):
            # Only a caller that gives another value than the default comes to the name.
            severity = "warning"
        yield reference, severity, confidence


def _may_be_meant(program: Program, reference: Reference) -> bool:
    """Tell whether an old name may be in its place: where its file uses nothing of TensorFlow 2, or TensorFlow 1 may be asked for.

    In files that use TensorFlow 2 themselves readers agreed with 28 of 34 findings where nothing says that TensorFlow 1 may be meant. In
    others they agreed with 16 of 21 about what runs while a file is imported, with 6 of 14 about what a script's calls lead to (the 8 stand
    in one program), and with 16 of 50 about the rest: most of that is kept for TensorFlow 1, or nothing comes to it
    (`benchmarks/precision`).
    """
    requirement = api(program).requirement
    if requirement.text and not requirement.installed and admits_one(program, reference.scope.module):
        return True
    module = reference.scope.module
    if uses_two(program, module):
        return False
    scope = reference.scope
    while scope.kind == "class" and scope.parent >= 0:
        # A class's statements run where those around it do.
        scope = module.summary.scopes[scope.parent]
    return _unknown_for(program, module) or not (scope is module.scope or comes_to(program, scope))


def _unknown_for(program: Program, module: Module) -> bool:
    """Tell whether nothing says which TensorFlow a module is for."""
    requirement = api(program).requirement
    return admits_one(program, module) and not (requirement.installed or requirement.whatever)


def _over_updates(reference: Reference) -> bool:
    """Tell whether a name stands in `for update in self.updates`, a loop that has no turns in TensorFlow 2.

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
    """Tell whether a name is a part of what some imports bring, and begins with the very name that one of them binds."""
    head = reference.expr
    while head is not None and isinstance(head, Attribute):
        head = head.base
    if head is None or not isinstance(head, Name):
        return False
    here = _binder(reference.scope, head.name)
    return here is not None and here.imports.get(head.name) in names


def before_the_table(table: Api) -> bool:
    """Tell whether TensorFlow 2.0 to 2.3, older than the table, may be meant."""
    return not table.requirement.text or any(table.requirement.admits((2, minor, 0)) for minor in range(4))


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
    """Tell it of a module."""
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
    return list(_failing(program, module))


def _failing(program: Program, module: Module) -> Iterator[FailingImport]:
    table = api(program)
    if "keras" not in standalone(program, module) or table.silent or module.scope is None:
        return
    if not keras_of_release(program, module.scope) or for_others(program, module):
        return
    for scope in module.summary.scopes:
        if not any(source.startswith("keras.") for source in scope.imports.values()):
            continue
        for event in scope.events() if not written_for_one(program, scope) else ():
            for _, source in event.extra if event.kind == "import" else ():
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
    if table.silent or workers is None or keras_is_two(program) or workers & table.newest:
        return ""
    return "some" if workers & table.admitted else "all"


@once
def _of_the_copy(program: Program, module: Module) -> bool:
    """Tell whether the only Keras that a file names is the copy of Keras 2 inside TensorFlow, `tensorflow.python.keras`."""
    del program
    return any(
        f"{source}.".startswith("tensorflow.python.keras.")
        for item in module.summary.scopes
        for source in item.imports.values()
    ) and not re.search(r"\b(?:tf|tensorflow)\.keras\b", module.source_file().text)


def refused_by_three(program: Program, scope: Scope) -> tuple[str | None] | None:
    """Return the severity of what only Keras 3 refuses in a file, or None.

    None where no Keras 3 comes to it. The severity itself is None, the rule's own, where every release that is asked for
    has Keras 3, or nothing says which is meant; a warning where another may be meant too.
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
    return (where_keras_known(table, "warning") if two else None,)
