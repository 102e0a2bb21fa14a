from __future__ import annotations

import math
import re
from html.parser import HTMLParser

import pytest

from cfgfix.output.page import grid, histogram, line_chart, page

VOID = {"meta", "br", "hr", "img", "line", "polyline", "rect"}


class Balanced(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


def check(text):
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []


DIAGNOSIS = {
    "subject": "<b>& train.yaml",
    "checks": [
        {"name": "loader", "title": "Loader", "state": "fail", "summary": "<script>alert(1)</script>", "evidence": ["a & b"] * 9, "rules": ["TFD001"], "fixes": ["x < y"]}
    ],
}  # fmt: skip
SEARCH = {
    "summary": "4 settings tried",
    "space": {"batch_size": [8, 16], "workers": [1, 2]},
    "tried": [
        {"values": {"batch_size": 8, "workers": 1}, "samples_per_second": 10.0, "error": None},
        {"values": {"batch_size": 16, "workers": 2}, "samples_per_second": 40.0, "error": None},
        {"values": {"batch_size": 16, "workers": 1}, "samples_per_second": None, "error": "out of memory"},
    ],
}


def test_what_users_wrote_is_text_and_never_markup():
    made = page({"diagnosis": DIAGNOSIS})
    check(made)
    assert "<script" not in made
    assert "&lt;script&gt;" in made
    assert "&lt;b&gt;&amp; train.yaml" in made


def test_nothing_is_loaded_from_anywhere():
    made = page({"diagnosis": DIAGNOSIS, "search": SEARCH}, missing=["profile step: no step was named"])
    check(made)
    assert not re.search(r"(src|href)=\"(?!#)", made)
    assert "url(" not in made
    assert "no step was named" in made
    assert "out of memory" in made


def test_the_best_cell_is_marked_once():
    made = grid([SEARCH["tried"][0], SEARCH["tried"][1]], "batch_size", "workers", SEARCH["space"], 40.0)
    assert made.count('class="best"') == 1
    assert made.count("<td>-</td>") == 2


@pytest.mark.parametrize("count", [2, 50, 5000])
def test_a_line_keeps_its_peaks(count):
    values = [1.0] * count
    values[count // 2] = 9.0
    made = line_chart(values, unit="ms", across="batch", label="times")
    check(made)
    heights = [float(pair.split(",")[1]) for pair in re.search(r'points="([^"]+)"', made)[1].split()]
    assert min(heights) == pytest.approx(10.0, abs=0.1)
    assert len(heights) <= 1300


def test_gaps_and_too_few_values_draw_nothing_wrong():
    assert line_chart([1.0], unit="ms", across="batch", label="times") == ""
    made = line_chart([1.0, None, math.nan, 3.0], unit="ms", across="batch", label="times")
    assert "nan" not in made
    assert histogram([1.0] * 100, unit="ms", label="times") == ""
    assert "rect" in histogram([float(value) for value in range(100)], unit="ms", label="times")
