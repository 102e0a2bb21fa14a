"""Names and arguments that the project's TensorFlow lacks or has renamed."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.callees import head
from cfgfix.code.checks.common import tensorflow_alias
from cfgfix.code.checks.renamed_names import fix_by_other_name
from cfgfix.code.inference.eras import (
    admits_tf1,
    eras,
    is_for_other_releases,
    is_old,
    may_be_older_than_table,
    missing_names,
    release_in_words,
    severity_by_keras_releases,
    severity_by_releases,
    uses_tf2_names,
    written_for_one,
)
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.references import (
    NEVER_IN_TWO,
    Reference,
    absence_expected,
    api,
    is_bound_twice,
    is_keras_2,
    public_name,
)
from cfgfix.code.inference.releases import (
    as_written,
    keras_of_release,
    missing,
    modules_of_keras_2,
    modules_of_old_releases,
    values_of,
)
from cfgfix.code.model.expressions import constant, is_name
from cfgfix.code.model.hit import Rewrite, hit_at, hit_in
from cfgfix.code.model.nodes import Call, Name
from cfgfix.code.model.program import Program, once
from cfgfix.code.tensorflow.api import Api
from cfgfix.rules.hit import Hit


def passed_over(program: Program, check: object) -> frozenset[int]:
    """Return the ids of the modules that a check of this group skips."""
    return modules_of_old_releases(program) if check is unknown_names else modules_of_keras_2(program)


_EARLY = frozenset(
    "keras." + name
    for name in (
        "backend.get_session",
        "backend.set_session",
        "experimental.export_saved_model",
        "experimental.load_from_saved_model",
        "experimental.terminate_keras_multiprocessing_pools",
        "layers.CuDNNGRU",
        "layers.CuDNNLSTM",
        "losses.cosine_proximity",
        "utils.multi_gpu_model",
    )
)
"""Names of Keras in TensorFlow 1.15 or 2.0 to 2.3 that the inspected releases do not have (release notes of TensorFlow 2.0 to
2.4, and the documentation of 1.15)."""


def unknown_names(program: Program) -> Iterator[Hit]:
    """Find names that no inspected release has.

    Neither TensorFlow 2 nor `tf.compat.v1` has them.
    """
    table = api(program)
    for reference, severity, _ in missing(program):
        presence = reference.presence
        if presence.mask or presence.old or presence.name.startswith(NEVER_IN_TWO):
            continue
        package, _, last = presence.name.rpartition(".")
        near = package.replace(".experimental", "")
        other = f"{near}.{last}"
        exists = near != package and table.all_releases_have(other)
        swallowed = absence_expected(reference, keras=presence.name.startswith("keras."))
        if swallowed and not exists:
            continue
        yield hit_in(
            reference.scope,
            reference.place,
            reference.block,
            {**values_of(table, reference), "instead": f", but {public_name(other)} does" if exists else ""},
            rewrites=fix_by_other_name(reference, other) if exists else (),
            safety="unsafe" if swallowed else None,
            notes=("the error is caught here, so what the line should do silently does not happen",)
            if swallowed
            else (),
            title=f"Write {public_name(other)}" if exists else None,
            # A team that is ready for the error loses the setting, not the run.
            severity="info"
            if _never_taken(program, reference)
            # Notebooks with exercises leave names to be completed.
            or (reference.scope.module.path.endswith(".ipynb") and table.begins(presence.name))
            or (not exists and _is_of_another_build(program, presence.name))
            else "warning"
            # Keras of TensorFlow 1 and of 2.0 to 2.3 is not in the table.
            if swallowed
            or (presence.name.startswith("keras.") and not table.requirement.text)
            or (presence.name in _EARLY and may_be_older_than_table(table))
            else severity,
            confidence="high" if exists or presence.name.startswith("tensorflow.config") else "medium",
        )


def _is_of_another_build(program: Program, name: str) -> bool:
    """Tell whether several files use a missing name, as with a custom TensorFlow."""
    if name.startswith("keras.") and not (name.count(".") == 1 and name.islower()):
        # What Keras once had is copied from file to file as well; a module such as `keras.ipu` it never had.
        return False
    return len(_files_of_missing_names(program).get(name, ())) > 1


@once
def _files_of_missing_names(program: Program) -> dict[str, set[int]]:
    """Return the ids of the modules that use each missing TensorFlow name."""
    files: dict[str, set[int]] = {}
    for reference, _, _ in missing_names(program):
        files.setdefault(reference.presence.name, set()).add(id(reference.scope.module))
    return files


def _never_taken(program: Program, reference: Reference) -> bool:
    """Tell whether code runs only where a `hasattr` test of every release fails."""
    table = api(program)
    scope = reference.scope
    for around in scope.block_numbers(reference.block):
        item = scope.blocks[around]
        test, branch = item.test, item.branch
        if item.kind != "if" or test is None:
            continue
        if isinstance(test, Name):
            values = [
                event.value
                for event in scope.events()
                if any(is_name(target, test.name) for target in event.targets)
            ]
            test = values[0] if len(values) == 1 else None
        if test is None or not isinstance(test, Call) or branch:
            continue
        call = test
        last = constant(call.args[1]) if len(call.args) == 2 else None
        owner = program.static_name(call.args[0], scope) if isinstance(last, str) else None
        if owner is None or not is_name(call.func, "hasattr"):
            continue
        found = table.presence(f"{owner}.{last}")
        if found is not None and not found.rest and found.mask & table.admitted == table.admitted:
            return True
    return False


def names_of_old_releases(program: Program) -> Iterator[Hit]:
    """Find names of TensorFlow 1.

    Of a file or a program that is written for it, only the first one is told.
    """
    table = api(program)
    written = eras(program)
    files = [sorted(items, key=lambda item: item.place) for items in written.old.values()]
    files.sort(key=lambda items: items[0].scope.module.path)
    each = written.two or not table.requirement.admits_tf1()
    for items in files if each else files[:1]:
        first = items[0]
        places = sum(map(len, files)) if not each else len(items)
        asked = not admits_tf1(program, first.scope.module)
        name = public_name(first.presence.name)
        more = f" and {places - 1} more place{'s' if places > 2 else ''} use" if places > 1 else " uses"
        yield hit_in(
            first.scope,
            first.place,
            first.block,
            {
                "what": f"this file is written for TensorFlow 1: {name}{more} what TensorFlow 2 does not have"
                if each or len(files) == 1
                else f"this program is written for TensorFlow 1: {name}{more} what TensorFlow 2 does not have,"
                f" in {len(files)} files"
            },
            severity="error" if asked else "info",
            notes=(
                f"{release_in_words(table)}; `tf_upgrade_v2` converts it"
                if asked
                else "a requirement such as `tensorflow<2` says so, and `tf_upgrade_v2` converts it",
            ),
        )
    for reference, severity, confidence in missing(program):
        presence = reference.presence
        either = admits_tf1(program, reference.scope.module)
        if not is_old(presence) or absence_expected(reference):
            continue
        instead = (
            f"tf.compat.v1{presence.name[len('tensorflow') :]} still has it"
            if presence.old & table.newest
            else ""
        )
        yield hit_in(
            reference.scope,
            reference.place,
            reference.block,
            {"what": f"{public_name(presence.name)} is TensorFlow 1 only{f'; {instead}' if instead else ''}"},
            # A file that uses TensorFlow 2 as well runs with no release at all.
            severity="warning"
            if either and not uses_tf2_names(program, reference.scope.module)
            else severity,
            confidence=confidence,
        )


_REWRITE = "tensorflow.train.experimental.enable_mixed_precision_graph_rewrite"


_PRECISION = {
    "set_policy": "set_global_policy",
    "global_policy": "global_policy",
    "Policy": "Policy",
    "LossScaleOptimizer": "LossScaleOptimizer",
}


def _missing_name_hit(
    table: Api, reference: Reference, severity: str, confidence: str, rewrites: tuple[Rewrite, ...] = ()
) -> Hit:
    """Return the hit on a name that is not there."""
    return hit_in(
        reference.scope,
        reference.place,
        reference.block,
        values_of(table, reference),
        severity=severity,
        confidence=confidence,
        rewrites=rewrites,
    )


def experimental_precision(program: Program) -> Iterator[Hit]:
    """Find `tf.keras.mixed_precision.experimental` and the old graph rewrite."""
    table = api(program)
    for reference, severity, confidence in missing(program):
        presence = reference.presence
        if not presence.name.startswith("keras.mixed_precision.experimental") and presence.name != _REWRITE:
            continue
        rewrites: tuple[Rewrite, ...] = ()
        first = (presence.rest or presence.name.rpartition(".")[2]).partition(".")[0]
        new = _PRECISION.get(first)
        alias = tensorflow_alias(reference.scope)
        dotted_name = reference.raw.rpartition(".")
        if (
            new is not None
            and alias
            and reference.expr is not None
            and dotted_name[0].endswith("mixed_precision.experimental")
        ):
            rewrites = (
                Rewrite("replace", reference.scope, reference.place, f"{alias}.keras.mixed_precision.{new}"),
            )
        rewrites = rewrites if new != "LossScaleOptimizer" else ()
        yield _missing_name_hit(table, reference, severity, confidence, rewrites)


def names_missing_in_keras_3(program: Program) -> Iterator[Hit]:
    """Find names of `tf.keras` that Keras 3 does not have."""
    table = api(program)
    for reference, severity, confidence in missing(program):
        presence = reference.presence
        if not presence.name.startswith("keras.") or not presence.mask:
            continue
        if presence.name.startswith("keras.mixed_precision.experimental"):
            continue
        rewrites: tuple[Rewrite, ...] = ()
        other = presence.name.replace(".experimental.preprocessing.", ".").replace(
            ".experimental.preprocessing", ""
        )
        whole = f"{presence.name}.{presence.rest}" if presence.rest else presence.name
        moved = whole.replace(".experimental.preprocessing.", ".").replace(
            "keras.experimental.", "keras.optimizers.schedules."
        )
        if other and moved != whole and table.all_releases_have("tensorflow." + moved):
            alias = tensorflow_alias(reference.scope)
            if alias is not None and reference.expr is not None:
                rewrites = (Rewrite("replace", reference.scope, reference.place, f"{alias}.{moved}"),)
        yield _missing_name_hit(table, reference, severity, confidence, rewrites)
    yield from _legacy_optimizers(program)


def _legacy_optimizers(program: Program) -> Iterator[Hit]:
    """Find `keras.optimizers.legacy` optimizers that are made, which Keras 3 refuses.

    The module is there to be imported, from `tf.keras` as from the package `keras` beside it.
    """
    table = api(program)
    if table.silent or is_keras_2(program):
        return
    for site in flow_of(program).under("keras.optimizers.legacy."):
        mask = table.raises(site.name)
        alone = site.raw.startswith("keras.")
        if (
            not mask & table.newest
            or not (alone or site.raw.startswith("tensorflow.keras."))
            or is_bound_twice(site.scope, head(site.call.func))
        ):
            continue
        if alone and (
            not keras_of_release(program, site.scope) or is_for_other_releases(program, site.scope.module)
        ):
            continue
        yield hit_at(
            site,
            values={
                "name": as_written(program, site.scope, site.name),
                "fate": "only raises in",
                "gone": "2.16 and later",
                "end": "last",
                "seen": table.last(table.admitted & ~mask) or "2.15",
                "asked": release_in_words(table),
            },
            severity="error"
            if table.requirement.known and mask & table.admitted == table.admitted
            else (severity_by_keras_releases if alone else severity_by_releases)(table, "warning"),
            confidence="high" if mask & table.admitted == table.admitted else "medium",
        )


def removed_names(program: Program) -> Iterator[Hit]:
    """Find names of TensorFlow 2 that its later releases do not have."""
    table = api(program)
    for reference, severity, confidence in missing(program):
        presence = reference.presence
        if not presence.mask or presence.name.startswith("keras."):
            continue
        if presence.name == _REWRITE:
            # `experimental_precision` tells of it.
            continue
        yield _missing_name_hit(table, reference, severity, confidence)


def old_dataset_members(program: Program) -> Iterator[Hit]:
    """Find members that only datasets of TensorFlow 1 have."""
    table = api(program)
    if table.silent or _old_datasets(program):
        return
    for site in flow_of(program).under("tensorflow.data.Dataset."):
        method = site.name.rpartition(".")[2]
        instead = _OLD_MEMBERS.get(method)
        if instead is None or (table.member("tensorflow.data.Dataset", method) or 0) & table.newest:
            continue
        if written_for_one(program, site.scope):
            continue
        either = table.requirement.admits_tf1()
        if either and not uses_tf2_names(program, site.scope.module):
            # Nothing says that this file is not for TensorFlow 1.
            continue
        yield hit_at(site, values={"member": method, "instead": instead})


def _old_datasets(program: Program) -> bool:
    """Tell whether a program may use TensorFlow 1 datasets.

    It may where it names `tf.compat.v1` or TensorFlow's internal modules. A dataset made from such a dataset has
    its members too.
    """
    for module in program.modules:
        for scope in module.summary.scopes:
            if any(
                source.startswith(("tensorflow.compat.v1", "tensorflow.python")) or "DatasetV1" in source
                for source in (*scope.imports.values(), *scope.stars)
            ):
                return True
            if "compat" not in module.summary.words:
                continue
            for expr, _ in scope.references:
                if (program.static_name(expr, scope) or "").startswith("tensorflow.compat.v1"):
                    return True
    return False


_OLD_MEMBERS = {
    "make_one_shot_iterator": "iter(dataset)",
    "make_initializable_iterator": "iter(dataset)",
    "output_shapes": "dataset.element_spec",
    "output_types": "dataset.element_spec",
    "output_classes": "dataset.element_spec",
}
