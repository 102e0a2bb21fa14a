"""What several checks need: the ways a dataset came to be, guards that exclude each other, what a function does."""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Iterator
from typing import Any

from cfgfix.code.inference.branches import excluded
from cfgfix.code.inference.conditions import RUN_EAGERLY
from cfgfix.code.inference.entry_points import is_test, switched_by_entries
from cfgfix.code.inference.flow.datasets import DATASET
from cfgfix.code.inference.guards import literals
from cfgfix.code.model.expressions import constant, dotted, is_name, is_none, is_true, text, walk
from cfgfix.code.model.nodes import (
    Attribute,
    Call,
    Collection,
    Dictionary,
    Expr,
    Lambda,
    Literal,
    Name,
    Starred,
    Subscript,
)
from cfgfix.code.model.program import Module, Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import (
    Constant,
    Dataset,
    External,
    Function,
    Items,
    Made,
    Site,
    Value,
    alternatives,
)

PIPELINE = (b".map(", b".interleave(", b".flat_map(", b".filter(", b".scan(", b".reduce(")
"""Byte strings of files that run functions for every element, for the needles of checks about such functions."""
COMPILED = (b".function", b"train_step", b"jit_compile", b"GradientTape")
"""Byte strings of files that compile functions, for the needles of checks about such functions."""
MAX_WAYS = 24
MAX_LENGTH = 60
MAX_WALK = 1500
"""Most steps taken over all ways of one dataset: a ladder of conditions has more ways than can be walked."""


def in_tests(scope: Scope) -> bool:
    """Tell whether a scope stands in test code, where speed does not count."""
    return is_test(scope.module.path)


def ways(dataset: Dataset) -> Iterator[list[Dataset]]:
    """Yield the ways a dataset may have come to be, each a list of steps.

    The last step comes first. Ways whose guards exclude each other are left out. Where several datasets are joined into
    one, each is a way.
    """
    count = steps = 0
    pending: list[tuple[Dataset, list[Dataset]]] = [(dataset, [])]
    while pending and count < MAX_WAYS and steps < MAX_WALK:
        steps += 1
        here, path = pending.pop()
        if here.op != "either":
            if len(path) >= MAX_LENGTH:
                continue
            path = [*path, here]
        if here.parents and here not in path[:-1]:
            for parent in reversed(here.parents):
                pending.append((parent, path))
            continue
        if consistent(path):
            count += 1
            yield path


def possible(program: Program, path: list[Dataset]) -> bool:
    """Tell whether the steps of a way happen where their functions are entered from.

    `build(is_training=False)` does not shuffle. The guards around a step that are a parameter of its function, or an
    attribute that the constructor sets from one, are held against constants: those of the call by which the step behind
    it, in another function, gets its dataset.
    """
    for later, step in itertools.pairwise(path):
        if later.site is None or step.site is None or later.site.scope is step.site.scope:
            continue
        scope = step.site.scope
        entering = _sites_entering(program, scope, later.site)
        if not entering:
            continue
        inner = [
            item for item in path[path.index(step) :] if item.site is not None and item.site.scope is scope
        ]
        if all(
            any(excluded(site, item.site.scope, item.site.call.block) for item in inner if item.site)
            for site in entering
        ):
            return False
    return True


@once
def _sites_entering(program: Program, scope: Scope, later: Site) -> list[Site]:
    """Return the calls beside a later step by which a function is entered: the one that gives it its dataset, else all."""
    entering = [
        site
        for site in program.flow.within(later.scope)
        if any(target.scope is scope for target in site.targets)
    ]
    made = _source_of(later)
    return [site for site in entering if made is not None and site.call is made] or entering


def _source_of(site: Site) -> Call | None:
    """Return the call whose result a method is called on: in its chain, or assigned to its name before."""
    scope: Scope = site.scope
    func = site.call.func
    expr = func.base if isinstance(func, Attribute) else None
    for _ in range(20):
        if expr is None:
            return None
        if isinstance(expr, Name):
            values = [
                event.value
                for event in scope.events()
                if event.place[:2] < site.call.place[:2]
                and any(is_name(target, expr.name) for target in event.targets)
                and event.value is not None
            ]
            expr = values[-1] if values else None
        elif isinstance(expr, Call):
            call: Call = expr
            if not isinstance(call.func, Attribute) or call.method not in METHODS:
                return call
            expr = call.func.base
        else:
            return None
    return None


