from __future__ import annotations

import json
import os

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from machine_tree import machine

from cfgfix.core.errors import CfgfixError, ExitCode, UnreadableError
from cfgfix.core.records import replace
from cfgfix.hardware.detect import detect
from cfgfix.hardware.model import STORAGE_KINDS, Certainty
from cfgfix.hardware.presets import parse_profile, profile_names, resolve_hardware, summary
from cfgfix.hardware.profile_files import from_mapping
from cfgfix.hardware.saved import DataError, describe, from_data, from_json, to_data, to_json, to_yaml
from cfgfix.hardware.table import gpu_rows, machine_rows


def fails(text, **options):
    with pytest.raises(CfgfixError) as caught:
        parse_profile(text, **options)
    assert caught.value.code in {ExitCode.USAGE, ExitCode.UNREADABLE}
    assert len(str(caught.value)) < 600
    return caught.value


# --- one line ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("rtx4090", ["rtx4090"]),
        ("rtx4090x2", ["rtx4090"] * 2),
        ("RTX 4090 x2", ["rtx4090"] * 2),
        ("rtx3050", ["rtx3050-8gb"]),
        ("rtx3050x3", ["rtx3050-8gb"] * 3),
        ("kaggle-t4x2", ["t4"] * 2),
        ("gcp-n1-standard-16-t4x4", ["t4"] * 4),
        ("v100x16", ["v100-sxm2-16gb"] * 16),
        ("mi250", ["mi250"] * 2),
        ("mi250x", ["mi250x"] * 2),
        ("mi250x2", ["mi250"] * 4),
        ("mi250xx2", ["mi250x"] * 4),
        ("NVIDIA GeForce RTX 4090", ["rtx4090"]),
        ("geforce rtx 4090x2", ["rtx4090"] * 2),
        ("cpu", []),
        ("github-ubuntu", []),
        ("aws-p4d-24xlarge", ["a100-sxm4-40gb"] * 8),
        ("AWS_P4D_24xlarge", ["a100-sxm4-40gb"] * 8),
    ],
)
def test_names(text, ids):
    hardware = parse_profile(text)
    assert [gpu.id for gpu in hardware.gpus] == ids
    assert hardware.gpu_count.value == len(ids)
    assert [gpu.index for gpu in hardware.gpus] == list(range(len(ids)))
    assert hardware.label == text
    assert hardware.origin == "profile"


def test_every_id_of_the_tables_is_a_profile():
    for row in gpu_rows():
        assert parse_profile(row.id).gpus[0].id == row.id
        for alias in row.aliases:
            assert parse_profile(alias).gpus[0].id == row.id
    for row in machine_rows():
        hardware = parse_profile(row.id)
        assert hardware.gpu_count.value == row.gpu_count
        assert hardware.cpu.usable.value == row.vcpus
        assert hardware.memory.total_mib.value == (None if row.ram_gib is None else row.ram_gib * 1024)
    assert {name for name, _ in profile_names()} == {row.id for row in (*gpu_rows(), *machine_rows())}


def test_a_card_alone_says_nothing_about_the_rest_of_the_machine(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 1 / 0)
    hardware = parse_profile("rtx4090x2")
    for value in (
        hardware.cpu.logical,
        hardware.cpu.usable,
        hardware.cpu.amx_bf16,
        hardware.memory.total_mib,
        hardware.memory.available_mib,
        hardware.memory.shm_mib,
        hardware.host_ram_mib,
        hardware.storage.kind,
        hardware.has_quota,
        hardware.tf_reserve_mib,
        hardware.gpus[0].free_mib,
    ):
        assert not value.known


def test_options():
    hardware = parse_profile(" rtx4090 , cpus = 0.5, ram=64 ,storage=HDD, shm=128 ")
    assert hardware.cpu.usable.value == 0.5
    assert hardware.cpu.usable.certainty is Certainty.EXACT
    assert hardware.memory.total_mib.value == 65536
    assert hardware.memory.shm_mib.value == 128
    assert hardware.storage.kind.value == "hdd"


