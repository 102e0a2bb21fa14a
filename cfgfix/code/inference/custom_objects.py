"""Which texts a program may teach Keras: names of objects that it registers."""

from __future__ import annotations

import re

from cfgfix.code.inference.references import api
from cfgfix.code.model.program import Program, once
from cfgfix.code.tensorflow.refusals import Refusals

_REGISTERS = re.compile(rb"custom_object|CustomObjectScope|register_keras_serializable")


@once
def refusals(program: Program) -> Refusals:
    """Return the values that TensorFlow refuses in a program's releases, made once."""
    return Refusals(api(program), _CustomNames(program))


class _CustomNames:
    """Decides whether a program may register a custom Keras object under a name.

    It may where any file registers objects and any file has the name in it.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[str, bool] = {}
        self._texts: list[bytes] | None = None

    def __call__(self, word: str) -> bool:
        """Tell whether the program may register an object under a name."""
        if word not in self._known:
            if self._texts is None:
                paths = [module.path for module in self._program.all_modules()]
                texts = [self._program.content_of(path) for path in paths]
                self._texts = texts if any(_REGISTERS.search(text) for text in texts) else []
            wanted = re.compile(rb"\b%s\b" % re.escape(word.encode("utf-8", "replace")))
            self._known[word] = any(wanted.search(text) for text in self._texts)
        return self._known[word]
