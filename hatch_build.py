"""Build hook: compile rules, dialects and schemas to Python modules, so that an installed cfgfix parses none of them."""

from __future__ import annotations

import os
import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_HEADER = '"""Generated from {origin}; do not edit."""\n\n'
_RULES_HEADER = "from cfgfix.rules.catalogue import SCOPE as _SCOPE\n\nglobals().update({key: value for key, value in _SCOPE.items() if key != '__builtins__'})\n\n"


class CompileContent(BuildHookInterface[Any]):
    """Puts the generated modules into the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Generate the modules below the build folder and add them to the wheel."""
        if self.target_name != "wheel" or version == "editable":
            return
        sys.path.insert(0, self.root)
        try:
            from cfgfix.config.dialects import dialect, parameters
            from cfgfix.rules import catalogue as load

            modules = {
                "rules": _HEADER.format(origin="rules/")
                + _RULES_HEADER
                + load.render(os.path.join(self.root, "rules")),
                "dialects": _HEADER.format(origin="schemas/")
                + dialect.render(os.path.join(self.root, "schemas")),
                "parameters": _HEADER.format(origin="schemas/parameters.yaml")
                + parameters.render(os.path.join(self.root, "schemas")),
            }
            for name in sorted(os.listdir(os.path.join(self.root, "schemas"))):
                path = os.path.join(self.root, "schemas", name, "schema.json")
                if os.path.isfile(path):
                    import json

                    with open(path, encoding="utf-8") as stream:
                        modules[f"schema_{name.replace('-', '_')}"] = (
                            _HEADER.format(origin=f"schemas/{name}/schema.json")
                            + f"SCHEMA = {json.load(stream)!r}\n"
                        )
        finally:
            sys.path.remove(self.root)
        folder = os.path.join(self.root, "build", "compiled")
        os.makedirs(folder, exist_ok=True)
        for name, text in modules.items():
            path = os.path.join(folder, f"{name}.py")
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(text)
            build_data["force_include"][path] = f"cfgfix/_compiled/{name}.py"
