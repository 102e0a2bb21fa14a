"""Data that is longer or shorter than the training asks for."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.bindings import bound_once
from cfgfix.code.checks.common import short
from cfgfix.code.checks.models import model_calls
from cfgfix.code.checks.pipelines import is_done_to_all_members, made_by, pipelines_to, possible
from cfgfix.code.inference.branches import excluded, is_forced_by_call
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.model.expressions import MISSING, constant, dotted, is_name, is_none, text, walk
from cfgfix.code.model.hit import Step, at, hit_at, hit_in
from cfgfix.code.model.nodes import (
    Attribute,
    Binary,
    Call,
    Collection,
    Comprehension,
    Conditional,
    Dictionary,
    Expr,
    Literal,
    Name,
    Place,
    Slice,
    Starred,
    Subscript,
    Unary,
    Yield,
)
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Dataset, Site, first_dataset
from cfgfix.rules.hit import Hit

_STEPS = {"fit": (12, "steps_per_epoch"), "evaluate": (5, "steps"), "predict": (3, "steps")}
_ENDLESS_MAKERS = frozenset({"counter", "Counter", "random", "RandomDataset"})
_REPEATING_READERS = frozenset({"make_csv_dataset", "make_batched_features_dataset"})
_CHOOSING = frozenset({"sample_from_datasets", "choose_from_datasets"})
_ENDING = frozenset({"take", "take_while"})
_READS_ALL = frozenset({"list", "tuple", "set", "sum", "sorted", "min", "max", "len", "dict"})
_MANY = "several"


def endless(program: Program) -> Iterator[Hit]:
    """Find endless data where nothing limits the epoch.

    The first epoch lasts for ever.
    """
    yield from _given_to_models(program)
    yield from _gone_over(program)
    yield from _read_whole(program)


def _given_to_models(program: Program) -> Iterator[Hit]:
    seen: set[tuple[int, int, str]] = set()
    for method, (position, steps) in _STEPS.items():
        for site in model_calls(program, method):
            if site.call.opaque or written_for_one(program, site.scope):
                continue
            parts = [(0, "x", position, steps)]
            if method == "fit":
                parts.append((7, "validation_data", 13, "validation_steps"))
            for place, name, at_steps, wanted in parts:
                key = (id(site.scope), site.call.number, name)
                expr = site.call.argument(place, name)
                if key in seen or expr is None or not _is_left_out(site.call.argument(at_steps, wanted)):
                    continue
                made = _end_missing(program, site, expr, place, name)
                if made is None or _stops_itself(site.scope):
                    continue
                seen.add(key)
                where, why = made
                yield hit_at(
                    site,
                    values={
                        "reader": f"{method}({name}=...)" if name != "x" else method,
                        "why": why,
                        "line": where.place.line,
                        "wanted": f"{wanted}= says how many batches are one round",
                        "never": "validation never ends"
                        if name != "x"
                        else f"{method} never ends"
                        if method != "fit"
                        else "the first epoch never ends",
                    },
                    needs=((where.scope, where.block),),
                    related=(where,),
                )


def _is_left_out(expr: Expr | None) -> bool:
    return expr is None or is_none(expr)


def _end_missing(
    program: Program, site: Site, expr: Expr, position: int, name: str
) -> tuple[Step, str] | None:
    """Return the step or generator that makes data endless, with words for it.

    Return None where the data ends, or may.
    """
    dataset = first_dataset(site.argument(position, name))
    if dataset is not None:
        found = _never_ends(program, dataset, made_by(program, site.scope, expr, site.call.block))
        if found is None:
            return None
        assert found.site is not None
        return at(found.site, label="without end"), f"{short(found.site)}() has no end"
    generator = generator_of(program, site, expr)
    if generator is not None and ends(generator) is False:
        return (
            Step(generator, generator.place, 0, "yields without end"),
            f"{generator.name} yields without end",
        )
    return None


def _never_ends(program: Program, dataset: Dataset, entered: Site | None = None) -> Dataset | None:
    """Return the step that makes a dataset endless in every possible pipeline.

    Return None where one of them ends, or may.
    """
    found: Dataset | None = None
    other = False
    for way in pipelines_to(dataset):
        if not possible(program, way) or (entered is not None and _passed_by(entered, way)):
            continue
        step = _endless_step(way)
        if step is None:
            other = True
        else:
            found = found or step
    if found is not None and other:
        assert found.site is not None
        if entered is None or not is_forced_by_call(entered, found.site.scope, found.site.call.block):
            return None
    return found


def _passed_by(entered: Site, way: list[Dataset]) -> bool:
    """Tell whether a pipeline has a step in a branch that a call does not take."""
    scopes = [target.scope for target in entered.targets]
    return any(
        step.site is not None
        and step.site.scope in scopes
        and excluded(entered, step.site.scope, step.site.call.block)
        for step in way
    )


def _endless_step(way: list[Dataset]) -> Dataset | None:
    for step in way:
        name = step.detail if step.op == "apply" and step.detail else step.op
        if name in _ENDING or name in _CHOOSING or name == "unknown" or step.site is None:
            if step.op == "either":
                continue
            return None
        if _without_end(step, name):
            return step if is_done_to_all_members(way, step, frozenset({step.op})) else None
    return None


def _without_end(step: Dataset, name: str) -> bool:
    """Tell whether a step yields elements endlessly."""
    assert step.site is not None
    call = step.site.call
    if name == "repeat":
        count = constant(call.argument(0, "count"))
        return not call.opaque and (
            call.argument(0, "count") is None
            or count in (None, -1)
            or _is_minus_one(call.argument(0, "count"))
        )
    if name in _ENDLESS_MAKERS:
        return True
    if name in _REPEATING_READERS:
        rounds = call.keyword("num_epochs")
        others = _spread_keys(step.site.scope, call)
        return (
            others is not None and "num_epochs" not in others and _is_left_out(rounds) and len(call.args) < 6
        )
    if name == "from_generator":
        return bool(step.functions) and all(ends(function.scope) is False for function in step.functions)
    return False


def _spread_keys(scope: Scope, call: Call) -> frozenset[str] | None:
    """Return the keys that `**options` gives a call, or None where they are not known."""
    if any(isinstance(item, Starred) for item in call.args):
        return None
    found: set[str] = set()
    pending = [value for name, value in call.keywords if name is None]
    for _ in range(_MOST_PARTS):
        if not pending:
            return frozenset(found)
        expr = pending.pop()
        if isinstance(expr, Conditional):
            pending += (expr.then, expr.otherwise)
        elif isinstance(expr, Dictionary):
            for key, value in expr.entries:
                name = constant(key)
                if key is None:
                    pending.append(value)
                elif isinstance(name, str):
                    found.add(name)
                else:
                    return None
        elif isinstance(expr, Call) and is_name(expr.func, "dict"):
            found.update(name for name, _ in expr.keywords if name is not None)
            pending += expr.args
            pending += (value for name, value in expr.keywords if name is None)
        elif isinstance(expr, Name) and not _is_changed(scope, expr.name):
            bound = scope.binding(expr.name)
            if any(event.kind != "assign" or event.value is None for event in bound) or not bound:
                return None
            pending += [event.value for event in bound if event.value is not None]
        else:
            return None
    return None


_MOST_PARTS = 64


def _is_changed(scope: Scope, name: str) -> bool:
    """Tell whether a mapping may get more keys.

    It is a parameter, an item of it is set, a method changes it, or a call gets it.
    """
    if any(item.name == name for item in scope.params) or scope.calls_on(name, "update", "setdefault"):
        return True
    if any(
        isinstance(target, Subscript) and is_name(target.base, name)
        for event in scope.events()
        for target in event.targets
    ):
        return True
    return any(is_name(item, name) for call in scope.calls for item in call.args)


def _is_minus_one(expr: Expr | None) -> bool:
    return (
        expr is not None and isinstance(expr, Unary) and expr.operator == "-" and constant(expr.operand) == 1
    )


def generator_of(program: Program, site: Site, expr: Expr) -> Scope | None:
    """Return the project's generator function behind an argument, or None."""
    scope, block = site.scope, site.call.block
    for _ in range(4):
        if not isinstance(expr, Name):
            break
        bound = bound_once(scope, expr.name, block)
        if bound is None:
            return None
        expr, scope, block = bound
    if not isinstance(expr, Call):
        return None
    for made in flow_of(program).within(scope):
        if made.call.number == expr.number and made.call is expr:
            scopes = [target.scope for target in made.targets]
            if len(scopes) == 1 and scopes[0].generator and not made.open:
                found: Scope = scopes[0]
                return found
    return None


