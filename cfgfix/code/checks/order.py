"""The order of transformations that buffer, such as `prefetch`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.common import is_autotune, line_of_site
from cfgfix.code.checks.guarded_calls import is_given
from cfgfix.code.checks.moves import ELSEWHERE, move
from cfgfix.code.checks.pipelines import downstream, pipelines_to, possible
from cfgfix.code.inference.eras import asks_only_before
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import statement_of
from cfgfix.code.model.expressions import constant, text
from cfgfix.code.model.hit import Repair, Rewrite, at, hit_at
from cfgfix.code.model.nodes import Attribute, Call, Name
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Constant, Dataset, Site
from cfgfix.rules.hit import Hit


def kind(step: Dataset) -> str:
    """Return the operation of a step; for `apply` that of the applied transformation."""
    return step.detail if step.op == "apply" and step.detail else step.op


def ways_to(program: Program, later: str) -> Iterator[tuple[Dataset, list[Dataset]]]:
    """Yield the datasets that an operation makes, with the possible steps before each.

    A dataset that is thrown away is left to another rule.
    """
    for dataset in flow_of(program).datasets:
        if (
            kind(dataset) == later
            and dataset.site is not None
            and dataset.site.call.number not in unused_calls(program, dataset.site.scope)
        ):
            for way in pipelines_to(dataset):
                if possible(program, way):
                    yield dataset, way[1:]


@once
def unused_calls(program: Program, scope: Scope) -> set[int]:
    """Return the numbers of the calls in statements that drop their result.

    All calls of a chain count.
    """
    del program
    found: set[int] = set()
    for event in scope.events_of("expr"):
        expr = event.value
        while expr is not None and isinstance(expr, (Call, Attribute)):
            if isinstance(expr, Call):
                found.add(expr.number)
            expr = expr.func if isinstance(expr, Call) else expr.base
    return found


def block_of(step: Dataset) -> tuple[tuple[Scope, int], ...]:
    """Return the scope and block that make a dataset, in the form that `needs` takes."""
    assert step.site is not None
    return ((step.site.scope, step.site.call.block),)


def transformations_after_device(program: Program) -> Iterator[Hit]:
    """Find transformations after `prefetch_to_device`.

    What they make is on the host again; a prefetch only buffers once more.
    """
    for dataset in flow_of(program).datasets:
        site = dataset.site
        if site is None or dataset.op in ("with_options", "options") or not dataset.parents:
            continue
        for way in pipelines_to(dataset):
            # Options lie around what they are set on.
            before = [step for step in way[1:] if step.op not in ("with_options", "options")]
            if not before or kind(before[0]) not in ("prefetch_to_device", "copy_to_device"):
                continue
            if not possible(program, way):
                continue
            device = before[0]
            if kind(device) != "prefetch_to_device" or device.site is None or _on_cpu(device):
                continue
            again = dataset.op == "prefetch"
            yield hit_at(
                site,
                severity="warning" if again else None,
                values={
                    "op": kind(dataset),
                    "device_line": device.site.call.name_line,
                    "then": "it holds further batches in the device's memory"
                    if again
                    else "what follows runs on the host again",
                },
                needs=block_of(device),
                related=(at(device.site, label="the data is on the device from here"),),
                rewrites=_fix_without_call(site) if again else (),
                no_fix=None if again else "where the transformation belongs is for you to say",
            )
            break


def _on_cpu(step: Dataset) -> bool:
    for value in step.site.args if step.site is not None else ():
        inner = getattr(value, "site", None)
        if inner is not None and inner.call.args:
            device = constant(inner.call.args[0])
            return isinstance(device, str) and "cpu" in device.lower()
    return False


def _fix_without_call(site: Site) -> tuple[Rewrite, ...]:
    """Return the fix that removes a method call from a chain.

    It removes the whole statement `d = d.prefetch(n)`.
    """
    call = site.call
    func = call.func
    if not isinstance(func, Attribute):
        return ()
    event = _assignment_of_call(site)
    if (
        event is not None
        and isinstance(func.base, Name)
        and event.targets
        and isinstance(event.targets[0], Name)
        and event.targets[0].name == func.base.name
    ):
        return (Rewrite("drop-statement", site.scope, event.place),)
    return (Rewrite("unchain", site.scope, call.place),)


def _assignment_of_call(site: Site) -> Event | None:
    """Return the assignment to one target whose value is a call, or None."""
    for event in site.scope.events():
        if event.kind == "assign" and event.value is site.call and len(event.targets) == 1:
            return event
    return None


def device_literal(program: Program) -> Iterator[Hit]:
    """Find `prefetch_to_device` with a fixed GPU in a program that distributes."""
    if not any(flow_of(program).under("tensorflow.distribute.")):
        return
    for site in flow_of(program).named("tensorflow.data.experimental.prefetch_to_device"):
        device = site.argument(0, "device")
        if isinstance(device, Constant) and isinstance(device.value, str) and "gpu" in device.value.lower():
            yield hit_at(site, values={"device": device.value})


def transformations_after_prefetch(program: Program) -> Iterator[Hit]:
    """Find `prefetch` before work that it does not overlap, and none at the end."""
    for dataset in flow_of(program).datasets:
        if dataset.op != "prefetch" or dataset.site is None:
            continue
        later = list(downstream(dataset))
        if any(kind(step) in ("prefetch", "prefetch_to_device", "interleave", "flat_map") for step in later):
            continue
        work = next((step for step in later if step.op in ("map", "batch", "padded_batch", "filter")), None)
        if work is None or work.site is None or work.site.scope is not dataset.site.scope:
            continue
        yield hit_at(
            dataset.site,
            # Later releases add a prefetch at the end themselves, and parallel calls behind it work ahead.
            severity="warning"
            if asks_only_before(program, 6) and not any(works_ahead(step) for step in later)
            else None,
            values={"op": work.op, "line_of": work.site.call.name_line},
            needs=block_of(work),
            related=(at(work.site, label="done after the buffer"),),
            **_to_the_end(dataset, later),
        )


def works_ahead(step: Dataset) -> bool:
    """Tell whether a step has threads of its own.

    Parallel calls keep their results until they are asked for.
    """
    position = {"map": 1, "interleave": 3}.get(step.op)
    return (
        position is not None
        and step.site is not None
        and is_given(step.site, position, "num_parallel_calls") is not False
    )


def _to_the_end(dataset: Dataset, later: list[Dataset]) -> Repair:
    """Return the fix that puts a prefetch behind the last step of its pipeline."""
    assert dataset.site is not None
    end = later[-1].site
    if end is None or len(later) != len({id(step.site and step.site.call) for step in later}):
        return {"no_fix": ELSEWHERE}
    rewrites = move(dataset.site, end, behind=True)
    small = is_autotune(dataset.site.argument(0, "buffer_size"))
    return {
        "rewrites": rewrites,
        "no_fix": None if rewrites else ELSEWHERE,
        # A number then counts batches, not examples, which takes as many times the memory.
        "safety": "safe" if small else "unsafe",
    }


def repeated_prefetch(program: Program) -> Iterator[Hit]:
    """Find two `prefetch` steps in a row, whose buffers are both filled."""
    for dataset, way in ways_to(program, "prefetch"):
        if not way or way[0].op != "prefetch" or way[0].site is None or dataset.site is None:
            continue
        first = way[0].site
        yield hit_at(
            first,
            values={"line_of": line_of_site(first, dataset.site)},
            needs=block_of(dataset),
            related=(at(dataset.site, label="prefetched again"),),
            rewrites=_fix_without_call(first)
            if first.scope is dataset.site.scope and first.call.block == dataset.site.call.block
            else (),
            no_fix="the two stand in different places; which one stays is for you to say",
        )


EVALUATION = re.compile(
    r"(?<![a-z])(?:val|valid|validate|validation|eval|evaluation|test)(?:_?(?:set|data|dataset|ds|loader))?(?![a-z])"
)


def named_for_evaluation(site: Site) -> bool:
    """Tell whether a step or the target of its result is named for evaluation.

    `validation_data=validation.cache()` is an example.
    """
    statement = statement_of(site.scope, site.call.place)
    targets = " ".join(text(target) for target in statement.targets).lower() if statement else ""
    if EVALUATION.search(targets) and "train" not in targets:
        # `validation = read(train_files)` is for evaluation whatever it is made from.
        return True
    shown = f"{text(site.call.func)} {targets}".lower()
    return "train" not in shown and EVALUATION.search(shown) is not None
