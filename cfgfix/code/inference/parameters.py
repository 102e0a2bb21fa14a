"""The arguments that a function takes, as far as its signature tells."""

from __future__ import annotations

from cfgfix.code.model.expressions import dotted
from cfgfix.code.model.nodes import Call, Name
from cfgfix.code.model.summary import Scope


def is_static(scope: Scope) -> bool:
    """Tell whether a function is a static method."""
    return any(isinstance(item, Name) and item.name == "staticmethod" for item in scope.decorators)


def is_classmethod(scope: Scope) -> bool:
    """Tell whether a function is a class method."""
    return any(isinstance(item, Name) and item.name == "classmethod" for item in scope.decorators)


_SAME_PARAMETERS = ("staticmethod", "classmethod", "function")
"""Ends of decorators that leave a function's parameters as they are."""


class Parameters:
    """The arguments that a function takes, as far as its signature tells."""

    __slots__ = ("any_keyword", "any_position", "changed", "classmethod", "named", "plain")

    def __init__(self, scope: Scope) -> None:
        self.changed = False
        """Whether a decorator may change it."""
        for decorator in scope.decorators:
            func = decorator.func if isinstance(decorator, Call) else decorator
            if (dotted(func) or "").rpartition(".")[2] not in _SAME_PARAMETERS:
                self.changed = True
        self.classmethod = is_classmethod(scope)
        self.plain: list[tuple[str, bool]] = []
        """Those that positions fill: name and whether there is a default."""
        self.named: list[tuple[str, bool]] = []
        self.any_position = self.any_keyword = False
        for name, _, default, kind in scope.params:
            if kind == "plain":
                self.plain.append((name, default is not None))
            elif kind == "keyword":
                self.named.append((name, default is not None))
            elif kind == "*":
                self.any_position = True
            else:
                self.any_keyword = True

    def take(self, call: Call, offset: int) -> bool:
        """Tell whether a call passes all required arguments and no unknown ones.

        Args:
            call: The call.
            offset: How many positions are filled before its arguments.
        """
        begin = offset + len(call.args)
        if begin > len(self.plain) and not self.any_position:
            return False
        if not call.keywords:
            return all(default for _, default in self.plain[begin:]) and all(
                default for _, default in self.named
            )
        given = {key for key, _ in call.keywords}
        if not self.any_keyword and not given <= {name for name, _ in (*self.plain[offset:], *self.named)}:
            return False
        return all(default or name in given for name, default in (*self.plain[begin:], *self.named))
