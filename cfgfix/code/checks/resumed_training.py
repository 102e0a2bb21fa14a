"""Training resumed without its optimizer, and predictions without a checkpoint."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.common import evaluates, line_beside, only_value
from cfgfix.code.checks.handed_on import callers_of, constant_of
from cfgfix.code.checks.models import trains
from cfgfix.code.checks.origins import Origin, path_of
from cfgfix.code.inference.entry_points import modules_sharing_runs
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import statement_of
from cfgfix.code.model.expressions import constant, dotted, text, walk
from cfgfix.code.model.hit import at, hit_at
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Attribute, Call, Expr, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Instance, Site, alternatives
from cfgfix.rules.hit import Hit

_CHECKPOINT = "tensorflow.train.Checkpoint"
_LATEST = "tensorflow.train.latest_checkpoint"
_SAVES = frozenset({"save", "write"})
_OF_OPTIMIZERS = re.compile(r"opt|adam|sgd|train|state|solver|learner|agent", re.IGNORECASE)
_OF_MODELS = re.compile(
    r"(?:^|_)(?:model|net|network|generator|discriminator|encoder|decoder|actor|critic|policy|classifier|transformer)(?:_|\d|$)"
)
_COUNTS = re.compile(r"(?:^|_)(?:step|steps|epoch|epochs|iteration|iterations|counter)(?:_|$)")


# The state of an optimizer


def checkpoints_without_optimizer(program: Program) -> Iterator[Hit]:
    """Find checkpoints that training resumes from without the optimizer."""
    checkpoints = list(flow_of(program).named(_CHECKPOINT))
    kept = {
        id(site.scope.module)
        for site in checkpoints
        if site.call.opaque or site.call.args or any(map(_may_hold_optimizer, site.call.keywords))
    }
    seen: set[int] = set()
    for site in checkpoints:
        module = site.scope.module
        if id(module) in seen or id(module) in kept or written_for_one(program, site.scope):
            continue
        made = _optimizer_of(program, module)
        if made is None or not _holds_models_only(program, site) or not _goes_on(site):
            continue
        seen.add(id(module))
        yield hit_at(
            site,
            flow=(),
            values={"optimizer": text(made.call.func), "line": made.call.name_line},
            related=(at(made, label="its moments and its count of steps begin anew"),),
        )


def _may_hold_optimizer(keyword: tuple[str | None, Expr]) -> bool:
    name, value = keyword
    shown = f"{name} {text(value)}"
    return _OF_OPTIMIZERS.search(shown) is not None


def _optimizer_of(program: Program, module: Module) -> Site | None:
    """Return the call that makes the optimizer with state in a file's own steps.

    Return None where there is none, or Keras may save it.
    """
    calls = [call for scope in module.summary.scopes for call in scope.calls]
    if any(call.method == "compile" for call in calls):
        # A compiled model has its optimizer, and so has a checkpoint of the model.
        return None
    if not any(call.method in ("apply_gradients", "minimize") for call in calls):
        return None
    if any(
        target.attribute == "optimizer" and text(target.base) != "self" for _, _, target in module.stores()
    ):
        return None
    return next(
        (
            site
            for site in flow_of(program).under("keras.optimizers.")
            if site.scope.module is module
            and re.fullmatch(r"keras\.optimizers\.(?:legacy\.)?[A-Z]\w+", site.name)
            and _has_state(site)
        ),
        None,
    )


def _has_state(site: Site) -> bool:
    if not site.name.endswith(".SGD"):
        return True
    momentum = site.call.argument(1, "momentum")
    return momentum is not None and constant(momentum) not in (0, 0.0, None)


def _holds_models_only(program: Program, site: Site) -> bool:
    """Tell whether a checkpoint holds models and nothing else but counters."""
    models = 0
    for name, value in site.call.keywords:
        if name is None:
            return False
        for item in alternatives(site.argument(-1, name)):
            if isinstance(item, Instance) and _has_optimizer(program, item.scope):
                return False
        shown = f"{name} {text(value)}".replace(".", "_")
        if any(_OF_MODELS.search(part) for part in shown.lower().split()):
            models += 1
        elif not any(_COUNTS.search(part) for part in shown.lower().split()):
            return False
    return models > 0


def _has_optimizer(program: Program, owner: Scope) -> bool:
    """Tell whether a class keeps an attribute named for an optimizer."""
    return any(
        _OF_OPTIMIZERS.search(target.attribute) is not None
        for base in program.bases(owner).classes
        for where, _, target in base.module.stores()
        if program.owner(where) is base
    )


def _goes_on(site: Site) -> bool:
    """Tell whether a file reads a checkpoint before training and then writes it."""
    statement = statement_of(site.scope, site.call.place)
    if statement is None or statement.kind != "assign" or len(statement.targets) != 1:
        return False
    kept = statement.targets[0]
    last = kept.name if isinstance(kept, Name) else kept.attribute if isinstance(kept, Attribute) else None
    if last is None or statement.value is not site.call or evaluates(site.scope):
        return False
    managers = {
        name
        for scope in site.scope.module.summary.scopes
        for event in scope.events_of("assign")
        if isinstance(event.value, Call)
        and (dotted(event.value.func) or "").endswith("CheckpointManager")
        and _last_name(event.value.argument(0, "checkpoint")) == last
        for name in map(_last_name, event.targets)
        if name is not None
    }
    saved = restored = False
    for scope in site.scope.module.summary.scopes:
        for call in scope.calls:
            receiver = _last_name(call.receiver)
            if call.method in _SAVES and receiver is not None and receiver in {last, *managers}:
                saved = True
            if (
                call.method in ("restore", "restore_or_initialize")
                and receiver in {last, *managers}
                and not evaluates(scope)
                and _reads_last(call, scope)
                and not _stands_behind_training(scope, call)
            ):
                restored = True
    return saved and restored


def _last_name(expr: Expr | None) -> str | None:
    if isinstance(expr, Attribute):
        return expr.attribute
    return expr.name if isinstance(expr, Name) else None


def _reads_last(call: Call, scope: Scope) -> bool:
    """Tell whether a call reads the latest checkpoint."""
    if call.method == "restore_or_initialize":
        return True
    given = call.argument(0, "save_path")
    value = only_value(scope, given) if isinstance(given, Name) else given
    return value is not None and any(
        isinstance(part, Attribute) and part.attribute == "latest_checkpoint" for part in walk(value)
    )


def _stands_behind_training(scope: Scope, call: Call) -> bool:
    """Tell whether a call stands after a loop or a `fit` of its function.

    It may then read the best weights of that training.
    """
    return any(
        event.kind in ("for", "while") and event.place.end < call.place.start for event in scope.events()
    ) or any(other.method in ("fit", "train") and other.place.end < call.place.start for other in scope.calls)


# No checkpoint at all


def missing_checkpoints_unnoticed(program: Program) -> Iterator[Hit]:
    """Find predictions with initial weights where no checkpoint was found."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named(_LATEST):
        scope, key = site.scope, (id(site.scope), site.call.number)
        if key in seen or written_for_one(program, scope):
            continue
        seen.add(key)
        restore = next(
            (
                call
                for call in scope.calls
                if call.method in ("restore", "read")
                and _is_given(call.argument(0, "save_path"), site, scope)
            ),
            None,
        )
        if restore is None or _is_noticed(site, restore) or _may_train(program, scope):
            continue
        yield hit_at(site, flow=(), values={"shown": text(restore.func)})


