"""The first draft of a dialect of a project's own, for `cfgfix init --dialect`."""

from __future__ import annotations

import os
import re

from cfgfix.errors import CfgfixError

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def new_dialect(name: str, *, folder: str, example: str | None = None) -> str:
    """Write `FOLDER/NAME/dialect.yaml` into the project and return what a user should know next.

    Raises:
        CfgfixError: The name is no name, the file is there already, or the example cannot be read.
    """
    from cfgfix.dialects.detect import score
    from cfgfix.dialects.dialect import dialects, from_file
    from cfgfix.dialects.scaffold import draft
    from cfgfix.documents.compose import compose
    from cfgfix.files import read_source
    from cfgfix.settings import discover

    if not _NAME.fullmatch(name):
        raise CfgfixError(f"{name!r} is no name for a dialect", hint="small letters, digits, `-` and `_`")
    if name in dialects():
        raise CfgfixError(f"cfgfix has a dialect {name!r} already", hint="a name of your own keeps both")
    document = None
    if example is not None:
        document = compose(read_source(example))
        if document.problem is not None:
            raise CfgfixError("does not parse, so nothing can be taken from it", path=example)
    settings = discover(".")
    path = os.path.join(settings.root, folder, name, "dialect.yaml")
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "x", encoding="utf-8", newline="\n") as stream:
            stream.write(draft(name, dialects(), document))
    except FileExistsError as error:
        raise CfgfixError("is there already; it was not touched", path=path) from error
    except OSError as error:
        raise CfgfixError(f"cannot be written: {error.strerror}", path=path) from error
    made = from_file(path)
    lines = [f"wrote {os.path.relpath(path)}"]
    if document is not None:
        points = max((score(root, made) for root in document.roots), default=0)
        lines.append(
            f"it knows {example} by {points} keys and found {len(made.concepts)} concepts in it; look at each line"
            if points
            else f"it does not know {example} yet: fill in `detect`"
        )
    else:
        lines.append("fill in `detect` and `concepts`")
    inside = os.path.relpath(os.path.join(settings.root, folder), settings.root)
    if not any(
        os.path.normpath(place) in (inside, os.path.join(inside, name)) for place in settings.dialects
    ):
        where = os.path.relpath(settings.origin) if settings.origin else "cfgfix.toml"
        table = "[tool.cfgfix]\n" if os.path.basename(where) == "pyproject.toml" else ""
        lines.append(f'then name the folder in {where}:\n{table}dialects = ["{inside.replace(os.sep, "/")}"]')
    return "\n".join(lines)
