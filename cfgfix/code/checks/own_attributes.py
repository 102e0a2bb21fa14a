"""Attributes that methods read from `self` and that nothing sets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cfgfix.code.checks.common import names_set_by_text
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import dotted, is_name, text, walk
from cfgfix.code.model.hit import hit_in
from cfgfix.code.model.nodes import Attribute, Call, Expr, Literal, Place
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import ClassValue
from cfgfix.core.errors import nearest
from cfgfix.rules.hit import Hit

_KNOWN = frozenset(
    {"object", "builtins.object", "abc.ABC", "tensorflow.Module"}
    | {"keras.Model", "keras.Layer", "keras.callbacks.Callback", "keras.losses.Loss", "keras.metrics.Metric"}
    | {"keras.utils.Sequence", "keras.utils.PyDataset", "keras.optimizers.schedules.LearningRateSchedule"}
    | {"keras.initializers.Initializer", "keras.regularizers.Regularizer", "keras.constraints.Constraint"}
)
"""Bases outside of the project whose attributes are known."""
_NAMES_OF_BASES = """
    activation activity_regularizer add_loss add_metric add_update add_variable add_weight apply autocast autotune_steps_per_execution
    build build_from_config built call call_signature_parameters chief_worker_only clone compile compile_from_config compiled compiled_loss
    compiled_metrics compute_dtype compute_loss compute_mask compute_metrics compute_output_shape compute_output_signature
    compute_output_spec count_params distribute_reduction_method distribute_strategy dtype dtype_policy dynamic evaluate
    evaluate_generator export finalize_state fit fit_generator fn from_config get_build_config get_compile_config get_config
    get_input_at get_input_mask_at get_input_shape_at get_layer get_losses_for get_metrics_result get_output_at get_output_mask_at
    get_output_shape_at get_quantization_layer_structure get_state_tree get_updates_for get_weights history inbound_nodes input
    input_dtype input_mask input_names input_shape input_spec inputs iterations jit_compile layers load_own_variables load_weights loss
    loss_functions loss_weights losses make_predict_function make_test_function make_train_function max_queue_size metrics
    metrics_names metrics_tensors metrics_variables model name name_scope nodes non_trainable_variables non_trainable_weights num_batches
    on_batch_begin on_batch_end on_epoch_begin on_epoch_end on_predict_batch_begin on_predict_batch_end on_predict_begin
    on_predict_end on_test_batch_begin on_test_batch_end on_test_begin on_test_end on_train_batch_begin on_train_batch_end
    on_train_begin on_train_end optimizer outbound_nodes output output_mask output_names output_shape outputs params path predict
    predict_function predict_generator predict_on_batch predict_step quantization_mode quantize quantized_build quantized_call
    reduction rematerialized_call reset_metrics reset_state reset_states result run_eagerly sample_weight_mode sample_weights save
    save_own_variables save_spec save_weights set_connectivity_metadata set_model set_params set_state_tree set_weights state_updates
    stateful stateless_call stateless_compute_loss stateless_reset_state stateless_result stateless_update_state
    steps_per_execution stop_evaluating stop_predicting stop_training submodules summary supports_jit supports_masking symbolic_call
    targets test_function test_on_batch test_step to_json to_yaml total_loss train_function train_on_batch train_step
    train_tf_function trainable trainable_variables trainable_weights update_state updates use_multiprocessing validation_data
    variable_dtype variables weights with_name_scope workers
    """
_OF_BASES = frozenset(_NAMES_OF_BASES.split())
"""What objects of Keras and `tf.Module` have: `dir` of one of each in Keras 3.15.1, a model after `fit`, and those of Keras 2."""
_OPENING = frozenset({"setattr", "__setattr__", "exec", "register_buffer"})
_ASKING = frozenset({"hasattr", "getattr", "setattr", "delattr", "patch", "object"})
_OF_OBJECTS = frozenset(dir(object)) | frozenset(dir(type))
_PLAIN_DECORATORS = ("register_keras_serializable", "keras_export", "total_ordering")
MAX_NAMES = 1_000
"""Most names of one class among which a near one is looked for."""


class _AttributeRead(NamedTuple):
    """One attribute that a method reads from `self`."""

    method: Scope
    scope: Scope
    place: Place
    block: int
    name: str


class _ClassAttributes(NamedTuple):
    """The attributes that one class sets and reads.

    `stored` is None where the class may set others.
    """

    stored: frozenset[str] | None
    reads: tuple[_AttributeRead, ...]


def never_set(program: Program) -> Iterator[Hit]:
    """Find attributes that a method reads from `self` and that nothing sets."""
    lacking: dict[int, tuple[_AttributeRead, Scope, frozenset[str]]] = {}
    given: set[int] = set()
    for made in _made_classes(program):
        known = _all_attributes(program, made)
        nearer: set[str] = set()
        for owner in program.bases(made).classes:
            for read in _attributes_of_class(program, owner).reads:
                if read.method.name in nearer:
                    continue
                if known is None or read.name in known:
                    given.add(id(read))
                else:
                    lacking.setdefault(id(read), (read, made, known))
            nearer.update(owner.children)
    elsewhere = _set_on_others(program)
    for key, (read, made, known) in lacking.items():
        if key in given or read.name in elsewhere or not _is_run(program, read.method, made):
            continue
        own = known - _OF_BASES - _OF_OBJECTS
        near = nearest(read.name, sorted(own)) if len(own) <= MAX_NAMES else None
        yield hit_in(
            read.scope,
            read.place,
            read.block,
            {
                "owner": made.name,
                "name": read.name,
                "near": f" (did you mean `{near}`?)" if near else "",
            },
        )


def _is_run(program: Program, method: Scope, made: Scope) -> bool:
    """Tell whether the project, Python or Keras may call a method."""
    if method.name in _OF_BASES:
        return bool(_keras_bases(program, made)) or bool(flow_of(program).callers(method))
    return method.name.startswith("__") or method.name in _asked_for(program)


def _keras_bases(program: Program, made: Scope) -> list[str]:
    return [name for name in program.bases(made).outside if name.startswith(("keras.", "tensorflow."))]


@once
def _asked_for(program: Program) -> frozenset[str]:
    """Return the names of all attributes that the program's code reads."""
    return frozenset(
        part.attribute
        for module in program.modules
        for scope in module.summary.scopes
        for event in scope.events()
        for part in _all_expressions(event)
        if isinstance(part, Attribute)
    )