def links(expr: Expr) -> Iterator[str]:
    """Yield the methods of a chain, the last one first, then its first name.

    What its calls are given is no part of it.
    """
    while isinstance(expr, Call) and isinstance(expr.func, Attribute):
        func = expr.func
        yield func.attribute
        expr = func.base
    yield dotted(expr) or ""


def made_by(program: Program, scope: Scope, expr: Expr, block: int) -> Site | None:
    """Return the call of a project function that makes a dataset, or None.

    The expression is that dataset or begins with it.
    """
    for _ in range(12):
        if isinstance(expr, Name):
            bound = bound_once(scope, expr.name, block)
            if bound is None:
                return None
            expr, scope, block = bound
        elif isinstance(expr, Attribute) and isinstance(expr.base, Name):
            stored = _stored_once(program, scope, expr)
            if stored is None:
                return None
            expr, scope, block = stored
        elif isinstance(expr, Call):
            call: Call = expr
            if isinstance(call.func, Attribute) and call.method in METHODS:
                expr = call.func.base
                continue
            return next(
                (site for site in program.flow.within(scope) if site.call is call and site.targets), None
            )
        else:
            return None
    return None


def _stored_once(program: Program, scope: Scope, expr: Attribute) -> tuple[Expr, Scope, int] | None:
    """Return what the only statement of a class that stores an attribute of its object gives it, with where that stands."""
    owner = program.owner(scope)
    if owner is None or not scope.params or not is_name(expr.base, scope.params[0].name):
        return None
    found: list[tuple[Expr, Scope, int]] = []
    for method in owner.module.summary.scopes:
        if method.parent != owner.number or method.kind != "function" or not method.params:
            continue
        for event in method.events():
            for target in event.targets:
                if (
                    isinstance(target, Attribute)
                    and target.attribute == expr.attribute
                    and is_name(target.base, method.params[0].name)
                ):
                    if event.value is None or event.kind != "assign":
                        return None
                    found.append((event.value, method, event.block))
    return found[0] if len(found) == 1 else None


METHODS = frozenset(
    (
        "map",
        "batch",
        "padded_batch",
        "shuffle",
        "repeat",
        "prefetch",
        "cache",
        "take",
        "skip",
        "filter",
        "with_options",
        "apply",
    )
)
"""Methods of datasets that a chain is followed through to what made the dataset."""


def consistent(path: list[Dataset]) -> bool:
    """Tell whether no two steps stand on opposite sides of the same guard."""
    return together([step.site for step in path if step.site is not None])


def together(sites: list[Site]) -> bool:
    """Tell whether no two calls stand on opposite sides of the same guard."""
    sides: dict[tuple[int, str], bool] = {}
    blocks: dict[tuple[int, int], set[int]] = {}
    looked: set[tuple[int, int]] = set()
    for site in sites:
        scope = site.scope
        seen: set[int] = set()
        number = site.call.block
        if (id(scope), number) in looked:
            continue
        looked.add((id(scope), number))
        while number >= 0:
            block = scope.blocks[number]
            if block.kind == "if" and block.test is not None:
                if block.sides is None:
                    said = literals(block.test, block.branch)
                    block.sides = tuple([(text(part, scope), side) for part, side in said])
                for shown, side in block.sides:
                    if sides.setdefault((id(scope), shown), side) != side:
                        return False
            elif block.kind in ("except", "try-else"):
                seen.add(number)
            number = block.parent
        for number in seen:
            # Two handlers of one try never both run.
            key2 = (id(scope), scope.blocks[number].parent)
            others = blocks.setdefault(key2, set())
            others.add(number)
            if (
                len({n for n in others if scope.blocks[n].kind == "except" and _same_try(scope, n, number)})
                > 1
            ):
                return False
    return True


def _same_try(scope: Scope, first: int, second: int) -> bool:
    """Handlers of one `try` are numbered one after another with nothing of the parent's between them."""
    low, high = sorted((first, second))
    if low == high:
        return True
    return all(
        scope.blocks[n].kind != "try" or scope.blocks[n].parent != scope.blocks[low].parent
        for n in range(low + 1, high)
    )