def _is_given(given: Expr | None, site: Site, scope: Scope) -> bool:
    if given is site.call:
        return True
    return isinstance(given, Name) and only_value(scope, given) is site.call


_NOTICES = re.compile(r"assert_|checkpoint|ckpt|exists|isdir|isfile|listdir|glob", re.IGNORECASE)


def _is_noticed(site: Site, restore: Call) -> bool:
    """Tell whether the code checks if a checkpoint was found."""
    scope = site.scope
    if any((call.method or "").startswith("assert_") for call in scope.calls):
        return True
    given = restore.argument(0, "save_path")
    name = given.name if isinstance(given, Name) else None
    for item in scope.blocks:
        if item.test is None or item.kind not in ("if", "while"):
            continue
        if _NOTICES.search(text(item.test)) or any(
            isinstance(part, Name) and part.name == name for part in walk(item.test)
        ):
            return True
    if any(item.kind in ("try", "except") for item in scope.block_chain(restore.block)):
        return True
    return any(
        event.kind == "assert" and event.value is not None and _NOTICES.search(text(event.value))
        for event in scope.events()
    )


def _may_train(program: Program, scope: Scope) -> bool:
    """Tell whether a file trains, or is run by a program that trains."""
    if trains(program, scope) or "train" in scope.name.lower():
        return True
    here = scope.module
    if any(
        call.method == "save_weights" or (call.method == "save" and _KEPT.search(text(call.receiver)))
        for item in here.summary.scopes
        for call in item.calls
        if call.receiver is not None
    ):
        return True
    for module in program.modules:
        if module is not here and here.path in modules_sharing_runs(program, module):
            top = module.summary.scopes[0]
            calls_it = any(
                site.scope.module is module and not _is_a_mode(site)
                for site in flow_of(program).callers(scope)
            )
            if calls_it and trains(program, top):
                return True
    return False


