"""An answer that rests on the machine as it is now is worked out anew each time."""

from __future__ import annotations

import os

import pytest

CONFIG = "training:\n  learning_rate: 0.001\n  epochs: 2\ndata:\n  batch_size: 8\n  num_workers: 2\n"
PROFILE = '[hardware]\ndefault = "here"\n[hardware.profiles]\nhere = "auto"\n'


@pytest.fixture
def answers(cfgfix, tmp_path):
    """Check under some settings and return how many answers are kept."""

    def run(settings, *arguments, folder="."):
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        (place / "c.yaml").write_text(CONFIG)
        (place / "cfgfix.toml").write_text(settings)
        for path in (place / "c.yaml", place / "cfgfix.toml", place, tmp_path):
            os.utime(path, (1_577_836_800, 1_577_836_800))
        result = cfgfix("check", f"{folder}/c.yaml", *arguments)
        assert result.code in (0, 1), result.err
        return len(list((tmp_path / ".cache-of-cfgfix").glob("run-*")))

    return run


@pytest.mark.parametrize(
    ("settings", "arguments"),
    [
        ('hardware = "auto"\n', []),
        ('hardware = " AUTO "\n', []),
        (PROFILE, []),
        (PROFILE, ["--hardware", "here"]),
        (PROFILE, ["--hardware", "all"]),
        ("", ["--hardware", "AUTO"]),
        ("", ["--hardware=Auto"]),
    ],
)
def test_nothing_is_kept(answers, settings, arguments):
    assert answers(settings, *arguments) == 0


def test_nothing_is_kept_where_settings_below_say_so(answers):
    assert answers('hardware = "auto"\n', folder="sub") == 0


def test_a_named_machine_is_kept(answers):
    assert answers('hardware = "rtx4090"\n') == 1


@pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="not on this platform: one CPU",
)
def test_fewer_cpus_are_seen_at_once(cfgfix, answers):
    answers('hardware = "auto"\n')
    assert " 1 CPU" not in cfgfix("check", "c.yaml").out
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert " 1 CPU" in cfgfix("check", "c.yaml").out
    finally:
        os.sched_setaffinity(0, before)


def test_a_machine_with_a_gpu_is_looked_at_each_time(tmp_path):
    from cfgfix.hardware.presets import is_this_machine

    (tmp_path / "dev").mkdir()
    assert not is_this_machine(None, root=tmp_path)
    (tmp_path / "dev" / "nvidiactl").touch()
    assert is_this_machine(None, root=tmp_path)
    assert not is_this_machine("none", root=tmp_path)
    assert not is_this_machine("rtx4090", root=tmp_path)
