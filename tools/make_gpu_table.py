"""Turn the YAML list of GPUs and machines into the package's own table, or back.

The package reads a Python module of literals, since that loads from byte code in about a millisecond and needs no
YAML parser. Maintain the facts in YAML:

    python tools/make_gpu_table.py --export gpus.yaml          # the table as YAML
    python tools/make_gpu_table.py gpus.yaml                   # YAML into the table
    python tools/make_gpu_table.py gpus.yaml --check           # exit 1 if the table differs
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import yaml

TARGET = Path(__file__).resolve().parent.parent / "cfgfix" / "hardware" / "_table_data.py"

GPU_COLUMNS = (
    "id",
    "vendor",
    "aliases",
    "names",
    "arch",
    "compute_capability",
    "memory_gib",
    "nvml_total_mib",
    "nvml_total_mib_also_seen",
    "unified_memory",
    "devices_per_board",
    "memory_bandwidth_gbs",
    "tensor_cores",
    "tensor_dtypes",
    "fp16_dense_tflops",
    "bf16_dense_tflops",
    "tflops_basis",
    "pcie",
    "nvlink_gbs",
    "confidence",
    "checked",
    "notes",
)
MACHINE_COLUMNS = (
    "id",
    "provider",
    "gpu",
    "gpu_count",
    "gpu_fraction",
    "gpu_memory_mib",
    "vcpus",
    "ram_gib",
    "local_nvme_gb",
    "confidence",
    "sources",
    "notes",
)
NAME_KEYS = {"nvidia": "nvml_names", "amd": "amd_names", "apple": "apple_name"}


def literal(value: object) -> str:
    """Return `value` as Python source, quoted as the project's formatter would."""
    if isinstance(value, str) and '"' in value and "'" not in value:
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, tuple):
        inner = ", ".join(literal(item) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return repr(value)


def pack_gpu(entry: dict[str, Any]) -> tuple[object, ...]:
    """Return one GPU of the YAML as a row, in the order of `GPU_COLUMNS`."""
    entry = dict(entry)
    names: list[str] = []
    for vendor, key in NAME_KEYS.items():
        found = entry.pop(key, None)
        if vendor == entry["vendor"]:
            names = [found] if isinstance(found, str) else list(found or ())
        elif found:
            raise SystemExit(f"{entry['id']}: {key} on a card of {entry['vendor']}")
    entry["names"] = names
    entry.setdefault("devices_per_board", None)
    capability = entry["compute_capability"]
    if capability is not None:
        if not isinstance(capability, str):
            raise SystemExit(f"{entry['id']}: compute_capability must be quoted, or 12.10 becomes 12.1")
        major, _, minor = capability.partition(".")
        entry["compute_capability"] = (int(major), int(minor))
    return pack(entry, GPU_COLUMNS)


def pack(entry: dict[str, Any], columns: tuple[str, ...]) -> tuple[object, ...]:
    """Return the values of `entry` in the order of `columns`; refuse a key that has no column."""
    extra = set(entry) - set(columns)
    if extra:
        raise SystemExit(f"{entry['id']}: no column for {', '.join(sorted(extra))}")
    return tuple(tuple(value) if isinstance(value, list) else value for value in map(entry.get, columns))


def render(data: dict[str, Any]) -> str:
    """Return the module's source for the content of the YAML."""
    lines = [
        '"""GPUs and machine presets with their sources. Written by tools/make_gpu_table.py: edit the YAML, not this file."""',
        "",
        "from __future__ import annotations",
        "",
        "# fmt: off",
        f"SCHEMA = {data['schema']!r}",
        f"UPDATED = {literal(data['updated'])}",
        "",
        f"GPU_COLUMNS = {literal(GPU_COLUMNS)}",
        f"MACHINE_COLUMNS = {literal(MACHINE_COLUMNS)}",
        "",
        "GPUS = (",
        *(f"    {literal(pack_gpu(entry))}," for entry in data["gpus"]),
        ")",
        "",
        "MACHINES = (",
        *(
            f"    {literal(pack({'gpu_fraction': None, 'gpu_memory_mib': None, **entry}, MACHINE_COLUMNS))},"
            for entry in data["machines"]
        ),
        ")",
        "",
        "CONVENTIONS = (",
        *(
            f"    ({literal(key)}, {literal(tuple(value.items()) if isinstance(value, dict) else value)}),"
            for key, value in data["conventions"].items()
        ),
        ")",
        "",
        "SOURCES = (",
        *(f"    ({literal(key)}, {literal(value)})," for key, value in data["sources"].items()),
        ")",
    ]
    return "\n".join(lines) + "\n"


def unpack(module: Any) -> dict[str, Any]:
    """Return the table as the YAML's content."""

    def plain(value: object) -> object:
        return list(value) if isinstance(value, tuple) else value

    gpus = []
    for row in module.GPUS:
        entry = {key: plain(value) for key, value in zip(module.GPU_COLUMNS, row, strict=True)}
        names = entry.pop("names")
        vendor = entry["vendor"]
        entry["nvml_names"] = names if vendor == "nvidia" else []
        if vendor == "amd":
            entry["amd_names"] = names
        elif vendor == "apple":
            entry["apple_name"] = names[0]
        if entry["devices_per_board"] is None:
            del entry["devices_per_board"]
        if row[module.GPU_COLUMNS.index("compute_capability")] is not None:
            entry["compute_capability"] = "{}.{}".format(*entry["compute_capability"])
        gpus.append(entry)
    machines = []
    for row in module.MACHINES:
        entry = {key: plain(value) for key, value in zip(module.MACHINE_COLUMNS, row, strict=True)}
        if entry["gpu_fraction"] is None:
            del entry["gpu_fraction"], entry["gpu_memory_mib"]
        machines.append(entry)
    return {
        "schema": module.SCHEMA,
        "updated": module.UPDATED,
        "conventions": {
            key: dict(value) if isinstance(value, tuple) else value for key, value in module.CONVENTIONS
        },
        "sources": dict(module.SOURCES),
        "gpus": gpus,
        "machines": machines,
    }


def load_table(path: Path) -> Any:
    """Return the module of literals at `path`, without importing the package."""
    spec = importlib.util.spec_from_file_location("gpu_table_data", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(arguments: list[str] | None = None) -> int:
    """Run the tool and return its exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("source", nargs="?", type=Path, help="the YAML file to read")
    parser.add_argument("--target", type=Path, default=TARGET, help="the module to write")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the module differs")
    parser.add_argument("--export", type=Path, help="write the module's content as YAML to this file")
    options = parser.parse_args(arguments)
    if options.export is not None:
        content = unpack(load_table(options.target))
        options.export.write_text(
            yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=160, default_flow_style=None),
            encoding="utf-8",
        )
        return 0
    if options.source is None:
        parser.error("name the YAML file to read, or --export FILE")
    text = render(yaml.safe_load(options.source.read_text(encoding="utf-8")))
    if options.check:
        same = options.target.exists() and options.target.read_text(encoding="utf-8") == text
        print("the table is up to date" if same else f"{options.target} differs from {options.source}")
        return 0 if same else 1
    options.target.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
