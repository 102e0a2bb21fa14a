"""Each note about a measurement is held to the table it cites: its rows, its numbers and the errors it names.

A rule file says with `rows` which rows a note is about and what they hold: the recorded value itself, or for ratios a comparison
(`> 1.5`, `< 0.9`, `1.2 to 1.6`, `about 1.4`). `A over B` is the ratio of two rows, `A, ms` a time. What a note says may use each number
only as often as those rows, their values and the title of the table have it.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cfgfix.catalog.evidence import results
from cfgfix.catalog.read import load_yaml

ROOT = Path(__file__).resolve().parents[2]
RULES = {
    path.stem.partition("-")[0]: load_yaml(str(path)) for path in sorted((ROOT / "rules").glob("*/*.yaml"))
}
WHOLE = json.loads((ROOT / "benchmarks" / "evidence" / "results.json").read_text(encoding="utf-8"))
NOTES = [
    (rule, place, item)
    for rule, data in RULES.items()
    for place, item in enumerate(data["evidence"])
    if "measured" in item
]
IDS = [f"{rule}-{place}" for rule, place, _ in NOTES]

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?(?![\d,]*\d)", re.IGNORECASE)
ERROR = re.compile(r"\b[A-Z]\w*(?:Error|Exception)\b")
COMPARISON = re.compile(r"(>|<|about) (\d+(?:\.\d+)?)|(\d+(?:\.\d+)?) to (\d+(?:\.\d+)?)")
VERSIONS = re.compile(r"\b(TensorFlow|Keras|PyYAML) (\d+(?:\.\d+)*)|\b(2\.\d+)(?='s\b)")
WORDS = {"two": "2", "three": "3", "four": "4", "five": "5", "ten": "10", "hundredth": "100"}
CPUS = re.compile(r"\b(\d+) CPUs\b")


def table(item: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The title of the table that an item cites, and its rows, times in milliseconds among them."""
    name = Path(item["measured"]).stem
    ((title, rows),) = (
        (title, rows) for title, rows in results()[name]["tables"].items() if item["table"] in title
    )
    (whole,) = (found for found in WHOLE[name]["tables"] if found["title"] == title)
    times = {f"{row['name']}, ms": row["median_ms"] for row in whole.get("times", ())}
    return title, {**times, **rows}


def recorded(name: str, rows: dict[str, Any]) -> Any:
    """What was recorded for a row, or for two of them as a ratio."""
    if name in rows:
        return rows[name]
    upper, _, lower = name.partition(" over ")
    return rows[upper] / rows[lower]


def holds(claim: Any, value: Any) -> bool:
    """Whether a recorded value is what a note is said to rest on."""
    match = COMPARISON.fullmatch(claim) if isinstance(claim, str) else None
    if match is None or isinstance(value, str):
        return type(claim) is type(value) and claim == value
    sign, limit, low, high = match.groups()
    if sign == ">":
        return float(limit) >= 1.1 and value > float(limit)
    if sign == "<":
        return float(limit) <= 0.9 and value < float(limit)
    if sign == "about":
        digits = len(limit.partition(".")[2])
        return math.isclose(round(value, digits), float(limit))
    return 0.5 <= float(low) / float(high) < 1 and float(low) <= value <= float(high)


def numbers(text: str) -> Counter[str]:
    """The numbers of a text in one form, each as often as it stands there."""
    for word, digits in WORDS.items():
        text = re.sub(rf"\b{word}\b", digits, text)
    return Counter(f"{float(found.replace(',', '')):g}" for found in NUMBER.findall(text))


def faults(item: dict[str, Any], changed: dict[str, Any] | None = None) -> list[str]:
    """What of a note its table does not hold; `changed` puts other values into the table."""
    title, rows = table(item)
    rows = {**rows, **(changed or {})}
    claims = item.get("rows") or {}
    if not claims:
        return ["no row is named"]
    found = []
    for name, claim in claims.items():
        try:
            value = recorded(name, rows)
        except KeyError:
            found.append(f"there is no row {name!r}")
            continue
        if not holds(claim, value):
            found.append(f"{name!r} is {value!r}, not {claim!r}")
    result = results()[Path(item["measured"]).stem]
    note = item["note"]
    for match in VERSIONS.finditer(note):
        name, version = (match[1] or "TensorFlow").lower(), match[2] or match[3]
        known = next(text for key, text in result["versions"].items() if key.lower() == name)
        if not f"{known}.".startswith(f"{version}."):
            found.append(f"{match[0]!r}: it was measured with {known}")
    for match in CPUS.finditer(note):
        if int(match[1]) != result["machine"]["cpus"]:
            found.append(f"{match[0]!r}: it was measured on {result['machine']['cpus']}")
    note = CPUS.sub("", VERSIONS.sub("", note))
    known = numbers("\n".join([title, *(f"{name}\n{claim}" for name, claim in claims.items())]))
    found += [f"{number!r} is not there" for number in (numbers(note) - known).elements()]
    errors = set(ERROR.findall(" ".join(str(claim) for claim in claims.values())))
    found += [f"{error} is not there" for error in set(ERROR.findall(note)) - errors]
    return found