@once
def _made_classes(program: Program) -> list[Scope]:
    """Return the classes that the program makes objects of by name, each once.

    A class that only methods of another class make counts if that other class does.
    """
    named = {
        scope.name for module in program.modules for scope in module.summary.scopes if scope.kind == "class"
    }
    made_in: dict[int, list[Scope]] = {}
    for module in program.modules:
        scopes = module.summary.scopes
        for scope in scopes:
            for call in scope.calls:
                shown = dotted(call.func)
                if shown is None or shown.rpartition(".")[2] not in named:
                    continue
                value = program.static_value(call.func, scope)
                if isinstance(value, ClassValue) and not _is_open(program, scope):
                    method = _method_around(scope, scopes)
                    owner = scopes[method.parent] if method is not None else None
                    made_in.setdefault(id(owner) if owner is not None else 0, []).append(value.scope)
    found: dict[int, Scope] = {}
    pending = made_in.pop(0, [])
    while pending:
        here = pending.pop()
        if id(here) not in found:
            found[id(here)] = here
            for item in program.bases(here).classes:
                pending += made_in.pop(id(item), ())
    return list(found.values())


@once
def _all_attributes(program: Program, made: Scope) -> frozenset[str] | None:
    """Return all attributes of a class's objects; None where they may have others."""
    classes, outside = program.bases(made)
    if any(name not in _KNOWN for name in outside):
        return None
    if sum(len(item.bases) for item in classes) > len(classes) - 1 + len(outside):
        return None
    found: set[str] = set(_OF_OBJECTS)
    if _keras_bases(program, made):
        found |= _OF_BASES
    for item in classes:
        around = program.outer(item)
        if around is None or len(around.defined(item.name)) != 1 or _is_open(program, item):
            return None
        if any(
            event.inner == item.number and event.value is not None for event in around.events_of("define")
        ):
            return None
        if any(
            text(decorator).partition("(")[0].rpartition(".")[2] not in _PLAIN_DECORATORS
            for decorator in item.decorators
        ):
            return None
        if {"__getattr__", "__getattribute__", "__slots__"} & (item.names | set(item.children)):
            return None
        stored = _attributes_of_class(program, item).stored
        if stored is None:
            return None
        found |= stored
    return frozenset(found)


@once
def _is_open(program: Program, scope: Scope) -> bool:
    """Tell whether a module sets attributes under computed names."""
    module = scope.module
    return _sets_computed(program, module.summary.scopes[0])


