"""One walk over a document answers what trying each signature by itself would."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from cfgfix.config.dialects.detect import Index, detect, exists, score
from cfgfix.config.dialects.dialect import Dialect, build, dialects, shipped_table, signatures_of
from cfgfix.config.dialects.signatures import Pattern, Signature, table
from cfgfix.config.document.compose import compose
from cfgfix.core.source_file import SourceFile

KEYS = st.sampled_from(["a", "b", "c", "*"])
DATA = st.recursive(
    st.integers(0, 3),
    lambda inner: st.dictionaries(KEYS, inner, max_size=3) | st.lists(inner, max_size=3),
    max_leaves=12,
)
PATTERN = st.lists(st.sampled_from(["a", "b", "c", "*", None, -1, 0, 1]), min_size=1, max_size=3).map(tuple)
GROUP = st.lists(PATTERN, max_size=3).map(tuple)
SIGNATURE = st.builds(
    Signature,
    st.lists(GROUP.filter(bool), max_size=2).map(tuple),
    GROUP,
    st.integers(0, 2),
    st.lists(PATTERN, max_size=1).map(tuple),
)


def dialect(name: str, signature: Signature, confidence: str = "high") -> Dialect:
    made = build({"name": name, "confidence": confidence}, "x")
    return Dialect(
        made.name,
        made.title,
        made.loader,
        made.unknown_keys,
        made.coerces,
        made.defaults,
        made.schema,
        signature,
        made.concepts,
        made.components,
        made.confidence,
        made.facts,
    )


def root_of(text: str) -> Any:
    return compose(SourceFile.from_bytes(text.encode(), "x.yaml")).roots[0]


def there(data: Any, pattern: Pattern) -> bool:
    if not pattern:
        return True
    step, rest = pattern[0], pattern[1:]
    if isinstance(step, int):
        if not isinstance(data, list):
            return False
        return any(there(item, rest) for item in (data if step == -1 else data[step : step + 1]))
    if not isinstance(data, dict):
        return False
    return any(there(value, rest) for key, value in data.items() if step is None or key == step)


def points(data: Any, signature: Signature) -> int:
    if not (signature.every or signature.any_of) or not isinstance(data, dict):
        return 0
    if not all(any(there(data, pattern) for pattern in group) for group in signature.every):
        return 0
    hits = sum(there(data, pattern) for pattern in set(signature.any_of))
    if hits < signature.least or any(there(data, pattern) for pattern in signature.none_of):
        return 0
    return hits + len(signature.every)


@given(DATA, st.lists(SIGNATURE, min_size=1, max_size=4))
def test_the_walk_agrees_with_the_words_of_the_signatures(data: Any, signatures: list[Signature]) -> None:
    root = root_of(yaml.safe_dump(data))
    known = [dialect(f"d{number}", signature) for number, signature in enumerate(signatures)]
    wanted = [points(data, signature) for signature in signatures]
    assert Index(known).points(root) == wanted
    assert [score(root, each) for each in known] == wanted
    best = max(wanted)
    found = detect(root, known)
    assert (found.name if found else None) == (f"d{wanted.index(best)}" if best else None)


@given(DATA, PATTERN)
def test_exists(data: Any, pattern: Pattern) -> None:
    assert exists(root_of(yaml.safe_dump(data)), pattern) == there(data, pattern)


def test_low_confidence_gives_way() -> None:
    sure = dialect("sure", Signature((), (("a",),), 1, ()))
    unsure = dialect("unsure", Signature((), (("a",), ("b",)), 1, ()), "low")
    root = root_of("a: 1\nb: 2\n")
    assert detect(root, [unsure, sure]) is sure
    assert detect(root, [unsure]) is unsure


def test_aliases_and_repeated_keys_cannot_make_it_long() -> None:
    wide = "x: &x {" + ", ".join(f"k{n}: 1" for n in range(100)) + "}\n"
    document = compose(SourceFile.from_bytes((wide + "a: *x\n" * 500).encode(), "x.yaml"))
    assert document.problem is None
    assert exists(document.roots[0], ("a", "k99"))
    assert not exists(document.roots[0], ("a", "b", "c"))


def test_the_shipped_table_is_that_of_the_shipped_dialects() -> None:
    shipped = tuple(dialects().values())
    assert shipped_table(shipped) == table(signatures_of(shipped))
    assert shipped_table(shipped[1:]) is None