@pytest.mark.parametrize(
    ("text", "mib"),
    [("64", 65536), ("64GiB", 65536), ("64GB", 65536), ("512MiB", 512), ("512m", 512), ("1.5t", 1572864)],
)
def test_sizes(text, mib):
    assert parse_profile(f"t4,ram={text}").memory.total_mib.value == mib


def test_options_override_a_machine():
    hardware = parse_profile("aws-g5-xlarge,cpus=2,ram=8")
    assert hardware.cpu.usable.value == 2
    assert hardware.cpu.logical.value == 4
    assert hardware.memory.total_mib.value == 8192
    assert hardware.host_ram_mib.value == 16384


def test_a_machine_is_an_estimate_where_containers_get_less():
    hardware = parse_profile("aws-g5-xlarge")
    assert hardware.cpu.usable.certainty is Certainty.ESTIMATED
    assert hardware.memory.total_mib.certainty is Certainty.ESTIMATED
    assert "karpenter" in hardware.cpu.usable.source
    assert any("local NVMe" in note for note in hardware.notes)
    assert not hardware.storage.kind.known


def test_a_fraction_of_a_card():
    gpu = parse_profile("aws-g6f-large").gpus[0]
    assert gpu.memory_mib.value == 2861
    assert gpu.tensor_cores.value is True
    assert not gpu.bandwidth_gbs.known
    unknown_size = parse_profile("azure-nv6ads-a10-v5").gpus[0]
    assert not unknown_size.memory_mib.known
    assert "0.167 of a card" in unknown_size.memory_mib.source


def test_boards_with_two_devices_are_shown_as_two():
    hardware = parse_profile("mi250")
    assert [gpu.memory_mib.value for gpu in hardware.gpus] == [65536, 65536]
    assert hardware.gpus[0].bandwidth_gbs.value == 1640
    assert "2 devices each" in hardware.gpu_count.source
    assert hardware.gpus[0].compute_capability.source == "a card of amd has no CUDA compute capability"


def test_shared_memory_takes_that_of_the_profile():
    assert parse_profile("gb10,ram=121").gpus[0].memory_mib.value == 121 * 1024
    assert parse_profile("gb10").gpus[0].memory_mib.value == 128 * 1024
    assert not parse_profile("apple-m1").gpus[0].memory_mib.known
    assert parse_profile("apple-m1,ram=16").gpus[0].memory_mib.value == 16384


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["empty"]),
        (",cpus=4", ["unknown hardware ''"]),
        ("rtx490", ["unknown hardware 'rtx490'", "rtx4090"]),
        ("rtx490x2", ["unknown hardware 'rtx490x2'", "rtx4090"]),
        ("2x rtx4090", ["rtx4090x2"]),
        ("qua5000x4", ["quadro-rtx-5000"]),
        ("rtx4090x0", ["no card"]),
        ("rtx4090x100", ["unknown hardware"]),
        ("aws-g5-xlargex2", ["cannot be multiplied"]),
        ("NVIDIA GeForce RTX 3060", ["several cards", "rtx3060-12gb", "rtx3060-8gb"]),
        ("rtx4090,cpu=4", ["unknown option 'cpu'", "'cpus'"]),
        ("rtx4090,cpus", ["no value"]),
        ("rtx4090,cpus=", ["no value"]),
        ("rtx4090,cpus=x", ["must be a number"]),
        ("rtx4090,cpus=0", ["above 0"]),
        ("rtx4090,cpus=-1", ["above 0"]),
        ("rtx4090,cpus=nan", ["above 0"]),
        ("rtx4090,cpus=inf", ["above 0"]),
        ("rtx4090,cpus=4,cpus=8", ["twice"]),
        ("rtx4090,ram=64KB", ["unknown unit 'kb'"]),
        ("rtx4090,ram=GB", ["must be a number"]),
        ("rtx4090,storage=floppy", ["must be one of", "nvme"]),
        ("rtx4090,storage=nvm", ["'nvme'"]),
        ("rtx4090,", ["unknown option ''"]),
        ("\x00", ["unknown hardware"]),
        ("x" * 5000, ["unknown hardware"]),
        ("auto x", ["unknown hardware"]),
    ],
)
def test_mistakes_are_named(text, parts):
    message = str(fails(text[:200])) if len(text) > 200 else str(fails(text))
    for part in parts:
        assert part in message


