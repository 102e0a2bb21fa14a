"""Labels that do not fit their inputs or their loss."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.common import short
from cfgfix.code.checks.models import compiles_of
from cfgfix.code.checks.outputs import constant_in_every_call
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, dotted, is_name, is_true, place_of, text, walk
from cfgfix.code.model.hit import at, hit_in
from cfgfix.code.model.nodes import Attribute, Call, Collection, Comprehension, Expr, Literal, Name, Starred
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import (
    Instance,
    Items,
    Made,
    Site,
    Value,
    alternatives,
    first_dataset,
)
from cfgfix.rules.hit import Hit

_SPARSE = re.compile(r"keras\.losses\.SparseCategoricalCrossentropy|sparse_categorical_crossentropy")
_DENSE = re.compile(r"keras\.losses\.CategoricalCrossentropy|categorical_crossentropy")
_ONE_HOT = ("keras.utils.to_categorical", "tensorflow.one_hot", "keras.utils.np_utils.to_categorical")
_WHOLE = ("numpy.random.randint", "numpy.argmax", "sklearn.preprocessing.LabelEncoder.fit_transform")
_LOADED = re.compile(r"keras\.datasets\.(?:mnist|fashion_mnist|cifar10|cifar100)\.load_data")
"""Data of Keras whose labels are class numbers."""
_DEPTH = 12


def labels_against_loss(program: Program) -> Iterator[Hit]:
    """Find losses that take another kind of labels than `fit` gets."""
    for fit in flow_of(program).sites:
        if fit.call.method != "fit" or not fit.name.startswith("keras."):
            continue
        y = fit.call.argument(1, "y")
        written = len(fit.call.args) > 1 and not any(isinstance(item, Starred) for item in fit.call.args)
        compiled = _compile_of(program, fit) if written or not fit.call.opaque else None
        loss = _labels_of_loss(program, compiled) if compiled is not None else None
        if compiled is None or loss is None:
            continue
        labels = (
            _labels_given(program, fit, y, fit.argument(1, "y"))
            if y is not None
            else _labels_of_folders(program, fit) or _labels_of_elements(program, fit)
        )
        if labels is None or loss == labels[0] or written_for_one(program, fit.scope):
            continue
        given = compiled.call.argument(1, "loss")
        yield hit_in(
            compiled.scope,
            (place_of(given, compiled.scope) if given is not None else None) or compiled.call.name_place,
            compiled.call.block,
            {
                "loss": "sparse_categorical_crossentropy"
                if loss == "numbers"
                else "categorical_crossentropy",
                "takes": "class numbers" if loss == "numbers" else "one-hot rows",
                "made": short(labels[1]),
                "line": labels[1].call.name_line,
            },
            needs=((fit.scope, fit.call.block),),
            related=(at(labels[1], label="the labels are made here"), at(fit, label="and trained on here")),
        )


def _compile_of(program: Program, fit: Site) -> Site | None:
    """Return the only `compile` call of a trained model, or None."""
    models = alternatives(fit.receiver)
    if len(models) != 1 or not isinstance(models[0], (Instance, Made)):
        return None
    found = list(compiles_of(program, *models))
    return found[0] if len({(id(site.scope), site.call.number) for site in found}) == 1 else None


def _labels_of_loss(program: Program, compiled: Site) -> str | None:
    """Return the kind of labels that a loss takes, `numbers` or `rows`, or None."""
    found = set()
    given = compiled.call.argument(1, "loss")
    default = constant_in_every_call(program, compiled.scope, given.name) if isinstance(given, Name) else None
    values = alternatives(compiled.argument(1, "loss")) if default is None else (default,)
    for value in values:
        name = getattr(value, "name", None) or getattr(value, "value", None)
        if not isinstance(name, str):
            return None
        found.add("numbers" if _SPARSE.fullmatch(name) else "rows" if _DENSE.fullmatch(name) else "")
    return found.pop() if len(found) == 1 and found != {""} else None


def _labels_given(
    program: Program, site: Site, expr: Expr, value: Value | None, depth: int = 0
) -> tuple[str, Site] | None:
    """Return the kind of labels, `rows` or `numbers`, and the call that made them.

    None where the kind is unknown.

    Args:
        program: The program.
        site: The call that is given them.
        expr: What it is given.
        value: What that stands for.
        depth: How many steps were followed.
    """
    made = alternatives(value)
    if len(made) == 1 and isinstance(made[0], Made) and made[0].site is not None:
        source = made[0].site
        if source.name in _ONE_HOT:
            return "rows", source
        if source.name in _WHOLE and not _is_two_dimensional(source.call):
            return "numbers", source
        if source.name in ("numpy.array", "numpy.asarray") and _counts_classes(source.call):
            return "numbers", source
    scope = site.scope
    while depth < _DEPTH and isinstance(expr, Name):
        depth += 1
        name = expr.name
        position = next((number for number, item in enumerate(scope.params) if item.name == name), None)
        if position is not None and not scope.binding(name):
            return _labels_of_callers(program, scope, name, position, depth)
        found = _bound_before(program, scope, name, site if scope is site.scope else None)
        if found is None:
            return None
        scope, event = found
        if event.value is None:
            return None
        if any(is_name(target, name) for target in event.targets):
            expr = event.value
            continue
        return _unpacked_labels(program, scope, event, name, depth)
    return _made_by(program, scope, expr) if isinstance(expr, Call) else None


def _bound_before(program: Program, scope: Scope, name: str, site: Site | None) -> tuple[Scope, Event] | None:
    """Return the assignment whose value a name has before a call, or None.

    A name of the module that a function uses must be bound once.
    """
    here: Scope | None = scope
    while here is not None and not here.binding(name):
        here = program.outer(here)
    if here is None:
        return None
    bound = here.binding(name)
    if here is scope and site is not None:
        bound = [event for event in bound if event.place.start < site.call.place.start]
    elif len(bound) != 1:
        return None
    last = bound[-1] if bound else None
    if last is None or last.kind != "assign" or last.value is None or last.block != 0:
        return None
    return here, last


def _labels_of_callers(
    program: Program, scope: Scope, name: str, position: int, depth: int
) -> tuple[str, Site] | None:
    """Return the kind of labels that all callers pass for a parameter, or None."""
    found: list[tuple[str, Site]] = []
    callers = flow_of(program).callers(scope)
    for caller in callers:
        offset = int(any(target.receiver is not None for target in caller.targets))
        given = caller.call.argument(position - offset, name)
        if given is None or caller.call.opaque or caller.open:
            return None
        kind = _labels_given(program, caller, given, caller.argument(position - offset, name), depth)
        if kind is None:
            return None
        found.append(kind)
    return found[0] if len({kind for kind, _ in found}) == 1 else None


def _unpacked_labels(
    program: Program, scope: Scope, event: Event, name: str, depth: int
) -> tuple[str, Site] | None:
    """Return the kind of labels that an unpacked name holds, or None.

    It is unpacked from `train_test_split` or a Keras dataset.
    """
    target, call = event.targets[0] if len(event.targets) == 1 else None, event.value
    if not isinstance(target, Collection) or not isinstance(call, Call):
        return None
    if (dotted(call.func) or "").rpartition(".")[2] == "train_test_split":
        names = [item.name if isinstance(item, Name) else "" for item in target.items]
        number = names.index(name) // 2 if name in names else len(call.args)
        if number >= len(call.args):
            return None
        split = next((site for site in flow_of(program).within(scope) if site.call is call), None)
        value = split.args[number] if split is not None and number < len(split.args) else None
        return _labels_given(program, split, call.args[number], value, depth) if split is not None else None
    labels = [pair.items[1] for pair in target.items if isinstance(pair, Collection) and len(pair.items) == 2]
    loaded = next(
        (
            site
            for site in flow_of(program).within(scope)
            if site.call is call and _LOADED.fullmatch(site.name)
        ),
        None,
    )
    return ("numbers", loaded) if loaded is not None and any(is_name(item, name) for item in labels) else None


def _counts_classes(call: Call) -> bool:
    """Tell whether an array holds each name's index among the classes."""
    given = call.args[0] if call.args else None
    item = given.parts[-1] if isinstance(given, Comprehension) and given.parts else None
    return isinstance(item, Call) and item.method == "index"