def upstream(dataset: Dataset) -> Iterator[Dataset]:
    """Yield all datasets a dataset is made from, each once, nearest first."""
    seen: set[int] = set()
    pending = list(dataset.parents)
    while pending and len(seen) < 400:
        here = pending.pop(0)
        if id(here) in seen:
            continue
        seen.add(id(here))
        yield here
        pending += here.parents


def of_all_members(way: list[Dataset], step: Dataset, kinds: Container[str]) -> bool:
    """Tell whether a step is applied to every dataset that is zipped later.

    What `zip` pairs comes from each of its datasets: a repeated counter beside the data repeats no data.
    """
    return all(
        any(item.op in kinds for item in (parent, *upstream(parent)))
        for later in way[: way.index(step)]
        if later.op == "zip"
        for parent in later.parents
    )


def downstream(dataset: Dataset) -> Iterator[Dataset]:
    """Yield all datasets made from a dataset, each once, nearest first."""
    seen: set[int] = set()
    pending = [item for item in dataset.uses if isinstance(item, Dataset)]
    while pending and len(seen) < 400:
        here = pending.pop(0)
        if id(here) in seen:
            continue
        seen.add(id(here))
        yield here
        pending += [item for item in here.uses if isinstance(item, Dataset)]


def value_named(program: Program, scope: Scope, name: str) -> Value | None:
    """Return what a name stands for in a scope or around it, or None."""
    here: Scope | None = scope
    while here is not None:
        env = program.flow.env_of(here)
        if env is not None and name in env.names:
            found: Value = env.names[name]
            return found
        here = program.outer(here)
    return None


def switched_eager(program: Program) -> Iterator[tuple[Scope, Site]]:
    """Yield the scopes that turn compiling off, and where.

    They do it themselves, or call a function of the project that does what it is told.
    """
    told: dict[int, str] = {}
    for site in program.flow.named(
        "tensorflow.config.run_functions_eagerly",
        "tensorflow.config.experimental_run_functions_eagerly",
    ):
        if flag(site.argument(0, "run_eagerly")) is True:
            yield site.scope, site
        expr = site.call.argument(0, "run_eagerly")
        if (
            expr is not None
            and isinstance(expr, Name)
            and any(item.name == expr.name for item in site.scope.params)
        ):
            told[id(site.scope)] = expr.name
    for site in program.flow.sites if told else ():
        for target in site.targets:
            name = told.get(id(target.scope))
            if name is None:
                continue
            offset = int(target.receiver is not None)
            for position, (parameter, _, default, _) in enumerate(target.scope.params):
                given = site.call.argument(position - offset, name) if parameter == name else None
                if parameter == name and is_true(given if given is not None else default):
                    yield site.scope, site


def fits_eagerly(program: Program) -> bool:
    """Tell whether any `compile(run_eagerly=True)` makes Keras run eagerly."""
    return True in _eager_fits(program)


def may_fit_eagerly(program: Program) -> bool:
    """Tell whether a value that is not known may tell Keras to run eagerly.

    Example: `run_eagerly=args.debug`.
    """
    return None in _eager_fits(program)


@once
def _eager_fits(program: Program) -> frozenset[bool | None]:
    """Return what Keras is told of `run_eagerly` anywhere: by an argument, an attribute or an entry of a mapping."""
    return frozenset(
        value
        for module in program.modules
        if RUN_EAGERLY in module.summary.words
        for scope in module.summary.scopes
        for value in _eager_settings(program, scope)
    )


def _eager_settings(program: Program, scope: Scope) -> Iterator[bool | None]:
    """Yield what a scope says of `run_eagerly`: True, False, or None where that is not known."""
    exprs = [expr for call in scope.calls for expr in (*call.args, *(value for _, value in call.keywords))]
    for event in scope.events():
        if event.value is not None:
            exprs.append(event.value)
            if any(
                isinstance(target, Attribute) and target.attribute == RUN_EAGERLY for target in event.targets
            ):
                yield _literal_truth(event.value)
    for expr in exprs:
        for part in walk(expr, scope):
            if isinstance(part, Dictionary):
                for key, value in part.entries:
                    if key is not None and constant(key) == RUN_EAGERLY:
                        yield _literal_truth(value)
    for call in scope.calls:
        given = call.keyword(RUN_EAGERLY)
        if given is None:
            continue
        literal = _literal_truth(given)
        values = [
            flag(site.keywords.get(RUN_EAGERLY)) for site in program.flow.within(scope) if site.call is call
        ]
        yield from values if literal is None and values else (literal,)


