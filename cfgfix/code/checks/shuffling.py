"""Shuffling on the wrong side of batches, caches, decoding, splits or shards."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from cfgfix.code.checks.bindings import names_in, statement
from cfgfix.code.checks.common import inside_function, is_augmentation, line_of_site, only_value, short
from cfgfix.code.checks.guarded_calls import flag, is_given, number
from cfgfix.code.checks.moves import ELSEWHERE, REGROUPS, move
from cfgfix.code.checks.order import block_of, kind, named_for_evaluation, ways_to
from cfgfix.code.checks.origins import Origin, origins
from cfgfix.code.checks.pipelines import downstream, is_done_to_all_members, pipelines_to, possible, upstream
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import without_negation
from cfgfix.code.model import comments as remarks
from cfgfix.code.model.expressions import constant, is_name, text, walk
from cfgfix.code.model.hit import Repair, Rewrite, at, hit_at
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Attribute, Call, Compare, Name, Subscript
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Dataset, Site
from cfgfix.rules.hit import Hit

_BATCH = frozenset({"batch", "padded_batch", "ragged_batch"})


def _fix_moving_before(moved: Site, goal: Site) -> Repair:
    """Return the fix that moves a step before another one, or why there is none."""
    rewrites = move(moved, goal, behind=False)
    return {"rewrites": rewrites, "no_fix": None if rewrites else ELSEWHERE}


def shuffle_after_batch(program: Program) -> Iterator[Hit]:
    """Find `shuffle` of whole batches."""
    for dataset, way in ways_to(program, "shuffle"):
        assert dataset.site is not None
        if (
            named_for_evaluation(dataset.site)
            or _not_for_training(dataset.site)
            # A buffer of one element shuffles nothing, wherever it stands.
            or number(dataset.site.argument(0, "buffer_size")) == 1
            or _read_once(program, dataset.site)
        ):
            continue
        for step in way:
            name = kind(step)
            if name in REGROUPS or name in ("shuffle", "unknown"):
                break
            if name in _BATCH and step.site is not None:
                if number(step.site.argument(0, "batch_size")) == 1:
                    continue
                if step.site.scope is not dataset.site.scope:
                    # Batches of another function may be windows or pairs that belong together.
                    break
                if any(
                    kind(other) in _BATCH | REGROUPS or (kind(other) == "take" and _takes_a_handful(other))
                    for other in downstream(dataset)
                ):
                    break
                if any(kind(other) in ("shuffle", "bucket_by_sequence_length") for other in way):
                    break
                if any(_drawn_anew(program, other) for other in pipelines_to(dataset)):
                    break
                if not is_done_to_all_members(way, step, _BATCH):
                    break
                if _shuffled_before(step.site):
                    break
                yield hit_at(
                    dataset.site,
                    severity="info" if _made_up(way) else None,
                    values={"batch": name, "line_of": line_of_site(dataset.site, step.site)},
                    needs=block_of(step),
                    related=(at(step.site, label="batched here"),),
                    **_fix_moving_before(dataset.site, step.site),
                )
                break


def _read_once(program: Program, site: Site) -> bool:
    """Tell whether a script only reads a dataset in one loop that runs once."""
    scope = site.scope
    if scope.kind != "module":
        return False
    made = next(
        (
            event
            for event in scope.events()
            if event.kind == "assign" and event.value is not None and site.call in walk(event.value)
        ),
        None,
    )
    if made is None or len(made.targets) != 1 or not isinstance(made.targets[0], Name):
        return False
    name = made.targets[0].name
    if len(scope.binding(name)) != 1 or scope.loops(made.block):
        return False
    turns = [item for item in _statements_with(program, scope.module)[name] if item[1] is not made]
    return len(turns) == 1 and all(
        inner is scope and event.kind == "for" and not scope.loops(event.block) for inner, event in turns
    )


@once
def _statements_with(program: Program, module: Module) -> dict[str, list[tuple[Scope, Event]]]:
    """Return the statements of a module that contain each name.

    A statement comes once for each of its expressions.
    """
    del program
    found: dict[str, list[tuple[Scope, Event]]] = defaultdict(list)
    for scope in module.summary.scopes:
        for event in scope.events():
            for expr in (event.value, *event.targets):
                if expr is not None:
                    for name in {part.name for part in walk(expr) if isinstance(part, Name)}:
                        found[name].append((scope, event))
    return found


def _shuffled_before(batch: Site) -> bool:
    """Tell whether the same dataset is shuffled earlier in the function.

    One switch is then for the examples, another for the batches.
    """
    return any(
        call.method == "shuffle"
        and call.args + call.keywords
        and call.place.start < batch.call.place.start
        and text(call.receiver) == text(batch.call.receiver)
        for call in batch.scope.calls
    )


_RANDOM_DATA = re.compile(r"random|randn|randint|\brand\(|\bzeros|\bones")


def _made_up(way: list[Dataset]) -> bool:
    """Tell whether a dataset is made of random numbers, zeros or ones."""
    for step in way:
        if step.site is None or step.op not in ("from_tensor_slices", "from_tensors", "random"):
            continue
        scope = step.site.scope
        for argument in step.site.call.args:
            shown = [text(argument)]
            for event in scope.events():
                if event.value is not None and any(
                    isinstance(target, Name) and target.name in names_in(argument, scope)
                    for target in event.targets
                ):
                    shown.append(text(event.value))
            if any(_RANDOM_DATA.search(item) for item in shown):
                return True
    return False


_DRAWS = re.compile(r"shuffle|permut|choice|randint|randperm|^sample$|^random_sample$", re.IGNORECASE)


"""Names of calls after which the order of elements is another one; `load_sample` and `downsample` draw nothing."""


_SAMPLES = re.compile(r"^(?:random_)?sample(?:_[a-z]+)?$", re.IGNORECASE)


"""Methods that give other data each time, such as those of a replay buffer."""


def _drawn_anew(program: Program, way: list[Dataset]) -> bool:
    """Tell whether a dataset may have other elements or another order each time.

    A generator that shuffles or is not known, files in a random order or read in one, and data that is
    sampled just before.
    """
    for step in way:
        if step.site is None:
            continue
        if step.op in ("interleave", "map") and flag(step.site.keywords.get("deterministic")) is False:
            return True
        if step.op == "from_generator":
            if not step.functions:
                return True
            if any(_draws_randomly(program, function.scope, set()) for function in step.functions):
                return True
        elif step.op == "list_files":
            if flag(step.site.argument(1, "shuffle")) is not False:
                return True
        elif step.op == "tfds.load":
            if flag(step.site.keywords.get("shuffle_files")) is True:
                return True
        elif step.op == "from_tensor_slices" and _is_sampled(program, step.site):
            return True
    return False


def _draws_randomly(program: Program, scope: Scope, seen: set[int]) -> bool:
    """Tell whether a function, or one that it calls, draws or shuffles."""
    if id(scope) in seen or len(seen) > 20:
        return False
    seen.add(id(scope))
    return any(
        _DRAWS.search(str(call.func.attribute if isinstance(call.func, Attribute) else call.func.name))
        for call in scope.calls
        if isinstance(call.func, (Attribute, Name))
    ) or any(
        _draws_randomly(program, target.scope, seen)
        for site in flow_of(program).within(scope)
        for target in site.targets
    )


def _is_sampled(program: Program, made: Site) -> bool:
    """Tell whether the function that makes a dataset samples its data.

    An example is a replay buffer.
    """
    scope = made.scope
    if scope.kind == "module":
        return False
    wanted = {name for item in made.call.args for name in names_in(item, scope)}
    for event in reversed(list(scope.events())):
        if event.kind != "assign" or event.value is None or event.place > made.call.place:
            continue
        bound = {part.name for target in event.targets for part in walk(target) if isinstance(part, Name)}
        if not bound & wanted:
            continue
        for part in walk(event.value):
            if not isinstance(part, Call):
                continue
            call = part
            if call.method is not None and _SAMPLES.match(call.method):
                return True
            if any(
                inner.method is not None and _SAMPLES.match(inner.method)
                for site in flow_of(program).within(scope)
                if site.call is call
                for target in site.targets
                for inner in target.scope.calls
            ):
                return True
        wanted |= names_in(event.value, scope)
    return False


def cache_after_shuffle(program: Program) -> Iterator[Hit]:
    """Find `cache` of a shuffled dataset that is not shuffled again."""
    for dataset, way in ways_to(program, "cache"):
        assert dataset.site is not None
        later = {kind(step) for step in downstream(dataset)}
        if "shuffle" in later or {"take", "skip"} <= later:
            # Shuffled again, or split into parts that have to stay what they are.
            continue
        if any(_may_repeat(step) for step in upstream(dataset)):
            # A cache that is never full is never read, and one behind `repeat` holds several epochs, each in an order of its own.
            continue
        if (
            _is_for_made_up_data(dataset.site.scope, dataset.site.call.block)
            or _not_for_training(dataset.site)
            or named_for_evaluation(dataset.site)
        ):
            continue
        for step in way:
            if kind(step) in ("cache", "unknown"):
                break
            if kind(step) == "shuffle" and step.site is not None:
                if flag(step.site.argument(2, "reshuffle_each_iteration")) is False:
                    break
                if _split_follows(way, step):
                    break
                yield hit_at(
                    dataset.site,
                    severity="info" if _made_up(way) else None,
                    values={"line_of": line_of_site(dataset.site, step.site)},
                    needs=block_of(step),
                    related=(at(step.site, label="shuffled here, before the cache"),),
                    **_fix_moving_before(dataset.site, step.site),
                )
                break


def _may_repeat(step: Dataset) -> bool:
    """Tell whether a step may repeat its dataset."""
    return kind(step) == "repeat" and (step.site is None or number(step.site.argument(0, "count")) != 1)


def _split_follows(way: list[Dataset], shuffle: Dataset) -> bool:
    """Tell whether a shuffled dataset is split by take or skip before it is cached.

    A fixed order is then wanted.
    """
    return any(kind(step) in ("take", "skip") for step in way[: way.index(shuffle)])


_MEANT = re.compile(r"fake|synthetic|dummy|mock|overfit|sanity|single_batch|one_batch")


"""Words of guards and functions under which a data set that never changes is wanted."""


_MEANT_BY_GUARD = re.compile(_MEANT.pattern + r"|debug|profil|benchmark")


"""The same for guards alone: a function of such a name may read profiles of people, or the data of a benchmark."""


def _is_for_made_up_data(scope: Scope, block: int) -> bool:
    """Tell whether a place runs only for synthetic data, or to overfit on purpose."""
    here: Scope | None = scope
    while here is not None:
        if _MEANT.search(here.name.lower()):
            return True
        tests = [item.test for item in here.block_chain(block) if item.kind == "if" and item.branch]
        if any(test is not None and _MEANT_BY_GUARD.search(text(test).lower()) for test in tests):
            return True
        block = here.block
        here = here.module.summary.scopes[here.parent] if here.parent >= 0 else None
    return False


def random_before_cache(program: Program) -> Iterator[Hit]:
    """Find random augmentations whose result is cached.

    Every epoch sees the first epoch's draw.
    """
    for dataset, way in ways_to(program, "cache"):
        assert dataset.site is not None
        if (
            _not_for_training(dataset.site)
            or named_for_evaluation(dataset.site)
            or _is_for_made_up_data(dataset.site.scope, dataset.site.call.block)
        ):
            continue
        for step in way:
            if kind(step) in ("cache", "unknown") or (kind(step) == "take" and _takes_a_handful(step)):
                # One element kept and repeated is meant to be the same.
                break
            if kind(step) != "map" or step.site is None:
                continue
            for function in step.functions:
                found = next(
                    (
                        (site, path)
                        for site, path in inside_function(program, function)
                        if is_augmentation(program, site)
                    ),
                    None,
                )
                if found is not None:
                    site, path = found
                    again = any(_augments_elements(program, later) for later in downstream(dataset))
                    yield hit_at(
                        dataset.site,
                        # Under a condition it may be just the data that is not trained on.
                        severity="info"
                        if again
                        else "warning"
                        if any(
                            item.kind == "if"
                            for item in dataset.site.scope.block_chain(dataset.site.call.block)
                        )
                        or _says_why(dataset.site)
                        else None,
                        values={"random": short(site), "line_of": line_of_site(dataset.site, step.site)},
                        needs=(
                            *block_of(step),
                            (site.scope, site.call.block),
                            *((p.scope, p.call.block) for p in path),
                        ),
                        related=(at(step.site, label="the random map"), at(site, label="drawn here")),
                        **(
                            {
                                "no_fix": "what is drawn behind the cache may be the augmentation, and this be meant to stay"
                            }
                            if again
                            else _fix_moving_before(dataset.site, step.site)
                        ),
                    )
                    break


def _says_why(site: Site) -> bool:
    """Tell whether a comment beside or above a cache speaks of it."""
    first, last = site.call.line, site.call.end_line
    comments = [*remarks.comments_behind(site.scope, first, last), *remarks.comments_above(site.scope, first)]
    return any(re.search(r"(?i)\bcach(?:e|ing)|\bepoch", comment) for comment in comments)


def _augments_elements(program: Program, step: Dataset) -> bool:
    """Tell whether a step draws random numbers for each element."""
    return kind(step) == "map" and any(
        is_augmentation(program, site)
        for function in step.functions
        for site, _ in inside_function(program, function)
    )


def _not_for_training(site: Site) -> bool:
    """Tell whether a guard says that a place is for evaluation."""
    for block in site.scope.block_chain(site.call.block):
        if block.kind != "if" or block.test is None:
            continue
        test, branch = without_negation(block.test, block.branch)
        if (
            isinstance(test, Compare)
            and len(test.rights) == 1
            and test.rights[0].operator in ("!=", "not in", "is not")
        ):
            branch = not branch
        shown = text(test).lower()
        if ("train" in shown) is not branch and re.search(r"train|valid|eval|test|infer|predict", shown):
            return True
    return False


def _takes_a_handful(step: Dataset) -> bool:
    """Tell whether a `take` takes at most ten elements."""
    count = number(step.site.argument(0, "count")) if step.site is not None else None
    return count is not None and 0 <= count <= 10


def shuffle_after_decode(program: Program) -> Iterator[Hit]:
    """Find shuffle buffers of decoded elements."""
    for dataset, way in ways_to(program, "shuffle"):
        assert dataset.site is not None
        for step in way:
            if kind(step) not in _KEEPS_DECODED or step.site is None:
                break
            found = _decodes_in(program, step) if kind(step) == "map" else None
            if found is None:
                continue
            site, path = found
            alone = step is way[0]
            yield hit_at(
                dataset.site,
                severity="warning" if _holds_many(program, dataset.site) else None,
                values={"decode": short(site), "line_of": line_of_site(dataset.site, step.site)},
                needs=(*block_of(step), *((p.scope, p.call.block) for p in path)),
                related=(at(step.site, label="decodes"),),
                **(_fix_moving_before(dataset.site, step.site) if alone else {"no_fix": ELSEWHERE}),
            )
            break


_KEEPS_DECODED = frozenset({"map", "zip", "prefetch", "ignore_errors", "with_options"})
"""Operations behind which the elements are still decoded, and as many as before."""
_MANY = 256
"""So many pictures of 224 x 224 pixels in float32 take 150 MB."""


def _holds_many(program: Program, shuffle: Site) -> bool:
    """Tell whether a shuffle buffer holds many elements, or all of the data."""
    written = shuffle.call.argument(0, "buffer_size")
    given = only_value(shuffle.scope, written)
    known = number(shuffle.argument(0, "buffer_size"))
    if known is not None:
        return known >= _MANY
    handed = origins(program, Origin(written, shuffle.scope)) if isinstance(written, Name) else ()
    counts = [constant(item.expr) for item in handed]
    if counts and all(type(count) is int and count >= _MANY for count in counts):
        return True
    return given is not None and any(
        (isinstance(part, Call) and (is_name(part.func, "len") or part.method in ("cardinality", "numpy")))
        or (
            isinstance(part, Subscript)
            and isinstance(part.base, Attribute)
            and part.base.attribute == "shape"
        )
        for part in walk(given)
    )


def _decodes_in(program: Program, step: Dataset) -> tuple[Site, tuple[Site, ...]] | None:
    """Return the call in a step's functions that decodes, with the way to it, or None."""
    for function in step.functions:
        for site, path in inside_function(program, function):
            if site.name.startswith(DECODES):
                return site, path
    return None


