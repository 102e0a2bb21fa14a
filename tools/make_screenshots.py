"""Make the pictures of the documentation from real runs: `python tools/make_screenshots.py [NAME ...]`.

A terminal's picture is an SVG drawn from what the command prints, with its colours, in a folder as `docs_commands` makes them;
tests hold the text in it against what the command prints today. The picture of the report's page is taken by Chromium from
the forms that a real `cfgfix report` wrote, which are kept beside it; the page's text is kept in the picture, where a test
reads it and holds it against the page that is made today.
"""

from __future__ import annotations

import gzip
import html
import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import docs_commands

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
COLUMNS = 120
"""Where the pictured terminal breaks a line."""
CELL, LINE, SIZE, MARGIN = 7.9, 18, 13, 16
"""Width of a character, height of a line, size of the letters and room around them, in pixels."""
FONTS = "ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace"
INK, PAPER = "#d8dee9", "#1f2430"
COLOURS = {
    "31": "#ff7a85",
    "32": "#a5d6a7",
    "33": "#ffd479",
    "34": "#82b1ff",
    "35": "#d7a6ff",
    "36": "#80deea",
}
SEQUENCE = re.compile(r"\x1b\[([\d;]*)m")
SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture of a terminal."""

    command: str


SHOTS = {
    "check": Shot(
        "cfgfix check configs/speech.yaml --hardware rtx4090,cpus=8,ram=32 --select YML001,HWR001,CFG006"
    ),
    "fix": Shot(
        "cfgfix fix train.yaml --hardware rtx4090,cpus=16,ram=64 --select YML,HWR001,HWR004,CFG015 --diff --quiet"
    ),
    "code": Shot(
        "cfgfix check examples/speech/slow --select TFD001,TFF012 --hardware rtx4090,cpus=16,ram=64"
    ),
}


PARTS = {"diagnosis": 1060, "data": 940}
"""The parts of the report's page that are pictured, each with the height of its picture."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Text of one look."""

    text: str
    colour: str | None
    bold: bool


def pieces(line: str) -> list[Piece]:
    """Split a line where its look changes; other sequences than colours and weights are an error."""
    found, colour, bold, at = [], None, False, 0
    for match in SEQUENCE.finditer(line):
        if match.start() > at:
            found.append(Piece(line[at : match.start()], colour, bold))
        at = match.end()
        for code in (match[1] or "0").split(";"):
            if code == "0":
                colour, bold = None, False
            elif code in {"1", "22"}:
                bold = code == "1"
            elif code in COLOURS:
                colour = COLOURS[code]
            else:
                raise ValueError(f"no look for {match[0]!r}")
    if at < len(line):
        found.append(Piece(line[at:], colour, bold))
    return found


def folded(line: list[Piece], width: int) -> list[list[Piece]]:
    """Break a line where a terminal of so many columns does."""
    rows: list[list[Piece]] = [[]]
    room = width
    for piece in line:
        text = piece.text
        while text:
            if not room:
                rows.append([])
                room = width
            part, text = text[:room], text[room:]
            rows[-1].append(Piece(part, piece.colour, piece.bold))
            room -= len(part)
    return rows