_COUNTING = frozenset({"itertools.count", "itertools.cycle", "itertools.repeat"})
_MAKES_LISTS = frozenset(
    {"range", "sorted", "list", "np.array_split", "np.split", "np.arange", "glob.glob", "glob", "os.listdir", "listdir", "np.load",
     "np.random.permutation"}
)  # fmt: skip
_LASTS = frozenset({"zip", "enumerate", "reversed", "tqdm"})


def ends(scope: Scope) -> bool | None:
    """Tell whether a generator function ends, or None where that is not known.

    A generator that yields in a loop without a way out does not end.
    """
    if not scope.generator:
        return None
    inside_loops = False
    for event in scope.events():
        if event.kind != "yield" and not _yields_value(event):
            continue
        loops = [
            number
            for number in scope.block_numbers(event.block)
            if scope.blocks[number].kind in ("for", "while")
        ]
        if any(
            scope.blocks[number].kind in ("except", "try-else") for number in scope.block_numbers(event.block)
        ):
            return None
        for number in loops:
            block = scope.blocks[number]
            if _loops_for_ever(scope, number):
                return None if _may_be_left(scope, number) else False
            if block.kind == "while":
                return None
            if not _ends_for_certain(block.test, scope):
                return None
        inside_loops = True
    return True if inside_loops else None


