from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import textwrap

import pytest

pytest.importorskip("numpy")
pytest.importorskip("tensorflow", reason="needs the tf extra")

MODULE = """
import tensorflow as tf

def good():
    return tf.data.Dataset.range(640).map(lambda value: (tf.one_hot(value % 4, 4), tf.one_hot(value % 2, 2))).batch(8, drop_remainder=True).repeat()

def broken():
    raise KeyError("no such speaker")

def step():
    keras = tf.keras
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)]), "mse", "sgd"
"""
CONFIG = "model: {n_mels: 80}\ndata:\n  dataset_path: d\n  batch_size: 8\n  num_workers: 2\ntraining:\n  learning_rate: 1e-4\n"
MEASURE = """<script>addEventListener("load",()=>{const d=document.documentElement;
const wide=[...document.querySelectorAll("body *")].filter(e=>e.getBoundingClientRect().right>d.clientWidth+0.5&&!e.closest(".scroll"));
const small=[...document.querySelectorAll("svg")].filter(e=>e.getBoundingClientRect().width/e.viewBox.baseVal.width<0.75);
parent.document.documentElement.setAttribute("data-found",JSON.stringify({scroll:d.scrollWidth,client:d.clientWidth,
wide:wide.map(e=>e.tagName),small:small.length,dark:matchMedia("(prefers-color-scheme: dark)").matches,
ink:getComputedStyle(document.body).color,paper:getComputedStyle(document.body).backgroundColor,
height:d.scrollHeight,drawings:document.querySelectorAll("svg").length}))})</script></body>"""
SEARCH = {
    "summary": "6 settings tried",
    "space": {"batch_size": [8, 16, 32, 64, 128, 256], "num_parallel_calls": list(range(1, 17))},
    "tried": [
        {"values": {"batch_size": size, "num_parallel_calls": calls}, "samples_per_second": 1234.5 * calls, "error": None}
        for size in (8, 256) for calls in range(1, 17)
    ],
}  # fmt: skip


@pytest.fixture
def project(tmp_path):
    (tmp_path / "mine.py").write_text(textwrap.dedent(MODULE))
    (tmp_path / "train.yaml").write_text(CONFIG)
    return tmp_path


def in_chromium(page, folder, *, width, dark):
    """What a real browser finds in a frame of that width, for it does not make windows as narrow as a phone."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("chromium is not on this machine")
    frame = folder / "frame.html"
    inside = html.escape(page.replace("</body>", MEASURE))
    frame.write_text(
        f'<!doctype html><body style="margin:0"><iframe style="border:0;width:{width}px;height:900px" srcdoc="{inside}"></iframe></body>',
        encoding="utf-8",
    )
    common = [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder / 'profile'}", f"--blink-settings=preferredColorScheme={0 if dark else 1}", "--window-size=1300,900", "--virtual-time-budget=3000"]  # fmt: skip
    done = subprocess.run(
        [*common, "--dump-dom", frame.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    picture = folder / "page.png"
    subprocess.run(
        [*common, f"--screenshot={picture}", frame.as_uri()], capture_output=True, timeout=120, check=True
    )
    assert picture.read_bytes().startswith(b"\x89PNG")
    return json.loads(html.unescape(re.search('data-found="([^"]*)"', done.stdout)[1]))


def brightness(colour):
    """Relative luminance of `rgb(r, g, b)`, as WCAG 2 defines it."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.acceptance
