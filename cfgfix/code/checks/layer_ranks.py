"""Numbers of dimensions of layer outputs, and recurrent layers without sequence."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.outputs import constant_in_every_call
from cfgfix.code.inference.conditions import Conditions
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.canonical_names import canonical_name
from cfgfix.code.model.expressions import is_name
from cfgfix.code.model.nodes import Call, Collection, Literal, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import KERAS_TENSOR, Constant, External, Items, Made, Site, Value, alternatives

_LAYERS = "keras.layers."
_CALL = ".__call__"
_INPUTS = ("keras.Input", "keras.layers.Input", "keras.layers.InputLayer")
_RECURRENT = frozenset({"LSTM", "GRU", "SimpleRNN"})
_KEEPS = frozenset(
    {
        "Activation",
        "BatchNormalization",
        "Dense",
        "Dropout",
        "ELU",
        "GaussianDropout",
        "GaussianNoise",
        "LayerNormalization",
        "LeakyReLU",
        "Masking",
        "PReLU",
        "ReLU",
        "Softmax",
        "SpatialDropout1D",
    }
)
_GIVES = {
    "AveragePooling1D": 2,
    "Conv1D": 2,
    "Flatten": 1,
    "MaxPooling1D": 2,
    "RepeatVector": 2,
}
_MOST_LAYERS = 400
_BLOCKS = frozenset({"if", "while", "for", "try", "except", "case", "comprehension"})
"""Kinds of blocks in which a call may not be made."""
_CHOSEN = frozenset({"if", "while", "try", "except", "case", "comprehension"})
"""Those of them that are no loop over a list."""

Misfit = tuple[Site, Site, Site | None, str]
"""The call that raises, the layer, where it begins, and what is wrong."""


def is_certain(site: Site) -> bool:
    """Tell whether a call always runs when the functions around it are called."""
    return not site.open and not any(
        block.kind in _BLOCKS
        for one in (site, *site.through)
        for block in one.scope.block_chain(one.call.block)
    )


def without_sequence(program: Program) -> Iterator[Misfit]:
    """Yield the recurrent layers that certainly get no sequence."""
    yield from _misfits_of_calls(program)
    yield from _misfits_of_stacks(program)


def _misfits_of_calls(program: Program) -> Iterator[Misfit]:
    """Yield the recurrent layers called on a tensor that is no sequence."""
    ranks: dict[int, int | None] = {}
    for site in flow_of(program).sites:
        if not (site.name.startswith(_LAYERS) and site.name.endswith(_CALL)) or len(site.args) != 1:
            continue
        layer, given = _layer_of(site), site.args[0]
        inner = _recurrent_layer(layer)
        if layer is None or inner is None or site.call.opaque or not is_certain(site):
            continue
        if not _comes_of_its_own_run(given, site):
            continue
        rank = _tensor_rank(given, ranks)
        if rank is not None and rank != 2:
            yield site, layer, _input_call(given), _rank_in_words(rank)


def _rank_in_words(rank: int) -> str:
    return f"takes 2 dimensions of each sample, and gets {rank}"


def _layer_of(site: Site) -> Site | None:
    made = alternatives(site.callee)
    return made[0].site if len(made) == 1 and isinstance(made[0], Made) else None


def _recurrent_layer(layer: Site | None) -> Site | None:
    """Return a recurrent layer, or the one in a Bidirectional layer, or None."""
    if layer is None or layer.call.opaque:
        return None
    name = layer.name.removeprefix(_LAYERS)
    if name == "Bidirectional":
        found = alternatives(layer.argument(0, "layer"))
        return _recurrent_layer(found[0].site) if len(found) == 1 and isinstance(found[0], Made) else None
    return layer if layer.name.startswith(_LAYERS) and name in _RECURRENT else None


def _comes_of_its_own_run(value: Value, site: Site) -> bool:
    """Tell whether a tensor is made in the same run of its function as a call."""
    if not isinstance(value, Made) or value.site is None:
        return False
    ways, own = value.site.through, site.through
    common = sum(1 for one, other in zip(ways, own, strict=False) if one is other)
    return not any(one.also for one in ways[common:])


def _input_call(value: Value) -> Site | None:
    return value.site if isinstance(value, Made) else None


def _tensor_rank(value: Value, known: dict[int, int | None]) -> int | None:
    """Return a Keras tensor's number of dimensions without the batch, or None."""
    chain: list[tuple[Value, Site]] = []
    rank: int | None = None
    for _ in range(_MOST_LAYERS):
        if not isinstance(value, Made) or value.site is None:
            break
        if id(value) in known:
            rank = known[id(value)]
            break
        site = value.site
        if site.name in _INPUTS:
            rank = known[id(value)] = _shape_length(site, "shape")
            break
        layer = _layer_of(site) if value.name == KERAS_TENSOR and site.name.endswith(_CALL) else None
        if layer is None or len(site.args) != 1 or site.call.opaque:
            break
        chain.append((value, layer))
        given = site.args[0]
        if not _comes_of_its_own_run(given, site):
            break
        value = given
    for tensor, layer in reversed(chain):
        rank = known[id(tensor)] = _rank_behind(layer, rank)
    return rank


