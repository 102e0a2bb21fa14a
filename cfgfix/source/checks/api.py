"""Names and arguments that the project's TensorFlow does not have, or has under another name by now."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from cfgfix.records import dataclass
from cfgfix.source.api import Api, Presence, load
from cfgfix.source.checks.common import tensorflow_alias
from cfgfix.source.expr import constant, dotted, text, walk
from cfgfix.source.flow import only_tells
from cfgfix.source.guards import behind_a_default, expects_absence
from cfgfix.source.hit import Hit, Rewrite, hit_at
from cfgfix.source.program import Module, Program, absolute
from cfgfix.source.requirements import NOTHING, before_keras_3
from cfgfix.source.summary import ATTRIBUTE, CALL, CONSTANT, NAME, Event, Expr, Place, Scope
from cfgfix.source.values import Site

NEEDLES = (
    b"import tensorflow",
    b"from tensorflow import",
    b"from tensorflow.keras",
    b"from tensorflow.compat",
    b"from tensorflow.contrib",
    b"from tensorflow.data",
    b"from tensorflow.distribute",
    b"from tensorflow.config",
)
"""How files come to have TensorFlow's public names; its own modules import `tensorflow.python` and are passed over."""

_KNOWN_ELSEWHERE = ("tensorflow.contrib", "tensorflow.examples")
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


def api(program: Program) -> Api:
    """Return the table for the project's requirement, read once."""
    found: Api | None = program.facts.get("api")
    if found is None:
        requirement = program.facts.get("requirement", NOTHING)
        if _imports_addons(program):
            requirement = before_keras_3(requirement, "tensorflow_addons, which the code imports,")
        found = program.facts["api"] = load(requirement)
    return found


def references(program: Program) -> list[Reference]:
    """Return every name of TensorFlow in the program that the table knows something about."""
    found: list[Reference] | None = program.facts.get("references")
    if found is not None:
        return found
    found = []
    table = api(program)
    if not table.admitted:
        program.facts["references"] = found
        return found
    legacy = _keras_is_two(program)
    known: dict[str, Presence | None] = {}
    for module in program.modules:
        rebound = _rebound(module)
        for scope in module.summary.scopes:
            for expr, block in scope.references:
                raw = program.static_name(expr, scope)
                if raw is None:
                    continue
                choice = [raw] if not rebound else _meanings(program, rebound, expr, scope, block) or [raw]
                for name in choice:
                    if name not in known:
                        known[name] = table.presence(name)
                # What has the name, or is not known to lack it, is what the code means where several may be meant.
                raw = max(choice, key=lambda name: _found(known[name], table))
                presence = known[raw]
                if presence is not None and not (legacy and presence.name.startswith("keras.")):
                    found.append(Reference(raw, scope, expr[-1], block, expr, presence))
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
    program.facts["references"] = found
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
        around.update(_chain(scope, block))
        found = [item for item in found if item[0].place < expr[-1]] or found
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


def with_other_releases(program: Program) -> frozenset[int]:
    """Return the modules, by identity, whose own folder asks for Keras 2.

    A collection of projects has requirements in each project's folder. What the newest release lacks says nothing of such a
    module, and Keras 3 is what took most away.
    """
    found: frozenset[int] | None = program.facts.get("with other releases")
    if found is None:
        below = program.facts.get("requirement", NOTHING).below
        versions = api(program).releases
        three = next(number for number, text in enumerate(api(program).versions) if text == "2.16")
        apart = {
            folder
            for folder, asked in below
            if asked.keras_2 or max(asked.admitted(versions), default=0) < three
        }
        found = program.facts["with other releases"] = _modules_below(program, apart)
    return found


def with_old_releases(program: Program) -> frozenset[int]:
    """Return the modules, by identity, whose own folder asks for releases before the inspected ones alone.

    A name that no inspected release has may be in theirs.
    """
    found: frozenset[int] | None = program.facts.get("with old releases")
    if found is None:
        below = program.facts.get("requirement", NOTHING).below
        versions = api(program).releases
        apart = {folder for folder, asked in below if asked.text and not asked.admitted(versions)}
        found = program.facts["with old releases"] = _modules_below(program, apart)
    return found


def _modules_below(program: Program, apart: set[str]) -> frozenset[int]:
    newer = {folder for folder, _ in program.facts.get("requirement", NOTHING).below} - apart
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


def _imports_addons(program: Program) -> bool:
    return any(
        source.partition(".")[0] == "tensorflow_addons"
        for module in program.modules
        for scope in module.summary.scopes
        for source in scope.imports.values()
    )


def _keras_is_two(program: Program) -> bool:
    """Tell whether the project asks for Keras 2 with any TensorFlow, through `TF_USE_LEGACY_KERAS` or `tf_keras`."""
    found: bool | None = program.facts.get("keras is two")
    if found is None:
        found = program.facts["keras is two"] = _asks_for_keras_two(program)
    return found


def _asks_for_keras_two(program: Program) -> bool:
    if program.facts.get("requirement", NOTHING).keras_2:
        return True
    for module in program.modules:
        if "TF_USE_LEGACY_KERAS" not in module.summary.words and "tf_keras" not in module.summary.words:
            continue
        for scope in module.summary.scopes:
            if any(source.split(".")[0] == "tf_keras" for source in scope.imports.values()):
                return True
            for call in scope.calls:
                if any(item[0] == CONSTANT and item[1] == "TF_USE_LEGACY_KERAS" for item in call.args):
                    return True
            if "environ" in module.summary.words:
                for event in scope.events():
                    if any("TF_USE_LEGACY_KERAS" in text(target, scope) for target in event.targets):
                        return True
    return False


def _expects_absence(reference: Reference, *, keras: bool = True) -> bool:
    """Tell whether the code around a name is ready for it not to be there."""
    return expects_absence(reference.scope, reference.block, reference.place, keras=keras)


def _doubtful(program: Program, reference: Reference) -> bool:
    """Tell whether a name of TensorFlow may be something else, or is never looked up.

    It may be another name where its first part is bound in more than one way, or where the program sets it itself
    (`tf.tensor = tf.convert_to_tensor`); an annotation is not looked up under `from __future__ import annotations`.
    """
    raw = reference.raw
    if any(raw == name or raw.startswith(name + ".") for name in _set_by_program(program)):
        return True
    if reference.expr is None:
        return False
    head = reference.expr
    while head[0] == ATTRIBUTE:
        head = head[1]
    return _assigned(reference.scope, head[1]) or _in_annotation(reference)