DECODES = (
    "tensorflow.io.decode_image",
    "tensorflow.io.decode_jpeg",
    "tensorflow.io.decode_png",
    "tensorflow.image.decode_",
    "tensorflow.audio.decode_wav",
    "tensorflow.io.decode_and_crop_jpeg",
    "tensorflow.signal.stft",
)


def repeat_before_shuffle(program: Program) -> Iterator[Hit]:
    """Find `shuffle` after `repeat`: epochs flow into one another."""
    for dataset, way in ways_to(program, "shuffle"):
        assert dataset.site is not None
        for step in way:
            if kind(step) in REGROUPS or kind(step) in ("shuffle", "parallel_interleave", "unknown"):
                break
            if kind(step) == "repeat" and step.site is not None:
                if not is_done_to_all_members(way, step, ("repeat",)):
                    break
                yield hit_at(
                    dataset.site,
                    values={"line_of": line_of_site(dataset.site, step.site)},
                    needs=block_of(step),
                    related=(at(step.site, label="repeated here"),),
                    **_fix_moving_before(dataset.site, step.site),
                )
                break


def split_after_shuffle(program: Program) -> Iterator[Hit]:
    """Find `take` and `skip` of one dataset that every epoch shuffles anew."""
    seen: set[int] = set()
    for dataset in flow_of(program).datasets:
        takes = [
            use
            for use in dataset.uses
            if isinstance(use, Dataset)
            and kind(use) == "take"
            and use.site is not None
            and not _takes_a_handful(use)
        ]
        skips = [
            use
            for use in dataset.uses
            if isinstance(use, Dataset) and kind(use) == "skip" and use.site is not None
        ]
        if not takes or not skips:
            continue
        for way in pipelines_to(dataset):
            if not possible(program, way):
                continue
            for step in way:
                if kind(step) in ("cache", "unknown", "save", "snapshot"):
                    break
                if kind(step) != "shuffle" or step.site is None:
                    continue
                if (
                    is_given(step.site, 2, "reshuffle_each_iteration") is not False
                    or id(step.site.call) in seen
                ):
                    break
                if number(step.site.argument(0, "buffer_size")) == 1:
                    # A buffer of one element shuffles nothing.
                    continue
                pair = _take_and_skip(takes, skips)
                if pair is None:
                    break
                take, skip = pair
                seen.add(id(step.site.call))
                yield hit_at(
                    step.site,
                    values={"take_line": take.call.name_line, "skip_line": skip.call.name_line},
                    needs=((take.scope, take.call.block), (skip.scope, skip.call.block)),
                    related=(at(take, label="one part"), at(skip, label="the other part")),
                    rewrites=(
                        Rewrite(
                            "keyword",
                            step.site.scope,
                            step.site.call.place,
                            "False",
                            "reshuffle_each_iteration",
                        ),
                    ),
                )
                break