def _shape_length(site: Site, name: str) -> int | None:
    """Return the number of dimensions in an input's shape, or None."""
    position = 0 if name == "shape" else 99
    written = site.call.argument(position, name)
    if isinstance(written, Collection) and written.kind != "set":
        value = site.argument(position, name) if position == 0 else site.keywords.get(name)
        if isinstance(value, Items):
            return len(value.items)
        if isinstance(value, Constant) and isinstance(value.value, (tuple, list)):
            return len(value.value)
    return None


def _rank_behind(layer: Site, rank: int | None) -> int | None:
    """Return a layer's number of output dimensions for its input's, or None."""
    name = layer.name.removeprefix(_LAYERS)
    inner = _recurrent_layer(layer)
    if layer.call.opaque or not layer.name.startswith(_LAYERS):
        return None
    if inner is not None:
        if inner.call.keyword("return_state") is not None:
            return None
        given = inner.call.keyword("return_sequences")
        if given is None:
            # Not by its place: there are a dozen parameters before it.
            return 1 if len(inner.call.args) < 4 else None
        if isinstance(given, Literal) and isinstance(given.value, bool):
            return 2 if given.value else 1
        return None
    if name in _KEEPS:
        return rank
    if name == "Embedding":
        return rank + 1 if rank is not None else None
    if name in ("GlobalAveragePooling1D", "GlobalMaxPooling1D"):
        return 1 if not layer.call.keywords else None
    return _GIVES.get(name)


def _misfits_of_stacks(program: Program) -> Iterator[Misfit]:
    """Yield the recurrent layers of Sequential models that get no sequence."""
    added: dict[int, list[Site]] = {}
    for site in flow_of(program).sites:
        if site.call.method in ("add", "pop"):
            for value in alternatives(site.receiver):
                added.setdefault(id(value), []).append(site)
    for site in flow_of(program).named("keras.Sequential"):
        if isinstance(site.result, Made) and not site.call.opaque and is_certain(site):
            found = _first_misfit(_sequential_layers(program, site, added.get(id(site.result), [])))
            if found is not None:
                yield found