def _set_by_program(program: Program) -> set[str]:
    """Return the names of TensorFlow that the program sets."""
    found: set[str] | None = program.facts.get("set_by_program")
    if found is None:
        found = set()
        for module in program.modules:
            for scope in module.summary.scopes:
                for event in scope.events():
                    for target in event.targets:
                        if event.kind == "assign" and target[0] == ATTRIBUTE:
                            name = program.static_name(target, scope)
                            if name is not None and name.startswith("tensorflow."):
                                found.add(name)
                for call in scope.calls:
                    if call.func[:2] == (NAME, "setattr") and len(call.args) == 3:
                        name = program.static_name(call.args[0], scope)
                        last = constant(call.args[1])
                        if name is not None and name.startswith("tensorflow") and isinstance(last, str):
                            found.add(f"{name}.{last}")
        program.facts["set_by_program"] = found
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
        target[:2] == (NAME, name) for event in here.events() for target in event.targets
    )


def _bound_twice(scope: Scope, name: str) -> bool:
    """Tell whether a name is imported from several places, or imported and assigned, in the scope that binds it."""
    here = _binder(scope, name)
    if here is None:
        return False
    sources: set[str] = set()
    assigned = 0
    for event in here.events():
        if event.kind == "import":
            sources.update(source for bound, source in event.extra if bound == name)
        elif any(target[:2] == (NAME, name) for target in event.targets):
            assigned += 1
    return len(sources) + assigned > 1


def _in_annotation(reference: Reference) -> bool:
    """Tell whether a name only stands in an annotation that Python does not evaluate."""
    scope = reference.scope
    later = any(
        item.get("annotations") == "__future__.annotations"
        for item in (here.imports for here in scope.module.summary.scopes)
    )

    def holds(expr: Expr | None) -> bool:
        return expr is not None and any(part[-1] == reference.place for part in walk(expr, scope))

    for event in scope.events():
        # The annotation of a local variable is never evaluated.
        if event.kind == "annotate" and (later or scope.kind == "function") and holds(event.extra):
            return True
    return later and any(
        holds(inner.returns) or any(holds(annotation) for _, annotation, _, _ in inner.params)
        for inner in scope.module.summary.scopes
        if inner.kind == "function" and inner.parent == scope.number
    )


def _for_another_release(program: Program) -> set[int]:
    """Return the modules that the program only imports under a test of a version, by identity.

    What such a module lacks under the newest release says nothing: it may be the one for the older.
    """
    found: set[int] | None = program.facts.get("for_another_release")
    if found is not None:
        return found
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
                    for number in _chain(scope, event.block)
                )
                (tested if under else plain).update(targets)
    found = program.facts["for_another_release"] = tested - plain
    return found


def _chain(scope: Scope, block: int) -> Iterator[int]:
    while block >= 0:
        yield block
        block = scope.blocks[block].parent


def _shown(name: str) -> str:
    """Return a name of the table as people write it."""
    if name.startswith("keras"):
        return "tf." + name
    return "tf" + name[len("tensorflow") :]


def _values(table: Api, reference: Reference) -> dict[str, object]:
    presence = reference.presence
    return {
        "name": _shown(presence.name),
        "fate": "does not exist in",
        "gone": table.since(presence.mask),
        "last": table.last(presence.mask),
        "asked": _asked(table),
    }


def _asked(table: Api) -> str:
    if table.requirement.text:
        return f"{table.requirement.path} asks for {table.requirement.text}"
    if table.requirement.below:
        return "no requirement found for all of it says which release is meant"
    if table.requirement.computed:
        return f"which release {table.requirement.path} asks for only running it tells"
    return "no requirement found says which release is meant"


def _grade(table: Api, presence: Presence) -> tuple[str, str] | None:
    """Return severity and confidence for a name that is missing somewhere, or None where it is nowhere missing."""
    if not table.admitted or (table.computed and presence.mask):
        return None
    if presence.mask & table.admitted == table.admitted:
        return None
    if not presence.mask & table.admitted:
        return "error", "high"
    if presence.mask & table.newest:
        # Only older releases lack it: the requirement is too wide, which is another matter.
        return None
    return "warning", "medium"


def _renamed(reference: Reference, new: str) -> tuple[Rewrite, ...]:
    """Return the fix that writes another name for the whole dotted expression, where TensorFlow has a name here."""
    if reference.expr is None:
        return ()
    alias = tensorflow_alias(reference.scope)
    if alias is None or reference.presence.rest:
        return ()
    return (Rewrite("replace", reference.scope, reference.place, alias + new[len("tensorflow") :]),)


def _missing(program: Program) -> Iterator[tuple[Reference, str, str]]:
    """Yield the names that are not there; none of a file for TensorFlow 1, which `only_old` tells of once."""
    for reference, severity, confidence in _missing_names(program):
        if not written_for_one(program, reference.scope):
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
class _Eras:
    """Which files are written for TensorFlow 1.

    Attributes:
        old: Their names of TensorFlow 1, by the identity of the module.
        two: Whether any file of the program uses TensorFlow 2.
    """

    old: dict[int, list[Reference]]
    two: bool


def written_for_one(program: Program, scope: Scope) -> bool:
    """Tell whether a scope's file is written for TensorFlow 1, where the project may mean that release."""
    table = api(program)
    if table.requirement.text and not table.admitted:
        # None of the inspected releases: TensorFlow 1, unless an early one of TensorFlow 2 is asked for.
        return not any(
            table.requirement.admits((2, minor, patch)) for minor in range(4) for patch in range(6)
        )
    eras = _eras(program)
    if id(scope.module) in eras.old:
        return True
    return bool(eras.old) and not eras.two and table.requirement.admits_one()


def _admits_one(program: Program, module: Module) -> bool:
    """Tell whether what the nearest folder with requirements asks for may be TensorFlow 1."""
    requirement = api(program).requirement
    below = dict(requirement.below)
    folder = os.path.abspath(module.path)
    while below and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
        if folder in below:
            own = below[folder]
            return own.admits_one() if own.text or own.computed else requirement.admits_one()
    return requirement.admits_one()