@given(st.text(max_size=60))
def test_any_text_is_a_machine_or_one_clear_error(text):
    known = message = None
    try:
        known = parse_profile(text, base_dir="/nonexistent-folder").gpu_count.known
    except CfgfixError as error:
        message = error.message
    assert known or message


# --- files ------------------------------------------------------------------------------------------------------------


def write(tmp_path, text, name="machine.yaml"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return name


def test_a_file_written_by_hand(tmp_path):
    text = """
gpus: [{id: rtx4090, count: 2}]
cpus: 16            # usable, after quotas
ram_gib: 64
shm_mib: 64
storage: {kind: nvme, read_mbs: 3000}
"""
    hardware = parse_profile(write(tmp_path, text), base_dir=tmp_path)
    assert hardware.label == "machine.yaml"
    assert hardware.origin == "file"
    assert [gpu.id for gpu in hardware.gpus] == ["rtx4090", "rtx4090"]
    assert hardware.cpu.usable.value == 16
    assert hardware.cpu.limited_by == "cpus: 16 in machine.yaml"
    assert hardware.memory.total_mib.value == 65536
    assert hardware.memory.shm_mib.value == 64
    assert (hardware.storage.kind.value, hardware.storage.read_mbs.value) == ("nvme", 3000)


def test_a_card_by_its_facts(tmp_path):
    text = 'gpus:\n  - {name: "NVIDIA Novelty", memory_mib: 30000, compute_capability: "12.10", tensor_cores: true, count: 3}\n'
    hardware = parse_profile(write(tmp_path, text), base_dir=tmp_path)
    assert hardware.gpu_count.value == 3
    gpu = hardware.gpus[2]
    assert gpu.index == 2
    assert gpu.compute_capability.value == (12, 10)
    assert gpu.memory_mib.value == 30000
    assert gpu.tensor_cores.value is True
    assert not gpu.bandwidth_gbs.known
    assert hardware.lookup("gpu.bf16").value is True


def test_a_card_by_its_drivers_name_takes_the_rest_from_the_table():
    gpu = from_mapping({"gpus": [{"name": "NVIDIA GeForce RTX 3060", "memory_mib": 12288}]}, "x").gpus[0]
    assert gpu.id == "rtx3060-12gb"
    assert gpu.compute_capability.value == (8, 6)


def test_shorthands(tmp_path):
    hardware = parse_profile(write(tmp_path, "gpus: [t4, a100]\nstorage: hdd\n"), base_dir=tmp_path)
    assert [gpu.id for gpu in hardware.gpus] == ["t4", "a100-sxm4-40gb"]
    assert hardware.storage.kind.value == "hdd"


def test_no_gpus_and_gpus_not_said_are_different():
    assert from_mapping({"gpus": []}, "x").gpu_count.value == 0
    assert not from_mapping({"cpus": 3}, "x").gpu_count.known


def test_json_with_tabs_and_exponents(tmp_path):
    name = write(tmp_path, '{\n\t"gpus": [{"id": "t4"}],\n\t"ram_gib": 1.6e1,\n\t"cpus": 1e1\n}\n', "m.json")
    hardware = parse_profile(name, base_dir=tmp_path)
    assert hardware.memory.total_mib.value == 16384
    assert hardware.cpu.usable.value == 10


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("", None, "empty"),
        ("just a text\n", 1, "must be a mapping"),
        ("- 1\n", 1, "must be a mapping"),
        ("cpus: 4\ncpus: 5\n", 2, "stands twice"),
        ("cpus: 4\nram: 64\n", 2, "did you mean 'ram_gib'?"),
        ("\ncpus: four\n", 2, "must be a number, not the text 'four'"),
        ("cpus: 1e3\n", 1, "must be a number, not the text '1e3'"),
        ("cpus: true\n", 1, "the flag true"),
        ("cpus: [1]\n", 1, "a list"),
        ("cpus: .nan\n", 1, "finite"),
        ("cpus: 0\n", 1, "above 0"),
        ("cpus: 2020-02-30\n", 1, "cannot read '2020-02-30'"),
        ("gpus: rtx4090\n", 1, "must be a list"),
        ("gpus:\n  - id: rtx409\n", 2, "unknown card 'rtx409'"),
        ("gpus:\n  - id: 4090\n", 2, "must be a text"),
        ("gpus:\n  - {count: 2}\n", 2, "neither an id nor a name"),
        ("gpus:\n  - {id: t4, memory_mib: 3}\n", 2, "takes its facts from the table"),
        ("gpus:\n  - {id: t4, count: 0}\n", 2, "from 1 to 1024"),
        ("gpus:\n  - {id: t4, count: 99999999}\n", 2, "from 1 to 1024"),
        ("gpus:\n  - {id: t4, count: 1000}\n  - {id: t4, count: 1000}\n", 3, "no machine"),
        ("gpus:\n  - {name: x, compute_capability: 8.9}\n", 2, 'as a text such as "8.9"'),
        ("gpus:\n  - {name: x, colour: 8.9}\n", 2, "unknown key"),
        ("gpus:\n  - {name: 'NVIDIA GeForce RTX 3060', id: 'GeForce RTX 3060'}\n", 2, "takes its facts"),
        ("gpus:\n  - {id: 'GeForce RTX 3060'}\n", 2, "several cards"),
        ("storage:\n  kind: tape\n", 2, "must be one of"),
        ("storage: tape\n", 1, "must be one of"),
        ("storage: {speed: 3}\n", 1, "unknown key"),
        ("storage: {read_mbs: fast}\n", 1, "must be a number"),
        ("cpus: [\n", 2, "not YAML"),
        ("a: 'x\n", 2, "not YAML"),
        ("? [1]\n: 2\n", 1, "a key must be a plain text"),
        ("cpus: !!python/object/apply:os.system [ls]\n", 1, "a list"),
        ("a: &x [1]\nb: *y\n", 2, "not YAML"),
        ("storage: [nvme]\n", 1, "a kind or a mapping"),
        ("storage: {kind: [nvme]}\n", 1, "not a list"),
        ("gpus: [3]\n", 1, "an id or a mapping"),
        ("gpus: [{name: ''}]\n", 1, "must be a text"),
        ("gpus:\n  - {name: x, memory_mib: -3}\n", 2, "above 0"),
        ("gpus:\n  - {name: x, tensor_cores: yep}\n", 2, "true or false"),
        ("cfgfix_hardware: 2\n", 1, "format 2 is not known"),
        ("cfgfix_hardware: 1\nlabel: 3\n", 1, "'gpus' is missing"),
        ("cfgfix_hardware: 1\nlabel: 3\nnope: 1\n", 3, "unknown key"),
    ],
)
def test_mistakes_in_files_have_a_line(tmp_path, text, line, part):
    error = fails(write(tmp_path, text), base_dir=tmp_path)
    assert part in error.message
    assert error.path == "machine.yaml"
    assert error.line == line