def _literal_truth(expr: Expr) -> bool | None:
    return bool(expr.value) if isinstance(expr, Literal) else None


@once
def kept_eager(program: Program, module: Module, *, always: bool = False) -> bool:
    """Tell whether compiling is turned off for a module.

    A switch stands in its file, or in whatever a run of it begins with.

    Args:
        program: The program.
        module: The module.
        always: Whether a switch under a condition, such as an option, does not count.
    """
    switched = [
        (scope.module, scope.kind == "module")
        for scope, site in switched_eager(program)
        if not always or not any(item.kind == "if" for item in scope.block_chain(site.call.block))
    ]
    return any(item is module for item, _ in switched) or (
        bool(switched) and switched_by_entries(program, module, switched)
    )


_LOADERS = tuple(
    f"keras.utils.{name}_from_{kind}"
    for name, kind in (
        ("image_dataset", "directory"),
        ("text_dataset", "directory"),
        ("audio_dataset", "directory"),
        ("timeseries_dataset", "array"),
    )
)


def loaded_in_batches(dataset: Dataset) -> bool:
    """Tell whether a dataset begins with a loader of Keras that makes batches.

    A loader does unless `batch_size` is None.
    """
    for step in (dataset, *upstream(dataset)):
        if step.site is not None and step.site.name in _LOADERS:
            size = step.site.call.keyword("batch_size")
            return size is None or not is_none(size)
    return False


MAKES_BATCHES = frozenset(
    {
        "batch",
        "padded_batch",
        "ragged_batch",
        "dense_to_ragged_batch",
        "dense_to_sparse_batch",
        "make_batched_features_dataset",
        "make_csv_dataset",
        "map_and_batch",
        "sparse_batch",
        "rebatch",
        "bucket_by_sequence_length",
        "group_by_window",
    }
)
"""Operations whose results are batches."""
_TAKES_APART = frozenset({"unbatch", "flat_map", "interleave", "parallel_interleave", "window"})


def in_batches(dataset: Dataset) -> bool:
    """Tell whether the elements of a dataset may be batches.

    They are on one of the ways it may have come to be.
    """
    return any(map(_ends_in_batches, ways(dataset)))


def _ends_in_batches(way: list[Dataset]) -> bool:
    for step in way:
        name = step.detail if step.op == "apply" and step.detail else step.op
        if name in MAKES_BATCHES:
            return True
        if name in _TAKES_APART:
            return False
    first = way[-1]
    if first.op == "tfds.load" and first.site is not None:
        size = first.site.call.keyword("batch_size")
        return size is not None and not is_none(size)
    return loaded_in_batches(first)


_SHOWS = frozenset({"imshow", "waitKey", "namedWindow"})
_TRAINS = frozenset({"fit", "fit_generator", "train_on_batch", "apply_gradients", "minimize", "compile"})


def shows_pictures(scope: Scope) -> bool:
    """Tell whether a function shows pictures one by one and trains nothing.

    Somebody looks at the data, and nothing waits for it.
    """
    methods = {call.method for call in scope.calls}
    return scope.kind == "function" and not methods.isdisjoint(_SHOWS) and methods.isdisjoint(_TRAINS)


_EVALUATES = re.compile(r"(?:^|_)(?:test|eval|evaluate|evaluation|predict|infer|inference)(?:_|$)")


def evaluates(scope: Scope) -> bool:
    """Tell whether a function is named for a test or a prediction.

    Its data is read once after the training. A validation does not count.
    """
    name = scope.name.lower()
    return scope.kind == "function" and "train" not in name and _EVALUATES.search(name) is not None


def is_autotune(value: Value | None) -> bool:
    """Tell whether a value is `tf.data.AUTOTUNE` and nothing else."""
    found = list(alternatives(value))
    return bool(found) and all(
        isinstance(item, External) and item.name.endswith(("data.AUTOTUNE", "data.experimental.AUTOTUNE"))
        for item in found
    )