def test_everything_in_one_folder(cfgfix, project, tmp_path):
    (project / "out").mkdir()
    (project / "out" / "search.json").write_text("of an earlier run")
    done = cfgfix("report", "out", "train.yaml", "--dataset", "mine:good", "--step", "mine:step", "--source-root", ".", "--batches", "40", "--quiet")  # fmt: skip
    assert done.code == 1, done.err
    out = project / "out"
    kinds = {
        name: json.loads((out / f"{name}.json").read_text())
        for name in ("diagnosis", "data", "step", "devices")
    }
    assert {name: form["kind"] for name, form in kinds.items()} == {name: name for name in kinds}
    assert not (out / "search.json").exists()
    text = (out / "summary.txt").read_text()
    assert "FAIL  Configuration" in text
    assert "What could not run" not in text
    for name in ("data", "step", "devices"):
        (events,) = out.glob(f"tensorboard/*/{name}/**/events*")
        assert events.stat().st_size > 500
    page = (out / "report.html").read_text()
    assert not re.search(r"(src|href)=\"(?!#)", page)
    assert 'id="diagnosis"' in page
    assert 'id="step"' in page
    from cfgfix.output.page import page as make_page

    full = make_page(
        {**kinds, "search": SEARCH}, title="cfgfix report: " + "x" * 200, missing=["step: " + "y" * 300]
    )
    for width, dark in ((390, False), (390, True), (1200, True)):
        found = in_chromium(full, tmp_path, width=width, dark=dark)
        assert found["dark"] is dark
        assert found["scroll"] == found["client"], found
        assert found["wide"] == [], found
        assert found["small"] == 0, found
        assert found["drawings"] >= 2, found
        light, shade = sorted((brightness(found["ink"]), brightness(found["paper"])), reverse=True)
        assert (light + 0.05) / (shade + 0.05) > 7
        assert (brightness(found["paper"]) < 0.1) is dark


@pytest.mark.acceptance
def test_what_cannot_run_is_told_and_the_rest_runs(cfgfix, project):
    done = cfgfix("report", "out", "--dataset", "mine:broken", "--tune", "--quiet")
    out = project / "out"
    assert done.code == 3, done.err
    assert (out / "diagnosis.json").exists()
    assert (out / "devices.json").exists()
    assert not (out / "data.json").exists()
    text = (out / "summary.txt").read_text()
    assert "data: " in text.partition("What could not run")[2]
    assert "no such speaker" in text.partition("What could not run")[2]
    assert "step: no step was named" in text
    assert "search: without a config there are no settings" in text
    assert "no such speaker" in (out / "report.html").read_text()


def test_the_search_is_that_of_tune(project, monkeypatch):
    from cfgfix.cli import report
    from cfgfix.cli.diagnose import diagnosed_subject
    from cfgfix.diagnose import search

    plans = []

    def pretended(plan, _show):
        plans.append(plan)
        present = search.Try({"workers": 2}, 50.0, None, 2.0, 10)
        return search.Found("mine:good", {"workers": (2,)}, (present,), present, None, None, (), (), "warm", (), None)  # fmt: skip

    monkeypatch.chdir(project)
    monkeypatch.setattr(search, "search", pretended)
    options = dict.fromkeys(("data_path", "step", "hardware", "step_ms", "config_loader"))
    options |= {"dataset": "mine:good", "batch_size": 16, "source_roots": (".",), "batches": 20, "time_limit": 60.0, "no_storage": True}  # fmt: skip
    work = report._ReportParts(
        "out", "train.yaml", diagnosed_subject("train.yaml", options), options, lambda what, share: None
    )
    work.attempt("search", work.search)
    work.finish()
    (plan,) = plans
    assert plan.config == "train.yaml"
    assert plan.options["dataset"] == "mine:good"
    assert plan.options["source_roots"] == [str(project)]
    form = json.loads((project / "out" / "search.json").read_text())
    assert form["kind"] == "search"
    assert form["applied"] is False
    assert work.code == 0
    assert 'id="search"' in (project / "out" / "report.html").read_text()
    assert "workers 2" in (project / "out" / "summary.txt").read_text()
    assert list((project / "out").glob("tensorboard/*/search/**/events*"))


def test_a_folder_that_cannot_be_used(cfgfix, project):
    (project / "out").write_text("a file")
    done = cfgfix("report", "out", "--dataset", "mine:good")
    assert done.code in (2, 3)
    assert "out" in done.err
    assert (project / "out").read_text() == "a file"


def test_a_step_without_batches_is_wrong_use(cfgfix, project):
    done = cfgfix("report", "out", "--step", "mine:step")
    assert done.code == 2
    assert not (project / "out").exists()