def test_hostile_files_are_refused_quickly(tmp_path):
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
    )
    for text in (
        bomb,
        "{" * 9999,
        "[" * 9999 + "]" * 9999,
        "a: &a [*a]\n",
        "[" * 20000,
        "a:\n" + "".join(" " * n + "- \n" for n in range(1, 300)),
    ):
        fails(write(tmp_path, text), base_dir=tmp_path)
    (tmp_path / "big.yaml").write_bytes(b"#" * ((1 << 20) + 1))
    assert isinstance(fails("big.yaml", base_dir=tmp_path), UnreadableError)


def test_files_that_are_not_there_or_not_files(tmp_path):
    assert fails("none.yaml", base_dir=tmp_path).code is ExitCode.UNREADABLE
    assert fails("./rtx4090", base_dir=tmp_path).code is ExitCode.UNREADABLE
    os.mkfifo(tmp_path / "pipe.yaml")
    assert fails("pipe.yaml", base_dir=tmp_path).code is ExitCode.UNREADABLE
    (tmp_path / "folder.yaml").mkdir()
    assert fails("folder.yaml", base_dir=tmp_path).code is ExitCode.UNREADABLE


# --- saving -----------------------------------------------------------------------------------------------------------


def machines(tmp_path):
    names = (
        "rtx4090x2,cpus=16,ram=64,storage=nvme",
        "mi250",
        "cpu,cpus=0.5",
        "aws-g6f-large",
        "gb10,ram=121.7",
    )
    return [
        *map(parse_profile, names),
        detect(root=machine(tmp_path), environ={}, path=str(tmp_path)),
        detect(),
    ]