def _eras(program: Program) -> _Eras:
    found: _Eras | None = program.facts.get("eras")
    if found is not None:
        return found
    old: dict[int, list[Reference]] = {}
    later: set[int] = set()
    for reference, _, _ in _missing_names(program):
        if _is_old(reference.presence) and not _expects_absence(reference):
            old.setdefault(id(reference.scope.module), []).append(reference)
    if old:
        modules = {id(module): module for module in program.modules}
        two = {number for number, module in modules.items() if _uses_two(program, module)}
        later = two | {number for number, module in modules.items() if _uses_two(program, module, _BRIDGE)}
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
            if not _admits_one(program, modules[number]):
                # TensorFlow 2 is asked for: one finding stands for all only where nothing in the file is newer.
                plain = number not in later and len(items) >= MANY
            elif number in two:
                # `tf.contrib` was never in TensorFlow 2, whatever else the file uses.
                plain = any(item.presence.name.startswith(_KNOWN_ELSEWHERE) for item in items)
            else:
                plain = (
                    number in strong or not later or len(items) >= FEW or _among_old(modules[number], *paths)
                )
            if not plain:
                del old[number]
    found = program.facts["eras"] = _Eras(old, bool(later))
    return found


def _is_old(presence: Presence) -> bool:
    """Tell whether a name is one of TensorFlow 1 and of no TensorFlow 2."""
    return bool(presence.old and not presence.mask) or presence.name.startswith(_KNOWN_ELSEWHERE)


def _uses_two(program: Program, module: Module, names: tuple[str, ...] = _TWO) -> bool:
    for scope in module.summary.scopes:
        if any(f"{source}.".startswith(names) for source in scope.imports.values()):
            return True
        for expr, _ in scope.references:
            name = program.static_name(expr, scope)
            if name is not None and f"{name}.".startswith(names):
                return True
    return False


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


def _missing_names(program: Program) -> Iterator[tuple[Reference, str, str]]:
    found: list[tuple[Reference, str, str]] | None = program.facts.get("missing names")
    if found is None:
        found = program.facts["missing names"] = list(_look_up(program))
    yield from found


def _look_up(program: Program) -> Iterator[tuple[Reference, str, str]]:
    table = api(program)
    seen: set[tuple[int, str, int]] = set()
    failing: dict[int, list[str]] = {}
    graded = []
    for reference in references(program):
        grade = _grade(table, reference.presence)
        if grade is None or id(reference.scope.module) in _for_another_release(program):
            continue
        graded.append((reference, grade))
        if reference.expr is None and not _expects_absence(reference):
            failing.setdefault(id(reference.scope.module), []).append(reference.raw)
    for reference, grade in graded:
        key = (id(reference.scope.module), reference.presence.name, reference.place[0])
        if key in seen or _doubtful(program, reference):
            continue
        if reference.expr is not None and any(
            reference.raw == name or reference.raw.startswith(name + ".")
            for name in failing.get(id(reference.scope.module), ())
        ):
            # The import of it raises first, and is told.
            continue
        seen.add(key)
        severity, confidence = grade
        place = reference.place if reference.expr is not None else None
        if severity == "error" and behind_a_default(reference.scope, reference.block, place):
            # Only a caller that gives another value than the default comes to the name.
            severity = "warning"
        yield reference, severity, confidence


_EARLY = frozenset(
    "keras." + name
    for name in (
        "backend.get_session",
        "backend.set_session",
        "experimental.export_saved_model",
        "experimental.load_from_saved_model",
        "experimental.terminate_keras_multiprocessing_pools",
        "layers.CuDNNGRU",
        "layers.CuDNNLSTM",
        "losses.cosine_proximity",
        "utils.multi_gpu_model",
    )
)
"""Names of Keras in TensorFlow 1.15 or 2.0 to 2.3 that the inspected releases do not have (release notes of TensorFlow 2.0 to
2.4, and the documentation of 1.15)."""


def never_existed(program: Program) -> Iterator[Hit]:
    """A name that no inspected release has, neither of TensorFlow 2 nor of `tf.compat.v1`."""
    table = api(program)
    for reference, severity, _ in _missing(program):
        presence = reference.presence
        if presence.mask or presence.old or presence.name.startswith(_KNOWN_ELSEWHERE):
            continue
        package, _, last = presence.name.rpartition(".")
        near = package.replace(".experimental", "")
        other = f"{near}.{last}"
        exists = near != package and table.has_now(other)
        swallowed = _expects_absence(reference, keras=presence.name.startswith("keras."))
        if swallowed and not exists:
            continue
        yield Hit(
            reference.scope,
            reference.place,
            reference.block,
            {**_values(table, reference), "instead": f", but {_shown(other)} does" if exists else ""},
            rewrites=_renamed(reference, other) if exists else (),
            safety="unsafe" if swallowed else None,
            notes=("the error is caught here, so what the line should do silently does not happen",)
            if swallowed
            else (),
            title=f"Write {_shown(other)}" if exists else None,
            # A team that is ready for the error loses the setting, not the run.
            severity="info"
            if _never_taken(program, reference) or (not exists and _of_another_build(program, presence.name))
            else "warning"
            # Keras of TensorFlow 1 and of 2.0 to 2.3 is not in the table.
            if swallowed
            or (presence.name.startswith("keras.") and not table.requirement.text)
            or (presence.name in _EARLY and _before_the_table(table))
            else severity,
            confidence="high" if exists or presence.name.startswith("tensorflow.config") else "medium",
        )


def _of_another_build(program: Program, name: str) -> bool:
    """Tell whether several files use a name that TensorFlow does not have: a build of its own may have it, a slip is rarely made twice."""
    if name.startswith("keras."):
        # What Keras once had is copied from file to file as well.
        return False
    files: dict[str, set[int]] | None = program.facts.get("files of missing names")
    if files is None:
        files = program.facts["files of missing names"] = {}
        for reference, _, _ in _missing_names(program):
            files.setdefault(reference.presence.name, set()).add(id(reference.scope.module))
    return len(files.get(name, ())) > 1


