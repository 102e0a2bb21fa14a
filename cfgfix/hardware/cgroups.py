"""Where the control groups of this process lie, v1, v2 or both, and every group above them.

A limit may stand on any ancestor (a systemd slice, a batch job, a pod), and the kernel enforces all of them. So the
readers of CPU and memory limits walk from the process's own group to the topmost one that is visible here.
"""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

from cfgfix.hardware.system import Mount, Root, is_real, mounts, path_below, read_text


class Group(NamedTuple):
    """One control group, as a folder."""

    path: str
    """The folder, as seen from the root that was given."""
    version: int
    """1 or 2."""


class Groups(NamedTuple):
    """The groups of one controller, from the process's own upwards."""

    found: tuple[Group, ...]
    complete: bool
    """Whether all groups of the process are visible (also where the system has none); if not, there may be limits that
    are not seen."""


class _GroupMembership(NamedTuple):
    controllers: frozenset[str]
    path: str
    version: int


def _group_memberships(root: Root) -> list[_GroupMembership]:
    """Return the entries of /proc/self/cgroup; lines of another form are left out."""
    found: list[_GroupMembership] = []
    for line in (read_text(root, "/proc/self/cgroup") or "").splitlines():
        parts = line.split(":", 2)
        if len(parts) != 3 or not parts[2].startswith("/"):
            continue
        number, controllers, path = parts
        version = 2 if number == "0" and not controllers else 1
        found.append(_GroupMembership(frozenset(controllers.split(",")), path, version))
    return found


def groups(root: Root, controller: str) -> Groups:
    """Return the groups that can limit this process by a controller.

    The controller is `cpu` or `memory`. On a hybrid system a controller belongs to v1 or to v2; both trees are
    walked, and the one without it has no limit files.
    """
    memberships = _group_memberships(root)
    if not memberships:
        return Groups((), complete=is_real(root) and sys.platform != "linux")
    all_mounts = mounts(root)
    found: list[Group] = []
    complete = True
    relevant = 0
    for member in memberships:
        if member.version == 1 and controller not in member.controllers:
            continue
        wanted = [
            mount
            for mount in all_mounts
            if (mount.kind == "cgroup2" and member.version == 2)
            or (mount.kind == "cgroup" and member.version == 1 and controller in mount.options)
        ]
        if not wanted:
            # The v2 tree of a hybrid system need not be mounted: it then has no controllers of use to anyone here.
            complete = complete and member.version == 2 and len(memberships) > 1
            continue
        relevant += 1
        chain, whole = _groups_to_mount(root, member, wanted)
        found += chain
        complete = complete and whole
    return Groups(tuple(dict.fromkeys(found)), complete=complete and relevant > 0)


def _groups_to_mount(
    root: Root, member: _GroupMembership, candidates: list[Mount]
) -> tuple[list[Group], bool]:
    """Return the groups from the process's own up to the mount point.

    Also returns whether the process's own group was visible.
    """
    best: list[Group] = []
    for mount in reversed(candidates):
        inside = _path_below_mount(member.path, mount.root)
        if inside is None:
            continue
        steps = [step for step in inside.split("/") if step]
        whole = os.path.isdir(path_below(root, _joined_path(mount.point, steps)))
        while steps and not os.path.isdir(path_below(root, _joined_path(mount.point, steps))):
            steps.pop()
        chain = [
            Group(_joined_path(mount.point, steps[:length]), member.version)
            for length in range(len(steps), -1, -1)
        ]
        if whole:
            return chain, True
        if not best:
            best = chain
    if best:
        return best, False
    # The process's group lies outside of every mounted part: what the mount point holds still limits someone, and in
    # a container whose namespace hides the path it is this process's own group.
    point = candidates[-1]
    return [Group(point.point, member.version)], False


def _joined_path(point: str, steps: list[str]) -> str:
    return "/".join([point.rstrip("/"), *steps]) or "/"


def _path_below_mount(path: str, mount_root: str) -> str | None:
    """Return a group's path below a mounted part, or None where it lies outside."""
    if "/.." in path or "/.." in mount_root:
        return None
    base = mount_root.rstrip("/")
    if path == base or not base:
        return path[len(base) :]
    return path[len(base) :] if path.startswith(base + "/") else None
