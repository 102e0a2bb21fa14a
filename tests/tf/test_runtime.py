from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from cfgfix.core.errors import CfgfixError
from cfgfix.hardware.model import exact
from cfgfix.hardware.presets import parse_profile
from cfgfix.tf.runtime import Applied, apply, verify
from cfgfix.tf.runtime_plan import RuntimeInitializedError, plan

tf = pytest.importorskip("tensorflow", reason="needs the tf extra")
pytestmark = pytest.mark.tensorflow


def make(config: dict[str, Any] | None = None, hardware: str = "rtx4090x2", **arguments: Any):
    arguments.setdefault("environ", {})
    return plan(config, hardware, **arguments)


class TestPlan:
    def test_nothing_is_touched_without_a_reason(self) -> None:
        made = make()
        assert made == replace(made.__class__(), notes=made.notes)

    def test_order_and_roles(self) -> None:
        made = make({"data_gpu": 1, "model_gpu": 0})
        assert made.gpus == (1, 0)
        assert made.devices == ("GPU:1", "GPU:0")
        assert made.roles == {"data": "GPU:1", "model": "GPU:0"}

    def test_only_the_second_card_is_gpu_0(self) -> None:
        made = make(gpus=[1])
        assert made.devices == ("GPU:0",)

    def test_positions_follow_cuda_visible_devices(self) -> None:
        made = make({"data_gpu": 3, "model_gpu": 1}, environ={"CUDA_VISIBLE_DEVICES": "3,1"}, physical_gpus=2)
        assert made.gpus == (0, 1)
        assert made.roles == {"data": "GPU:0", "model": "GPU:1"}
        with pytest.raises(CfgfixError, match="hides it"):
            make({"data_gpu": 0}, environ={"CUDA_VISIBLE_DEVICES": "3,1"})

    def test_limits_of_two_roles_on_one_card_make_two_devices(self) -> None:
        made = make({"data_gpu": 0, "model_gpu": 0, "data_gpu_memory_mb": 4000, "model_gpu_memory_mb": 12000})
        assert made.limits_mib == {0: (4000, 12000)}
        assert made.roles == {"data": "GPU:0", "model": "GPU:1"}

    def test_a_split_card_moves_the_numbers_of_the_next(self) -> None:
        made = make({"data_gpu": 0, "model_gpu": 1, "data_gpu_memory_mb": 4000, "model_gpu_memory_mb": 12000})
        assert made.limits_mib == {0: (4000,), 1: (12000,)}
        assert made.roles == {"data": "GPU:0", "model": "GPU:1"}

    def test_limits_above_the_card(self) -> None:
        with pytest.raises(CfgfixError, match="can be used"):
            make({"data_gpu": 0, "model_gpu": 0, "data_gpu_memory_mb": 12000, "model_gpu_memory_mb": 20000})

    def test_growth_and_limit(self) -> None:
        with pytest.raises(CfgfixError, match="GPU003"):
            make({"memory_growth": True, "gpu_memory_mb": 1000})
        assert make({"memory_growth": True}).memory_growth is True
        assert make({"memory_growth": True}, "cpu").memory_growth is None

    def test_a_share_becomes_a_limit(self) -> None:
        made = make({"gpu_memory_fraction": 0.5}, "rtx4090")
        total = parse_profile("rtx4090").gpus[0].total_mib.value
        assert made.limits_mib == {0: (int(total * 0.5),)}
        with pytest.raises(CfgfixError, match="up to 1"):
            make({"gpu_memory_fraction": 50})

    @pytest.mark.parametrize(
        ("hardware", "policy"),
        [
            ("rtx4090", "mixed_bfloat16"),
            ("t4", "mixed_float16"),
            ("cpu,cpus=8", "float32"),
            ("p100", "float32"),
        ],
    )
    def test_policy_by_what_the_card_can_do(self, hardware: str, policy: str) -> None:
        assert make({"mixed_precision": True}, hardware).policy == policy

    def test_a_named_policy_is_kept_and_judged(self) -> None:
        made = make({"mixed_precision": "mixed_bfloat16"}, "t4")
        assert made.policy == "mixed_bfloat16"
        assert "HWR010" in made.notes[0]
        with pytest.raises(CfgfixError, match="no dtype policy"):
            make({"mixed_precision": "fp16"})

    def test_threads_under_a_quota(self) -> None:
        from cfgfix.core.records import replace  # the hardware's records are none of dataclasses

        machine = parse_profile("cpu,cpus=64")
        cpu = replace(machine.cpu, usable=exact(3.5, "cpu.max"), limited_by="cpu.max")
        machine = replace(machine, cpu=cpu, has_quota=exact(True, "cpu.max"))
        made = plan({}, machine, environ={})
        assert (made.intra_op_threads, made.inter_op_threads) == (3, 3)
        assert plan({"intra_op_threads": 8}, machine, environ={}).intra_op_threads == 8
        assert "GPU010" in plan({"intra_op_threads": 8}, machine, environ={}).notes[0]
        assert make({}, "cpu,cpus=64").intra_op_threads is None

    def test_xla_needs_graphs(self) -> None:
        with pytest.raises(CfgfixError, match="graph"):
            make({"xla": True, "graph_mode": False})
        assert make({"xla": True}).jit_compile is True

    def test_determinism_needs_a_seed(self) -> None:
        with pytest.raises(CfgfixError, match="need a seed"):
            make({"op_determinism": True})
        with pytest.raises(CfgfixError, match="2\\*\\*32"):
            make({"seed": 2**32})


