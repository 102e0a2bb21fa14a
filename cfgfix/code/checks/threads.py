"""Threads whose work stands under one lock, so that they take turns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypedDict

from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import PYTHON, hot_paths, inside
from cfgfix.code.model.expressions import text
from cfgfix.code.model.hit import Entry, Step, at, hit_in
from cfgfix.code.model.nodes import Call
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import alternatives
from cfgfix.rules.hit import Hit

_SLOW = (
    "builtins.open",
    "numpy.load",
    "numpy.save",
    "numpy.loadtxt",
    "numpy.fromfile",
    "librosa.",
    "soundfile.",
    "scipy.io.",
    "PIL.Image.open",
    "cv2.imread",
    "wave.open",
    "pickle.load",
    "json.load",
    "pandas.read_",
    "tensorflow.io.read_file",
    "tensorflow.audio.decode",
    "tensorflow.image.decode",
    "tensorflow.io.decode",
    "h5py.File",
    "torch.load",
    "torchaudio.",
    "sentencepiece.SentencePieceProcessor.",
    "tokenizers.Tokenizer.",
)
_TOKENISES = frozenset(
    {"encode", "encode_plus", "batch_encode_plus", "encode_batch", "encode_as_ids", "encode_as_pieces", "EncodeAsIds", "EncodeAsPieces",
     "tokenize", "tokenise", "texts_to_sequences", "text_to_sequence", "phonemize", "phonemise", "convert_tokens_to_ids", "__call__"}
)  # fmt: skip
_TOKENISER = re.compile(
    r"token|phonem|(?:^|[._])(?:sp|spm|bpe|g2p|sentencepiece|processor|encoder|vocab)(?:$|[._])",
    re.IGNORECASE,
)


def work_under_lock(program: Program) -> Iterator[Hit]:
    """Find reading, decoding or tokenising under a lock that threads share."""
    pooled = _functions_of_pools(program)
    for module in program.all_modules(words=(b"Lock(",)):
        if "Lock(" not in module.summary.words:
            continue
        for scope in module.summary.scopes:
            ways = pooled.get(id(scope))
            if ways is None:
                continue
            for number, block in enumerate(scope.blocks):
                if (
                    block.kind != "with"
                    or block.test is None
                    or not text(block.test).lower().endswith(("lock", "_lock()"))
                ):
                    continue
                slow = _slow_inside(program, scope, number)
                if slow is None:
                    continue
                call, shown = slow
                for pool, way in ways:
                    yield hit_in(
                        scope,
                        call.name_place,
                        call.block,
                        **way,
                        values={
                            "call": shown,
                            "lock": text(block.test),
                            "line": block.line,
                            "pool": pool,
                        },
                    )
                break


def _slow_inside(program: Program, scope: Scope, number: int) -> tuple[Call, str] | None:
    """Return the first call in a block that reads, decodes or tokenises, with words.

    It may do so in the function that it calls. Return None where there is none.
    """
    flow_of(program).default(scope)
    named = {site.call.number: site.name for site in flow_of(program).within(scope)}
    for call in scope.calls:
        if inside(scope, call.block, number) and (
            named.get(call.number, "").startswith(_SLOW) or _is_tokeniser(call)
        ):
            return call, text(call.func)
    for site in flow_of(program).within(scope):
        if not inside(scope, site.call.block, number):
            continue
        for target in site.targets:
            inner = next(
                (
                    call
                    for call in target.scope.calls
                    if _is_tokeniser(call)
                    or any(
                        found.name.startswith(_SLOW)
                        for found in flow_of(program).within(target.scope)
                        if found.call is call
                    )
                ),
                None,
            )
            if inner is not None:
                return site.call, f"{text(inner.func)} (by {text(site.call.func)})"
    return None


def _is_tokeniser(call: Call) -> bool:
    """Tell whether a call's name is that of a tokeniser."""
    shown = text(call.func)
    if call.method in _TOKENISES:
        return _TOKENISER.search(shown.rpartition(".")[0]) is not None or call.method not in (
            "encode",
            "__call__",
        )
    return (
        call.method not in ("append", "add", "get", "put")
        and re.search(r"(?:^|[._])(?:tokeni[sz]er?|phonemi[sz]er?)$", shown) is not None
    )


_POOLS = (
    "concurrent.futures.ThreadPoolExecutor.",
    "concurrent.futures.thread.ThreadPoolExecutor.",
    "multiprocessing.pool.ThreadPool.",
    "multiprocessing.dummy.Pool.",
    "threading.Thread",
)


class _ThreadEntry(TypedDict, total=False):
    """How a thread comes to a function."""

    entry: Entry
    flow: tuple[Step, ...]


def _functions_of_pools(program: Program) -> dict[int, list[tuple[str, _ThreadEntry]]]:
    """Return the functions that several threads run, by the identity of their scopes.

    Each comes with its pools in words and the way to it.
    """
    found: dict[int, list[tuple[str, _ThreadEntry]]] = {}
    hot = hot_paths(program)
    for reach in hot.reached(PYTHON):
        if reach.root.site is not None and reach.root.site.name != "tensorflow.data.Dataset.from_generator":
            found.setdefault(id(reach.scope), []).append((reach.via, {"entry": reach}))
    for site in flow_of(program).under(*_POOLS):
        given = (
            site.argument(1, "target")
            if site.name == "threading.Thread"
            else site.args[0]
            if site.args
            else None
        )
        for item in alternatives(given):
            scope = getattr(item, "scope", None)
            if not isinstance(scope, Scope) or scope.kind == "class":
                continue
            pending = [scope]
            seen: set[int] = set()
            while pending and len(seen) < 60:
                here = pending.pop()
                if id(here) in seen:
                    continue
                seen.add(id(here))
                pool = f"the thread pool at line {site.call.line} runs {scope.qualname}"
                step = at(site, label="given to the pool's threads")
                found.setdefault(id(here), []).append((pool, {"flow": (step,)}))
                pending += [
                    target.scope for inner in flow_of(program).within(here) for target in inner.targets
                ]
    return found