def _never_taken(program: Program, reference: Reference) -> bool:
    """Tell whether a place is the other side of `hasattr` for a name that every release asked for has."""
    table = api(program)
    scope = reference.scope
    for number in _chain(scope, reference.block):
        item = scope.blocks[number]
        test, branch = item.test, item.branch
        if item.kind != "if" or test is None:
            continue
        if test[0] == NAME:
            values = [
                event.value
                for event in scope.events()
                if any(target[:2] == test[:2] for target in event.targets)
            ]
            test = values[0] if len(values) == 1 else None
        if test is None or test[0] != CALL or branch:
            continue
        call = scope.calls[test[1]]
        last = constant(call.args[1]) if len(call.args) == 2 else None
        owner = program.static_name(call.args[0], scope) if isinstance(last, str) else None
        if owner is None or call.func[:2] != (NAME, "hasattr"):
            continue
        found = table.presence(f"{owner}.{last}")
        if found is not None and not found.rest and found.mask & table.admitted == table.admitted:
            return True
    return False


def only_old(program: Program) -> Iterator[Hit]:
    """A name of TensorFlow 1; of a file that is written for it, or a program, the first one alone."""
    table = api(program)
    eras = _eras(program)
    files = [sorted(items, key=lambda item: item.place) for items in eras.old.values()]
    files.sort(key=lambda items: items[0].scope.module.path)
    each = eras.two or not table.requirement.admits_one()
    for items in files if each else files[:1]:
        first = items[0]
        places = sum(map(len, files)) if not each else len(items)
        asked = not _admits_one(program, first.scope.module)
        name = _shown(first.presence.name)
        more = f" and {places - 1} more place{'s' if places > 2 else ''} use" if places > 1 else " uses"
        yield Hit(
            first.scope,
            first.place,
            first.block,
            {
                "what": f"this file is written for TensorFlow 1: {name}{more} what TensorFlow 2 does not have"
                if each or len(files) == 1
                else f"this program is written for TensorFlow 1: {name}{more} what TensorFlow 2 does not have,"
                f" in {len(files)} files"
            },
            severity="error" if asked else "info",
            notes=(
                f"{_asked(table)}; `tf_upgrade_v2` converts it"
                if asked
                else "a requirement such as `tensorflow<2` says so, and `tf_upgrade_v2` converts it",
            ),
        )
    for reference, severity, confidence in _missing(program):
        presence = reference.presence
        either = _admits_one(program, reference.scope.module)
        if not _is_old(presence) or _expects_absence(reference):
            continue
        instead = (
            f"tf.compat.v1{presence.name[len('tensorflow') :]} still has it"
            if presence.old & table.newest
            else ""
        )
        yield Hit(
            reference.scope,
            reference.place,
            reference.block,
            {"what": f"{_shown(presence.name)} is TensorFlow 1 only{f'; {instead}' if instead else ''}"},
            # A file that uses TensorFlow 2 as well runs with no release at all.
            severity="warning" if either and not _uses_two(program, reference.scope.module) else severity,
            confidence=confidence,
        )


_REWRITE = "tensorflow.train.experimental.enable_mixed_precision_graph_rewrite"
_PRECISION = {
    "set_policy": "set_global_policy",
    "global_policy": "global_policy",
    "Policy": "Policy",
    "LossScaleOptimizer": "LossScaleOptimizer",
}


def experimental_precision(program: Program) -> Iterator[Hit]:
    """`tf.keras.mixed_precision.experimental`, and the graph rewrite of old."""
    table = api(program)
    for reference, severity, confidence in _missing(program):
        presence = reference.presence
        if not presence.name.startswith("keras.mixed_precision.experimental") and presence.name != _REWRITE:
            continue
        if _expects_absence(reference):
            continue
        rewrites: tuple[Rewrite, ...] = ()
        first = (presence.rest or presence.name.rpartition(".")[2]).partition(".")[0]
        new = _PRECISION.get(first)
        alias = tensorflow_alias(reference.scope)
        dotted_name = reference.raw.rpartition(".")
        if (
            new is not None
            and alias
            and reference.expr is not None
            and dotted_name[0].endswith("mixed_precision.experimental")
        ):
            rewrites = (
                Rewrite("replace", reference.scope, reference.place, f"{alias}.keras.mixed_precision.{new}"),
            )
        yield Hit(
            reference.scope,
            reference.place,
            reference.block,
            _values(table, reference),
            severity=severity,
            confidence=confidence,
            rewrites=rewrites if new != "LossScaleOptimizer" else (),
        )


def keras_gone(program: Program) -> Iterator[Hit]:
    """A name of `tf.keras` that Keras 3 does not have."""
    table = api(program)
    for reference, severity, confidence in _missing(program):
        presence = reference.presence
        if not presence.name.startswith("keras.") or not presence.mask:
            continue
        if presence.name.startswith("keras.mixed_precision.experimental") or _expects_absence(reference):
            continue
        rewrites: tuple[Rewrite, ...] = ()
        other = presence.name.replace(".experimental.preprocessing.", ".").replace(
            ".experimental.preprocessing", ""
        )
        whole = f"{presence.name}.{presence.rest}" if presence.rest else presence.name
        moved = whole.replace(".experimental.preprocessing.", ".").replace(
            "keras.experimental.", "keras.optimizers.schedules."
        )
        if other and moved != whole and table.has_now("tensorflow." + moved):
            alias = tensorflow_alias(reference.scope)
            if alias is not None and reference.expr is not None:
                rewrites = (Rewrite("replace", reference.scope, reference.place, f"{alias}.{moved}"),)
        yield Hit(
            reference.scope,
            reference.place,
            reference.block,
            _values(table, reference),
            severity=severity,
            confidence=confidence,
            rewrites=rewrites,
        )
    for site in program.flow.under("keras.optimizers.legacy."):
        if site.raw.startswith("tensorflow.keras"):
            mask = table.raises(site.name)
            if (
                mask & table.newest
                and not table.silent
                and not expects_absence(site.scope, site.call.block, site.call.place)
                and not _bound_twice(site.scope, _head(site.call.func))
                and not _keras_is_two(program)
            ):
                yield hit_at(
                    site,
                    values={
                        "name": _shown(site.name),
                        "fate": "only raises in",
                        "gone": "2.16 and later",
                        "last": table.last(table.admitted & ~mask) or "2.15",
                        "asked": _asked(table),
                    },
                    severity="error"
                    if table.requirement.text and mask & table.admitted == table.admitted
                    else "warning",
                    confidence="high" if mask & table.admitted == table.admitted else "medium",
                )


