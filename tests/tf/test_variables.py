from __future__ import annotations

import json
import os
import subprocess

import pytest
from click.testing import CliRunner

from cfgfix.cli.tf_env import tf_env
from cfgfix.core.errors import CfgfixError
from cfgfix.hardware.model import exact
from cfgfix.hardware.presets import parse_profile
from cfgfix.tf.variables import Variable, environment, render


def as_dict(found: tuple[Variable, ...]) -> dict[str, str]:
    return {item.name: item.value for item in found}


def with_quota(profile: str, processors: float):
    from cfgfix.core.records import replace

    machine = parse_profile(profile)
    cpu = replace(machine.cpu, usable=exact(processors, "cpu.max"), limited_by="/sys/fs/cgroup/cpu.max")
    return replace(machine, cpu=cpu, has_quota=exact(True, "cpu.max"))


def test_the_order_the_caller_means_is_kept() -> None:
    found = as_dict(environment({"data_gpu": 1, "model_gpu": 0}, "rtx4090x2"))
    assert found == {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": "1,0"}


def test_nothing_to_set_where_tensorflow_sees_right() -> None:
    assert environment({}, "rtx4090x2,cpus=16") == ()


def test_threads_are_set_under_a_quota() -> None:
    found = as_dict(environment({}, with_quota("rtx4090", 2.5)))
    assert found == {"TF_NUM_INTRAOP_THREADS": "2", "TF_NUM_INTEROP_THREADS": "2"}
    asked = as_dict(environment({"intra_op_threads": 1, "inter_op_threads": 0}, with_quota("rtx4090", 2.5)))
    assert asked == {"TF_NUM_INTRAOP_THREADS": "1"}


def test_clustering_on_a_machine_without_a_gpu_needs_two_flags() -> None:
    assert "--tf_xla_cpu_global_jit" in as_dict(environment({"xla_auto": True}, "cpu"))["TF_XLA_FLAGS"]
    assert "cpu_global" not in as_dict(environment({"xla_auto": True}, "rtx4090"))["TF_XLA_FLAGS"]


def test_a_gpu_that_is_not_there() -> None:
    with pytest.raises(CfgfixError, match="GPU 2, but there are 2"):
        environment({"data_gpu": 2}, "rtx4090x2")


def test_growth_and_a_limit_exclude_each_other() -> None:
    with pytest.raises(CfgfixError, match="exclude each other"):
        environment({"memory_growth": True, "gpu_memory_mb": 100}, "rtx4090")
    assert as_dict(environment({"memory_growth": True}, "rtx4090"))["TF_FORCE_GPU_ALLOW_GROWTH"] == "true"


def test_shell_text_is_quoted_and_does_what_it_says() -> None:
    text = render((Variable("CFGFIX_A", "a b'; echo $HOME", "why\nnot"),), "sh")
    done = subprocess.run(
        ["sh", "-c", text + 'printf %s "$CFGFIX_A"'],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.environ["PATH"]},
    )
    assert done.stdout == "a b'; echo $HOME"
    with pytest.raises(CfgfixError, match="line break"):
        render((Variable("A", "a\nb", "x"),), "env")


def test_the_command(tmp_path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("data:\n  batch_size: 4\n  data_gpu: 1\n  model_gpu: 0\ntraining:\n  seed: 3\n")
    done = CliRunner().invoke(tf_env, [str(path), "--hardware", "rtx4090x2", "--format", "json"])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.output)["variables"]
    assert {row["name"]: row["value"] for row in rows} == {
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": "1,0",
        "PYTHONHASHSEED": "3",
    }
    assert all(row["why"] for row in rows)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("data:\n  batch_size: 4\n", "no key for devices, threads"),
        ("data:\n  batch_size: 4\ntraining:\n  use_xla_auto: false\n", "config: "),
    ],
)
def test_where_nothing_is_needed_the_command_says_what_it_looked_at(tmp_path, text, told) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(text)
    done = CliRunner().invoke(tf_env, [str(path), "--hardware", "none"])
    if done.exit_code:
        done = CliRunner().invoke(tf_env, [str(path)])
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    assert "no variable needs to be set" in done.stderr
    assert "threads: TensorFlow counts" in done.stderr
    assert told in done.stderr
    assert "config: none was named" in CliRunner().invoke(tf_env, []).stderr