def _take_and_skip(takes: list[Dataset], skips: list[Dataset]) -> tuple[Site, Site] | None:
    """Return a `take` and a `skip` of the same number, or None.

    Other numbers look at the data, or go on where a run stopped.
    """
    for first in takes:
        for second in skips:
            take, skip = first.site, second.site
            if take is None or skip is None or not take.call.args or not skip.call.args:
                continue
            if statement(take) is not None or statement(skip) is not None:
                # What nobody keeps is no part.
                continue
            if text(take.call.args[0]) == text(skip.call.args[0]):
                return take, skip
    return None


_SEEDS = (
    "tensorflow.random.set_seed",
    "tensorflow.compat.v1.set_random_seed",
    "tensorflow.compat.v1.random.set_random_seed",
    "tensorflow.set_random_seed",
    "keras.utils.set_random_seed",
)


def _is_seeded(program: Program) -> bool:
    """Tell whether the program sets a global seed of TensorFlow.

    Shuffles without a seed of their own then agree between workers.
    """
    return any(True for _ in flow_of(program).named(*_SEEDS)) or any(
        site.call.keyword("tf_random_seed") is not None for site in flow_of(program).sites
    )


def shuffle_before_shard(program: Program) -> Iterator[Hit]:
    """Find `shard` of data that each worker has shuffled for itself."""
    if _is_seeded(program):
        return
    told: set[tuple[int, int]] = set()
    for dataset, way in ways_to(program, "shard"):
        assert dataset.site is not None
        if isinstance(constant(dataset.site.call.argument(1, "index")), int):
            # A number that is written down is the same on every worker: one process takes a part of its data.
            continue
        for step in way:
            name = kind(step)
            if name in ("unknown", "cache"):
                break
            site = step.site
            if site is None or name not in ("shuffle", "list_files"):
                continue
            if name == "shuffle" and is_given(site, 1, "seed") is not False:
                break
            if name == "list_files" and (
                is_given(site, 1, "shuffle") is None
                or flag(site.argument(1, "shuffle")) is False
                or is_given(site, 2, "seed") is not False
                or (is_given(site, 1, "shuffle") and flag(site.argument(1, "shuffle")) is None)
            ):
                break
            # Two branches of one function that shard are one mistake.
            key = (id(dataset.site.scope), id(site.call))
            if key in told and dataset.site.call.block:
                break
            told.add(key)
            yield hit_at(
                dataset.site,
                values={"op": name, "line_of": line_of_site(dataset.site, site)},
                needs=block_of(step),
                # Of data without an end nothing is left out for good.
                severity="warning" if any(kind(other) == "repeat" for other in way) else None,
                related=(at(site, label="a random order, another one on every worker"),),
                **(_fix_moving_before(dataset.site, site) if name == "shuffle" else _in_order(site)),
            )
            break


def _in_order(files: Site) -> Repair:
    """Return the fix that makes `list_files` list in a fixed order."""
    if len(files.call.args) > 1:
        return {"no_fix": "shuffle is given by position"}
    return {
        "rewrites": (Rewrite("keyword", files.scope, files.call.place, "False", "shuffle"),),
        "title": "List the files in one order, shuffle=False",
    }
