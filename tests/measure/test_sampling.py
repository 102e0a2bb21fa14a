from __future__ import annotations

import os
import subprocess
import textwrap
import time
import weakref

import numpy as np
import pytest

from cfgfix.core.errors import CfgfixError, ExitCode
from cfgfix.measure.sampling import (
    UserCodeError,
    call_with_config,
    iterate,
    load_callable,
    load_config,
    run_child,
    user_code,
)


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of a user, for this process and for children started by it."""

    def make(text, name="users_module"):
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(__import__("sys").modules, name, raising=False)
        return name

    return make


def test_a_function_is_found_by_its_name(module):
    name = module("class A:\n    @staticmethod\n    def make():\n        return 7\n")
    assert load_callable(f"{name}:A.make")() == 7


@pytest.mark.parametrize("spec", ["nothing", "a:", ":b", "a/b:c", "a:b()", "a..b:c"])
def test_what_names_no_function_is_refused(spec):
    with pytest.raises(CfgfixError, match="names no function"):
        load_callable(spec)


def test_a_module_that_is_not_there_says_how_to_find_it():
    with pytest.raises(CfgfixError, match="no module 'no_such_module'") as caught:
        load_callable("no_such_module:f")
    assert "--source-root" in caught.value.hint


def test_a_missing_import_of_the_users_module_is_the_users_failure(module):
    name = module("import another_missing_module\n")
    with pytest.raises(UserCodeError, match="another_missing_module"):
        load_callable(f"{name}:f")


def test_a_module_without_that_function(module):
    name = module("x = 1\n")
    for attribute in ("x", "y"):
        with pytest.raises(CfgfixError, match="has no function"):
            load_callable(f"{name}:{attribute}")


@pytest.mark.parametrize(
    ("function", "config", "expected"),
    [
        (lambda: 1, None, 1),
        (lambda: 1, {"a": 2}, 1),
        (lambda config: config["a"], {"a": 2}, 2),
        (lambda config=None: config, {"a": 2}, {"a": 2}),
        (lambda config=None: config, None, None),
        (lambda **rest: rest, {"a": 2}, {}),
    ],
)
def test_a_function_is_called_with_the_config_where_it_takes_one(function, config, expected):
    assert call_with_config(function, config, "m:f") == expected


def test_functions_that_cannot_be_called():
    with pytest.raises(CfgfixError, match="needs the config"):
        call_with_config(lambda config: config, None, "m:f")
    with pytest.raises(CfgfixError, match=r"needs 2 arguments \(a, b\)"):
        call_with_config(lambda a, b: a, {}, "m:f")


def test_leaving_the_program_is_a_failure_too():
    with pytest.raises(UserCodeError, match="SystemExit") as caught, user_code("calling m:f"):
        raise SystemExit(3)
    assert caught.value.code is ExitCode.UNREADABLE


def test_configs(tmp_path, module):
    path = tmp_path / "c.yaml"
    path.write_text("a: 1\n", encoding="utf-8")
    assert load_config(None, None) is None
    assert load_config(str(path), None) == {"a": 1}
    name = module("def load(path):\n    return ('loaded', path)\n")
    assert load_config(str(path), f"{name}:load") == ("loaded", str(path))
    path.write_text("a: !!python/object:os.system {}\n", encoding="utf-8")
    with pytest.raises(CfgfixError, match="not plain YAML"):
        load_config(str(path), None)
    with pytest.raises(CfgfixError, match="cannot be read"):
        load_config(str(tmp_path / "none.yaml"), None)


# --- the child process


def child(options, seconds=60.0, **more):
    return run_child("cfgfix.measure.data:job", options, seconds=seconds, **more)


def test_a_wrong_use_comes_back_as_it_was():
    with pytest.raises(CfgfixError, match="nothing to measure") as caught:
        child({})
    assert "--dataset" in caught.value.hint


def test_the_users_failure_comes_back_with_its_traceback(module, tmp_path):
    name = module("raise ValueError('a bug of mine')\n")
    with pytest.raises(UserCodeError, match="a bug of mine") as caught:
        child({"dataset": f"{name}:f", "source_roots": [str(tmp_path)]})
    assert f"{name}.py" in caught.value.trace
    assert "cfgfix" not in caught.value.trace


def test_a_fault_here_is_not_blamed_on_the_user():
    with pytest.raises(RuntimeError, match="measuring process"):
        run_child("cfgfix.measure.data:no_such_job", {}, seconds=60)


def test_code_of_others_is_no_job():
    with pytest.raises(RuntimeError, match="no part of cfgfix"):
        run_child("os:getcwd", {}, seconds=60)


def test_what_does_not_end_is_stopped_with_its_children(module, tmp_path, monkeypatch):
    mark = tmp_path / "pid"
    name = module(
        f"""
        import os, subprocess, sys, time
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
        print("still here", flush=True)
        open({str(mark)!r} + ".part", "w").write(str(child.pid))
        os.rename({str(mark)!r} + ".part", {str(mark)!r})
        time.sleep(100)
        """
    )

    class TimeFliesOnceItRuns(subprocess.Popen):
        def wait(self, timeout=None):
            if timeout != 1000:
                return super().wait(timeout)
            while self.poll() is None and not mark.exists():
                time.sleep(0.01)
            raise subprocess.TimeoutExpired(self.args, timeout)

    monkeypatch.setattr(subprocess, "Popen", TimeFliesOnceItRuns)
    with pytest.raises(UserCodeError, match="did not end within 1000 s") as caught:
        child({"dataset": f"{name}:f", "source_roots": [str(tmp_path)]}, seconds=1000)
    assert "still here" in caught.value.trace
    assert "--time-limit" in caught.value.hint
    assert ends(int(mark.read_text()))


def ends(pid: int, patience: float = 60) -> bool:
    """Tell whether a process that was sent a signal ends: the signal is delivered at its own time."""
    for _ in range(int(patience / 0.02)):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as stream:
                if stream.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.skipif(os.name != "posix", reason="not on this platform")
def test_a_crash_is_told_by_its_signal(module, tmp_path):
    name = module("import os\nos.abort()\n")
    with pytest.raises(UserCodeError, match="SIGABRT"):
        child({"dataset": f"{name}:f", "source_roots": [str(tmp_path)]})


def test_a_silent_end_is_a_failure(module, tmp_path):
    name = module("import os\nos._exit(0)\n")
    with pytest.raises(UserCodeError, match="no result"):
        child({"dataset": f"{name}:f", "source_roots": [str(tmp_path)]})


def test_what_the_users_code_prints_is_no_result(module, tmp_path):
    name = module('print(\'{"event": "result", "result": {}}\')\nraise KeyError(\'x\')\n')
    with pytest.raises(UserCodeError, match="KeyError"):
        child({"dataset": f"{name}:f", "source_roots": [str(tmp_path)]})


def test_the_iterator_of_an_epoch_ends_before_the_next_begins():
    """As in a loop: beside an older one a new iterator waits for that one's threads."""

    class Epoch:
        left = 3

        def __next__(self):
            if not self.left:
                raise StopIteration
            self.left -= 1
            return np.zeros(4)

    made: list[weakref.ref[Epoch]] = []
    alive: list[int] = []

    class Data:
        def __iter__(self):
            alive.append(sum(one() is not None for one in made))
            epoch = Epoch()
            made.append(weakref.ref(epoch))
            return epoch

    line = iterate(Data(), batches=10, seconds=5)
    assert line.restarts == (2, 5, 8)
    assert alive == [0, 0, 0, 0]