def test_saving_and_reading_gives_the_same_machine(tmp_path):
    for hardware in machines(tmp_path):
        assert from_data(to_data(hardware)) == hardware
        assert from_json(to_json(hardware)) == hardware
        assert from_data(yaml.safe_load(to_yaml(hardware))) == hardware
        assert from_json(to_json(hardware)).fingerprint() == hardware.fingerprint()
        for name, text in (("saved.yaml", to_yaml(hardware)), ("saved.json", to_json(hardware))):
            again = parse_profile(write(tmp_path, text, name), base_dir=tmp_path)
            assert again == replace(hardware, label=name, origin="file")


@example(usable=0.0, total=0.0, text="\x85")
@example(usable=0.0, total=0.0, text="a\u2028b \n")
@given(
    usable=st.floats(0, 1e6),
    total=st.floats(0, 1e9, allow_subnormal=False),
    text=st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=30),
)
def test_saving_keeps_every_number_and_text(tmp_path_factory, usable, total, text):
    base = parse_profile("rtx4090")
    hardware = replace(
        base,
        label="saved.json",
        origin="file",
        cpu=replace(base.cpu, usable=replace(base.memory.total_mib, value=usable, certainty=Certainty.EXACT)),
        memory=replace(
            base.memory,
            total_mib=replace(base.memory.total_mib, value=total, source=text, certainty=Certainty.ESTIMATED),
        ),
        notes=(text,),
    )
    assert from_json(to_json(hardware)) == hardware
    assert from_data(yaml.safe_load(to_yaml(hardware))) == hardware


def _paths(data, path=()):
    if isinstance(data, dict):
        for key, value in data.items():
            yield (*path, key)
            yield from _paths(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _paths(value, (*path, index))


def test_damage_anywhere_is_one_error_with_its_place():
    data = to_data(parse_profile("rtx4090,cpus=2"))
    for path in list(_paths(data)):
        for change in ("missing", "wrong"):
            damaged = json.loads(json.dumps(data))
            owner = damaged
            for step in path[:-1]:
                owner = owner[step]
            if change == "missing":
                del owner[path[-1]]
            else:
                owner[path[-1]] = object
            message = None
            try:
                from_data(damaged)
            except DataError as error:
                message = error.message
            # what may be left out: optional texts, and the null of an unknown value
            optional = change == "missing" and path[-1] in {"id", "uuid", "mig", "path", "value"}
            assert message or optional, path


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"cfgfix_hardware": true}', "[" * 100_000])
def test_json_that_is_no_machine(text):
    with pytest.raises(CfgfixError):
        from_json(text)