def _made_by(program: Program, scope: Scope, call: Call) -> tuple[str, Site] | None:
    for site in flow_of(program).within(scope):
        if site.call is call:
            if site.name in _ONE_HOT:
                return "rows", site
            if site.name in _WHOLE and not _is_two_dimensional(call):
                return "numbers", site
            if site.name in ("numpy.array", "numpy.asarray") and _counts_classes(call):
                return "numbers", site
    return None


def _labels_of_elements(program: Program, fit: Site) -> tuple[str, Site] | None:
    """Return the kind of labels that a dataset's last `map` returns, or None."""
    data = first_dataset(fit.argument(0, "x"))
    for _ in range(_DEPTH):
        if data is None or data.site is None:
            return None
        if data.op == "map":
            break
        if data.op not in (*_KEEP_LABELS, "batch"):
            return None
        data = data.parents[0] if len(data.parents) == 1 else None
    if data is None or data.op != "map" or len(data.functions) != 1:
        return None
    mapped = data.functions[0]
    returned = flow_of(program).default(mapped.scope)
    if not isinstance(returned, Items) or len(returned.items) not in (2, 3):
        return None
    label = returned.items[1]
    if isinstance(label, Made) and label.site is not None and label.site.name == "tensorflow.one_hot":
        return "rows", label.site
    return None


_FOLDERS = "keras.utils.image_dataset_from_directory"
_MODES = {"int": "numbers", "categorical": "rows"}