@pytest.mark.parametrize(("rule", "place", "item"), NOTES, ids=IDS)
def test_a_note_says_what_its_table_holds(rule: str, place: int, item: dict[str, Any]) -> None:
    assert faults(item) == [], f"{rule}, evidence {place}: {item['note']}"


def test_every_rule_with_a_measurement_is_held() -> None:
    citing = {
        path.stem.partition("-")[0]
        for path in (ROOT / "rules").glob("*/*.yaml")
        if re.search(r"\bmeasured: *benchmarks/", path.read_text(encoding="utf-8"))
    }
    assert citing == {rule for rule, _, _ in NOTES}
    assert len(NOTES) > 150


@pytest.mark.parametrize(("rule", "place", "item"), NOTES, ids=IDS)
def test_another_number_or_error_in_a_note_is_noticed(rule: str, place: int, item: dict[str, Any]) -> None:
    plain = CPUS.sub("", VERSIONS.sub("", item["note"]))
    for match in [*NUMBER.finditer(plain), *ERROR.finditer(plain)]:
        other = "9876.5" if match[0][-1].isdigit() else "OtherError"
        wrong = plain[: match.start()] + other + plain[match.end() :]
        assert faults({**item, "note": wrong}), f"{rule}, evidence {place}: {wrong}"


@pytest.mark.parametrize(("rule", "place", "item"), NOTES, ids=IDS)
def test_another_value_in_the_table_is_noticed(rule: str, place: int, item: dict[str, Any]) -> None:
    _, rows = table(item)
    for name in item["rows"]:
        for part in [name] if name in rows else name.split(" over "):
            others: list[Any] = ["something else"] if isinstance(rows[part], str) else [0.001, 1e9]
            for other in others:
                if isinstance(rows[part], bool):
                    other = not rows[part]  # noqa: PLW2901 - the only other value there is
                wrong = faults(item, {part: other})
                expected = COMPARISON.fullmatch(str(item["rows"][name]))
                if expected is not None and expected[1] in (">", "<") and not wrong:
                    # One side of such a comparison is open, the other is not.
                    assert faults(item, {part: 1e9 if other == 0.001 else 0.001})
                else:
                    assert wrong, f"{rule}, evidence {place}: {part!r} as {other!r}"


@pytest.mark.parametrize(
    ("note", "said"),
    [
        ("8 batches, steps_per_epoch=20, epochs=3: a warning, 8 steps in all; with repeat() 60 steps", "'8'"),
        (
            "8 batches, steps_per_epoch=20, epochs=3: a warning, 24 steps in all; with repeat() 61 steps",
            "'61'",
        ),
        ("a warning, 24 steps in all, then a ValueError", "ValueError"),
        ("24 steps in Keras 2.15", "measured with 3."),
        ("24 steps on 64 CPUs", "measured on 2"),
    ],
)
def test_a_number_of_the_set_up_is_no_result(note: str, said: str) -> None:
    (item,) = (item for rule, _, item in NOTES if rule == "CFG021")
    (fault,) = faults({**item, "note": note})
    assert said in fault


def test_claims_that_everything_fulfils_are_none() -> None:
    assert not holds("> 0", 5.0)
    assert not holds("< 100", 5.0)
    assert not holds("0 to 1000", 5.0)
    assert not holds("about 5", 5.6)
    assert holds("about 6", 5.6)
    assert holds("4 to 6", 5.0)
    (item,) = (item for rule, _, item in NOTES if rule == "CFG021")
    assert faults({**item, "rows": {}}) == ["no row is named"]
    assert faults({**item, "rows": {"no such row": 1}})


FOLKLORE = [(rule, data) for rule, data in RULES.items() if data.get("folklore")]


@pytest.mark.parametrize(("rule", "data"), FOLKLORE, ids=[rule for rule, _ in FOLKLORE])
def test_what_is_held_against_folklore_stands_in_the_evidence(rule: str, data: dict[str, Any]) -> None:
    text = data["folklore"]["measured"]
    for script in re.findall(r"benchmarks/\w+/\w+\.py", text):
        assert any(item.get("measured") == script for item in data["evidence"]), f"{rule}: {script}"
    known: Counter[str] = Counter()
    for item in data["evidence"]:
        if "measured" in item:
            title, _ = table(item)
            known += numbers(
                "\n".join([title, *(f"{name}\n{claim}" for name, claim in item["rows"].items())])
            )
            known += numbers(f"{results()[Path(item['measured']).stem]['machine']['cpus']}")
        else:
            known += numbers(f"{item['source']} {item['says']}")
    text = re.sub(r"\b[A-Z]\d+\b|\bKeras 3\.\d+|(?<=float)\d+", "", text)
    assert set(numbers(text)) - set(known) == set(), f"{rule}: {text}"