def _sequential_layers(program: Program, model: Site, added: list[Site]) -> Iterator[tuple[Site, Site]]:
    """Yield the layers of a Sequential model in order, while they are certain.

    Each comes with the call that adds the layer.
    """
    given = model.argument(0, "layers")
    if isinstance(given, Items):
        for item in given.items:
            layer = _made_layer(item)
            if layer is None:
                return
            yield model, layer
    elif given is not None:
        return
    turn: list[tuple[Site, Site]] = []
    loop: int | None = None
    for site in added:
        if site.call.method != "add" or len(alternatives(site.receiver)) != 1 or site.open:
            break
        around = _loop_of(site, model)
        if around is None or (loop is not None and around != loop):
            # Behind a loop that goes on for no one knows how long, nothing is certain.
            break
        layer = _made_layer(site.argument(0, "layer")) or _default_layer(program, site)
        if layer is None:
            return
        if around >= 0:
            if loop is None and _number_of_turns(program, site.scope, around) < 2:
                break
            loop = around
            turn.append((site, layer))
        yield site, layer
    yield from turn


def _loop_of(site: Site, model: Site) -> int | None:
    """Return the number of the loop around a call, or -1 without a loop.

    None where the call may be left out.
    """
    if any(
        block.kind in _CHOSEN or block.kind in ("for", "loop-else")
        for one in site.through
        for block in one.scope.block_chain(one.call.block)
    ):
        return None
    scope = site.scope
    numbers = list(scope.block_numbers(site.call.block))
    own = set(scope.block_numbers(model.call.block)) if model.scope is scope else set()
    outer = [number for number in numbers if number not in own]
    if any(scope.blocks[number].kind in _CHOSEN for number in outer):
        return None
    loops = [number for number in outer if scope.blocks[number].kind == "for"]
    return -1 if not loops else loops[0] if len(loops) == 1 and model.scope is scope else None


def _number_of_turns(program: Program, scope: Scope, block: int) -> int:
    """Return the known number of turns of a loop, or 0."""
    test = scope.blocks[block].test
    if isinstance(test, Collection):
        return len(test.items)
    if not isinstance(test, Call) or not is_name(test.func, "range") or test.keywords or len(test.args) != 1:
        return 0
    bound = test.args[0]
    if isinstance(bound, Name):
        given = constant_in_every_call(program, scope, bound.name)
        if given is not None:
            return given.value if type(given.value) is int else 0
    value = Conditions(program, None).value(bound, scope, before=scope.blocks[block].line)
    return value if type(value) is int else 0


def _made_layer(value: Value | None) -> Site | None:
    found = alternatives(value)
    return found[0].site if len(found) == 1 and isinstance(found[0], Made) else None


def _default_layer(program: Program, added: Site) -> Site | None:
    """Return the call that makes a layer from a parameter's default class, or None.

    None also where a caller passes another class.
    """
    given, scope = added.call.argument(0, "layer"), added.scope
    if not isinstance(given, Call) or not isinstance(given.func, Name) or scope.binding(given.func.name):
        return None
    name = given.func.name
    number = next((at for at, item in enumerate(scope.params) if item.name == name), None)
    outer = program.outer(scope)
    callers = flow_of(program).callers(scope)
    default = scope.params[number].default if number is not None else None
    if number is None or default is None or outer is None or not callers:
        return None
    for caller in callers:
        offset = int(any(target.receiver is not None for target in caller.targets))
        if caller.call.opaque or caller.call.argument(number - offset, name) is not None:
            return None
    found = program.static_value(default, outer)
    if not isinstance(found, External):
        return None
    made = Site(scope, given, added.through)
    made.name = made.raw = canonical_name(found.name)
    return made


def _first_misfit(layers: Iterator[tuple[Site, Site]]) -> Misfit | None:
    rank: int | None = None
    first: Site | None = None
    for number, (call, layer) in enumerate(layers):
        if number > _MOST_LAYERS:
            return None
        if layer.name in _INPUTS:
            rank, first = _shape_length(layer, "shape"), layer
            continue
        if number == 0:
            rank, first = _shape_length(layer, "input_shape"), layer
        inner = _recurrent_layer(layer)
        if inner is not None and rank is not None and rank != 2:
            return call, layer, first, _rank_in_words(rank)
        before, rank = rank, _rank_behind(layer, rank)
        if rank is not None and before is None:
            first = layer
    return None
