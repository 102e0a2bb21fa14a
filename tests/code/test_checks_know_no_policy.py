"""Checks yield what they see; what is told of it in tests and elsewhere is the runner's part."""

from __future__ import annotations

import ast
from pathlib import Path

CHECKS = Path(__file__).resolve().parents[2] / "cfgfix" / "code" / "checks"
FILTERS = frozenset({"is_caught", "is_test", "is_error_expected", "is_unreachable"})
"""What the runner asks of the place of every hit."""
EVIDENCE = {
    "batch_shapes.called_in_loops": "which batches a function is given",
    "batch_shapes.remainder_signature": "which batches a function is given",
    "changing.changing_argument": "what changes from call to call",
    "decoding._in_generators": "what is trained with a generator",
    "decoding._in_sequences": "what is trained with a sequence",
    "eager_steps.eager_step": "which loop runs a step",
    "elements.same_draws": "which seed a program sets",
    "ignored_names.unread_arguments": "which call gives an argument",
    "metric_resets.unreset_metric": "which metric a loop fills",
    "fit_inputs.lists_yielded": "what is trained with a generator",
    "gradient_paths.no_gradient": "what a model is compiled with",
    "half_precision._makers_of_classes": "what makes a layer",
    "numerics.policies_named": "which policy a program sets",
    "open_figures._loop_around": "which loop draws a figure",
    "optimizers._called_in_loop": "which loop makes an optimizer",
    "optimizers._models_in_turns": "which loop hands models on",
    "own_configs._other_value": "which call gives another value than the default",
    "predictions.loop_around": "which loop predicts",
    "python_calls._one_pass": "which pipeline runs a function",
    "python_calls.in_map": "which function a pipeline runs",
    "retracing._in_called": "which loop makes a function anew",
    "summary_writers._loop_around": "which loop makes a writer",
    "swapped.asked_of_batch": "which loss asks in a helper",
    "traced_state._change_after_call": "what changes an attribute",
    "array_calls.array_call": "which tensors a function is given",
    "unshuffled.unshuffled_training_data": "what trains on a dataset",
    "workers._made_again": "which other strategy reads the cluster",
    "workers.cluster_set_late": "what sets the cluster",
    "workers.open_batch_on_tpu": "which program runs on TPUs",
}
"""Where a check asks whether something beside its hit stands in a test: what it wants to know, of which a test shows nothing."""

READY = {
    "api.unknown_names": "what is only said in other words there",
    "api_arguments.old_arguments": "questions for eager execution, which every release has",
    "api.names_of_old_releases": "a name of its own; what its files are written for is told all the same",
    "arrays._gone_name": "which places of a name are told together",
    "dimensions.value_of_size": "which places of a block are told together",
    "fit_inputs.lists_yielded": "what is trained with a generator",
    "keras_alone._missing_name_uses": "which places of a name are told together",
    "kinds.assigned_item": "which place of a name is told",
    "kinds.weights_as_array": "which place of a statement is told",
    "members._use_groups": "which places of a name are told together",
    "optimizers._surely_new": "what becomes of an optimizer before",
    "symbolic.operation_on_symbolic": "which operations of a function are told together",
}
"""Where a check asks whether the code is ready for a release: what it wants to know beside the place of its hit."""


def calls(*names: str) -> dict[str, int]:
    """Return how often functions of the checks call some names."""
    found: dict[str, int] = {}
    for path in sorted(CHECKS.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            key = f"{path.stem}.{function.name}"
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
                    found[key] = found.get(key, 0) + 1
    return found


def test_no_check_asks_what_the_runner_asks():
    asking = calls(*FILTERS)
    assert asking.pop("common.in_tests") == 1
    assert not asking


def test_a_check_asks_only_of_evidence_whether_it_stands_in_a_test():
    assert sorted(calls("in_tests")) == sorted(EVIDENCE)


def test_a_check_asks_only_of_evidence_whether_the_code_is_ready_for_a_release():
    assert sorted(calls("expects_absence", "absence_expected")) == sorted(READY)
