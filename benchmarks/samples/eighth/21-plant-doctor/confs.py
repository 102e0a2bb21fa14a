"""Configs with `_base_`, `_delete_`, `type` and ${VAR:-default}."""
import os
import re
from pathlib import Path

import yaml

VAR = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


def expand(value):
    if isinstance(value, dict):
        return {k: expand(v) for k, v in value.items()}
    if isinstance(value, list):
        return [expand(v) for v in value]
    if not isinstance(value, str):
        return value
    value = VAR.sub(lambda m: os.environ.get(m[1], m[2] or ""), value)
    if value == "None":
        return None
    try:
        return float(value) if re.fullmatch(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+", value) else value
    except ValueError:
        return value


def merge(a, b):
    if b.pop("_delete_", False):
        return b
    out = dict(a)
    for key, value in b.items():
        out[key] = merge(out[key], value) if isinstance(value, dict) and isinstance(out.get(key), dict) else value
    return out


def load(path):
    path = Path(path)
    own = yaml.safe_load(path.read_text())
    result = {}
    for base in own.pop("_base_", []):
        result = merge(result, load(path.parent / base))
    return expand(merge(result, own))


def make(module, spec, **extra):
    spec = dict(spec)
    return getattr(module, spec.pop("type"))(**spec, **extra)