def _yields_value(event: Event) -> bool:
    return event.value is not None and isinstance(event.value, Yield)


def _loops_for_ever(scope: Scope, number: int) -> bool:
    block = scope.blocks[number]
    test = block.test
    if test is None:
        return False
    if block.kind == "while":
        return isinstance(test, Literal) and bool(test.value)
    return isinstance(test, Call) and dotted(test.func) in (
        _COUNTING if len(test.args) < 2 or "repeat" not in (dotted(test.func) or "") else ()
    )


def _ends_for_certain(test: Expr | None, scope: Scope, depth: int = 4) -> bool:
    """Tell whether the iterable of a loop certainly ends.

    It is a range, a list, or measured by `len`; an iterator may not end.
    """
    if test is None or depth <= 0:
        return False
    if isinstance(test, Call):
        call = test
        name = dotted(call.func) or ""
        return name in _MAKES_LISTS or (
            name in _LASTS and all(_ends_for_certain(arg, scope, depth - 1) for arg in call.args[:4])
        )
    if isinstance(test, (Collection, Comprehension)) or (
        isinstance(test, Subscript) and isinstance(test.index, Slice)
    ):
        return True
    if not isinstance(test, (Name, Attribute)):
        return False
    shown = dotted(test)
    if any(
        is_name(call.func, "len") and len(call.args) == 1 and dotted(call.args[0]) == shown
        for call in scope.calls
    ):
        return True
    bound = bound_once(scope, test.name, 0) if isinstance(test, Name) else None
    return bound is not None and _ends_for_certain(bound[0], bound[1], depth - 1)


_LEAVES = frozenset({"break", "return", "raise"})


def _may_be_left(scope: Scope, number: int) -> bool:
    """Tell whether a statement in a loop may leave it."""
    for event in scope.events():
        if inside(scope, event.block, number) and (
            event.kind in _LEAVES
            or (event.kind == "expr" and event.value is not None and _exits_program(event.value))
        ):
            return True
    return any(
        is_name(call.func, "next") and len(call.args) == 1 and inside(scope, call.block, number)
        for call in scope.calls
    )


def _exits_program(expr: Expr) -> bool:
    return isinstance(expr, Call) and (
        dotted(expr.func) in ("sys.exit", "exit", "quit", "os._exit", "os.abort")
    )


def _stops_itself(scope: Scope) -> bool:
    """Tell whether a file sets `stop_training`, so that a callback may end training."""
    return any(
        isinstance(target, Attribute) and target.attribute == "stop_training"
        for inner in scope.module.summary.scopes
        for event in inner.events()
        for target in event.targets
    )


