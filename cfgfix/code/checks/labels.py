"""Labels that do not go with their inputs or their loss."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cfgfix.code.checks.common import in_tests, short
from cfgfix.code.inference.releases import IMPORTS, written_for_one
from cfgfix.code.model.expressions import constant, dotted, place_of, text, walk
from cfgfix.code.model.hit import Hit, at
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import ATTRIBUTE, CALL, CONSTANT, ITEMS, NAME, Call, Expr, Scope
from cfgfix.code.model.values import Site, alternatives

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
        yield Hit(
            compiled.scope,
            (place_of(given, compiled.scope) if given is not None else None) or compiled.call.name_place,
            compiled.call.block,
            {
                "loss": "sparse_categorical_crossentropy"
                if loss == "numbers"
                else "categorical_crossentropy",
                "takes": "class numbers" if loss == "numbers" else "one-hot rows",
                "made": short(labels[1]),
                "line": labels[1].call.name_place[0],
            },
            related=(at(labels[1], label="the labels are made here"), at(fit, label="and trained on here")),
        )


def _compile_of(program: Program, fit: Site) -> Site | None:
    """Return the only `compile` of the model that is trained."""
    found = [
        site
        for site in program.flow.within(fit.scope)
        if site.call.method == "compile"
        and site.receiver is not None
        and any(item is other for item in alternatives(site.receiver) for other in alternatives(fit.receiver))
    ]
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
    if expr[0] == NAME:
        bound = [event for event in scope.binding(expr[1]) if event.place[:2] < before[:2]]
        last = bound[-1] if bound else None
        if last is None or last.kind != "assign" or last.value is None or last.block != 0:
            return None
        if len(last.targets) == 1 and last.targets[0][0] == ITEMS and last.value[0] == CALL:
            call = scope.calls[last.value[1]]
            names = [item[1] if item[0] == NAME else "" for item in last.targets[0][2]]
            if (dotted(call.func) or "").rpartition(".")[2] != "train_test_split" or expr[1] not in names:
                return None
            number = names.index(expr[1]) // 2
            return (
                _labels(program, scope, call.args[number], last.place, depth + 1)
                if number < len(call.args)
                else None
            )
        if not any(target[:2] == expr[:2] for target in last.targets):
            return None
        return _labels(program, scope, last.value, last.place, depth + 1)
    if expr[0] != CALL:
        return None
    made = scope.calls[expr[1]]
    for site in program.flow.within(scope):
        if site.call is made:
            if site.name in _ONE_HOT:
                return "rows", site
            if site.name in _WHOLE and not _table(made):
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
        if given[0] == NAME:
            bound = [event for event in scope.binding(given[1]) if event.place[:2] < fit.call.place[:2]]
            if len(bound) != 1 or bound[0].kind != "assign" or bound[0].value is None:
                return None
            if not any(target[:2] == given[:2] for target in bound[0].targets):
                return None
            given = bound[0].value
            continue
        if given[0] != CALL:
            return None
        call: Call = scope.calls[given[1]]
        made = next(
            (
                site
                for site in program.flow.within(scope)
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
        if call.func[0] != ATTRIBUTE or call.method not in _KEEP_LABELS:
            return None
        given = call.func[1]
    return None


_KEEP_LABELS = frozenset({"prefetch", "cache", "shuffle", "take", "skip", "repeat", "with_options"})


def _table(made: Call) -> bool:
    """Tell whether random numbers are made for more than one dimension."""
    size = made.argument(2, "size")
    return size is not None and size[0] == ITEMS and len(size[2]) > 1


def zipped_apart(program: Program) -> Iterator[Hit]:
    """Find inputs and labels that are shuffled apart, then zipped."""
    seen: set[tuple[int, int]] = set()
    for site in program.flow.named("tensorflow.data.Dataset.zip"):
        key = id(site.scope), site.call.number
        if key in seen or in_tests(site.scope) or written_for_one(program, site.scope):
            continue
        seen.add(key)
        parts = _parts(site)
        if len(parts) != 2 or not any(_LABELS.search(_words(site.scope, part)) for part in parts):
            continue
        shuffles = [found for part in parts if (found := _shuffle_of(site.scope, part)) is not None]
        if len(shuffles) != 2:
            continue
        seeds = [call.argument(1, "seed") for call in shuffles]
        if (
            seeds[0] is not None
            and seeds[1] is not None
            and text(seeds[0], site.scope) == text(seeds[1], site.scope)
        ):
            continue
        first, second = shuffles
        yield Hit(
            site.scope,
            second.name_place,
            second.block,
            {"first": first.name_place[0], "line": site.call.name_place[0]},
            related=(at(site, label="zipped here"),),
        )


_LABELS = re.compile(
    r"(?i)(?:^|_|\b)(?:labels?|masks?|annotations?|truths?|gt|ys?|classes)(?:$|_|\b)|_(?:label|mask)s?"
)


def _parts(site: Site) -> tuple[Expr, ...]:
    args = site.call.args
    if len(args) == 1 and args[0][0] == ITEMS:
        return tuple(args[0][2])
    return tuple(args)


def _words(scope: Scope, part: Expr) -> str:
    """Return the names that a dataset has: its own, and those of what its chain begins with."""
    found = [part[1]] if part[0] == NAME else []
    value = _value(scope, part)
    if value is not None:
        found += [str(item[1]) for item in walk(value, scope) if item[0] == NAME]
    return " ".join(found)


def _value(scope: Scope, part: Expr) -> Expr | None:
    if part[0] != NAME:
        return part
    bound = scope.binding(part[1])
    return bound[-1].value if bound and all(event.kind == "assign" for event in bound) else None


def _shuffle_of(scope: Scope, part: Expr) -> Call | None:
    """Return the call of `shuffle` that stands in the chain of a dataset made in this function."""
    value = _value(scope, part)
    for _ in range(12):
        if value is None or value[0] != CALL:
            return None
        call: Call = scope.calls[value[1]]
        if call.func[0] != ATTRIBUTE:
            return None
        if call.method == "shuffle":
            again = call.keyword("reshuffle_each_iteration")
            return None if again is not None and again[0] != CONSTANT else call
        value = call.func[1]
    return None


def check(program: Program) -> Iterable[Hit]:
    """Run the first rule of the group."""
    return labels_against_loss(program)