def drawn(command: str, output: str) -> str:
    """Return the picture of a terminal in which a command was run."""
    lines = [f"\x1b[32m$\x1b[0m \x1b[1m{command}\x1b[0m", *output.rstrip("\n").split("\n")]
    rows = [row for line in lines for row in folded(pieces(line), COLUMNS)]
    width, height = round(2 * MARGIN + CELL * COLUMNS), 2 * MARGIN + LINE * len(rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        f"<style>text{{font:{SIZE}px {FONTS};white-space:pre;fill:{INK}}}.b{{font-weight:700}}</style>",
        f'<rect width="{width}" height="{height}" rx="8" fill="{PAPER}"/>',
    ]
    for number, row in enumerate(rows):
        spans = []
        for piece in row:
            look = (' class="b"' if piece.bold else "") + (f' fill="{piece.colour}"' if piece.colour else "")
            # A style sheet wins over an attribute, so a colour is given as a style.
            look = re.sub(r' fill="([^"]+)"', r' style="fill:\1"', look)
            text = html.escape(piece.text, quote=False)
            spans.append(f"<tspan{look}>{text}</tspan>" if look else text)
        y = MARGIN + LINE * (number + 1) - 5
        parts.append(f'<text x="{MARGIN}" y="{y}" xml:space="preserve">{"".join(spans)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def shown(picture: str) -> str:
    """Return the text in the picture of a terminal, as its lines are broken there."""
    return "\n".join("".join(text.itertext()) for text in ET.fromstring(picture).iter(f"{SVG}text"))  # noqa: S314 - our own file


def as_folded(text: str) -> str:
    """Return plain text with its lines broken as in a picture."""
    rows = []
    for line in text.rstrip("\n").split("\n"):
        rows.extend([line[at : at + COLUMNS] for at in range(0, len(line), COLUMNS)] or [""])
    return "\n".join(rows)


def run(shot: Shot, *, colour: bool) -> str:
    """Run the command of a picture in a fresh folder and return what it prints."""
    with tempfile.TemporaryDirectory() as name:
        folder = docs_commands.Folder(Path(name))
        if colour:
            del folder.environment["NO_COLOR"]
            folder.environment["FORCE_COLOR"] = "1"
        outcome = folder.run(shot.command)
        if outcome.code not in {0, 1} or not outcome.output.strip():
            raise SystemExit(f"{shot.command} ended with {outcome.code}\n{outcome.output}{outcome.errors}")
        return outcome.output


def page_text(page: str) -> str:
    """Return what a reader of a page sees as text."""
    body = re.sub(r"(?s)<(style|script)\b.*?</\1>", " ", page)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def report_page(part: str) -> str:
    """Return the page of the report whose forms are kept, with one of its parts."""
    sys.path.insert(0, str(ROOT))
    from cfgfix.output.page import page

    with gzip.open(IMAGES / "report.json.gz", "rt", encoding="utf-8") as stream:
        forms: dict[str, Any] = json.load(stream)
    return page({part: forms["forms"][part]}, title=forms["title"], missing=forms["missing"])


def with_text(picture: bytes, text: str) -> bytes:
    """Return a PNG that carries a text."""
    data = b"Description\0\1\0\0\0" + zlib.compress(text.encode(), 9)
    chunk = struct.pack(">I", len(data)) + b"iTXt" + data + struct.pack(">I", zlib.crc32(b"iTXt" + data))
    end = picture.rindex(b"\0\0\0\0IEND")
    return picture[:end] + chunk + picture[end:]


def text_of(picture: bytes) -> str:
    """Return the text that a PNG carries."""
    at = 8
    while at < len(picture):
        (length,) = struct.unpack(">I", picture[at : at + 4])
        if picture[at + 4 : at + 8] == b"iTXt":
            return zlib.decompress(picture[at + 8 : at + 8 + length].split(b"\0\1\0\0\0", 1)[1]).decode()
        at += 12 + length
    raise ValueError("the picture carries no text")


def photograph(page: str, width: int, height: int) -> bytes:
    """Return the top of a page as Chromium shows it."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("Chromium is not on this machine")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "page.html").write_text(page, encoding="utf-8")
        subprocess.run(
            [
                chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder / 'profile'}",
                "--blink-settings=preferredColorScheme=1", f"--window-size={width},{height}", "--virtual-time-budget=3000",
                f"--screenshot={folder / 'page.png'}", (folder / "page.html").as_uri(),
            ],
            check=True, capture_output=True, timeout=120,
        )  # fmt: skip
        return (folder / "page.png").read_bytes()


def main(names: list[str]) -> None:
    """Make the pictures with these names, or all of them."""
    IMAGES.mkdir(exist_ok=True)
    for name in names or [*SHOTS, "report"]:
        if name == "report":
            for part, height in PARTS.items():
                page = report_page(part)
                picture = with_text(photograph(page, 1000, height), page_text(page))
                (IMAGES / f"report-{part}.png").write_bytes(picture)
        else:
            output = run(SHOTS[name], colour=True)
            (IMAGES / f"{name}.svg").write_text(drawn(SHOTS[name].command, output), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
