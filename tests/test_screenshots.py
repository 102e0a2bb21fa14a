"""The pictures in the documentation show what happens today."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import make_screenshots as made

IMAGES = ROOT / "docs" / "images"


@pytest.mark.parametrize("name", made.SHOTS)
def test_a_picture_of_a_terminal_holds_what_the_command_prints(name):
    picture = (IMAGES / f"{name}.svg").read_text(encoding="utf-8")
    shot = made.SHOTS[name]
    assert made.shown(picture) == made.as_folded(f"$ {shot.command}\n{made.run(shot, colour=False)}")


def test_colours_are_drawn_and_change_no_text():
    picture = made.drawn("x < y", "\x1b[1;31merror\x1b[0m: a & b\n" + "long " * 40)
    assert made.shown(picture) == made.as_folded("$ x < y\nerror: a & b\n" + "long " * 40)
    assert f'class="b" style="fill:{made.COLOURS["31"]}">error</tspan>' in picture
    with pytest.raises(ValueError, match="no look"):
        made.pieces("\x1b[48;5;1mx")


@pytest.mark.parametrize("part", made.PARTS)
def test_the_picture_of_a_report_is_of_the_page_that_is_made(part):
    picture = (IMAGES / f"report-{part}.png").read_bytes()
    assert made.text_of(picture) == made.page_text(made.report_page(part))


def test_a_picture_carries_its_text():
    bare = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\0IEND\xaeB`\x82"
    assert made.text_of(made.with_text(bare, "a text - \u0645\u062a\u0646")) == "a text - \u0645\u062a\u0646"
    with pytest.raises(ValueError, match="no text"):
        made.text_of(bare)


def test_every_picture_is_small_shown_and_described():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    shown = {}
    for page in pages:
        for words, target in re.findall(r"!\[([^\]]*)\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            shown.setdefault((page.parent / target).resolve(), []).append(words)
    files = {path for path in IMAGES.iterdir() if path.suffix in {".svg", ".png"}}
    assert set(shown) == files
    for path in files:
        assert path.stat().st_size < 150_000
        assert all(len(words) > 20 for words in shown[path])
        assert b"http://" not in path.read_bytes().replace(b"http://www.w3.org/", b"")