_KEPT = re.compile(r"checkpoint|ckpt|manager|saver|model|net", re.IGNORECASE)
_OF_MODES = re.compile(r"mode|task|action|command|train|predict|test|eval|infer", re.IGNORECASE)


def _is_a_mode(site: Site) -> bool:
    """Tell whether a call stands under a test of the mode, such as training or not."""
    return any(
        item.kind == "if" and item.test is not None and _OF_MODES.search(text(item.test))
        for item in site.scope.block_chain(site.call.block)
    )


# Other names


def checkpoints_under_other_names(program: Program) -> Iterator[Hit]:
    """Find checkpoints that are written and read under different names."""
    written: list[tuple[Site, frozenset[str], object]] = []
    for site in flow_of(program).named("tensorflow.train.CheckpointManager"):
        made = _made_in(program, site, site.call.argument(0, "checkpoint"))
        folder = _folder_of(program, site, 1, "directory")
        if made is None or folder is None:
            return
        written.append((site, made, folder))
    if any(
        call.method == "save" and _last_name(call.receiver) in _NAMES_OF_CHECKPOINTS
        for module in program.modules
        for scope in module.summary.scopes
        for call in scope.calls
    ):
        return
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named(_LATEST):
        key = id(site.scope), site.call.number
        folder = _folder_of(program, site, 0, "checkpoint_dir")
        if key in seen or folder is None or written_for_one(program, site.scope):
            continue
        restore = next(
            (
                call
                for call in site.scope.calls
                if call.method == "restore" and _is_given(call.argument(0, "save_path"), site, site.scope)
            ),
            None,
        )
        names = _made_in(program, site, restore.receiver) if restore is not None else None
        of_folder = [item for item in written if item[2] == folder]
        if names is None or restore is None or not of_folder or any(names & item[1] for item in of_folder):
            continue
        seen.add(key)
        first = of_folder[0]
        yield hit_at(
            site,
            values={
                "read": _name_list(names),
                "written": _name_list(first[1]),
                "folder": folder,
                "line": line_beside(site.scope, first[0].scope, first[0].call.name_line),
            },
            related=(at(first[0], label="writes there"),),
        )


_NAMES_OF_CHECKPOINTS = frozenset({"checkpoint", "ckpt", "saver"})


def _name_list(names: frozenset[str]) -> str:
    return " and ".join(f"`{name}`" for name in sorted(names))


def _folder_of(program: Program, site: Site, position: int, name: str) -> str | None:
    """Return the folder argument of a call if it is the same for all callers, or None.

    The text is normalised: without `./` and a slash at the end.
    """
    written = site.call.argument(position, name)
    found = [constant_of(program, site.scope, written, caller) for caller in callers_of(program, site.scope)]
    folder = found[0] if all(item == found[0] for item in found) else None
    if not isinstance(folder, str):
        return path_of(program, Origin(written, site.scope)) if written is not None else None
    return folder.removeprefix("./").rstrip("/")


def _made_in(program: Program, site: Site, expr: Expr | None) -> frozenset[str] | None:
    """Return the names of the objects in a checkpoint, or None."""
    value = only_value(site.scope, expr) if isinstance(expr, Name) else expr
    if not isinstance(value, Call) or value.opaque or value.args:
        return None
    if not any(found.call is value for found in flow_of(program).named(_CHECKPOINT)):
        return None
    return frozenset(name for name, _ in value.keywords if name is not None)