def given(site: Site, position: int, name: str) -> bool | None:
    """Tell whether an argument is given; None where `*` or `**` may hide it."""
    if site.call.argument(position, name) is not None:
        return True
    return None if site.call.opaque else False


def number(value: Value | None) -> int | None:
    """Return the integer a value is, or None."""
    if isinstance(value, Constant) and isinstance(value.value, int) and not isinstance(value.value, bool):
        return value.value
    return None


def flag(value: Value | None) -> bool | None:
    """Return the truth value a value is, or None."""
    if isinstance(value, Constant) and isinstance(value.value, bool):
        return value.value
    return None


def tensorflow_alias(scope: Scope) -> str | None:
    """Return the name under which a module has TensorFlow, such as `tf`, or None."""
    here: Scope | None = scope
    while here is not None:
        for name, source in here.imports.items():
            if source in ("tensorflow", "tensorflow.compat.v2") and name not in here.children:
                return name
        here = here.module.summary.scopes[here.parent] if here.parent >= 0 else None
    return None


def inside_function(
    program: Program, function: Function | Scope, depth: int = 3
) -> Iterator[tuple[Site, tuple[Site, ...]]]:
    """Yield the calls of a function and of those it calls, with the way to each.

    What a guard rules out for the arguments on the way is left out: `random_flip` under `if training` is no call of
    `prepare(x, training=False)`.
    """
    from cfgfix.code.inference.hot_paths import flags, ways_of

    scope = function.scope if isinstance(function, Function) else function
    made = function if isinstance(function, Function) else None
    ways_in = ways_of(program)
    seen: dict[int, list[set[object]]] = {}
    told: set[int] = set()
    pending: list[tuple[Scope, tuple[Site, ...], tuple[Any, ...]]] = [(scope, (), flags(function))]
    while pending:
        here, path, given = pending.pop(0)
        known = seen.setdefault(id(here), [])
        if len(known) >= MAX_VARIANTS:
            given = ()
        if any(other <= set(given) for other in known):
            continue
        known.append(set(given))
        program.flow.default(here)
        for site in ways_in.sites(here, path, given, made):
            if id(site) not in told:
                told.add(id(site))
                yield site, path
            if len(path) < depth:
                pending += [
                    (target.scope, (*path, site), ways_in.given(site, target, given))
                    for target in site.targets
                ]


MAX_VARIANTS = 4
"""Most ways to one function that are told apart by the arguments given on them."""


RANDOM_OPS = (
    "tensorflow.random.",
    "tensorflow.image.random_",
    "keras.layers.Random",
    "keras.random.",
    "tensorflow.raw_ops.Random",
)
NOT_RANDOM_OPS = (
    "tensorflow.random.stateless_",
    "tensorflow.random.set_seed",
    "tensorflow.random.set_random_seed",
    "tensorflow.random.experimental.stateless",
    "tensorflow.random.Generator.from_",
    "tensorflow.random.get_global_generator",
    "tensorflow.random.create_rng_state",
)


def is_random(site: Site) -> bool:
    """Tell whether a call draws a random number that differs from call to call."""
    return site.name.startswith(RANDOM_OPS) and not site.name.startswith(NOT_RANDOM_OPS)


def is_augmentation(site: Site) -> bool:
    """Tell whether a call draws a random number of any kind, stateless ones included."""
    return (
        is_random(site)
        or site.name.startswith(("tensorflow.random.stateless_", "tensorflow.image.stateless_random_"))
        or _of_random_layers(site)
    )


def _of_random_layers(site: Site) -> bool:
    """Tell whether a call runs a `Sequential` with random layers in it as for training."""
    if not is_true(site.call.keyword("training")):
        return False
    models = alternatives(site.callee)
    return bool(models) and all(
        isinstance(model, Made)
        and model.name == "keras.Sequential"
        and model.site is not None
        and any(
            isinstance(layer, Made) and layer.name.startswith("keras.layers.Random")
            for layers in alternatives(model.site.argument(0, "layers"))
            if isinstance(layers, Items)
            for layer in layers.items
        )
        for model in models
    )


