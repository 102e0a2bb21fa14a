"""Fuzz the document layer: any bytes are read, composed, loaded, walked, edited at random and proven, and checked.

python fuzz/documents.py 600
"""

from __future__ import annotations

import random
import zlib

import common

with common.instrument():
    from cfgfix.config.document.comments import comments
    from cfgfix.config.document.compose import Document, compose
    from cfgfix.config.document.data import DataError
    from cfgfix.config.document.editor import plan
    from cfgfix.config.document.proof import ProofError, prove
    from cfgfix.config.document.refusals import Refusal
    from cfgfix.config.loaders.scalars import LOADERS
    from cfgfix.core.edits import DeleteKey, InsertKey, RenameKey, SetValue, splice
    from cfgfix.core.errors import CfgfixError
    from cfgfix.core.source_file import SourceFile
    from cfgfix.lint.runner import Request, check, fix
    from cfgfix.settings.reader import Settings

VALUES = [1, 1e-4, True, None, "text", "on", "a: b", "x\ny", ""]
WORDS = ["training:", "learning_rate: 1e-4\n", "batch_size: 8\n", "num_workers: 4\n", "data:\n", "<<: *a\n", "&a ", "*a", "!!set ", "!x ", "- ", "? ", ": ", "|\n", ">-\n", "{", "}", "[", "]", ", ", "# c\n", "---\n", "...\n", "%YAML 1.1\n", "\t", "\r\n", "\r", "\u2028", "'", '"', "\\x41", "  ", "\n", "# cfgfix: ignore[YML001]\n"]  # fmt: skip
SETTINGS = [Settings(hardware="none"), Settings(hardware="rtx4090,cpus=8,ram=32", dialect="generic")]


def edit(document: Document, rng: random.Random) -> None:
    places = [(path, number) for path, _, _, _, number in document.walk()][:200]
    if not places:
        return
    path, number = rng.choice(places)
    changes = rng.choice(
        [
            SetValue(path, rng.choice(VALUES), None, number),
            DeleteKey(path, None, number),
            RenameKey(path, rng.choice(["new", "on", "a b"]), document=number),
            InsertKey(path, "new", rng.choice(VALUES), None, number),
            InsertKey(path[:-1], "new", rng.choice(VALUES), None, number),
        ]
    )
    try:
        edits = plan(document, [changes])
        text = splice(document.source.text, edits)
        prove(document, text, [changes], edits, LOADERS[rng.choice(list(LOADERS))])
    except (Refusal, ProofError):
        return


def target(data: bytes) -> None:
    try:
        source = SourceFile.from_bytes(data, "a.yaml")
    except CfgfixError:
        return
    rng = random.Random(zlib.crc32(data))
    with common.no_side_effects():
        document = compose(source)
        if document.problem is None:
            for loader in LOADERS.values():
                for number in range(len(document.roots)):
                    try:
                        document.data(loader, number)
                    except DataError:
                        continue
            list(comments(document))
            edit(document, rng)
        elif not 0 <= document.problem.offset <= len(source.text):
            raise AssertionError("a problem outside the text")
    if rng.random() < 0.25:
        settings = rng.choice(SETTINGS)
        check(Request(settings=settings, stdin=data, edits=True))
        fix(Request(settings=settings, stdin=data, unsafe_fixes=True))


def seeds() -> list[bytes]:
    found = [path.read_bytes() for path in (common.ROOT / "configs").rglob("*.yaml")]
    place = common.shared()
    if place is not None:
        found += [
            path.read_bytes()
            for path in (place / "corpus").rglob("*.y*ml")
            if path.is_file() and path.stat().st_size < 4000
        ]
    return found


# Everything that is imported or cached on first use, before the guard is up.
target(b"training: {learning_rate: 1e-4, a: 1}\ndata: {batch_size: 8, num_workers: 2}\n")
if __name__ == "__main__":
    common.run("documents", target, seeds(), WORDS)