def _labels_of_folders(program: Program, fit: Site) -> tuple[str, Site] | None:
    """Return the label kind of the image folders that a `fit` gets, with their call."""
    given = fit.call.argument(0, "x")
    scope = fit.scope
    for _ in range(12):
        if given is None:
            return None
        if isinstance(given, Name):
            bound = [event for event in scope.binding(given.name) if event.place.start < fit.call.place.start]
            if len(bound) != 1 or bound[0].kind != "assign" or bound[0].value is None:
                return None
            if not any(is_name(target, given.name) for target in bound[0].targets):
                return None
            given = bound[0].value
            continue
        if not isinstance(given, Call):
            return None
        call: Call = given
        made = next(
            (
                site
                for site in flow_of(program).within(scope)
                if site.call is call
                and site.name in (_FOLDERS, "keras.preprocessing.image_dataset_from_directory")
            ),
            None,
        )
        if made is not None:
            if call.opaque:
                return None
            mode = call.argument(2, "label_mode")
            shown = "int" if mode is None else constant(mode)
            return (_MODES[shown], made) if isinstance(shown, str) and shown in _MODES else None
        if not isinstance(call.func, Attribute) or call.method not in _KEEP_LABELS:
            return None
        given = call.func.base
    return None


_KEEP_LABELS = frozenset({"prefetch", "cache", "shuffle", "take", "skip", "repeat", "with_options"})


def _is_two_dimensional(made: Call) -> bool:
    """Tell whether random numbers are drawn with more than one dimension."""
    size = made.argument(2, "size")
    return size is not None and isinstance(size, Collection) and len(size.items) > 1


def zipped_apart(program: Program) -> Iterator[Hit]:
    """Find inputs and labels that are shuffled separately, then zipped."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named("tensorflow.data.Dataset.zip"):
        key = id(site.scope), site.call.number
        if key in seen or written_for_one(program, site.scope):
            continue
        seen.add(key)
        parts = _label_parts(site)
        if len(parts) != 2 or not any(_LABELS.search(_names_of_data(site.scope, part)) for part in parts):
            continue
        if any(_has_own_labels(site.scope, part) for part in parts):
            continue
        shuffles = [found for part in parts if (found := _shuffle_of(site.scope, part)) is not None]
        if len(shuffles) != 2:
            continue
        seeds = [call.argument(2 if call.method == "list_files" else 1, "seed") for call in shuffles]
        if seeds[0] is not None and seeds[1] is not None and text(seeds[0]) == text(seeds[1]):
            continue
        first, second = shuffles
        yield hit_in(
            site.scope,
            second.name_place,
            second.block,
            {"first": first.name_line, "line": site.call.name_line},
            related=(at(site, label="zipped here"),),
        )


_LABELS = re.compile(
    r"(?i)(?:^|_|\b)(?:labels?|masks?|annotations?|truths?|gt|ys?|classes)(?:$|_|\b)|_(?:label|mask)s?"
)


def _label_parts(site: Site) -> tuple[Expr, ...]:
    args = site.call.args
    if len(args) == 1 and isinstance(args[0], Collection):
        return tuple(args[0].items)
    return tuple(args)


def _names_of_data(scope: Scope, part: Expr) -> str:
    """Return the names in a dataset's expression and value, joined by spaces."""
    found = [part.name] if isinstance(part, Name) else []
    value = _value_of_part(scope, part)
    if value is not None:
        found += [str(item.name) for item in walk(value) if isinstance(item, Name)]
    return " ".join(found)


def _has_own_labels(scope: Scope, part: Expr) -> bool:
    """Tell whether a dataset's elements are tuples, such as input and label."""
    value = _value_of_part(scope, part)
    while isinstance(value, Call) and isinstance(value.func, Attribute):
        if value.method in ("from_tensor_slices", "from_tensors", "zip"):
            given = value.args[0] if value.args else None
            return len(value.args) > 1 or (isinstance(given, Collection) and len(given.items) > 1)
        value = value.func.base
    return False


def _value_of_part(scope: Scope, part: Expr) -> Expr | None:
    if not isinstance(part, Name):
        return part
    bound = scope.binding(part.name)
    return bound[-1].value if bound and all(event.kind == "assign" for event in bound) else None


def _shuffle_of(scope: Scope, part: Expr) -> Call | None:
    """Return the `shuffle` call in a dataset's chain, or None."""
    value = _value_of_part(scope, part)
    for _ in range(12):
        if value is None or not isinstance(value, Call):
            return None
        call: Call = value
        if not isinstance(call.func, Attribute):
            return None
        if call.method == "shuffle":
            again = call.keyword("reshuffle_each_iteration")
            return None if again is not None and not isinstance(again, Literal) else call
        if call.method == "list_files":
            kept = call.argument(1, "shuffle")
            return call if kept is None or is_true(kept) else None
        value = call.func.base
    return None
