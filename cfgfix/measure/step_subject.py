"""What `profile step` takes apart: a model with its loss and optimizer, or a step function of the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cfgfix.core.errors import CfgfixError
from cfgfix.measure.sampling import (
    call_with_config,
    load_config,
    load_object,
    user_code,
)
from cfgfix.measure.watch import is_xla

PARTS = ("forward", "loss", "backward", "optimizer")


class Trainer:
    """The user's model, loss and optimizer as four nested functions of a batch.

    Each has one part more than the one before.

    Args:
        model: Called with the inputs, and `training=True` where it takes that.
        loss: Called with targets and output for batches of the form (inputs, targets), with batch and output for others.
        optimizer: A Keras optimizer.
        xla: Compile with XLA.
    """

    def __init__(self, model: Any, loss: Any, optimizer: Any, *, xla: bool | None = None) -> None:
        import inspect

        import tensorflow as tf

        self._model = model
        self._loss: Any = tf.keras.losses.get(loss) if isinstance(loss, str) else loss
        self._updater: Any = tf.keras.optimizers.get(optimizer) if isinstance(optimizer, str) else optimizer
        try:
            target = getattr(model, "call", model)
            names = inspect.signature(target).parameters
            kinds = {parameter.kind for parameter in names.values()}
            self._training = "training" in names or inspect.Parameter.VAR_KEYWORD in kinds or _is_layer(model)
        except (TypeError, ValueError):
            self._training = False
        self._inputs = _input_names(model)
        bodies = (self.forward, self.loss, self.backward, self.whole)
        self.functions: dict[str, Callable[[Any], Any]] = {
            name: tf.function(body, jit_compile=xla) for name, body in zip(PARTS, bodies, strict=True)
        }

    def _split_batch(self, batch: Any) -> tuple[Any, Any]:
        if isinstance(batch, tuple) and len(batch) in (2, 3):
            return batch[0], batch[1]
        if isinstance(batch, dict) and isinstance(self._inputs, str) and self._inputs in batch:
            return batch[self._inputs], batch
        if isinstance(batch, dict) and self._inputs and all(name in batch for name in self._inputs):
            return {name: batch[name] for name in self._inputs}, batch
        return batch, batch

    def forward(self, batch: Any) -> Any:
        """Run the model."""
        inputs, _ = self._split_batch(batch)
        return self._model(inputs, training=True) if self._training else self._model(inputs)

    def loss(self, batch: Any) -> Any:
        """Run the model and the loss; return one number."""
        import tensorflow as tf

        _, target = self._split_batch(batch)
        return tf.reduce_mean(self._loss(target, self.forward(batch)))

    def variables(self) -> list[Any]:
        """Return the variables that are trained."""
        found = getattr(self._model, "trainable_variables", None)
        if not found:
            raise CfgfixError(
                "the model has no trainable variables", hint="return a built Keras model, or a step callable"
            )
        return list(found)

    def backward(self, batch: Any) -> Any:
        """Run the model, the loss and the gradients."""
        import tensorflow as tf

        with tf.GradientTape() as tape:
            loss = self.loss(batch)
            scale = getattr(self._updater, "scale_loss", None)
            scaled = scale(loss) if scale is not None else loss
        return tape.gradient(scaled, self.variables())

    def whole(self, batch: Any) -> Any:
        """Run the whole step."""
        gradients = self.backward(batch)
        pairs = [
            (gradient, variable)
            for gradient, variable in zip(gradients, self.variables(), strict=True)
            if gradient is not None
        ]
        self._updater.apply_gradients(pairs)
        return gradients

    def build(self, batch: Any) -> None:
        """Create the variables of model and optimizer, outside any function."""
        self.forward(batch)
        build = getattr(self._updater, "build", None)
        if build is not None and not getattr(self._updater, "built", False):
            build(self.variables())


def _input_names(model: Any) -> str | list[str]:
    """Return the input names of a symbolic Keras model: one name, or a list.

    An empty list for other models.
    """
    try:
        structure = model.input
    except (AttributeError, ValueError):
        return []
    if isinstance(structure, dict):
        return list(structure)
    if isinstance(structure, (list, tuple)):
        return [str(entry.name) for entry in structure]
    return str(structure.name)


def _is_layer(model: object) -> bool:
    """Return whether a model is a Keras layer.

    All layers take `training`, whether their own code names it or not.
    """
    return any(
        kind.__name__ == "Layer" and "keras" in kind.__module__.split(".")[0] for kind in type(model).__mro__
    )


@dataclass(slots=True)
class StepSubject:
    """The user's step as a function of a batch, with a way to rebuild it."""

    whole: Callable[[Any], Any]
    trainer: Trainer | None
    rebuild: Callable[[bool | None], Callable[[Any], Any]]
    """Makes the step anew under the Keras policy in force, with XLA as given."""
    xla: bool = False
    """Whether the step is compiled with XLA as a whole already."""


