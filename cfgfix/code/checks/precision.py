"""The precision policy and the scaling of losses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.common import inside_function, line_of_site, short
from cfgfix.code.checks.moves import free_name
from cfgfix.code.inference.eras import severity_by_releases
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.inference.references import api
from cfgfix.code.inference.releases import keras_three
from cfgfix.code.model.expressions import dotted, is_name, text
from cfgfix.code.model.hit import Repair, Rewrite, at, hit_at
from cfgfix.code.model.nodes import Attribute, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.values import Constant, Made, Site, alternatives
from cfgfix.rules.hit import Hit


def _kept_policy(site: Site) -> bool:
    """Tell whether a call restores a precision policy that was read before.

    Example: `old = global_policy()`, and later `set_global_policy(old)`.
    """
    given = site.call.argument(0, "policy")
    return (
        given is not None
        and isinstance(given, Name)
        and any(
            event.value is not None
            and any(is_name(target, given.name) for target in event.targets)
            and re.search(r"global_policy\(|dtype_policy\(", text(event.value)) is not None
            for event in site.scope.events()
        )
    )


def _is_layer(site: Site) -> bool:
    """Tell whether a call makes a Keras layer or model that computes something."""
    return (
        site.name.startswith(("keras.layers.", "keras.applications."))
        and site.name.count(".") == 2
        # Functions such as `enable_v2_dtype_behavior` make no layer.
        and site.name.rpartition(".")[2][:1].isupper()
        # What goes in computes nothing.
        and site.name not in ("keras.layers.Input", "keras.layers.InputLayer")
    )


def _makes_layers(program: Program, site: Site) -> bool:
    """Tell whether a function of the project makes layers with weights and sets no policy itself."""
    made = False
    for target in site.targets:
        for inner, _ in inside_function(program, target.scope):
            if "set_global_policy" in inner.name or "set_dtype_policy" in inner.name:
                return False
            made = made or _WEIGHTY.fullmatch(inner.name) is not None
    return made


_WEIGHTY = re.compile(r"keras\.layers\.(?:Dense|Conv[123]D|SeparableConv2D|Embedding|LSTM|GRU)")


def policy_late(program: Program) -> Iterator[Hit]:
    """Find precision policies set after layers of the same scope were made."""
    for name in (
        "keras.mixed_precision.set_global_policy",
        "keras.mixed_precision.experimental.set_policy",
        "keras.config.set_dtype_policy",
    ):
        for site in flow_of(program).named(name):
            policy = site.argument(0, "policy")
            if isinstance(policy, Constant) and policy.value in ("float32", None):
                continue
            if _kept_policy(site):
                continue
            earlier = None
            later = False
            for other in flow_of(program).within(site.scope):
                if _is_layer(other) or (other.targets and not other.open and _makes_layers(program, other)):
                    before = other.call.number < site.call.number
                    if before and inside(site.scope, site.call.block, other.call.block):
                        earlier = earlier or other
                    elif not before:
                        later = True
            if earlier is not None and not later:
                yield hit_at(
                    site,
                    values={"layer": short(earlier), "line_of": line_of_site(site, earlier)},
                    related=(at(earlier, label="made with the old policy"),),
                )


def unscaled_loss(program: Program) -> Iterator[Hit]:
    """Find gradients of unscaled losses that a loss-scaling optimizer applies."""
    makers = ("keras.mixed_precision.LossScaleOptimizer", "keras.optimizers.LossScaleOptimizer")
    for scope in {id(s.scope): s.scope for s in flow_of(program).named("tensorflow.GradientTape")}.values():
        applies = [
            site
            for site in flow_of(program).within(scope)
            if site.call.method == "apply_gradients"
            and any(isinstance(item, Made) and item.name in makers for item in alternatives(site.receiver))
        ]
        if not applies:
            continue
        if any(call.method in ("scale_loss", "get_scaled_loss", "scale") for call in scope.calls):
            continue
        if any(
            target.scope.calls
            for site in flow_of(program).within(scope)
            for target in site.targets
            if any(call.method in ("scale_loss", "get_scaled_loss") for call in target.scope.calls)
        ):
            continue
        three = keras_three(program)
        # On another way the optimizer is a plain one, and this step may be meant for it, as on a TPU.
        either = any(
            not (isinstance(item, Made) and item.name in makers) for item in alternatives(applies[0].receiver)
        )
        yield hit_at(
            applies[0],
            values={
                "what": "this optimizer divides gradients by the loss scale, and the loss was not scaled: the update is next"
                " to nothing"
                if three
                else "the loss was not scaled, so nothing keeps small gradients from becoming 0"
            },
            severity=None if three else "info" if either else "warning",
            **(
                _scaled_loss(applies[0])
                if three
                else {"no_fix": "with Keras 2 the gradients have to be unscaled as well"}
            ),
        )


def _scaled_loss(apply: Site) -> Repair:
    """Return the fix that takes the gradient of the scaled loss.

    The loss is scaled on the tape, after the statement that makes it.
    """
    scope = apply.scope
    optimizer = dotted(apply.call.receiver)
    name = free_name(scope, "scaled_loss")
    gradients = [call for call in scope.calls if call.method == "gradient" and call.args]
    if optimizer is None or name is None or len(gradients) != 1 or not isinstance(gradients[0].args[0], Name):
        return {"no_fix": "which loss is meant is for you to say"}
    loss = gradients[0].args[0]
    made = [event for event in scope.binding(loss.name) if event.kind in ("assign", "augment")]
    if not made or any(scope.blocks[event.block].kind != "with" for event in made[-1:]):
        return {"no_fix": "the loss is not made in the block of the tape itself"}
    return {
        "rewrites": (
            Rewrite(
                "insert", scope, made[-1].place, f"{name} = {optimizer}.scale_loss({loss.name})", behind=True
            ),
            Rewrite("replace", scope, loss.place, name),
        )
    }


def old_scaling(program: Program) -> Iterator[Hit]:
    """Find `get_scaled_loss` and `get_unscaled_gradients` of Keras 3 optimizers."""
    makers = ("keras.mixed_precision.LossScaleOptimizer", "keras.optimizers.LossScaleOptimizer")
    three = keras_three(program)
    for maker in makers:
        for method in ("get_scaled_loss", "get_unscaled_gradients"):
            for site in flow_of(program).named(f"{maker}.{method}"):
                if site.raw.startswith("tf_keras") or not three:
                    continue
                rewrites: tuple[Rewrite, ...] = ()
                func = site.call.func
                if method == "get_scaled_loss" and isinstance(func, (Attribute, Name)):
                    rewrites = (Rewrite("rename", site.scope, func.place, "scale_loss"),)
                elif len(site.call.args) == 1 and dotted(site.call.args[0]) is not None:
                    rewrites = (
                        Rewrite("replace", site.scope, site.call.place, dotted(site.call.args[0]) or ""),
                    )
                yield hit_at(
                    site,
                    values={"method": method},
                    severity=None
                    if three == "all" and api(program).requirement.known
                    else severity_by_releases(api(program), "warning"),
                    rewrites=rewrites,
                )
