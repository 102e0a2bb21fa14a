"""The model of each library function and method, by its name."""

from __future__ import annotations

import functools

from cfgfix.code.inference.interpreter.models import (
    click,
    config_flags,
    config_nodes,
    containers,
    estimators,
    field_functions,
    graph_code,
    hydra,
    ini_files,
    loading,
    options,
    os_functions,
    packaged_files,
    regular_expressions,
    sacred,
    standard_library,
    trackers,
    workers,
)
from cfgfix.code.inference.interpreter.models.builtin_functions import builtin
from cfgfix.code.inference.interpreter.models.builtin_types import init_by_name, new_object, super_method
from cfgfix.code.inference.interpreter.models.method_names import CONTEXT
from cfgfix.code.inference.interpreter.models.outside import library_call
from cfgfix.code.inference.interpreter.objects import (
    ClassObject,
    External,
    FunctionObject,
    Instance,
    Made,
    Mapping,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call, Model

_FUNCTIONS: dict[str, Model] = {
    **loading.FUNCTIONS,
    **containers.FUNCTIONS,
    **field_functions.FUNCTIONS,
    **graph_code.FUNCTIONS,
    **config_flags.FUNCTIONS,
    **hydra.FUNCTIONS,
    **ini_files.FUNCTIONS,
    **options.FUNCTIONS,
    **os_functions.FUNCTIONS,
    **regular_expressions.FUNCTIONS,
    **packaged_files.FUNCTIONS,
    **standard_library.FUNCTIONS,
    **trackers.FUNCTIONS,
    **workers.FUNCTIONS,
}
_MAPPING_METHODS: dict[tuple[str, str], Model] = {
    **containers.METHODS,
    **config_nodes.METHODS,
    **ini_files.METHODS,
}


def call_external(call: Call) -> Value:
    """Return the result of a call of something outside the project."""
    name = call.name
    for model in _models_of(name):
        found = model(call)
        if found is not None:
            return found
    return library_call(call, name)


@functools.lru_cache(maxsize=16_384)
def _models_of(name: str) -> tuple[Model, ...]:
    """Return the models that may answer a library call, in the order they are tried."""
    first: tuple[Model, ...] = (init_by_name,) if name.endswith(".__init__") else ()
    if name == "builtins.object.__new__":
        return (new_object,)
    if name.startswith("builtins."):
        return (*first, builtin)
    module, _, last = name.rpartition(".")
    if last == "add_constructor" and module.startswith("yaml"):
        return (*first, loading.add_constructor)
    if last == "add_implicit_resolver" and module.startswith("yaml"):
        return (*first, _add_resolver)
    model = _FUNCTIONS.get(name)
    if model is not None:
        first = (*first, model)
    if estimators.is_estimator(name):
        return (*first, estimators.make_estimator)
    if module in options.FLAG_MODULES:
        return (*first, options.define_flag)
    return (*first, loading.load_by_package) if loading.may_load(name) else first


def _add_resolver(call: Call) -> Value:
    module = call.name.rpartition(".")[0]
    return loading.add_resolver(call, *([External(module)] if module != "yaml" else []))


def library_method(call: Call) -> Value | None:
    """Return the result of a method of a library's object; None if not modelled."""
    owner, name = call.receiver, call.name
    if isinstance(owner, Mapping):
        model = _MAPPING_METHODS.get((owner.flavour, name)) or _MAPPING_METHODS.get(("", name))
        return model(call) if model is not None else None
    if isinstance(owner, ClassObject):
        return field_functions.class_method(call, owner)
    if isinstance(owner, Instance):
        return field_functions.instance_method(call, owner)
    if isinstance(owner, FunctionObject) and name == "add_command" and "click.group" in owner.decorated:
        return click.add_command(call, owner)
    if isinstance(owner, Made):
        if owner.name == "typer.Typer" and name == "add_typer":
            return click.add_command(call, owner)
        if owner.name == "builtins.super":
            return super_method(call, owner)
        if owner.name == CONTEXT:
            return click.context_method(call, owner)
        if owner.name in sacred.OWNERS:
            return sacred.experiment_method(call, owner)
        if owner.name in (options.ARGUMENT_PARSER, options.OPTION_PARSER):
            return options.parser_method(call, owner)
        if owner.name == loading.YAML_LOADER:
            return loading.read_node(call)
        if owner.name in ("ruamel.yaml.YAML", "ruamel.YAML") and name in ("load", "load_all"):
            return loading.load_by_ruamel(call, owner)
    if isinstance(owner, (Made, External)):
        if name in workers.POOL_METHODS and any(word in owner.name for word in ("Pool", "Executor")):
            return workers.pool_method(call)
        if isinstance(owner, Made) and owner.name in ("string.Template", "jinja2.Template"):
            return standard_library.fill_template(call, owner)
        if isinstance(owner, Made) and estimators.is_estimator(owner.name):
            return estimators.run_estimator(call, owner)
        if isinstance(owner, Made):
            stored = hydra.store_method(call, owner)
            if stored is not None:
                return stored
            if owner.name == regular_expressions.PATTERN:
                return regular_expressions.pattern_method(call)
            if owner.name == workers.QUEUE:
                return workers.queue_method(call, owner)
            is_worker = owner.name in ("threading.Thread", "multiprocessing.Process")
            if is_worker and name == "join":
                workers.run_started(call.run)
            return workers.start_worker(call, owner) if is_worker and name == "start" else None
    return None
