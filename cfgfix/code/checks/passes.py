"""Labels and predictions from two passes over data that is shuffled each time."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.handed_on import callers_of
from cfgfix.code.checks.origins import Origin, origin, site_of
from cfgfix.code.checks.pipelines import pipelines_to, possible
from cfgfix.code.inference.branches import is_forced_by_call
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, dotted, walk
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import Attribute, Call, Collection, Compare, Comprehension, Expr, Name, Place
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Constant, Dataset, alternatives, first_dataset
from cfgfix.core.records import dataclass
from cfgfix.rules.hit import Hit

_COMPARES = frozenset(
    {
        "accuracy_score",
        "average_precision_score",
        "balanced_accuracy_score",
        "classification_report",
        "cohen_kappa_score",
        "confusion_matrix",
        "f1_score",
        "fbeta_score",
        "from_predictions",
        "jaccard_score",
        "matthews_corrcoef",
        "multilabel_confusion_matrix",
        "precision_recall_curve",
        "precision_recall_fscore_support",
        "precision_score",
        "recall_score",
        "roc_auc_score",
        "roc_curve",
    }
)
"""Functions that take the labels first and the predictions second, or by the names below."""
_LABELS = ("y_true", "labels")
_PREDICTIONS = ("y_pred", "y_score", "y_prob", "probas_pred", "predictions")
_PREDICTS = ("predict", "predict_generator")
_OF_FOLDERS = {"flow_from_directory": 6, "flow_from_dataframe": 99}
"""Methods that make a generator of files, with the place of `shuffle` behind its folder."""
_LABELS_IN_ORDER = frozenset({"classes", "labels"})
"""Attributes of such a generator that hold the labels in the order of the files."""
_GOES_THROUGH = frozenset({"enumerate", "iter", "list", "tqdm", "as_numpy"})
_SAME_ELEMENTS = frozenset({"as_numpy_iterator", "map", "prefetch", "take", "unbatch"})
_DATA_OF_FOLDERS = (
    "image_dataset_from_directory",
    "text_dataset_from_directory",
    "audio_dataset_from_directory",
)
_KEEP_ORDER = frozenset(
    {"map", "prefetch", "batch", "padded_batch", "unbatch", "rebatch", "with_options", "take", "ignore_errors", "filter"}
)  # fmt: skip
_MOST = 400


@dataclass(frozen=True, slots=True)
class _DataPass:
    """One pass over data: its kind, the name of the data, the data and its place.

    The kind is `predictions` or `labels`.
    """

    kind: str
    name: str
    data: Expr
    step: Step


def other_order(program: Program) -> Iterator[Hit]:
    """Find predictions compared with the labels of another pass over shuffled data."""
    for module in program.all_modules(words=(b"predict",)):
        for scope in module.summary.scopes:
            if not scope.calls_of(*_PREDICTS):
                continue
            told: set[Place] = set()
            for pair, where in _pairs(scope):
                labels, predictions = (list(_passes_over_data(scope, item)) for item in pair)
                found = _two_passes(labels, predictions)
                if found is None or found[1].step.place in told or written_for_one(program, scope):
                    continue
                label, prediction = found
                made = _where_shuffled(program, scope, label.data, in_order=label.step.label == _IN_ORDER)
                if made is None:
                    continue
                told.add(prediction.step.place)
                yield hit_in(
                    scope,
                    prediction.step.place,
                    prediction.step.block,
                    {"name": label.name, "line": label.step.place.line, "made": made.place.line},
                    related=(made, label.step, where),
                )


_IN_ORDER = "the labels in the order of the files"


def _pairs(scope: Scope) -> Iterator[tuple[tuple[Expr, Expr], Step]]:
    """Yield what a scope compares or returns together, labels first, with the place."""
    for call in scope.calls:
        pair = _compared_arrays(call)
        if pair is not None:
            yield pair, Step(scope, call.name_place, call.block, "compared here")
    for event in scope.events():
        given = event.value
        if event.kind == "return" and isinstance(given, Collection) and len(given.items) == 2:
            step = Step(scope, event.place, event.block, "returned together")
            yield (given.items[0], given.items[1]), step
            yield (given.items[1], given.items[0]), step
        for top in (given, *event.extra_nodes()):
            for part in walk(top) if top is not None else ():
                if isinstance(part, Compare) and len(part.rights) == 1 and part.rights[0].operator == "==":
                    step = Step(scope, part.place, event.block, "compared here")
                    yield (part.left, part.rights[0].right), step
                    yield (part.rights[0].right, part.left), step


def _compared_arrays(call: Call) -> tuple[Expr, Expr] | None:
    """Return the labels and the predictions that a call compares."""
    name = (dotted(call.func) or "").rpartition(".")[2]
    if name not in _COMPARES:
        return None
    labels = call.args[0] if call.args else _first_named(call, _LABELS)
    predictions = call.args[1] if len(call.args) > 1 else _first_named(call, _PREDICTIONS)
    return (labels, predictions) if labels is not None and predictions is not None else None


def _first_named(call: Call, names: tuple[str, ...]) -> Expr | None:
    return next((found for name in names if (found := call.keyword(name)) is not None), None)


def _two_passes(labels: list[_DataPass], predictions: list[_DataPass]) -> tuple[_DataPass, _DataPass] | None:
    """Return one pass over some data that gives labels, and another for predictions.

    Return None where one pass gives both.
    """
    own = {item.name for item in predictions if item.kind == "labels"}
    both = {item.name for item in labels if item.kind == "predictions"}
    for label in labels:
        if label.kind != "labels" or label.name in own or label.name in both:
            continue
        for prediction in predictions:
            if prediction.kind == "predictions" and prediction.name == label.name:
                return label, prediction
    return None


def _passes_over_data(scope: Scope, expr: Expr) -> Iterator[_DataPass]:
    """Yield the passes over data that an expression is computed from."""
    pending, seen = [expr], set[str]()
    turns = 0
    while pending and turns < _MOST:
        for part in walk(pending.pop()):
            turns += 1
            if isinstance(part, Call) and part.method in _PREDICTS:
                data = part.argument(0, "x") or part.keyword("generator")
                name = dotted(data)
                if data is not None and name is not None:
                    step = Step(scope, part.name_place, part.block, "one pass gives the predictions")
                    yield _DataPass("predictions", name, data, step)
            elif isinstance(part, Attribute) and part.attribute in _LABELS_IN_ORDER:
                name = dotted(part.base)
                if name is not None:
                    yield _DataPass("labels", name, part.base, Step(scope, part.place, 0, _IN_ORDER))
            elif isinstance(part, Comprehension):
                for _, over, _ in part.generators:
                    yield from _gone_through(scope, over)
            elif isinstance(part, Name) and part.name not in seen:
                seen.add(part.name)
                for event in scope.binding(part.name):
                    if event.kind == "for" and event.value is not None:
                        yield from _gone_through(scope, event.value)
                    elif event.value is not None:
                        pending.append(event.value)
                for call in scope.calls_on(part.name, "append", "extend"):
                    pending += call.args


def _gone_through(scope: Scope, over: Expr) -> Iterator[_DataPass]:
    """Yield the pass over data that a loop makes."""
    whole = over
    while isinstance(over, Call):
        if over.method in _SAME_ELEMENTS and over.receiver is not None:
            over = over.receiver
        elif (dotted(over.func) or "").rpartition(".")[2] in _GOES_THROUGH and over.args:
            over = over.args[0]
        else:
            return
    name = dotted(over)
    place = getattr(whole, "place", None)
    if name is not None and place is not None:
        yield _DataPass("labels", name, over, Step(scope, place, 0, "another pass gives the labels"))


def _where_shuffled(program: Program, scope: Scope, data: Expr, *, in_order: bool) -> Step | None:
    """Return where data is shuffled anew for every pass, or None."""
    if in_order:
        return _shuffled_generator(program, scope, data)
    values = alternatives(flow_of(program).value_of_name(scope, data))
    found = values[0] if len(values) == 1 else None
    if not isinstance(found, Dataset) or found.op == "parameter":
        made = origin(program, Origin(data, scope))
        site = site_of(program, made) if made is not None else None
        found = first_dataset(site.result) if site is not None else None
    if found is None:
        return None
    for way in pipelines_to(found):
        step = _shuffled_way(way)
        if step is not None and possible(program, way):
            guarded = any(block.kind == "if" for block in step.scope.block_chain(step.block))
            if not guarded or _is_asked_for(program, scope, data, step):
                return step
    return None


def _shuffled_way(way: list[Dataset]) -> Step | None:
    """Return where the steps of a dataset shuffle its data, or None."""
    for found in way:
        site = found.site
        if site is None:
            return None
        if found.op == "shuffle":
            again = site.call.argument(2, "reshuffle_each_iteration")
            whole = (again is None or constant(again) is True) and not site.call.opaque
            return Step(site.scope, site.call.name_place, site.call.block, "shuffled here") if whole else None
        if found.op in _DATA_OF_FOLDERS:
            return _of_folders(found)
        if found.op not in _KEEP_ORDER:
            return None
    return None


def _is_asked_for(program: Program, scope: Scope, data: Expr, step: Step) -> bool:
    """Tell whether the call that makes the data makes the shuffle's conditions true."""
    if step.scope is scope:
        return False
    callers = [site for site in callers_of(program, step.scope) if site is not None]
    made = [event.value for event in scope.binding(data.name)] if isinstance(data, Name) else []
    own = [site for site in callers if any(site.call is value for value in made)]
    return bool(callers) and all(is_forced_by_call(site, step.scope, step.block) for site in own or callers)