def gone(program: Program) -> Iterator[Hit]:
    """A name of TensorFlow 2 that later releases of TensorFlow 2 do not have."""
    table = api(program)
    for reference, severity, confidence in _missing(program):
        presence = reference.presence
        if not presence.mask or presence.name.startswith("keras.") or _expects_absence(reference):
            continue
        if presence.name == _REWRITE:
            # `experimental_precision` tells of it.
            continue
        yield Hit(
            reference.scope,
            reference.place,
            reference.block,
            _values(table, reference),
            severity=severity,
            confidence=confidence,
        )


_SIMPLE = frozenset(
    "tensorflow.data.experimental." + name
    for name in ("choose_from_datasets", "sample_from_datasets", "RandomDataset", "Counter", "load")
)
"""Functions of `tf.data.experimental` whose replacement takes the same arguments."""


def deprecated(program: Program) -> Iterator[Hit]:
    """A name that the inspected releases mark as deprecated."""
    table = api(program)
    for reference in references(program):
        if reference.expr is None or reference.presence.rest:
            continue
        if table.silent or reference.presence.mask & table.admitted != table.admitted:
            continue
        found = table.deprecated(reference.presence.name)
        if (
            found is None
            or not found[0] & table.newest
            or reference.presence.name.startswith("tensorflow.feature_column")
            or _doubtful(program, reference)
        ):
            continue
        new = found[1]
        same = reference.presence.name in _SIMPLE and table.has_now(new)
        yield Hit(
            reference.scope,
            reference.place,
            reference.block,
            {"name": _shown(reference.presence.name), "instead": f"; it names {_shown(new)}" if new else ""},
            rewrites=_renamed(reference, new) if same else (),
        )


_MOVED = {
    "tensorflow.data.experimental.AUTOTUNE": "tensorflow.data.AUTOTUNE",
    "tensorflow.data.experimental.INFINITE_CARDINALITY": "tensorflow.data.INFINITE_CARDINALITY",
    "tensorflow.data.experimental.UNKNOWN_CARDINALITY": "tensorflow.data.UNKNOWN_CARDINALITY",
}


def autotune_moved(program: Program) -> Iterator[Hit]:
    """`tf.data.experimental.AUTOTUNE`, which is `tf.data.AUTOTUNE`."""
    table = api(program)
    for reference in references(program):
        new = _MOVED.get(reference.presence.name)
        if (
            new is None
            or reference.expr is None
            or not table.has_now(new)
            or _expects_absence(reference)
            or _doubtful(program, reference)
        ):
            continue
        yield Hit(
            reference.scope,
            reference.place,
            reference.block,
            {"name": _shown(reference.presence.name), "new": _shown(new)},
            rewrites=_renamed(reference, new),
        )


def distribute_moved(program: Program) -> Iterator[Hit]:
    """A strategy that left `tf.distribute.experimental`, and methods of strategies that are gone."""
    table = api(program)
    for reference in references(program):
        name = reference.presence.name
        if (
            not name.startswith("tensorflow.distribute.experimental.")
            or reference.presence.rest
            or reference.expr is None
        ):
            continue
        new = name.replace(".experimental.", ".", 1)
        if not table.has_now(new) or not name.endswith("Strategy") or _expects_absence(reference):
            continue
        call = next((call for call in reference.scope.calls if call.func == reference.expr), None)
        plain = call is None or not (call.args or call.keywords)
        yield Hit(
            reference.scope,
            reference.place,
            reference.block,
            {"what": f"{_shown(name)} is called {_shown(new)} by now"},
            severity="info",
            rewrites=_renamed(reference, new) if plain else (),
            no_fix=None if plain else "its arguments have other names there",
        )
    for site in program.flow.under("tensorflow.distribute."):
        owner, _, method = site.name.rpartition(".")
        if not owner.startswith("tensorflow.distribute.") or not owner.endswith("Strategy"):
            continue
        if method in ("experimental_run_v2", "experimental_make_numpy_dataset", "make_dataset_iterator"):
            mask = table.member("tensorflow.distribute.Strategy", method)
            if mask is None or table.silent or mask & table.newest:
                continue
            if expects_absence(site.scope, site.call.block, site.call.place):
                continue
            renamed = method == "experimental_run_v2"
            yield hit_at(
                site,
                values={
                    "what": f"strategies have no {method} any more"
                    + (": it is called run" if renamed else "")
                },
                severity="warning" if _before_the_table(table) else None,
                notes=(f"TensorFlow 2.0 to 2.3 had it: {_asked(table)}",) if _before_the_table(table) else (),
                rewrites=(Rewrite("rename", site.scope, site.call.func[-1], "run"),)
                if renamed and site.call.func[0] == ATTRIBUTE
                else (),
            )


def _before_the_table(table: Api) -> bool:
    """Tell whether the project may be meant for releases of TensorFlow 2 older than the inspected ones, 2.0 to 2.3."""
    return not table.requirement.text or any(table.requirement.admits((2, minor, 0)) for minor in range(4))


_ARGUMENTS = {
    ("tensorflow.function", "experimental_compile"): "jit_compile",
    ("tensorflow.function", "experimental_relax_shapes"): "reduce_retracing",
}


def old_arguments(program: Program) -> Iterator[Hit]:
    """A parameter of `tf.function` that is deprecated."""
    table = api(program)
    seen: set[tuple[int, Place]] = set()
    for site in program.flow.named("tensorflow.function"):
        if expects_absence(site.scope, site.call.block, site.call.place, eager=False):
            continue
        for name, _ in site.call.keywords:
            if name is None or not table.deprecated_argument("tensorflow.function", name) & table.newest:
                continue
            new = _ARGUMENTS.get(("tensorflow.function", name))
            if new is not None:
                took = table.accepts("tensorflow.function", new)
                if took is not None and took & table.wanted != table.wanted:
                    continue
            key = (id(site.scope), site.call.place)
            if key in seen:
                continue
            seen.add(key)
            rewrites: tuple[Rewrite, ...] = ()
            if site.call.number >= 0 and site.call.keyword(new or "") is None:
                rewrites = (
                    (Rewrite("rename-keyword", site.scope, site.call.place, new, name),)
                    if new
                    else (Rewrite("drop-keyword", site.scope, site.call.place, name=name),)
                )
            yield hit_at(
                site,
                values={
                    "argument": name,
                    "instead": f"it is called {new} by now" if new else "it does nothing any more",
                },
                rewrites=rewrites,
                title=f"Write {new}" if new else f"Remove {name}",
            )


