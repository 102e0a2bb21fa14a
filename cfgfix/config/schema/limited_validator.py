"""The jsonschema validator of one schema, within limits of time and steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import monotonic

from cfgfix.config.schema.failures import OPAQUE, no_multiple, repeated
from cfgfix.config.schema.load import Node as SchemaNode
from cfgfix.core.findings import KeyPath

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing `typing` costs as much as checking a few files
    from typing import Any, Protocol, TypeAlias

    from cfgfix.config.schema.failures import Failure
    from cfgfix.config.schema.load import Loaded

    class Schema(Protocol):
        """The parts of a compiled schema that explaining its errors needs."""

        loaded: Loaded
        machinery: object

        def accepts(self, node: SchemaNode, value: object) -> bool | None:
            """Return whether a subschema takes a value; None where only jsonschema can tell."""

        def failures(self, instance: object) -> list[Failure] | None:
            """Return the keywords that plain data breaks; None where only jsonschema can tell."""

        def expected_types(self, path: KeyPath) -> frozenset[str] | None:
            """Return the types allowed at a path."""

        def keys(self, path: KeyPath) -> tuple[str, ...]:
            """Return the names of the keys known below a path."""

        def places(self, name: str) -> list[KeyPath]:
            """Return the key paths of all keys with one name."""

        def names(self) -> tuple[str, ...]:
            """Return every key name that is known."""

        def nodes(self, path: KeyPath) -> list[dict[str, Any]]:
            """Return the subschemas that apply at a path."""


Error: TypeAlias = "Any"
"""A `Failure`, or a `jsonschema.ValidationError`, whose own annotations say less than is known here."""

MAX_SECONDS = 20.0
"""Validation of one document stops after so long: alternatives within alternatives can make every step slow."""

MAX_STEPS = 2_000_000
"""Keywords that one validation may apply. At about half a million a second this ends after some seconds; the schema
and config of a real project need some thousands."""


class TooMuchWorkError(Exception):
    """Validation has used up its steps."""


class LimitedValidator:
    """The jsonschema validator of one schema, within limits of time and steps.

    It serves one document at a time.
    """

    def __init__(self, schema: Schema) -> None:
        from jsonschema import Draft202012Validator, validators
        from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]
        from referencing import Resource
        from referencing.jsonschema import DRAFT202012

        self.steps = 0
        self.deadline = 0.0
        self.unsure = False
        self.patterns = schema.loaded.patterns
        checks: dict[str, Any] = dict(Draft202012Validator.VALIDATORS)
        checks.update(
            pattern=self._pattern_errors,
            uniqueItems=self._repetition_errors,
            multipleOf=self._multiple_errors,
        )
        guarded = {keyword: self._guarded_check(check) for keyword, check in checks.items()}
        loaded = schema.loaded
        registry: Any = REGISTRY
        for name, content in (("", loaded.root), *loaded.files.items()):
            resource: Any = Resource.from_contents(content, default_specification=DRAFT202012)
            registry = registry.with_resource(loaded.address(name), resource)
        # The registry has no way to fetch anything, so an address that is not in it is an error.
        extend: Any = validators.extend
        validator: Any = extend(Draft202012Validator, guarded)
        self.validator: Any = validator(schema.loaded.root, registry=registry)

    def errors(self, instance: object) -> Iterator[Error]:
        """Yield the errors of a document, until time or steps run out."""
        self.steps = 0
        self.deadline = monotonic() + MAX_SECONDS
        self.unsure = False
        yield from self.validator.iter_errors(instance)

    def _guarded_check(self, check: Callable[..., Any]) -> Callable[..., Any]:
        def run(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
            self.steps += 1
            if self.steps > MAX_STEPS or (not self.steps % 256 and monotonic() > self.deadline):
                raise TooMuchWorkError
            if instance is OPAQUE:
                return ()
            return check(validator, value, instance, schema)

        return run

    def _pattern_errors(self, _validator: Any, text: str, instance: Any, _schema: Any) -> Iterator[Error]:
        from jsonschema.exceptions import ValidationError

        if isinstance(instance, str):
            found = self.patterns[text].search(instance)
            if found is None:
                self.unsure = True
            elif not found:
                yield ValidationError("no match")

    @staticmethod
    def _repetition_errors(_validator: Any, wanted: bool, instance: Any, _schema: Any) -> Iterator[Error]:
        from jsonschema.exceptions import ValidationError

        if wanted and isinstance(instance, list) and repeated(instance) is not None:
            yield ValidationError("repeated items")

    @staticmethod
    def _multiple_errors(validator: Any, step: Any, instance: Any, _schema: Any) -> Iterator[Error]:
        from jsonschema.exceptions import ValidationError

        # jsonschema divides floats and fails on what a division cannot give.
        if validator.is_type(instance, "number") and no_multiple(instance, step):
            yield ValidationError("no multiple")