def _gone_over(program: Program) -> Iterator[Hit]:
    """Yield findings for loops over endless datasets with code after them.

    Nothing leaves the loop.
    """
    seen: set[tuple[int, int]] = set()
    for how, dataset, scope, block in flow_of(program).consumed:
        if how != "loop" or (id(scope), block) in seen:
            continue
        made = _never_ends(program, dataset)
        if made is None or _may_be_left(scope, block) or scope.generator or written_for_one(program, scope):
            continue
        loop = next(
            (event for event in scope.events() if any(number == block for number, _ in event.bodies)), None
        )
        if (
            loop is None
            or loop.kind != "for"
            or not _waited_for(scope, loop)
            or _is_interrupted(scope, loop.block)
        ):
            continue
        seen.add((id(scope), block))
        assert made.site is not None
        where = at(made.site, label="without end")
        shown = text(loop.value)
        column = loop.place.column
        yield hit_in(
            scope,
            Place(loop.line, column, loop.line, column + 3),
            loop.block,
            {
                "reader": f"the loop over {shown}",
                "why": f"{short(made.site)}() has no end",
                "line": where.place.line,
                "wanted": "take(...) says how many batches are one round",
                "never": "what follows it is never reached",
            },
            needs=((where.scope, where.block),),
            related=(where,),
        )


def _waited_for(scope: Scope, loop: Event) -> bool:
    """Tell whether an outer loop or a later statement follows a loop."""
    if any(item.kind in ("for", "while") for item in scope.block_chain(loop.block)):
        return True
    return any(
        event.place.start > loop.place.end
        and event.kind in ("expr", "assign", "augment", "for", "while", "with", "if")
        and inside(scope, loop.block, event.block)
        for event in scope.events()
    )


def _is_interrupted(scope: Scope, block: int) -> bool:
    """Tell whether a place stands in a `try` or its handler.

    Somebody may then end it by hand, or an error does.
    """
    return any(item.kind in ("try", "except") for item in scope.block_chain(block))


def _read_whole(program: Program) -> Iterator[Hit]:
    seen: set[tuple[int, int]] = set()
    for name in sorted(_READS_ALL):
        for site in flow_of(program).named(f"builtins.{name}"):
            key = (id(site.scope), site.call.number)
            if key in seen or len(site.call.args) < 1:
                continue
            dataset = first_dataset(site.args[0]) if site.args else None
            made = _never_ends(program, dataset) if dataset is not None else None
            if made is None or made.site is None or _is_interrupted(site.scope, site.call.block):
                continue
            seen.add(key)
            where = at(made.site, label="without end")
            yield hit_at(
                site,
                values={
                    "reader": f"{name}()",
                    "why": f"{short(made.site)}() has no end",
                    "line": where.place.line,
                    "wanted": "take(...) says how many elements are meant",
                    "never": "TypeError, since the dataset is infinite"
                    if name == "len"
                    else f"{name}() never ends",
                },
                needs=((where.scope, where.block),),
                related=(where,),
            )


# Data that runs out


def mismatched_epoch_length(program: Program) -> Iterator[Hit]:
    """Find epochs whose number of steps differs from the batches of their data.

    The data starts anew only once it has run out.
    """
    seen: set[tuple[int, int]] = set()
    for method in ("fit", "fit_generator"):
        for site in model_calls(program, method):
            key = (id(site.scope), site.call.number)
            if key in seen or site.call.opaque or written_for_one(program, site.scope):
                continue
            epochs = _epoch_count(site, method)
            if epochs == 1:
                continue
            expr = site.call.argument(0, "x" if method == "fit" else "generator")
            if expr is None:
                continue
            hit = _finite_generator(program, site, expr, epochs) or (
                _short_epochs(program, site) if method == "fit" else None
            )
            if hit is not None:
                seen.add(key)
                yield hit


def _epoch_count(site: Site, method: str) -> int | str:
    """Return how many epochs a `fit` trains, or `_MANY` where it is not known."""
    given = site.call.argument(3, "epochs") if method == "fit" else site.call.argument(2, "epochs")
    if given is None:
        return 1
    value = constant(given)
    if value is MISSING and isinstance(given, Name):
        bound = bound_once(site.scope, given.name, site.call.block)
        value = constant(bound[0]) if bound is not None else MISSING
    return value if type(value) is int else _MANY


def _finite_generator(program: Program, site: Site, expr: Expr, epochs: int | str) -> Hit | None:
    generator = generator_of(program, site, expr)
    if generator is None or ends(generator) is not True or any(generator.decorators):
        return None
    rounds = f"{epochs} epochs" if epochs != _MANY else "several epochs"
    return hit_at(
        site,
        severity="error",
        values={
            "what": f"{generator.name} yields its batches once, and {rounds} are asked for",
            "then": "from the second epoch on there is next to nothing to train on",
        },
        related=(Step(generator, generator.place, 0, "ends after one round"),),
    )