def unknown_argument(program: Program) -> Iterator[Hit]:
    """A keyword that the callable of the project's TensorFlow does not take, such as `fit(workers=...)` in Keras 3."""
    table = api(program)
    if table.silent:
        return
    legacy = _keras_is_two(program)
    for site in program.flow.sites:
        name = site.name
        if not site.call.keywords or site.targets or not name.startswith(("tensorflow.", "keras.")):
            continue
        if name.startswith("keras."):
            if legacy or not _is_tf_keras(site.scope):
                continue
            owner, _, method = name.rpartition(".")
            if owner == "keras.Sequential":
                name = f"keras.Model.{method}"
        for keyword, _ in site.call.keywords:
            if keyword is None:
                continue
            mask = table.accepts(name, keyword)
            if mask is None or mask & table.newest:
                continue
            confidence = "high" if mask and not mask & table.admitted else "medium"
            if expects_absence(site.scope, site.call.block, site.call.place) or written_for_one(
                program, site.scope
            ):
                continue
            new = {"lr": "learning_rate", "experimental_steps_per_execution": "steps_per_execution"}.get(
                keyword
            )
            yield hit_at(
                site,
                values={
                    "name": _shown(name),
                    "argument": keyword,
                    "gone": table.since(mask) if mask else "2.4 and later",
                    "asked": _asked(table),
                },
                severity="error" if table.requirement.text and not mask & table.admitted else "warning",
                confidence=confidence,
                rewrites=(Rewrite("rename-keyword", site.scope, site.call.place, new, keyword),)
                if new
                else (),
            )
            break


def _is_tf_keras(scope: Scope) -> bool:
    """Tell whether a module's Keras is TensorFlow's."""
    return not any(
        source.split(".")[0] in ("keras", "tf_keras")
        for item in scope.module.summary.scopes
        for source in item.imports.values()
    )


def _optimizers(program: Program, parameter: str) -> Iterator[tuple[Site, Expr, bool, bool]]:
    """Yield the Keras optimizers given a parameter that not every release takes: call, value, which releases.

    The first flag says whether the newest release is Keras 3, the second whether any release that the project asks for
    takes the parameter as it is meant: Keras 2 before its new optimizers of TensorFlow 2.11.
    """
    table = api(program)
    workers = table.accepts("keras.Model.fit", "workers")
    if table.silent or workers is None or _keras_is_two(program):
        return
    three = not workers & table.newest
    requirement = table.requirement
    # Every release before the new optimizers, by its patches: the table has only some.
    takes = any(requirement.admits((2, minor, patch)) for minor in range(11) for patch in range(6))
    if takes and not three:
        # Everything the project asks for up to some release before Keras 3: the newest decides.
        return
    for site in program.flow.under("keras.optimizers."):
        if site.name.count(".") != 2:
            continue
        if not site.name.rpartition(".")[2][:1].isupper() or not _is_tf_keras(site.scope):
            continue
        value = site.call.keyword(parameter)
        if (
            value is not None
            and not expects_absence(site.scope, site.call.block, site.call.place)
            and not _bound_twice(site.scope, _head(site.call.func))
            and not written_for_one(program, site.scope)
        ):
            yield site, value, three, takes


def keras_three(program: Program) -> str:
    """Tell whether the project's `tf.keras` is Keras 3: `all` or `some` of the releases it asks for, or empty for none."""
    table = api(program)
    workers = table.accepts("keras.Model.fit", "workers")
    if table.silent or workers is None or _keras_is_two(program) or workers & table.newest:
        return ""
    return "some" if workers & table.admitted else "all"


def _head(expr: Expr) -> str:
    while expr[0] == ATTRIBUTE:
        expr = expr[1]
    return str(expr[1]) if expr[0] == NAME else ""


def optimizer_lr(program: Program) -> Iterator[Hit]:
    """`lr=` of an optimizer, which raises in Keras 3 and is dropped by the new optimizers of Keras 2."""
    for site, _, three, takes in _optimizers(program, "lr"):
        yield hit_at(
            site,
            values={
                "optimizer": site.name.rpartition(".")[2],
                "what": "raises ValueError in Keras 3"
                if three
                else "is ignored from TensorFlow 2.11 on, so the learning rate stays the default",
                "asked": _asked(api(program)),
            },
            severity="warning" if takes else None,
            rewrites=(Rewrite("rename-keyword", site.scope, site.call.place, "learning_rate", "lr"),)
            if site.call.keyword("learning_rate") is None
            else (),
        )


def optimizer_decay(program: Program) -> Iterator[Hit]:
    """`decay=` of an optimizer, which Keras 3 ignores."""
    for site, value, three, takes in _optimizers(program, "decay"):
        if not three or (value[0] == CONSTANT and value[1] is None) or site.call.keyword("lr") is not None:
            # `lr` beside it raises, and is told.
            continue
        zero = value[0] == CONSTANT and value[1] == 0
        yield hit_at(
            site,
            values={
                "optimizer": site.name.rpartition(".")[2],
                "instead": "0 does nothing anyway"
                if zero
                else "the learning rate never falls; give it a schedule",
            },
            severity="info" if zero else "warning" if takes else None,
            rewrites=(Rewrite("drop-keyword", site.scope, site.call.place, name="decay"),) if zero else (),
        )


# Options of datasets

_OPTIONS = "tensorflow.data.Options"
_PARTS = {
    "experimental_optimization": "tensorflow.data.experimental.OptimizationOptions",
    "autotune": "tensorflow.data.experimental.AutotuneOptions",
    "threading": "tensorflow.data.ThreadingOptions",
    "experimental_threading": "tensorflow.data.ThreadingOptions",
    "experimental_distribute": "tensorflow.data.experimental.DistributeOptions",
}
_INSTEAD = {
    "experimental_optimization.autotune": "autotune.enabled",
    "experimental_optimization.autotune_cpu_budget": "autotune.cpu_budget",
    "experimental_optimization.autotune_ram_budget": "autotune.ram_budget",
    "experimental_deterministic": "deterministic",
}


