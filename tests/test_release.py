"""What would be released holds what it should, and says what it is. Installing it is a matter of `make release-check`."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import load_script

ROOT = Path(__file__).resolve().parent.parent

for name in ("build", "hatchling", "packaging", "readme_renderer"):
    pytest.importorskip(name)


@pytest.fixture(scope="module")
def release():
    return load_script("tools/check_release.py")


@pytest.fixture(scope="module")
def built(release, made_once):
    place = made_once("release", lambda place: release.check_contents(place, isolated=False))
    return next((place / "wheel").glob("*.whl")), next((place / "sdist").glob("*.tar.gz"))


@pytest.fixture
def wheel(release, built):
    return release.wheel_files(built[0])


@pytest.fixture
def sdist(release, built):
    return release.sdist_files(built[1])


def test_both_distributions_hold_what_they_should(built):
    wheel, sdist = built
    assert wheel.name.endswith("-py3-none-any.whl")
    assert sdist.name.endswith(".tar.gz")


@pytest.mark.parametrize("name", ["cfgfix/py.typed", "cfgfix/_compiled/dialects.py", "cfgfix/lint/runner.py"])
def test_a_file_that_is_missing_is_seen(release, wheel, name):
    del wheel[name]
    with pytest.raises(release.WrongError, match="missing"):
        release.check_wheel(wheel)


def test_a_rule_that_is_missing_is_seen(release, wheel):
    (name,) = (name for name in wheel if "/HWR001-" in name)
    del wheel[name]
    with pytest.raises(release.WrongError, match="HWR001"):
        release.check_wheel(wheel)


def test_a_rule_that_was_not_compiled_is_seen(release, wheel):
    name = "cfgfix/_compiled/rules.py"
    wheel[name] = wheel[name].replace(b"HWR001", b"HWR999")
    with pytest.raises(release.WrongError, match="HWR001"):
        release.check_wheel(wheel)


@pytest.mark.parametrize("name", ["tests/test_x.py", "cfgfix/notes.txt", "cfgfix/_data/rules/x.yaml"])
def test_a_file_too_many_is_seen(release, wheel, name):
    wheel[name] = b""
    with pytest.raises(release.WrongError, match="too"):
        release.check_wheel(wheel)


def test_a_changed_file_is_seen(release, wheel):
    wheel["cfgfix/lint/runner.py"] += b"\n"
    with pytest.raises(release.WrongError, match="differs"):
        release.check_wheel(wheel)


def test_a_source_distribution_without_its_build_hook_is_seen(release, sdist):
    del sdist["hatch_build.py"]
    with pytest.raises(release.WrongError, match=r"hatch_build\.py"):
        release.check_sdist(sdist)


def test_metadata_that_says_something_else_is_seen(release, wheel):
    (content,) = (text for name, text in wheel.items() if name.endswith("/METADATA"))
    for old, new in (
        (b"Requires-Python: >=3.10", b"Requires-Python: >=3.9"),
        (b"Requires-Dist: click>=8.1", b"Requires-Dist: click>=7"),
        (b"License-Expression: Apache-2.0", b"License-Expression: MIT"),
        (b"Provides-Extra: lsp\n", b""),
        (b"# cfgfix", b"# something else"),
    ):
        assert old in content
        with pytest.raises(release.WrongError):
            release.check_metadata(content.replace(old, new, 1))
