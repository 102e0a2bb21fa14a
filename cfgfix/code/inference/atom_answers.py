"""Answers to questions that may ask themselves: what a name may be that is assigned from itself."""

from __future__ import annotations

from collections.abc import Callable

from cfgfix.code.inference.config_atoms import (
    UNKNOWN,
    Atoms,
)

MAX_KINDS = 24
"""How many things one name is told to be; with more it is not known what it is."""
MAX_ROUNDS = 5
"""How often questions that ask themselves are asked again; beyond it the answer is that it is not known as well."""


_UNKNOWN: Atoms = frozenset({UNKNOWN})
_NONE: Atoms = frozenset()


class Answers:
    """Keeps the atoms found for each key, and finds those that depend on themselves."""

    def __init__(self) -> None:
        self._memo: dict[tuple[object, ...], Atoms] = {}
        self._active: set[tuple[object, ...]] = set()
        self._round: dict[tuple[object, ...], Atoms] = {}
        self._lower: dict[tuple[object, ...], Atoms] = {}
        self._assumed: set[tuple[object, ...]] = set()

    def answer(self, key: tuple[object, ...], make: Callable[[], Atoms]) -> Atoms:
        """Return the atoms kept under a key, or make and keep them.

        Where `make` depends on its own answer, it is called again until the answers stay the same.
        """
        known = self._memo.get(key)
        if known is not None:
            return known
        known = self._round.get(key)
        if known is not None:
            return known
        if key in self._active:
            self._assumed.add(key)
            return self._lower.get(key, _NONE)
        if self._active:
            self._active.add(key)
            result = make()
            self._active.discard(key)
            if len(result) > MAX_KINDS:
                result = _UNKNOWN
            self._round[key] = result
            return result
        for _ in range(MAX_ROUNDS):
            self._round.clear()
            self._assumed.clear()
            self._active.add(key)
            result = make()
            self._active.discard(key)
            self._round[key] = result
            changed = False
            for item in self._assumed:
                now = self._round.get(item, _NONE)
                if now != self._lower.get(item, _NONE):
                    self._lower[item] = now
                    changed = True
            if not changed:
                break
        else:
            self._round = {item: found | _UNKNOWN for item, found in self._round.items()}
        self._memo.update(self._round)
        self._round.clear()
        self._lower.clear()
        return self._memo[key]
