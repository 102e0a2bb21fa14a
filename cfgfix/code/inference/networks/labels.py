"""Labels against what a model gives, as the losses of Keras take them."""

from __future__ import annotations

from cfgfix.code.inference.interpreter.objects import External, Made, Scalar, Value
from cfgfix.code.inference.networks.arguments import last_name
from cfgfix.code.inference.networks.follower import CALLED
from cfgfix.code.inference.networks.tensors import Tensor, whole_text
from cfgfix.code.tensorflow.layers.sizes import Shape


def loss_name(value: Value | None) -> str:
    """Return the bare name of a loss; empty where it is not known."""
    if isinstance(value, Scalar) and isinstance(value.value, str):
        name = value.value
    elif isinstance(value, (External, Made)):
        name = last_name(value.name)
    else:
        return ""
    short = name.replace("_", "").lower()
    return {"meansquarederror": "mse", "meanabsoluteerror": "mae"}.get(short, short)


DISTANCES = frozenset({"mse", "mae", "huber", "logcosh", "meansquaredlogarithmicerror", "msle", "poisson"})


def against(loss: str, out: Shape, labels: Tensor) -> tuple[str, str | None] | None:
    """Return what is wrong with labels, and how bad it is; None for nothing."""
    got = labels.shape
    shown = f"the model gives {whole_text(out)}, and the labels are {whole_text(got)}"
    if loss == "sparsecategoricalcrossentropy":
        units = out[-1]
        if labels.one_hot and len(got) == len(out) and got[-1] != 1:
            return f"{shown}: a row of places for each, where the loss takes class numbers", None
        bound = labels.bound
        if units is not None and bound is not None and bound.number > units:
            return f"the labels go up to {bound.number - 1}, and the model gives {units} classes", (None if bound.reached else "warning")  # fmt: skip
        return None
    if loss == "categoricalcrossentropy":
        if len(got) == len(out) and None not in (got[-1], out[-1]) and got[-1] != out[-1]:
            return shown, None
        if len(got) == len(out) - 1 and out[-1] not in (1, None):
            return (
                f"{shown}: class numbers, where the loss takes a row of places for each",
                None,
            )
        return None
    if loss != "binarycrossentropy" and loss not in DISTANCES:
        return None
    if len(got) == len(out) - 1 and out[-1] not in (1, None):
        return shown, None
    if len(got) != len(out):
        return None
    differ = [pair for pair in zip(out[1:], got[1:], strict=True) if None not in pair and pair[0] != pair[1]]
    if not differ:
        return None
    if loss in DISTANCES and all(1 in pair for pair in differ):
        return f"{shown}: the one is repeated for the other, which the loss does not say", "warning"
    return shown, None


_OF_PROBABILITIES = frozenset(
    {"binarycrossentropy", "categoricalcrossentropy", "sparsecategoricalcrossentropy"}
)


def takes_probabilities(loss: Value | None) -> bool:
    """Tell whether a loss certainly takes probabilities, not logits."""
    if loss_name(loss) not in _OF_PROBABILITIES:
        return False
    if not isinstance(loss, Made):
        return isinstance(loss, Scalar)
    if loss.args or (loss.spread is not None and loss.spread.open):
        return False
    given = loss.keywords.get("from_logits")
    return given is None or (isinstance(given, Scalar) and given.value is False and not given.optional)


def gives_logits(out: Value) -> Made | None:
    """Return the layer without an activation that gives an output; None for others."""
    layer = out.receiver if isinstance(out, Made) and out.name.endswith(CALLED) else None
    if not isinstance(layer, Made) or last_name(layer.name) not in ("Dense", "Conv2D", "Conv1D"):
        return None
    if layer.spread is not None and layer.spread.open:
        return None
    given = layer.keywords.get("activation")
    place = 1 if last_name(layer.name) == "Dense" else 7
    if given is None and len(layer.args) > place:
        return None
    if given is not None and not (isinstance(given, Scalar) and given.value in (None, "linear")):
        return None
    return layer