def _of_folders(data: Dataset) -> Step | None:
    """Return where a dataset of folders is made if it is shuffled, or None."""
    site = data.site
    if site is None or site.call.opaque or len(site.call.args) > 1:
        return None
    if site.call.keyword("shuffle") is not None:
        value = site.keywords.get("shuffle")
        if not isinstance(value, Constant) or value.value is not True:
            return None
    label = "shuffled, since nothing says shuffle=False"
    return Step(site.scope, site.call.name_place, site.call.block, label)


def _shuffled_generator(program: Program, scope: Scope, data: Expr) -> Step | None:
    """Return where a generator of files is made if it is shuffled, or None."""
    found = _call_that_makes(program, scope, data)
    if found is None:
        return None
    where, call = found
    place = _OF_FOLDERS.get(call.method or "")
    if place is None or call.opaque:
        return None
    given = call.argument(place, "shuffle")
    if (given is not None and constant(given) is not True) or any(
        target.attribute == "shuffle" for _, _, target in where.module.stores()
    ):
        return None
    return Step(where, call.name_place, call.block, "shuffled, since nothing says shuffle=False")


def _call_that_makes(program: Program, scope: Scope, data: Expr) -> tuple[Scope, Call] | None:
    """Return the only call that is assigned to a name or an attribute, or None."""
    if isinstance(data, Attribute):
        name = dotted(data)
        stores = [
            (where, event)
            for where, event, target in scope.module.stores()
            if dotted(target) == name and program.outer(where) is program.outer(scope)
        ]
    else:
        here: Scope | None = scope
        while here is not None and isinstance(data, Name) and not here.binding(data.name):
            if any(item.name == data.name for item in here.params):
                return None
            here = program.outer(here)
        if here is None or not isinstance(data, Name):
            return None
        stores = [(here, event) for event in here.binding(data.name)]
    if len(stores) != 1 or not isinstance(stores[0][1].value, Call) or stores[0][1].kind != "assign":
        return None
    return stores[0][0], stores[0][1].value