@once
def _sets_computed(program: Program, root: Scope) -> bool:
    del program
    if root.module.summary.problem is not None:
        return True
    for scope in root.module.summary.scopes:
        for call in scope.calls:
            name = (dotted(call.func) or "").rpartition(".")[2]
            if name in _OPENING or (name == "vars" and call.args and is_name(call.args[0], "self")):
                return True
        for event in scope.events():
            if any(
                isinstance(part, Attribute) and part.attribute == "__dict__"
                for part in _all_expressions(event)
            ):
                return True
    return False


def _all_expressions(event: Event) -> Iterator[Expr]:
    """Yield all expressions of a statement, its targets included."""
    for top in (event.value, *event.targets, *event.extra_nodes()):
        if top is not None:
            yield from walk(top)


@once
def _attributes_of_class(program: Program, owner: Scope) -> _ClassAttributes:
    """Return the attributes that the methods and body of a class set and read."""
    stored = {*owner.names, *owner.children, *owner.imports}
    reads: list[_AttributeRead] = []
    for scope, method in _scopes_by_class(program, owner.module.summary.scopes[0]).get(owner.number, ()):
        own = method.params[0].name
        for event in scope.events():
            targets = [part for target in event.targets for part in _attributes_bound(target)]
            stored.update(part.attribute for part in targets if is_name(part.base, own))
            augmented = event.kind in ("augment", "delete")
            seen = {id(part) for part in targets} if not augmented else set()
            for part in _all_expressions(event):
                if isinstance(part, Call) and (dotted(part.func) or "") in _ASKING:
                    stored.update(
                        item.value
                        for item in part.args
                        if isinstance(item, Literal) and isinstance(item.value, str)
                    )
                if (
                    isinstance(part, Attribute)
                    and is_name(part.base, own)
                    and id(part) not in seen
                    and not augmented
                    and not part.attribute.startswith("_")
                ):
                    reads.append(_AttributeRead(method, scope, part.place, event.block, part.attribute))
    first: dict[str, _AttributeRead] = {}
    for read in reads:
        first.setdefault(f"{read.method.number} {read.name}", read)
    return _ClassAttributes(frozenset(stored), tuple(first.values()))


def _attributes_bound(target: Expr) -> Iterator[Attribute]:
    """Yield the attributes that a target sets."""
    pending = [target]
    while pending:
        here = pending.pop()
        if isinstance(here, Attribute):
            yield here
        elif hasattr(here, "items"):
            pending += here.items
        elif hasattr(here, "value") and not isinstance(here, Literal):
            pending.append(here.value)


@once
def _scopes_by_class(program: Program, root: Scope) -> dict[int, list[tuple[Scope, Scope]]]:
    """Return the scopes in each class of a module, each with its method, by class."""
    del program
    scopes = root.module.summary.scopes
    found: dict[int, list[tuple[Scope, Scope]]] = {}
    for scope in scopes:
        method = _method_around(scope, scopes)
        if method is not None:
            found.setdefault(method.parent, []).append((scope, method))
    return found


def _method_around(scope: Scope, scopes: list[Scope]) -> Scope | None:
    """Return the method whose `self` a scope sees, or None."""
    inner: list[Scope] = []
    here = scope
    while here.kind in ("function", "lambda") and here.parent >= 0 and scopes[here.parent].kind != "class":
        inner.append(here)
        here = scopes[here.parent]
    if here.kind != "function" or here.parent < 0 or not here.params or here.params[0].kind != "plain":
        return None
    if any(text(decorator) in ("staticmethod", "classmethod") for decorator in here.decorators):
        return None
    own = here.params[0].name
    if here.name in ("__new__", "__init_subclass__", "__class_getitem__") or here.binding(own):
        return None
    if any(own in item.names for item in inner):
        return None
    return here


@once
def _set_on_others(program: Program) -> frozenset[str]:
    """Return the names of attributes that code sets on objects other than `self`."""
    found: set[str] = set()
    for module in program.all_modules():
        scopes = module.summary.scopes
        for scope in scopes:
            method = _method_around(scope, scopes)
            own = method.params[0].name if method is not None else ""
            for event in scope.events():
                for target in event.targets:
                    found.update(
                        part.attribute for part in _attributes_bound(target) if not is_name(part.base, own)
                    )
            found.update(names_set_by_text(scope))
    return frozenset(found)
