"""Checkpoints that are all kept despite a `CheckpointManager` with a limit."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, dotted, walk
from cfgfix.code.model.hit import at, hit_at
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Attribute, Call, Expr, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event
from cfgfix.code.model.values import Made, Site, alternatives
from cfgfix.rules.hit import Hit

_MANAGER = "tensorflow.train.CheckpointManager"
_READ = frozenset({"latest_checkpoint", "checkpoints", "directory", "restore_or_initialize"})


def never_saved_by(program: Program) -> Iterator[Hit]:
    """Find checkpoint saves that bypass the manager meant to limit them."""
    flow = flow_of(program)
    if any(True for _ in flow.named(f"{_MANAGER}.save")):
        return
    saves = list(flow.named("tensorflow.train.Checkpoint.save"))
    seen: set[tuple[int, int]] = set()
    for site in flow.named(_MANAGER):
        key = id(site.scope), site.call.number
        kept = constant(site.call.argument(2, "max_to_keep"))
        if key in seen or type(kept) is not int or not _is_only_read(program, site):
            continue
        seen.add(key)
        managed = alternatives(site.argument(0, "checkpoint"))
        if len(managed) != 1 or not isinstance(managed[0], Made) or written_for_one(program, site.scope):
            continue
        for save in saves:
            if managed[0] in alternatives(save.receiver) and _may_repeat(save):
                yield hit_at(
                    save,
                    flow=(),
                    values={"kept": kept, "line": site.call.line, "shown": dotted(save.call.func) or "save"},
                    related=(at(site, label=f"keeps {kept} of those that it saves itself"),),
                )
                break


def _may_repeat(save: Site) -> bool:
    """Tell whether a `save` may run more than once: in a loop or a function."""
    return save.scope.kind != "module" or any(
        block.kind in ("for", "while") for block in save.scope.block_chain(save.call.block)
    )


def _is_only_read(program: Program, site: Site) -> bool:
    """Tell whether a manager is used for nothing but its list of checkpoints."""
    event = next(
        (
            item
            for item in site.scope.events_of("assign")
            if item.value is site.call and len(item.targets) == 1
        ),
        None,
    )
    if event is None:
        return False
    kept = event.targets[0]
    if isinstance(kept, Name) and kept.name not in site.scope.outer:
        modules: list[Module] = [site.scope.module]
        name = kept.name
    elif isinstance(kept, Attribute):
        modules, name = list(program.modules), kept.attribute
    else:
        return False
    return not any(
        _is_used(item, name, event)
        for module in modules
        for scope in module.summary.scopes
        for item in scope.events()
    )


def _is_used(event: Event, name: str, made: Event) -> bool:
    """Tell whether a statement uses a manager for more than its checkpoints."""
    read: set[int] = set()
    found: list[Expr] = []
    tops = [event.value, *event.extra_nodes(), *(() if event is made else event.targets)]
    for top in tops:
        for part in walk(top) if top is not None else ():
            if isinstance(part, Attribute) and part.attribute in _READ:
                read.add(id(part.base))
            if isinstance(part, Call) and (dotted(part.func) or "").endswith("getattr"):
                return True
            if (isinstance(part, Name) and part.name == name) or (
                isinstance(part, Attribute) and part.attribute == name
            ):
                found.append(part)
    return any(id(part) not in read for part in found)