def _options(program: Program) -> Iterator[tuple[Scope, Event, Expr, str]]:
    """Yield the assignments to attributes of `tf.data.Options`: scope, statement, target, path below the options."""
    found: list[tuple[Scope, Event, Expr, str]] | None = program.facts.get("options")
    if found is None:
        found = []
        for module in program.modules:
            for scope in module.summary.scopes:
                for event in scope.events():
                    if event.kind != "assign" or len(event.targets) != 1 or event.targets[0][0] != ATTRIBUTE:
                        continue
                    path = _option_path(program, scope, event.targets[0])
                    if path is not None:
                        found.append((scope, event, event.targets[0], path))
        program.facts["options"] = found
    yield from found


def _option_path(program: Program, scope: Scope, target: Expr) -> str | None:
    names: list[str] = []
    base = target
    while base[0] == ATTRIBUTE:
        names.append(base[2])
        base = base[1]
        if _is_options(program, scope, base):
            return ".".join(reversed(names))
        if names[-1] == "experimental_optimization" and len(names) > 1:
            # Nothing else in TensorFlow code has an attribute of this name.
            return ".".join(reversed(names))
    return None


def _is_options(program: Program, scope: Scope, expr: Expr) -> bool:
    from cfgfix.source.hotpath import made_of

    if expr[0] != NAME:
        return False
    here: Scope | None = scope
    while here is not None:
        env = program.flow.env_of(here)
        if env is not None and expr[1] in env.names:
            value = env.names[expr[1]]
            return made_of(value, _OPTIONS) is not None
        here = program.outer(here)
    return False


def _option_mask(table: Api, path: str) -> int | None:
    """Return in which releases an option can be set; None where the table cannot tell."""
    first, _, rest = path.partition(".")
    mask = table.member(_OPTIONS, first)
    if not mask or not rest:
        return mask
    part = _PARTS.get(first)
    second = rest.partition(".")[0]
    return table.member(part, second) if part is not None else None


def _removed(program: Program) -> Iterator[tuple[Scope, Event, Expr, str, int]]:
    table = api(program)
    if table.silent:
        return
    for scope, event, target, path in _options(program):
        mask = _option_mask(table, path)
        if mask is not None and not mask & table.newest:
            yield scope, event, target, path, mask


def removed_option(program: Program) -> Iterator[Hit]:
    """An option of datasets that raises when it is set."""
    table = api(program)
    for scope, event, target, path, mask in _removed(program):
        if _swallowing(scope, event.block) is not None or expects_absence(scope, event.block):
            continue
        yield _option_hit(table, scope, event, target, path, mask)


def removed_option_in_try(program: Program) -> Iterator[Hit]:
    """The same inside `try`: what stands after it in the block never runs."""
    table = api(program)
    seen: set[tuple[int, int]] = set()
    for scope, event, target, path, mask in _removed(program):
        block = _swallowing(scope, event.block)
        if block is None or (id(scope), block) in seen:
            continue
        # The first one ends the block; what is wrong behind it never runs.
        seen.add((id(scope), block))
        around = set(_chain(scope, event.block)) - set(_chain(scope, scope.blocks[block].parent))
        gone_too = {id(other) for where, other, *_ in _removed(program) if where is scope}
        later = [
            item
            for item in scope.events()
            if item.block in around
            and item.place[0] > event.place[2]
            and item.kind != "import"
            and id(item) not in gone_too
            and not only_tells(item, scope)
        ]
        if not later:
            # Nothing is lost but what this TensorFlow does not have anyway: the guard is meant.
            continue
        hit = _option_hit(table, scope, event, target, path, mask)
        shown = f"the {len(later)} statement{'s' if len(later) > 1 else ''} after it"
        yield Hit(
            hit.scope,
            hit.place,
            hit.block,
            {
                **hit.values,
                "skipped": f"{shown} in the block never run{'s' if len(later) == 1 else ''}",
            },
            severity="error",
            rewrites=hit.rewrites,
            safety="unsafe",
            title=hit.title,
        )


def _option_hit(table: Api, scope: Scope, event: Event, target: Expr, path: str, mask: int) -> Hit:
    new = _INSTEAD.get(path)
    rewrites: tuple[Rewrite, ...]
    title = f"Remove {path}"
    if new is not None and table.member(_OPTIONS, new.partition(".")[0]):
        base = target
        for _ in path.split("."):
            base = base[1]
        name = dotted(base)
        rewrites = (Rewrite("replace", scope, target[-1], f"{name}.{new}"),) if name else ()
        title = f"Write {new}"
    else:
        rewrites = (Rewrite("drop-statement", scope, event.place),)
    return Hit(
        scope,
        target[-1],
        event.block,
        {"option": path, "gone": table.since(mask), "instead": f"; it is {new} by now" if new else ""},
        severity="error" if not mask & table.admitted else "warning",
        confidence="high" if not mask & table.admitted else "medium",
        rewrites=rewrites,
        title=title,
    )


def _swallowing(scope: Scope, block: int) -> int | None:
    """Return the `try` block around a place whose handler goes on after an AttributeError, or None."""
    for number in _chain(scope, block):
        if scope.blocks[number].kind == "try":
            for other in range(number + 1, len(scope.blocks)):
                item = scope.blocks[other]
                if item.kind == "except" and item.parent == scope.blocks[number].parent:
                    names = "" if item.test is None else text(item.test, scope)
                    if item.test is None or any(word in names for word in ("Exception", "AttributeError")):
                        return number
                    break
    return None


def option_alias(program: Program) -> Iterator[Hit]:
    """`options.experimental_deterministic`, which is `options.deterministic`."""
    yield from _aliases(program, "experimental_deterministic", "deterministic")


def threading_alias(program: Program) -> Iterator[Hit]:
    """`options.experimental_threading`, which is `options.threading`."""
    yield from _aliases(program, "experimental_threading", "threading")


def _aliases(program: Program, old: str, new: str) -> Iterator[Hit]:
    table = api(program)
    mask = table.member(_OPTIONS, new) or 0
    if not table.wanted or mask & table.wanted != table.wanted:
        return
    for scope, event, target, path in _options(program):
        if (
            path.partition(".")[0] != old
            or expects_absence(scope, event.block)
            or written_for_one(program, scope)
        ):
            continue
        inner = target
        while inner[2] != old:
            inner = inner[1]
        yield Hit(
            scope,
            inner[-1],
            event.block,
            {"option": old, "new": new},
            # The old name still works, and before TensorFlow 2.8 it was the only one.
            severity=None if table.requirement.text else "info",
            rewrites=(Rewrite("rename", scope, inner[-1], new),),
        )


