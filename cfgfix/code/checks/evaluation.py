"""Evaluations on training data."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.fitting import calls_in
from cfgfix.code.checks.models import model_calls
from cfgfix.code.inference.guards import statement_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.model.expressions import constant, dotted, is_true, text, walk
from cfgfix.code.model.hit import Step, hit_at, hit_in
from cfgfix.code.model.nodes import (
    Attribute,
    Binary,
    Call,
    Collection,
    Expr,
    Literal,
    Name,
    Place,
    Starred,
    Subscript,
)
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope, bind
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit

# Metrics that nothing resets


# An evaluation on what the model was trained on

_HELD_WORDS = frozenset({"test", "testing", "val", "valid", "validation", "eval", "dev", "holdout"})
_TRAIN_WORDS = frozenset({"train", "training", "trn"})
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_OF_ONE_LETTER = re.compile(r"([xy])(train|test|val|valid)")
_SPLITS = re.compile(
    r"split|take|skip|shard|sample|choice|fold|deepcopy|copy|subset|partition|next|random|shuffle|filter|iloc|loc|like|load|read|drop|head|tail|len|shape|replace|join|format|build|create|model|get_|exists|path",
    re.IGNORECASE,
)
"""Words of calls that may give other data than what they get."""


def evaluated_on_training_data(program: Program) -> Iterator[Hit]:
    """Find held-out data made from training data, and evaluations on training data."""
    for module in program.linked:
        for scope in module.summary.scopes:
            if scope.kind == "class":
                continue
            bound = _known_names(scope)
            yield from _made_from_training(scope, bound)
            yield from _mixed_pairs(scope)
            yield from _steps_over_training(scope, bound)
    yield from _validated_on_training(program)


def _words_of_name(name: str) -> list[str]:
    """Return the lower-case words of a name, the same for `X_train` and `xTrain`."""
    found: list[str] = []
    for word in _WORDS.findall(name):
        joined = _OF_ONE_LETTER.fullmatch(word.lower())
        found += joined.groups() if joined else (word.lower(),)
    return found


def _is_held_out(name: str) -> bool:
    words = set(_words_of_name(name))
    return not words.isdisjoint(_HELD_WORDS) and words.isdisjoint(_TRAIN_WORDS)


def _is_trained(name: str) -> bool:
    words = set(_words_of_name(name))
    return not words.isdisjoint(_TRAIN_WORDS) and words.isdisjoint(_HELD_WORDS)


def _words_without_split(name: str) -> tuple[str, ...]:
    """Return the words of a name with the word for its data split replaced by `*`."""
    return tuple("*" if word in _HELD_WORDS | _TRAIN_WORDS else word for word in _words_of_name(name))


def _goes_with(held: str, trained: str) -> bool:
    """Tell whether two names are held-out and training data of one set.

    Example: `x_test` and `x_train`.
    """
    return (
        _is_held_out(held)
        and _is_trained(trained)
        and _words_without_split(held) == _words_without_split(trained)
    )


def _known_names(scope: Scope) -> dict[str, list[Event]]:
    """Return the binding statements of a scope by name, without parameters."""
    found: dict[str, list[Event]] = {}
    for event in scope.events():
        names: dict[str, None] = {}
        for target in event.targets:
            bind(target, names)
        for name in names:
            found.setdefault(name, []).append(event)
    return found


_MEASURES = frozenset({"evaluate", "score", "predict", "fit"})


def _made_from_training(scope: Scope, bound: dict[str, list[Event]]) -> Iterator[Hit]:
    """Find held-out data that is made from training data.

    Examples: `x_test = x_train / 255` for an `x_test` loaded before, or `test_ds` of `x_train` beside an `x_test`.
    """
    parameters = {item.name for item in scope.params}
    for event in scope.events():
        if event.kind != "assign" or len(event.targets) != 1 or event.value is None:
            continue
        target = event.targets[0]
        if (
            not isinstance(target, Name)
            or not _is_held_out(target.name)
            or not _NO_DATA.isdisjoint(_words_of_name(target.name))
        ):
            continue
        name = target.name
        if isinstance(event.value, Call) and event.value.method in _MEASURES:
            continue
        parts = _data_names(event.value, scope)
        if (
            parts is None
            or not parts
            or not all(map(_is_trained, parts))
            or name in parts
            or any(not _NO_DATA.isdisjoint(_words_of_name(part)) for part in parts)
        ):
            continue
        before = [
            item for item in bound.get(name, ()) if item.place.start < event.place.start
        ] or name in parameters
        swapped = any(_goes_with(name, part) for part in parts)
        beside = [
            other
            for other in (*bound, *parameters)
            if other != name
            and any(_goes_with(other, part) for part in parts)
            and (other in parameters or bound[other][0].place.start < event.place.start)
        ]
        if not (before and swapped) and not (beside and not _used_behind(scope, set(beside), event)):
            continue
        yield hit_in(
            scope,
            event.place,
            event.block,
            {
                "what": f"{name} is made of {', '.join(sorted(parts))}",
                "then": "what is measured on it says nothing of data that the model has not seen",
            },
        )


def _used_behind(scope: Scope, names: set[str], event: Event) -> bool:
    """Tell whether names are read in statements other than their own bindings."""
    for other in scope.events():
        if other is event or other.value is None:
            continue
        own: dict[str, None] = {}
        for target in other.targets:
            bind(target, own)
        read = {part.name for part in walk(other.value) if isinstance(part, Name)}
        if (read - set(own)) & names:
            return True
    return any(
        isinstance(part, Name) and part.name in names - inner.names
        for inner in scope.module.summary.scopes
        if inner is not scope and (scope.kind == "module" or scope.line <= inner.line <= scope.end_line)
        for call in inner.calls
        for given in (*call.args, *(value for _, value in call.keywords))
        for part in walk(given)
    )


_TRANSFORMS = frozenset(
    {"map", "batch", "padded_batch", "cache", "prefetch", "shuffle", "repeat", "unbatch", "apply", "with_options", "astype", "reshape",
     "numpy", "to_numpy", "tolist", "flatten", "transpose", "squeeze", "values", "fillna", "dropna"}
)  # fmt: skip
"""Methods whose result has all the examples of what they are called on."""
_NO_DATA = frozenset(
    {"datagen", "dir", "directory", "folder", "path", "paths", "root", "size", "steps", "step", "model", "loss", "acc", "accuracy", "func",
     "fn", "params", "args", "config", "cfg", "ratio", "num", "n", "len", "count", "transform", "transforms", "file", "name", "time",
     "writer", "metrics", "metric", "score", "scores", "idx", "index", "indices", "ids", "mode", "flag", "options", "df"}
)  # fmt: skip
"""Words of names that stand for something about the data, not for the data."""


def _names_data(expr: Expr) -> bool:
    return isinstance(expr, Name) and (_is_trained(expr.name) or _is_held_out(expr.name))


def _data_names(expr: Expr, scope: Scope) -> set[str] | None:
    """Return the names of the data in an expression that only transforms it.

    None where the expression may select from the data.
    """
    if isinstance(expr, Name):
        return {expr.name}
    if isinstance(expr, Binary):
        left = _data_names(expr.left, scope)
        right = _data_names(expr.right, scope)
        if left is None or right is None:
            return None
        both = left | right
        named = {name for name in both if _is_held_out(name) or _is_trained(name)}
        return named or both
    if isinstance(expr, Literal):
        return set()
    if isinstance(expr, Collection) and expr.kind == "tuple":
        found: set[str] = set()
        for item in expr.items:
            inner = _data_names(item, scope)
            if inner is None:
                return None
            found |= inner
        return found
    if not isinstance(expr, Call):
        return None
    call = expr
    if _SPLITS.search(call.method or dotted(call.func) or "?") and call.method not in (
        "shuffle",
        "from_tensor_slices",
    ):
        return None
    found = set()
    for part in (*call.args, *(value for _, value in call.keywords)):
        inner = _data_names(part, scope) if isinstance(part, (Name, Collection, Call)) else set()
        if inner is None:
            return None
        found |= {name for name in inner if _is_held_out(name) or _is_trained(name)}
    if (
        isinstance(call.func, Attribute)
        and isinstance(call.func.base, (Name, Call))
        and not _is_library(call.func.base, scope)
        and (call.method in _TRANSFORMS or _names_data(call.func.base))
    ):
        if call.method not in _TRANSFORMS:
            # What a method of unknown meaning gives may be another part.
            return None
        inner = _data_names(call.func.base, scope)
        if inner is None:
            return None
        found |= {name for name in inner if _is_held_out(name) or _is_trained(name)}
    return found


def _is_library(expr: Expr, scope: Scope) -> bool:
    return isinstance(expr, Name) and (expr.name in scope.imports or expr.name in scope.module.scope.imports)


_PAIRED = frozenset(
    {
        "fit",
        "evaluate",
        "from_tensor_slices",
        "from_tensors",
        "score",
        "train_on_batch",
        "test_on_batch",
        "flow",
    }
)


_EXAMPLES = frozenset(
    {"x", "image", "images", "imgs", "features", "data", "input", "inputs", "texts", "sequences"}
)
_LABELS = frozenset({"y", "label", "labels", "target", "targets"})


def _mixed_pairs(scope: Scope) -> Iterator[Hit]:
    """Find inputs of one split with labels of another: `evaluate(x_test, y_train)`."""
    for call in scope.calls:
        if call.method not in _PAIRED:
            continue
        pairs = [call.args[:2]] if len(call.args) >= 2 else []
        pairs += [
            part.items[:2] for part in call.args[:1] if isinstance(part, Collection) and len(part.items) >= 2
        ]
        given = call.keyword("validation_data")
        if given is not None and isinstance(given, Collection) and len(given.items) >= 2:
            pairs.append(given.items[:2])
        named = call.keyword("x"), call.keyword("y")
        if named[0] is not None and named[1] is not None:
            pairs.append((named[0], named[1]))
        for first, second in pairs:
            one, two = _plain_name(first), _plain_name(second)
            if (
                one is None
                or two is None
                or _split_of_name(one) == _split_of_name(two)
                or not _split_of_name(one)
                or not _split_of_name(two)
            ):
                continue
            if not set(_words_of_name(one)).isdisjoint(_EXAMPLES) and not set(_words_of_name(two)).isdisjoint(
                _LABELS
            ):
                yield hit_in(
                    scope,
                    call.name_place,
                    call.block,
                    {
                        "what": f"{call.method} gets {one} with {two}",
                        "then": "the labels are those of other examples",
                    },
                    severity="error",
                )
                break


def _plain_name(expr: Expr) -> str | None:
    return expr.name if isinstance(expr, Name) else expr.attribute if isinstance(expr, Attribute) else None


def _split_of_name(name: str) -> str:
    """Return the data split that a name is of: `train`, `test`, `val` or empty text."""
    if _is_trained(name):
        return "train"
    word = (
        next((item for item in _words_of_name(name) if item in _HELD_WORDS), "") if _is_held_out(name) else ""
    )
    return "val" if word.startswith("val") else "test" if word.startswith("test") else word


_STEP = re.compile(
    r"(?:^|_)(?:test|val|valid|validation|eval|evaluate)_?(?:step|batch|loss|on_batch)", re.IGNORECASE
)


def _steps_over_training(scope: Scope, bound: dict[str, list[Event]]) -> Iterator[Hit]:
    """Find test steps on training data beside held-out data.

    Example: `for x, y in train_ds: test_step(x, y)`.
    """
    parameters = {item.name for item in scope.params}
    for event in scope.events():
        if event.kind != "for" or event.value is None or not event.bodies:
            continue
        over = [part.name for part in walk(event.value) if isinstance(part, Name)]
        over += [part.attribute for part in walk(event.value) if isinstance(part, Attribute)]
        named = next((name for name in over if _is_trained(name)), None)
        if named is None or any(map(_is_held_out, over)):
            continue
        module = scope.module.scope
        outer = _known_names(module) if module is not scope else {}
        beside = [other for other in (*bound, *outer, *parameters) if _goes_with(other, named)]
        block = event.bodies[0][0]
        calls = [call for call in scope.calls if inside(scope, call.block, block)]
        step = next(
            (
                call
                for call in calls
                if _STEP.search(_text_of_call(call)) and inside(scope, call.block, block)
            ),
            None,
        )
        if (
            step is None
            or not beside
            or any(
                "train" in _text_of_call(call).lower() or call.method in ("apply_gradients", "fit")
                for call in calls
            )
        ):
            continue
        if _has_another_pass(scope, beside, event):
            continue
        yield hit_in(
            scope,
            step.name_place,
            step.block,
            {
                "what": f"{_text_of_call(step)} goes over {named} (line {event.line}), and {beside[0]} is there",
                "then": "what is measured on it says nothing of data that the model has not seen",
            },
            related=(
                Step(
                    scope,
                    Place(event.line, event.place.column, event.line, event.place.column + 3),
                    event.block,
                    "the loop",
                ),
            ),
        )


def _has_another_pass(scope: Scope, names: list[str], event: Event) -> bool:
    """Tell whether another loop of the scope goes over the held-out data."""
    return any(
        other is not event
        and other.kind == "for"
        and other.value is not None
        and any(isinstance(part, Name) and part.name in names for part in walk(other.value))
        for other in scope.events()
    )


def _text_of_call(call: Call) -> str:
    return call.method or (dotted(call.func) or "")


_FOLLOW = frozenset({"EarlyStopping", "ReduceLROnPlateau", "ModelCheckpoint"})


_LEFT_OUT = "..."
"""What stands in the text of an expression for a part that is not shown."""


def _follows_validation(program: Program, fit: Site) -> bool:
    """Tell whether a callback of a `fit` acts on a validation metric."""
    given = fit.call.argument(5, "callbacks")
    for site in calls_in(program, given, fit.scope) if given is not None else ():
        package, _, name = site.name.rpartition(".")
        if package != "keras.callbacks" or name not in _FOLLOW or site.call.opaque:
            continue
        if name == "ModelCheckpoint" and not is_true(site.call.argument(3, "save_best_only")):
            continue
        monitor = site.call.argument(1 if name == "ModelCheckpoint" else 0, "monitor")
        named = "val_loss" if monitor is None else constant(monitor)
        if isinstance(named, str) and named.startswith("val_"):
            return True
    return False


def _validated_on_training(program: Program) -> Iterator[Hit]:
    """Find validations and evaluations on training data.

    Examples: `fit(x, y, validation_data=(x, y))`, `test_loss = model.evaluate(x_train, y_train)`.
    """
    seen: set[tuple[int, int]] = set()
    for site in model_calls(program, "fit"):
        key = (id(site.scope), site.call.number)
        given = site.call.argument(7, "validation_data")
        if key in seen or given is None or site.call.opaque:
            continue
        seen.add(key)
        first, second = site.call.argument(0, "x"), site.call.argument(1, "y")
        if first is None or not isinstance(first, (Name, Attribute, Subscript)):
            continue
        shown = text(first)
        if _LEFT_OUT in shown:
            continue
        same = (type(given) is type(first) and text(given) == shown) or (
            isinstance(given, Collection)
            and len(given.items) >= 2
            and second is not None
            and text(given.items[0]) == shown
            and text(given.items[1]) == text(second)
        )
        if same:
            yield hit_at(
                site,
                flow=(),
                severity=None if _other_data(site.scope) or _follows_validation(program, site) else "info",
                values={
                    "what": f"validation_data is {text(given)}, which fit trains on",
                    "then": "val_loss says nothing of data that the model has not seen, and early stopping follows it",
                },
            )
    for site in model_calls(program, "evaluate"):
        key = (id(site.scope), site.call.number)
        if key in seen:
            continue
        seen.add(key)
        event = statement_of(site.scope, site.call.place)
        if (
            event is None
            or event.kind != "assign"
            or event.value is None
            or not _comes_from_call(event.value, site)
        ):
            continue
        first = site.call.argument(0, "x")
        if first is None or (name := _plain_name(first)) is None or not _is_trained(name):
            continue
        names: dict[str, None] = {}
        for target in event.targets:
            bind(target, names)
        if names and all(map(_is_held_out, names)):
            yield hit_at(
                site,
                flow=(),
                values={
                    "what": f"{', '.join(names)} is measured on {name}",
                    "then": "it says nothing of data that the model has not seen",
                },
            )


def _other_data(scope: Scope) -> bool:
    """Tell whether a file has names of held-out data."""
    return any(_is_held_out(name) for inner in scope.module.summary.scopes for name in inner.names)


def _comes_from_call(value: Expr, site: Site) -> bool:
    while isinstance(value, (Subscript, Starred)):
        value = value.base if isinstance(value, Subscript) else value.value
    return value is site.call
