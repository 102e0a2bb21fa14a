"""Which TensorFlow a container image holds, and which files say in what image a program runs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from cfgfix.core.patterns import late
from cfgfix.core.source_file import read_regular

MAX_BYTES = 128 * 1024
MAX_FILES = 60
"""Most files of deployments that are read."""
MAX_DEPTH = 4
"""Most folders inside one another that are looked in for them."""
_FROM = late(r"^FROM\s+(?:--\S+\s+)?(?P<image>\S+)")
_KEY = late(r"""^[\s-]*["']?image["']?\s*:\s*["']?(?P<image>[^\s"',]+)""")
"""The image of a container in a manifest of Kubernetes, a compose file, a pipeline or a development container."""
_OFFICIAL = late(r"(?:[\w-]+\.[\w.:-]+/)?tensorflow/tensorflow:(?P<release>\d+(?:\.\d+){1,2})(?![\w.])")
"""An image of TensorFlow, of a registry that is named or not: the tag begins with the release."""
_AMAZON = late(
    r"\d{12}\.dkr\.ecr\.[\w-]+\.amazonaws\.com/tensorflow-(?:training|inference):(?P<release>\d+(?:\.\d+){1,2})(?![\w.])"
)
_GOOGLE = late(r"[\w.-]+/deeplearning-platform-release/tf2?-[a-z]+\.(?P<major>[12])-(?P<minor>\d+)(?!\d)")
_NVIDIA = late(
    r"nvcr\.io/nvidia/tensorflow:(?P<year>\d\d)\.(?P<month>\d\d)-(?:tf(?P<major>[12])-)?(?:tf2-)?py\d"
)
"""NVIDIA's images carry the month: 21.02-tf2-py3; before they came with TensorFlow 2 they named no release."""
_MONTHS = (
    (19, 9), (20, 1), (20, 5), (20, 7), (20, 12), (21, 5), (21, 8), (21, 11), (22, 2), (22, 5), (22, 9), (22, 11),
    (23, 3), (23, 7), (23, 9), (23, 11), (24, 3), (24, 7), (24, 10), (25, 3),
)  # fmt: skip
"""Year and month in which TensorFlow 2.0, 2.1 and so on came out. An image of NVIDIA holds none that came later, and one of the last
three: its release notes give TensorBoard 2.4.1 for 21.04 and 21.05, 2.5.0 for 21.06, 2.6.0 for 21.10."""
_LAG = 2
_FOLDERS = late(
    r"^(?:\.devcontainer|argo\w*|charts?|helm\w*|infra\w*|k8s|kube\w*|kustomize|deploy\w*|manifests?)$",
    re.IGNORECASE,
)
"""Folders in which what runs in containers is described."""
_FILES = late(r"^(?:(?:docker-)?compose[\w.-]*\.ya?ml|\.gitlab-ci\.yml|\.devcontainer\.json)$")
"""Files beside the code that do so."""


def requirement_of(line: str) -> str:
    """Return the TensorFlow in the image that a line names: `tensorflow==2.9.1`.

    Empty where the line names no image, or its release of TensorFlow is not known.
    """
    named = _FROM.match(line) or _KEY.match(line)
    return _held_by(named["image"]) if named is not None else ""


def _held_by(image: str) -> str:
    """Return the TensorFlow in an image, by its name; empty where that is not known."""
    tagged = _OFFICIAL.match(image) or _AMAZON.match(image)
    if tagged is not None:
        return f"tensorflow=={tagged['release']}"
    tagged = _GOOGLE.match(image)
    if tagged is not None:
        return f"tensorflow=={tagged['major']}.{tagged['minor']}.*"
    tagged = _NVIDIA.match(image)
    if tagged is None:
        return ""
    if tagged["major"] != "2":
        return "tensorflow<2.0"
    made = int(tagged["year"]), int(tagged["month"])
    newest = sum(1 for month in _MONTHS if month <= made) - 1
    return f"tensorflow>=2.{max(0, newest - _LAG)},<2.{newest + 1}" if newest >= 0 else ""


def deployed_in(folder: str, looked: list[str]) -> tuple[str, str] | None:
    """Return the TensorFlow of the images that run a folder's programs, and the file.

    None where no image is named, or the images hold several releases.

    Args:
        folder: The folder.
        looked: Gets every file and folder that the answer depends on.
    """
    found: dict[str, str] = {}
    for path in _description_files(folder, looked):
        looked.append(path)
        try:
            text = read_regular(path, MAX_BYTES).decode("utf-8", "replace")
        except OSError:
            continue
        if "image" not in text:
            continue
        for line in text.splitlines():
            held = requirement_of(line[:400]) if "image" in line else ""
            if held:
                found.setdefault(held, path)
    if len(found) != 1:
        return None
    ((held, path),) = found.items()
    return path, held


def _description_files(folder: str, looked: list[str]) -> Iterator[str]:
    """Yield the files below a folder that may say in which images its programs run."""
    count = 0
    pending = [(folder, 0)]
    while pending and count < MAX_FILES:
        here, depth = pending.pop(0)
        try:
            with os.scandir(here) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
        except OSError:
            continue
        if depth:
            looked.append(here)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if (depth or _FOLDERS.match(entry.name)) and depth < MAX_DEPTH:
                    pending.append((entry.path, depth + 1))
            elif (
                count < MAX_FILES
                and (entry.name.endswith((".yaml", ".yml", ".json")) if depth else _FILES.match(entry.name))
                and entry.is_file(follow_symlinks=False)
            ):
                count += 1
                yield entry.path