_OF_MODELS = frozenset(
    {
        "epochs",
        "initial_epoch",
        "steps_per_epoch",
        "validation_data",
        "validation_steps",
        "validation_split",
        "callbacks",
        "class_weight",
        "workers",
        "use_multiprocessing",
    }
)
"""Arguments by which a method of something that is not known says that it is that of a Keras model."""


def model_calls(program: Program, method: str) -> Iterator[Site]:
    """Yield the calls of a method of Keras models.

    The models are known, or datasets or arguments of the call tell that it is one.
    """
    for name in ("keras.Model", "keras.Sequential"):
        yield from program.flow.named(f"{name}.{method}")
    for site in program.flow.unresolved:
        if site.call.method == method and (
            any(name in _OF_MODELS for name, _ in site.call.keywords)
            or any(isinstance(value, Dataset) for value in site.args[:1])
        ):
            yield site


def method_of(site: Site) -> str:
    """Return the dataset method that a site calls, or empty text."""
    return site.name[len(DATASET) + 1 :] if site.name.startswith(DATASET + ".") else ""


_KERAS_MODEL = re.compile(
    r"keras\.(?:Model|Sequential|applications\.(?:\w+\.)?[A-Z]\w*"
    r"|(?:models|saving)\.(?:load_model|clone_model|model_from_json|model_from_config|model_from_yaml))\.(\w+)"
)


def keras_model_method(name: str) -> str:
    """Return which method of a Keras model a canonical name is.

    It does not matter what made the model; the text is empty for anything else.
    """
    found = _KERAS_MODEL.fullmatch(name)
    return found[1] if found else ""


TRAINING = frozenset({"fit", "fit_generator", "train_on_batch", "apply_gradients", "minimize"})
"""Methods by which Keras and TensorFlow train."""


@once
def never_entered(program: Program, scope: Scope) -> bool:
    """Tell whether a function of a script is named only in its own definition.

    Comments do not count. A script is a file that does something when it is run; what a module only offers is for others to
    call.
    """
    top = scope.module.summary.scopes[0]
    if scope.kind != "function" or scope.parent != 0 or not any(event.kind == "expr" for event in top.body):
        return False
    name = re.compile(rf"\b{re.escape(scope.name)}\b")
    lines = [line.partition("#")[0] for line in scope.module.source_file().text.splitlines()]
    return sum(len(name.findall(line)) for line in lines) <= 1 and not any(
        source.rpartition(".")[2] == scope.name
        for module in program.modules
        for inner in module.summary.scopes
        for source in inner.imports.values()
    )


def few_turns(program: Program, scope: Scope, block: int, most: int = 10) -> bool:
    """Tell whether a loop over `range` has a small constant count."""
    test = scope.blocks[block].test
    if test is None or not isinstance(test, Call):
        return False
    call = test
    if (
        not isinstance(call.func, Name)
        or call.func.name != "range"
        or not 1 <= len(call.args) <= 3
        or call.keywords
    ):
        return False
    from cfgfix.code.inference.conditions import Conditions

    conditions = Conditions(program, None)
    bounds = [conditions.value(arg, scope, before=scope.blocks[block].line) for arg in call.args]
    if not all(type(bound) is int for bound in bounds) or bounds[2:] == [0]:
        return False
    return not range(*bounds)[most : most + 1]


_PASSES_ON = frozenset({"enumerate", "tqdm", "list", "reversed", "sorted", "zip", "items", "values"})


def goes_through_experiments(program: Program, scope: Scope, expr: Expr | None, depth: int = 4) -> bool:
    """Tell whether a loop goes through runs that the project lists.

    A config, or a function of the project, gives them: they are few, and each is a run of its own.
    """
    if expr is None or depth == 0:
        return False
    if isinstance(expr, (Attribute, Subscript)):
        return True
    if isinstance(expr, Name):
        bound = scope.binding(expr.name)
        return len(bound) == 1 and goes_through_experiments(program, scope, bound[0].value, depth - 1)
    if not isinstance(expr, Call):
        return False
    call = expr
    last = call.method or (dotted(call.func) or "").rpartition(".")[2]
    if last in _PASSES_ON:
        given = call.receiver if last in ("items", "values") and call.method else next(iter(call.args), None)
        return goes_through_experiments(program, scope, given, depth - 1)
    return isinstance(program.static_value(call.func, scope), Function)