def subject_of(make: Callable[[], Any], spec: str, batch: Any) -> StepSubject:
    """Call the user's function and return its step, ready to be measured.

    The function returns (model, loss, optimizer), a compiled Keras model, or a function of a batch.

    Raises:
        CfgfixError: The function returns something else.
    """
    made = make()
    if _is_model(made):
        return _from_model(make, made, spec)
    if isinstance(made, tuple) and len(made) == 3:
        return _from_parts(make, made, batch)
    if callable(made):
        return _from_callable(make, made, batch)
    raise CfgfixError(
        f"{spec} returned {type(made).__name__}",
        hint="return (model, loss, optimizer), a compiled Keras model, or a function of a batch",
    )


def _is_model(made: object) -> bool:
    return any(
        kind.__name__ == "Model" and "keras" in kind.__module__.split(".")[0] for kind in type(made).__mro__
    )


def _from_model(make: Callable[[], Any], model: Any, spec: str) -> StepSubject:
    """Return the step of a compiled Keras model.

    It is the model's own `train_step`, compiled as `fit` compiles it.
    """
    import tensorflow as tf

    if not (getattr(model, "compiled", False) or getattr(model, "_is_compiled", False)):
        raise CfgfixError(
            f"{spec} returned a model that is not compiled",
            hint="call model.compile(optimizer, loss) first, or return (model, loss, optimizer)",
        )

    def compiled(subject: Any, xla: bool | None) -> Callable[[Any], Any]:
        if subject.run_eagerly:
            step: Callable[[Any], Any] = subject.train_step
            return step
        asked = getattr(subject, "jit_compile", None)
        whole: Callable[[Any], Any] = tf.function(
            subject.train_step, jit_compile=asked if xla is None else xla, reduce_retracing=True
        )
        return whole

    def rebuild(xla: bool | None) -> Callable[[Any], Any]:
        return compiled(make(), xla)

    return StepSubject(
        compiled(model, None),
        None,
        rebuild,
        bool(getattr(model, "jit_compile", None)) and not model.run_eagerly,
    )


def _from_parts(make: Callable[[], Any], made: tuple[Any, Any, Any], batch: Any) -> StepSubject:
    def build(parts: tuple[Any, Any, Any], xla: bool | None) -> Trainer:
        trainer = Trainer(*_with_loss_scale(parts), xla=xla)
        with user_code("building the step"):
            trainer.build(batch)
        return trainer

    trainer = build(made, None)

    def rebuild(xla: bool | None) -> Callable[[Any], Any]:
        return build(make(), xla).functions["optimizer"]

    return StepSubject(trainer.functions["optimizer"], trainer, rebuild)


def _with_loss_scale(parts: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    """Return the parts with the optimizer wrapped for mixed_float16.

    Keras's own `compile` does the same. Under any other policy the parts are returned as they are.
    """
    import tensorflow as tf

    model, loss, optimizer = parts
    keras = tf.keras
    wrapper = getattr(keras.optimizers, "LossScaleOptimizer", None)
    if wrapper is None or keras.mixed_precision.global_policy().name != "mixed_float16":
        return parts
    optimizer = keras.optimizers.get(optimizer)
    return model, loss, optimizer if isinstance(optimizer, wrapper) else wrapper(optimizer)


def _from_callable(make: Callable[[], Any], step: Any, batch: Any) -> StepSubject:
    import inspect

    import tensorflow as tf

    def adapted(function: Any) -> Callable[[Any], Any]:
        try:
            parameters = inspect.signature(getattr(function, "python_function", function)).parameters.values()
            needed = [
                one
                for one in parameters
                if one.default is one.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
            ]
            spread = isinstance(batch, tuple) and len(needed) == len(batch) and len(batch) != 1
        except (TypeError, ValueError):
            spread = False
        return (lambda value: function(*value)) if spread else function

    def rebuild(xla: bool | None) -> Callable[[Any], Any]:
        fresh: Any = make()
        return adapted(tf.function(getattr(fresh, "python_function", fresh), jit_compile=xla))

    return StepSubject(adapted(step), None, rebuild, is_xla(step))


def step_maker(options: Mapping[str, Any]) -> tuple[Callable[[], Any], str]:
    """Return a function that makes the step to measure, and a name for its source.

    It is the user's function, or else the built-in step for the built-in pipeline. Call this only in a child process.

    Raises:
        CfgfixError: The options name neither.
    """
    config = load_config(options.get("config"), options.get("config_loader"))
    spec = options.get("step")
    if spec:
        named = load_object(spec)
        if _is_model(named) or not callable(named):
            return (lambda: named), spec
        return (lambda: call_with_config(named, config, spec)), spec
    if options.get("data_path"):
        from cfgfix.measure import speech

        settings = speech.settings_from(options)
        return (lambda: speech.make_step(settings)), "built-in speech step"
    raise CfgfixError("there is no step to measure", hint="name it with --step package.module:function")