# The optimiser's settings

_GRAPPLER = frozenset(
    [
        "layout_optimizer",
        "constant_folding",
        "shape_optimization",
        "remapping",
        "arithmetic_optimization",
        "dependency_optimization",
        "loop_optimization",
        "function_optimization",
        "debug_stripper",
        "disable_model_pruning",
        "scoped_allocator_optimization",
        "pin_to_host_optimization",
        "implementation_selector",
        "auto_mixed_precision",
        "auto_mixed_precision_onednn_bfloat16",
        "auto_mixed_precision_mkl",
        "auto_mixed_precision_cpu",
        "disable_meta_optimizer",
        "min_graph_nodes",
        "auto_parallel",
        "use_plugin_optimizers",
    ]
)
"""Keys that `tf.config.optimizer.set_experimental_options` reads (TensorFlow 2.21, `tensorflow/python/framework/config.py:218-257`
and `tensorflow/python/eager/context.py`, `_config` of the rewriter)."""


def _grappler(program: Program) -> Iterator[tuple[Hit, str, bool]]:
    for site in program.flow.named("tensorflow.config.optimizer.set_experimental_options"):
        argument = site.call.argument(0, "options")
        if argument is None or argument[0] != "d":
            continue
        for key, value in argument[1]:
            if key is not None and key[0] == CONSTANT and isinstance(key[1], str):
                on = value[0] == CONSTANT and value[1] is True
                yield Hit(site.scope, key[-1], site.call.block, {"key": key[1]}), key[1], on


def unknown_optimizer_option(program: Program) -> Iterator[Hit]:
    """A key that `set_experimental_options` does not know and silently leaves out."""
    for hit, key, _ in _grappler(program):
        if key not in _GRAPPLER:
            yield hit


def risky_optimizer_option(program: Program) -> Iterator[Hit]:
    """Keys that change what the program computes or checks."""
    for hit, key, on in _grappler(program):
        if on and key == "debug_stripper":
            yield Hit(
                hit.scope,
                hit.place,
                hit.block,
                {"key": key, "what": "removes the assertions and prints of the graph"},
            )
        elif on and key == "auto_mixed_precision" and not _scales(program) and not _policy_beside(hit):
            yield Hit(
                hit.scope,
                hit.place,
                hit.block,
                {"key": key, "what": "computes in float16 and scales no loss, so small gradients become 0"},
            )


def _policy_beside(hit: Hit) -> bool:
    """Tell whether the same branch sets a policy in half precision: Keras then scales the loss of what it compiles."""
    scope = hit.scope
    around = set(_chain(scope, hit.block))
    for call in scope.calls:
        name = call.method or (call.func[1] if call.func[0] == NAME else "")
        if (
            name in ("set_global_policy", "set_policy", "set_dtype_policy")
            and call.block in around
            and call.args
        ):
            # What is no literal is half precision here as a rule: nobody computes the name of the default.
            given = constant(call.args[0])
            if not isinstance(given, str) or given == "mixed_float16":
                return True
    return False


def _scales(program: Program) -> bool:
    """Tell whether the program scales losses anywhere."""
    return any("LossScale" in name or name.endswith(".scale_loss") for name in program.flow.by_name)


def jit_switch(program: Program) -> Iterator[Hit]:
    """`tf.config.optimizer.set_jit(True)`, and texts that silently mean off."""
    for site in program.flow.named("tensorflow.config.optimizer.set_jit"):
        value = site.call.argument(0, "enabled")
        if value is None or value[0] != CONSTANT:
            continue
        if value[1] is True:
            yield hit_at(
                site,
                values={"value": "True", "what": "is an old name for 'autoclustering'"},
                rewrites=(Rewrite("replace", site.scope, value[-1], '"autoclustering"'),),
                severity="info",
            )
        elif isinstance(value[1], str) and value[1] != "autoclustering":
            yield hit_at(
                site,
                values={
                    "value": repr(value[1]),
                    "what": "silently turns XLA off: only 'autoclustering' turns it on",
                },
            )


def old_dataset_members(program: Program) -> Iterator[Hit]:
    """Members that only datasets of TensorFlow 1 have."""
    table = api(program)
    if table.silent or _old_datasets(program):
        return
    for site in program.flow.under("tensorflow.data.Dataset."):
        method = site.name.rpartition(".")[2]
        instead = _OLD_MEMBERS.get(method)
        if instead is None or (table.member("tensorflow.data.Dataset", method) or 0) & table.newest:
            continue
        if written_for_one(program, site.scope) or expects_absence(
            site.scope, site.call.block, site.call.place
        ):
            continue
        either = table.requirement.admits_one()
        if either and not _uses_two(program, site.scope.module):
            # Nothing says that this file is not for TensorFlow 1.
            continue
        yield hit_at(site, values={"member": method, "instead": instead})


def _old_datasets(program: Program) -> bool:
    """Tell whether datasets of TensorFlow 1 may go through a program: it names `tf.compat.v1` or TensorFlow's inner modules.

    A dataset keeps the class of the one it is made of, so one made by another module may have what the others lack.
    """
    for module in program.modules:
        for scope in module.summary.scopes:
            if any(
                source.startswith(("tensorflow.compat.v1", "tensorflow.python")) or "DatasetV1" in source
                for source in (*scope.imports.values(), *scope.stars)
            ):
                return True
            if "compat" not in module.summary.words:
                continue
            for expr, _ in scope.references:
                if (program.static_name(expr, scope) or "").startswith("tensorflow.compat.v1"):
                    return True
    return False


_OLD_MEMBERS = {
    "make_one_shot_iterator": "iter(dataset)",
    "make_initializable_iterator": "iter(dataset)",
    "output_shapes": "dataset.element_spec",
    "output_types": "dataset.element_spec",
    "output_classes": "dataset.element_spec",
}


def check(program: Program) -> Iterable[Hit]:
    """The group's first rule."""
    return never_existed(program)