def only_tried(scope: Scope, block: int) -> bool:
    """Tell whether a place runs only when a library file shows itself.

    It stands under `if __name__ == "__main__"` in a file that trains nothing.
    """
    from cfgfix.code.model.expressions import text

    tried = any(
        item.test is not None and "__name__" in text(item.test, scope) for item in scope.block_chain(block)
    )
    return tried and not any(
        call.method in TRAINING for item in scope.module.summary.scopes for call in item.calls
    )


def trains(program: Program, scope: Scope) -> bool:
    """Tell whether a file trains, itself or through what it calls.

    What only evaluates or prepares data is not slowed for long.
    """
    seen: set[int] = set()
    pending = [(item, 0) for item in scope.module.summary.scopes]
    while pending and len(seen) < 400:
        here, depth = pending.pop()
        if id(here) in seen:
            continue
        seen.add(id(here))
        for call in here.calls:
            if call.method in TRAINING:
                return True
        if depth < 3:
            pending += [
                (target.scope, depth + 1) for site in program.flow.within(here) for target in site.targets
            ]
    return False


def names_in(expr: Expr, scope: Scope) -> set[str]:
    """Return the plain names in an expression; those inside a lambda too."""
    from cfgfix.code.model.expressions import walk

    found: set[str] = set()
    for part in walk(expr, scope):
        if isinstance(part, Name):
            found.add(part.name)
        elif isinstance(part, Lambda):
            inner = scope.module.summary.scopes[part.number]
            for event in inner.events():
                if event.value is not None:
                    found |= names_in(event.value, inner)
    return found


def bound_in_loop(scope: Scope, block: int) -> set[str]:
    """Return the names that are bound by a loop or inside it."""
    from cfgfix.code.inference.hot_paths import inside

    found: set[str] = set()
    for event in scope.events():
        in_loop = inside(scope, event.block, block) or any(number == block for number, _ in event.bodies)
        if in_loop:
            for target in event.targets:
                found |= _targets(target)
            if event.kind == "define":
                found.add(scope.module.summary.scopes[event.extra].name)
    return found


def _targets(target: Expr) -> set[str]:
    if isinstance(target, Name):
        return {target.name}
    if isinstance(target, Collection):
        return {name for item in target.items for name in _targets(item)}
    if isinstance(target, Starred):
        return _targets(target.value)
    if isinstance(target, (Attribute, Subscript)):
        return _targets(target.base)
    return set()


def short(site: Site) -> str:
    """Return what a site calls as the user wrote it, without its arguments."""
    return text(site.call.func, site.scope)


def stops(scope: Scope) -> bool:
    """Tell whether a function stops in a debugger."""
    return any((call.method == "set_trace") or is_name(call.func, "breakpoint") for call in scope.calls)


def reads_symbols(function: Function) -> bool:
    """Tell whether a function calls `.numpy()` on one of its own parameters.

    In a graph that raises while the function is traced.
    """
    own = {item.name for item in function.scope.params}
    return any(
        call.method == "numpy" and isinstance(call.receiver, Name) and call.receiver.name in own
        for call in function.scope.calls
    )


def statement(site: Site) -> Event | None:
    """Return the statement that a call is by itself, or None.

    Nothing has what such a call returns.
    """
    for event in site.scope.events():
        if event.kind == "expr" and event.value is site.call:
            return event
    return None


def bound_once(scope: Scope, name: str, block: int) -> tuple[Expr, Scope, int] | None:
    """Return what the only statement that binds a name gives it, and where.

    None where others may bind it.
    """
    if any(item.kind == "comprehension" for item in scope.block_chain(block)):
        return None
    here: Scope | None = scope
    while here is not None and (name not in here.names or (here.kind == "class" and here is not scope)):
        here = here.module.summary.scopes[here.parent] if here.parent >= 0 else None
    if here is None or name in here.imports or name in here.children:
        return None
    if any(item.name == name for item in here.params) or any(
        name in item.outer for item in here.module.summary.scopes
    ):
        return None
    events = here.binding(name)
    if len(events) != 1 or events[0].kind not in ("assign", "annotate"):
        return None
    event = events[0]
    if event.value is None or not any(is_name(target, name) for target in event.targets):
        return None
    return event.value, here, event.block
