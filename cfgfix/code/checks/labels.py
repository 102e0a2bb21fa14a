"""Labels that do not go with their inputs or their loss."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cfgfix.code.checks.common import in_tests, short
from cfgfix.code.checks.models import compiles_of
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.releases import IMPORTS
from cfgfix.code.model.expressions import constant, dotted, is_name, place_of, text, walk
from cfgfix.code.model.hit import at, hit_in
from cfgfix.code.model.nodes import Attribute, Call, Collection, Expr, Literal, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Site, alternatives
from cfgfix.rules.hit import Hit

NEEDLES = IMPORTS

_SPARSE = re.compile(r"keras\.losses\.SparseCategoricalCrossentropy|sparse_categorical_crossentropy")
_DENSE = re.compile(r"keras\.losses\.CategoricalCrossentropy|categorical_crossentropy")
_ONE_HOT = ("keras.utils.to_categorical", "tensorflow.one_hot", "keras.utils.np_utils.to_categorical")
_WHOLE = ("numpy.random.randint", "numpy.argmax")


def labels_against_loss(program: Program) -> Iterator[Hit]:
    """Find labels of another kind than the loss takes, at `fit`."""
    for fit in program.flow.sites:
        if fit.call.method != "fit" or not fit.name.startswith("keras.") or in_tests(fit.scope):
            continue
        y = fit.call.argument(1, "y")
        if fit.call.opaque:
            continue
        compiled = _compile_of(program, fit)
        if compiled is None:
            continue
        loss = _loss(compiled)
        labels = (
            _labels(program, fit.scope, y, fit.call.place, 0)
            if y is not None
            else _labels_of_folders(program, fit)
        )
        if loss is None or labels is None or loss == labels[0] or written_for_one(program, fit.scope):
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
            related=(at(labels[1], label="the labels are made here"), at(fit, label="and trained on here")),
        )


def _compile_of(program: Program, fit: Site) -> Site | None:
    """Return the only `compile` of the model that is trained."""
    compiles = compiles_of(program, *alternatives(fit.receiver))
    found = [site for site in compiles if site.scope is fit.scope]
    return found[0] if len({site.call.number for site in found}) == 1 else None


def _loss(compiled: Site) -> str | None:
    """Return what the loss of a model takes: `numbers`, `rows`, or None where that is not known."""
    found = set()
    for value in alternatives(compiled.argument(1, "loss")):
        name = getattr(value, "name", None) or getattr(value, "value", None)
        if not isinstance(name, str):
            return None
        last = name
        found.add("numbers" if _SPARSE.fullmatch(last) else "rows" if _DENSE.fullmatch(last) else "")
    return found.pop() if len(found) == 1 and found != {""} else None


def _labels(
    program: Program, scope: Scope, expr: Expr, before: tuple[int, int, int, int], depth: int
) -> tuple[str, Site] | None:
    """Return what labels are, `rows` or `numbers`, with the call that made them."""
    if depth > 4:
        return None
    if isinstance(expr, Name):
        last = scope.bound_before(expr.name, before)
        if last is None or last.kind != "assign" or last.value is None or last.block != 0:
            return None
        if (
            len(last.targets) == 1
            and isinstance(last.targets[0], Collection)
            and isinstance(last.value, Call)
        ):
            call = last.value
            names = [item.name if isinstance(item, Name) else "" for item in last.targets[0].items]
            if (dotted(call.func) or "").rpartition(".")[2] != "train_test_split" or expr.name not in names:
                return None
            number = names.index(expr.name) // 2
            return (
                _labels(program, scope, call.args[number], last.place, depth + 1)
                if number < len(call.args)
                else None
            )
        if not any(is_name(target, expr.name) for target in last.targets):
            return None
        return _labels(program, scope, last.value, last.place, depth + 1)
    if not isinstance(expr, Call):
        return None
    for site in program.flow.of_calls(scope, (expr.number,)):
        if site.name in _ONE_HOT:
            return "rows", site
        if site.name in _WHOLE and not _table(expr):
            return "numbers", site
    return None


_FOLDERS = "keras.utils.image_dataset_from_directory"
_MODES = {"int": "numbers", "categorical": "rows"}


def _labels_of_folders(program: Program, fit: Site) -> tuple[str, Site] | None:
    """Return what the labels are that a dataset of folders of pictures gives, with the call that makes it."""
    given = fit.call.argument(0, "x")
    scope = fit.scope
    for _ in range(12):
        if given is None:
            return None
        if isinstance(given, Name):
            bound = [event for event in scope.binding(given.name) if event.place[:2] < fit.call.place[:2]]
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
                for site in program.flow.of_calls(scope, (call.number,))
                if site.name in (_FOLDERS, "keras.preprocessing.image_dataset_from_directory")
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


def _table(made: Call) -> bool:
    """Tell whether random numbers are made for more than one dimension."""
    size = made.argument(2, "size")
    return size is not None and isinstance(size, Collection) and len(size.items) > 1


def zipped_apart(program: Program) -> Iterator[Hit]:
    """Find inputs and labels that are shuffled apart, then zipped."""
    seen: set[tuple[int, int]] = set()
    for site in program.flow.named("tensorflow.data.Dataset.zip"):
        key = id(site.scope), site.call.number
        if key in seen or written_for_one(program, site.scope):
            continue
        seen.add(key)
        parts = _parts(site)
        if len(parts) != 2 or not any(_LABELS.search(_names_of_data(site.scope, part)) for part in parts):
            continue
        shuffles = [found for part in parts if (found := _shuffle_of(site.scope, part)) is not None]
        if len(shuffles) != 2:
            continue
        seeds = [call.argument(1, "seed") for call in shuffles]
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


def _parts(site: Site) -> tuple[Expr, ...]:
    args = site.call.args
    if len(args) == 1 and isinstance(args[0], Collection):
        return tuple(args[0].items)
    return tuple(args)


def _names_of_data(scope: Scope, part: Expr) -> str:
    """Return the names that a dataset has: its own, and those of what its chain begins with."""
    found = [part.name] if isinstance(part, Name) else []
    value = _value(scope, part)
    if value is not None:
        found += [str(item.name) for item in walk(value) if isinstance(item, Name)]
    return " ".join(found)


def _value(scope: Scope, part: Expr) -> Expr | None:
    if not isinstance(part, Name):
        return part
    bound = scope.binding(part.name)
    return bound[-1].value if bound and all(event.kind == "assign" for event in bound) else None


def _shuffle_of(scope: Scope, part: Expr) -> Call | None:
    """Return the call of `shuffle` that stands in the chain of a dataset made in this function."""
    value = _value(scope, part)
    for _ in range(12):
        if value is None or not isinstance(value, Call):
            return None
        call: Call = value
        if not isinstance(call.func, Attribute):
            return None
        if call.method == "shuffle":
            again = call.keyword("reshuffle_each_iteration")
            return None if again is not None and not isinstance(again, Literal) else call
        value = call.func.base
    return None


def check(program: Program) -> Iterable[Hit]:
    """Run the first rule of the group."""
    return labels_against_loss(program)
