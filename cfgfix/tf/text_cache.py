"""Tokens, languages and normalised texts: made once, in parallel, and kept in a cache that can be trusted.

An entry's name is made of the text, the function and its settings, so another tokenizer or setting never sees it.
TensorFlow is imported only where a tensor or a dataset is asked for.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cfgfix.core.errors import CfgfixError
from cfgfix.tf.fingerprint import fingerprint as fingerprint_of
from cfgfix.tf.parallel import Way, map_parallel
from cfgfix.tf.store import Segment, Store, keys_of

DEFAULT_MAX_BYTES = 1 << 30
"""One GiB: tokens of some ten million sentences of a hundred tokens."""

_BOUNDS = np.iinfo(np.int32)


@dataclass(frozen=True, slots=True)
class Report:
    """The counts and times of one call.

    Attributes:
        texts: How many texts were asked for.
        hits: How many of them were in the cache.
        made: How many different texts were computed.
        way: How they were computed; None where nothing was.
        seconds: Seconds the call took.
        rebuilt: Damaged files that were found, removed and made again.
    """

    texts: int
    hits: int
    made: int
    way: Way | None
    seconds: float
    rebuilt: tuple[str, ...]


class TokenTable:
    """Token ids of many texts, as views of memory-mapped files.

    `table[i]` is int32 `[tokens]`, read-only; `len(table)` is the number of texts.
    """

    def __init__(self, segments: Sequence[Segment], where: Any, rows: Any, report: Report) -> None:
        self._segments = tuple(segments)
        self._where = where
        self._rows = rows
        self.report = report

    def __len__(self) -> int:
        return len(self._where)

    def __getitem__(self, index: int) -> Any:
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return self._segments[self._where[index]].row(int(self._rows[index])).view("<i4")

    def __iter__(self) -> Iterator[Any]:
        for index in range(len(self)):
            yield self[index]

    @property
    def lengths(self) -> Any:
        """The number of tokens of each text, int64 `[texts]`."""
        found = np.zeros(len(self), np.int64)
        for number, segment in enumerate(self._segments):
            here = self._where == number
            rows = self._rows[here]
            found[here] = (segment.offsets[rows + 1] - segment.offsets[rows]) // 4
        return found

    def flat(self) -> tuple[Any, Any]:
        """Return the tokens of all texts in one int32 array, and where each text starts.

        The starts are int64 `[texts + 1]`.
        """
        splits = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.lengths)])
        values = np.concatenate([np.zeros(0, np.int32), *self]) if len(self) else np.zeros(0, np.int32)
        return values, splits

    def padded(self, length: int, value: int = 0) -> Any:
        """Return the tokens as int32 `[texts, length]`, filled up with `value`.

        Raises:
            CfgfixError: A text is longer.
        """
        lengths = self.lengths
        if len(lengths) and int(lengths.max()) > length:
            longest = int(lengths.argmax())
            raise CfgfixError(f"text {longest} has {int(lengths[longest])} tokens, more than {length}")
        made = np.full((len(self), length), value, np.int32)
        for index, row in enumerate(self):
            made[index, : len(row)] = row
        return made

    def ragged(self) -> Any:
        """Return the tokens as a tf.RaggedTensor, int32 `[texts, (tokens)]`."""
        import tensorflow as tf

        values, splits = self.flat()
        return tf.RaggedTensor.from_row_splits(values, splits)

    def dataset(self) -> Any:
        """Return a tf.data.Dataset with the tokens of each text, int32 `[tokens]`."""
        import tensorflow as tf

        values, splits = self.flat()
        tokens = tf.constant(values)
        ends = tf.data.Dataset.from_tensor_slices((splits[:-1], splits[1:]))
        return ends.map(lambda start, end: tokens[start:end])


class TextCache:
    """A cache in a folder; any number of programs may use it at once.

    Args:
        folder: The folder. It is made; nothing in it is a pickle, and nothing that is read from it is executed.
        max_bytes: What it may take; files used longest ago are removed first. A call's own new rows are always kept.
        workers: How many texts are worked on at once; by default one for each usable CPU.
        mode: `auto` measures how much the function holds the GIL and chooses threads or processes; or `serial`,
            `threads`, `processes`.

    >>> import tempfile
    >>> cache = TextCache(tempfile.mkdtemp())
    >>> table = cache.tokens(["ab", "c", "ab"], lambda text: [ord(letter) for letter in text])
    >>> [row.tolist() for row in table], table.report.made
    ([[97, 98], [99], [97, 98]], 2)
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        max_bytes: int = DEFAULT_MAX_BYTES,
        workers: int | None = None,
        mode: str = "auto",
    ) -> None:
        if max_bytes < 1:
            raise CfgfixError("max_bytes must be at least 1")
        self.folder = os.fspath(folder)
        self.max_bytes = max_bytes
        self.workers = workers
        self.mode = mode

    def tokens(
        self,
        texts: Sequence[str],
        tokenize: Callable[[str], Sequence[int]],
        *,
        settings: Mapping[str, Any] | None = None,
        fingerprint: str | None = None,
    ) -> TokenTable:
        """Return the tokens of texts, computing those that are not in the cache.

        Args:
            texts: The texts.
            tokenize: Gives the token ids of one text.
            settings: Whatever else decides the result, such as a language or the content of a vocabulary.
            fingerprint: A text that changes when the tokenizer does; by default it is made of the function itself, see
                `cfgfix.tf.fingerprint`.

        Raises:
            CfgfixError: The tokenizer gives something other than whole numbers of 32 bits, or shows nothing a
                fingerprint could be made of.
        """

        def pack(index: int, result: Any) -> Any:
            found = np.asarray(result)
            if found.size == 0:
                return np.zeros(0, "<i4")
            if (
                found.ndim != 1
                or found.dtype.kind not in "iu"
                or found.min() < _BOUNDS.min
                or found.max() > _BOUNDS.max
            ):
                raise CfgfixError(
                    f"the tokenizer must give a list of whole numbers of 32 bits, but not so for text {index}"
                )
            return np.ascontiguousarray(found, "<i4")

        store, where, rows, report = self._cached_results(
            "tokens", texts, tokenize, pack, settings, fingerprint
        )
        return TokenTable(store.segments, where, rows, report)

    def strings(
        self,
        texts: Sequence[str],
        function: Callable[[str], str],
        *,
        kind: str,
        settings: Mapping[str, Any] | None = None,
        fingerprint: str | None = None,
    ) -> tuple[list[str], Report]:
        """Return a function's answer for each text, and a report of the call.

        Answers that are not in the cache are computed.

        Args:
            texts: The texts.
            function: Gives a text for a text: its language, its normalised form.
            kind: What it is, such as `language` or `normalized`: letters, digits and underscores.
            settings: Whatever else decides the result.
            fingerprint: As for `tokens`.

        Raises:
            CfgfixError: The function gives something other than a text, or `kind` is no name.
        """
        if not kind.isidentifier():
            raise CfgfixError(f"kind must be a name such as language, not {kind!r}")

        def pack(index: int, result: Any) -> Any:
            if not isinstance(result, str):
                raise CfgfixError(
                    f"the function must give a text, but gives a {type(result).__name__} for text {index}"
                )
            return result.encode("utf-8", "surrogatepass")

        store, where, rows, report = self._cached_results(kind, texts, function, pack, settings, fingerprint)
        made = [
            store.segments[number].row(int(row)).tobytes().decode("utf-8", "surrogatepass")
            for number, row in zip(where, rows, strict=True)
        ]
        return made, report

    def _cached_results(
        self,
        kind: str,
        texts: Sequence[str],
        function: Callable[[str], Any],
        pack: Callable[[int, Any], Any],
        settings: Mapping[str, Any] | None,
        fingerprint: str | None,
    ) -> tuple[Store, Any, Any, Report]:
        started = time.perf_counter()
        name = fingerprint_of(
            [kind, fingerprint_of(function) if fingerprint is None else fingerprint, dict(settings or {})]
        )
        store = Store(self.folder, kind, name, max_bytes=self.max_bytes)
        keys = keys_of(texts)
        where, rows = store.find(keys)
        missing = np.flatnonzero(where < 0)
        way = None
        made = 0
        if len(missing):
            _, first = np.unique(keys[missing], axis=0, return_index=True)
            chosen = missing[np.sort(first)]
            results, way = map_parallel(
                function, [texts[index] for index in chosen], workers=self.workers, mode=self.mode
            )
            made = len(chosen)
            store.add(
                keys[chosen],
                [pack(int(index), result) for index, result in zip(chosen, results, strict=True)],
            )
            found = store.find(keys[missing])
            where[missing], rows[missing] = found
        report = Report(
            len(texts),
            len(texts) - len(missing),
            made,
            way,
            time.perf_counter() - started,
            tuple(store.rebuilt),
        )
        return store, where, rows, report