def test_the_list_of_facts(tmp_path):
    for hardware in machines(tmp_path):
        rows = describe(hardware)
        assert all(len(row) == 5 and all(isinstance(cell, str) and cell for cell in row) for row in rows)
        assert {row[4] for row in rows} <= {"exact", "estimated", "unknown"}
        assert all((row[2] == "unknown") == (row[4] == "unknown") for row in rows)
    rows = {
        (section, label): value
        for section, label, value, _, _ in describe(parse_profile("rtx4090x2,cpus=0.5,ram=64"))
    }
    assert rows["GPU", "count"] == "2"
    assert rows["GPU 1", "compute capability"] == "8.9"
    assert rows["GPU 0", "tensor types"] == "fp16, bf16, tf32, fp8"
    assert rows["GPU 0", "memory for CUDA"] == "24564 MiB"
    assert rows["CPU", "usable"] == "0.5"
    assert rows["Memory", "limit"] == "65536 MiB"


# --- which machine is meant ---------------------------------------------------------------------------------------------


def test_a_machine_without_gpu_does_not_count_by_itself(tmp_path):
    hardware, told = resolve_hardware(None, environ={}, root=machine(tmp_path))
    assert hardware is None
    assert "no NVIDIA GPU on this machine" in told
    assert "--hardware rtx4090" in told


def test_asked_for_it_counts_with_its_processors_and_memory(tmp_path):
    hardware, told = resolve_hardware("auto", environ={}, root=machine(tmp_path), path=str(tmp_path))
    assert hardware.gpu_count.value == 0
    assert hardware.cpu.usable.value == 16
    assert told == "hardware: this machine (no GPU, 16 CPUs, 64 GiB RAM)"


@pytest.mark.parametrize("request_", ["none", " None "])
def test_none_is_none(request_, tmp_path):
    hardware, told = resolve_hardware(
        request_, environ={}, root=machine(tmp_path, files={"/dev/nvidiactl": ""})
    )
    assert hardware is None
    assert "as asked" in told


def test_a_profile_is_told_with_what_it_is(tmp_path):
    hardware, told = resolve_hardware("rtx4090x2,cpus=16,ram=64")
    assert told == "hardware: rtx4090x2,cpus=16,ram=64 (2 x NVIDIA GeForce RTX 4090, 16 CPUs, 64 GiB RAM)"
    assert hardware.origin == "profile"
    name = write(tmp_path, "gpus: [t4]\n")
    assert resolve_hardware(name, base_dir=tmp_path)[1] == "hardware: machine.yaml (Tesla T4)"
    with pytest.raises(CfgfixError):
        resolve_hardware("rtx409")


def test_summaries():
    assert summary(parse_profile("cpu,cpus=1,ram=0.5")) == "no GPU, 1 CPU, 0.5 GiB RAM"
    assert summary(from_mapping({"gpus": ["t4", "t4", "l4"]}, "x")) == "2 x Tesla T4, NVIDIA L4"
    assert summary(from_mapping({}, "x")) == "GPUs not known"


def test_every_kind_of_storage_can_be_said():
    for kind in STORAGE_KINDS:
        assert parse_profile(f"t4,storage={kind}").storage.kind.value == kind


def test_saved_data_is_bounded_and_its_origin_known():
    data = to_data(parse_profile("rtx4090"))
    with pytest.raises(DataError, match="1025 GPUs"):
        from_data({**data, "gpus": data["gpus"] * 1025})
    with pytest.raises(DataError, match="live, profile or file"):
        from_data({**data, "origin": "heaven"})


def test_the_list_of_facts_tells_instances_and_reserves():
    hardware = parse_profile("rtx4090")
    gpus = (replace(hardware.gpus[0], mig="1g.10gb"),)
    changed = replace(hardware, gpus=gpus, tf_reserve_mib=replace(hardware.gpu_count, value=1024))
    rows = {(section, label): value for section, label, value, _, _ in describe(changed)}
    assert rows["GPU 0", "MIG instance"] == "1g.10gb"
    assert rows["GPU", "reserve of TensorFlow"] == "1024 MiB"