class FakeTensorFlow:
    """Records what is set on two cards that are not there."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        cards = [SimpleNamespace(name=f"/physical_device:GPU:{index}") for index in range(2)]
        self.config = SimpleNamespace(
            threading=SimpleNamespace(
                set_intra_op_parallelism_threads=lambda number: self.calls.append(("intra", number)),
                set_inter_op_parallelism_threads=lambda number: self.calls.append(("inter", number)),
            ),
            list_physical_devices=lambda kind: cards if kind == "GPU" else [SimpleNamespace(name="cpu")],
            set_visible_devices=lambda devices, kind: self.calls.append(
                ("visible", [item.name[-1] for item in devices])
            ),
            experimental=SimpleNamespace(
                set_memory_growth=lambda card, on: self.calls.append(("growth", card.name[-1], on))
            ),
            LogicalDeviceConfiguration=lambda memory_limit=None: memory_limit,
            set_logical_device_configuration=lambda card, parts: self.calls.append(
                ("limit", card.name[-1], parts)
            ),
        )


def test_cards_get_growth_or_limits_and_never_both() -> None:
    fake = FakeTensorFlow()
    apply(make({"data_gpu": 1, "model_gpu": 0, "memory_growth": True}), fake, started=False)
    assert fake.calls == [("visible", ["0", "1"]), ("growth", "0", True), ("growth", "1", True)]
    fake = FakeTensorFlow()
    apply(
        make({"data_gpu": 1, "model_gpu": 0, "data_gpu_memory_mb": 1000, "model_gpu_memory_mb": 2000}),
        fake,
        started=False,
    )
    assert fake.calls == [("visible", ["0", "1"]), ("limit", "1", [1000]), ("limit", "0", [2000])]


def test_in_a_fresh_process_everything_arrives_and_verify_says_so(fresh) -> None:
    out = fresh(
        """
        from cfgfix.tf import configure, verify
        from cfgfix.tf.runtime import initialized, table
        assert not initialized() and not initialized()
        applied = configure(
            {"intra_op_threads": 2, "inter_op_threads": 3, "mixed_precision": "mixed_bfloat16", "seed": 7, "xla_auto": True},
            "cpu,cpus=4", cpu_devices=2, op_determinism=True,
        )
        checks = verify()
        print(table(checks))
        assert initialized()
        assert len(checks) == 8 and all(check.ok for check in checks)
        configure({"intra_op_threads": 2, "inter_op_threads": 3}, "cpu,cpus=4", cpu_devices=2)
        import tensorflow as tf
        tf.keras.mixed_precision.set_global_policy("float32")
        tf.config.optimizer.set_jit(False)
        failed = [check.name for check in verify(applied) if not check.ok]
        assert failed == ["XLA clustering", "dtype policy"], failed
        """
    )
    assert out.count("ok ") == 8


def test_verify_covers_xla_for_steps(fresh) -> None:
    fresh(
        """
        from cfgfix.tf import configure, verify
        from cfgfix.tf import runtime
        configure(None, "cpu,cpus=4", xla=True, graph_mode=True)
        found = {check.name: check for check in verify()}
        assert found["XLA for steps"].ok
        runtime._xla_compiles = lambda tf: False
        assert [check.name for check in verify() if not check.ok] == ["XLA for steps"]
        """
    )


def test_too_late_is_said_clearly(fresh) -> None:
    out = fresh(
        """
        import tensorflow as tf
        tf.constant(1)
        from cfgfix.tf import configure
        from cfgfix.tf.runtime import RuntimeInitializedError
        try:
            configure({"intra_op_threads": 2}, "cpu,cpus=4", cpu_devices=2)
        except RuntimeInitializedError as error:
            print(error)
        configure({"mixed_precision": False}, "cpu,cpus=4")
        """
    )
    assert "already started" in out
    assert "intra-op threads, logical CPU devices can no longer be set" in out
    assert "before the first tensor" in out


def test_the_context_puts_back(fresh) -> None:
    fresh(
        """
        import random
        import tensorflow as tf
        from cfgfix.core.errors import CfgfixError
        from cfgfix.tf import configured
        state = random.getstate()
        with configured({"seed": 3, "mixed_precision": "mixed_bfloat16", "intra_op_threads": 1}, "cpu,cpus=4"):
            assert tf.keras.mixed_precision.global_policy().name == "mixed_bfloat16"
            assert tf.config.threading.get_intra_op_parallelism_threads() == 1
            assert random.getstate() != state
        assert tf.keras.mixed_precision.global_policy().name == "float32"
        assert tf.config.threading.get_intra_op_parallelism_threads() == 0
        assert random.getstate() == state
        try:
            with configured({"seed": 3, "op_determinism": True}, "cpu"):
                raise AssertionError
        except CfgfixError as error:
            assert "taken back" in str(error)
        """
    )


def test_what_is_in_force_at_the_start_must_fit() -> None:
    tf.constant(1)
    with pytest.raises(RuntimeInitializedError, match="logical CPU devices"):
        apply(make({}, "cpu", cpu_devices=3), tf, started=True)


def test_verify_without_configure() -> None:
    from cfgfix.tf import runtime

    assert runtime._last is None
    with pytest.raises(CfgfixError, match="nothing was configured"):
        verify()


def test_steps_become_what_the_settings_say() -> None:
    eager = Applied(make({"graph_mode": False}, "cpu"))

    def step(value: Any) -> Any:
        return value + 1

    assert eager.function(step) is step
    graph = Applied(make({"graph_mode": True}, "cpu")).function(step)
    for length in range(1, 6):
        graph(tf.zeros([length]))
    assert graph.experimental_get_tracing_count() <= 2
    compiled = Applied(make({"xla": True}, "cpu")).function(step)
    assert float(compiled(tf.constant(1.0))) == 2.0


def test_what_keras_is_told() -> None:
    assert Applied(make({"xla": True}, "cpu")).compile_options == {"jit_compile": True, "run_eagerly": False}
    assert Applied(make({"graph_mode": False}, "cpu")).compile_options == {
        "jit_compile": False,
        "run_eagerly": True,
    }


def test_roles_that_were_not_given() -> None:
    with pytest.raises(CfgfixError, match="roles that were given: none"):
        Applied(make({}, "cpu")).device("data")


def test_the_table_names_reasons() -> None:
    text = str(Applied(make({"seed": 3, "mixed_precision": True}, "rtx4090")))
    assert "seed" in text
    assert "bfloat16" in text