_FINITE_SOURCES = frozenset(
    {"from_tensor_slices", "from_tensors", "range", "list_files", "TFRecordDataset", "TextLineDataset", "tfds.load",
     "image_dataset_from_directory", "text_dataset_from_directory", "FixedLengthRecordDataset", "from_generator",
     "timeseries_dataset_from_array", "audio_dataset_from_directory"}
)  # fmt: skip
_KEEPS_ENDING = frozenset(
    {"map", "batch", "padded_batch", "shuffle", "prefetch", "cache", "filter", "take", "skip", "shard", "with_options", "unbatch",
     "interleave", "flat_map", "zip", "enumerate", "concatenate", "ignore_errors"}
)  # fmt: skip


def _short_epochs(program: Program, site: Site) -> Hit | None:
    """Return the finding for `steps_per_epoch` that differs from the batches, or None.

    The dataset is one that nothing repeats.
    """
    steps = site.call.argument(12, "steps_per_epoch")
    dataset = first_dataset(site.argument(0, "x"))
    if dataset is None or steps is None or _is_left_out(steps):
        return None
    given = site.call.argument(0, "x")
    entered = made_by(program, site.scope, given, site.call.block) if given is not None else None
    found = [
        way
        for way in pipelines_to(dataset)
        if possible(program, way) and not (entered is not None and _passed_by(entered, way))
    ]
    if not found or not all(map(_surely_ends, found)):
        return None
    value, scope = _value_of(steps, site.scope, site.call.block)
    if value is None or constant(value) is None or _counts_exactly(value):
        return None
    floor = _rounded_down(value, scope)
    if floor and all(_drops_remainder(way) for way in found):
        return None
    if not floor and constant(value) is MISSING:
        return None
    shown = text(steps)
    batch = next(
        (step.site for way in found for step in way if step.op == "batch" and step.site is not None), None
    )
    return hit_at(
        site,
        values={
            "what": f"steps_per_epoch={shown} of a dataset that nothing repeats",
            "then": "where the division has a remainder there is one batch more, and every second epoch is that batch alone"
            if floor
            else "the epochs get what is left of one round, and it starts anew only when it has run out",
        },
        related=(at(batch, label="nothing behind this repeats"),) if batch is not None else (),
    )


def _surely_ends(way: list[Dataset]) -> bool:
    """Tell whether a pipeline has a finite source and no step that repeats it."""
    first = way[-1]
    if first.op not in _FINITE_SOURCES or first.site is None:
        return False
    if first.op == "from_generator" and not (
        first.functions and all(ends(function.scope) for function in first.functions)
    ):
        return False
    return all(step.op in _KEEPS_ENDING for step in way[:-1])


def _value_of(expr: Expr, scope: Scope, block: int) -> tuple[Expr | None, Scope]:
    for _ in range(4):
        if not isinstance(expr, Name):
            return expr, scope
        bound = bound_once(scope, expr.name, block)
        if bound is None:
            return None, scope
        expr, scope, block = bound
    return None, scope


def _counts_exactly(expr: Expr) -> bool:
    """Tell whether a number of steps is rounded up or asked of the dataset."""
    for part in walk(expr):
        if isinstance(part, Call):
            name = dotted(part.func) or ""
            if name.endswith(("ceil", "cardinality", "max")) or part.method == "numpy":
                return True
            if name == "len" and part is expr:
                return True
        elif isinstance(part, Unary) or (isinstance(part, Binary) and part.operator in ("+", "-")):
            return True
    return False


def _rounded_down(expr: Expr, scope: Scope) -> bool:
    """Tell whether a number of steps is a quotient that may be rounded down.

    Two constants without a remainder do not count.
    """
    if isinstance(expr, Binary) and expr.operator == "//":
        whole, size = constant(expr.left), constant(expr.right)
        return not (type(whole) is int and type(size) is int and size > 0 and whole % size == 0)
    if isinstance(expr, Call):
        call = expr
        if (dotted(call.func) or "").rpartition(".")[2] in ("int", "floor") and len(call.args) == 1:
            inner = call.args[0]
            return (isinstance(inner, Binary) and inner.operator in ("/", "//")) or _rounded_down(
                inner, scope
            )
    return False


def _drops_remainder(way: list[Dataset]) -> bool:
    for step in way:
        if step.op in ("batch", "padded_batch") and step.site is not None:
            position = 1 if step.op == "batch" else 3
            given = step.site.call.argument(position, "drop_remainder")
            return given is not None and constant(given) is not False
    return False
