"""Tell the files of other tools by their shape: workflows, compose files, manifests, environments, documentation.

A file that another tool reads is no training config, whatever words stand in it: a workflow may hand `LR: 1e-3` to a
script, and `restart: no` is a text for Docker Compose. It is told by what that tool demands of every one of its files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from cfgfix.config.document.compose import ALIAS, MAPPING, SCALAR, SEQUENCE, Document, Node, deref

MAX_LOOKED_AT = 50
"""Most members of one mapping or list that are looked at."""

_PLACES = (
    (re.compile(r"(?:^|/)\.github/workflows/[^/]+$"), "a GitHub workflow"),
    (re.compile(r"(?:^|/)\.github/"), "a file for GitHub"),
    (re.compile(r"(?:^|/)\.gitlab-ci\.ya?ml$|(?:^|/)\.gitlab/"), "a GitLab pipeline"),
    (re.compile(r"(?:^|/)\.circleci/"), "a CircleCI pipeline"),
    (re.compile(r"(?:^|/)\.travis\.ya?ml$"), "a Travis pipeline"),
    (re.compile(r"(?:^|/)azure-pipelines[\w.-]*\.ya?ml$"), "an Azure pipeline"),
    (re.compile(r"(?:^|/)\.pre-commit-(?:config|hooks)\.ya?ml$"), "a pre-commit file"),
    (re.compile(r"(?:^|/)\.?readthedocs\.ya?ml$"), "a Read the Docs file"),
    (re.compile(r"(?:^|/)\.?codecov\.ya?ml$"), "a Codecov file"),
    (re.compile(r"(?:^|/)mkdocs\.ya?ml$"), "an MkDocs file"),
    (re.compile(r"(?:^|/)kustomization\.ya?ml$"), "a Kustomize file"),
    (re.compile(r"(?:^|/)pnpm-(?:lock|workspace)\.ya?ml$"), "a pnpm file"),
)
"""Places that belong to one tool. A name that a project may choose freely, such as `compose.yaml`, is none."""

_SERVICE = frozenset(
    {
        "image", "build", "extends", "command", "entrypoint", "ports", "expose", "volumes", "environment", "env_file",
        "depends_on", "restart", "networks", "container_name", "healthcheck", "deploy",
    }
)  # fmt: skip
_VERB = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace", "$ref", "parameters"})


def _members_by_key(node: Node | None) -> dict[str, Node]:
    """Return the members of a mapping by key; empty for any other node."""
    if node is None:
        return {}
    node = deref(node)
    if node.kind is not MAPPING:
        return {}
    return {key.text: deref(value) for key, value in node.items if key.kind is SCALAR}


def _first_children(node: Node | None) -> list[Node]:
    """Return the first members of a mapping or the first items of a list."""
    if node is None:
        return []
    node = deref(node)
    if node.kind is MAPPING:
        return [deref(value) for _, value in node.items[:MAX_LOOKED_AT]]
    if node.kind is SEQUENCE:
        return [deref(item) for item in node.items[:MAX_LOOKED_AT]]
    return []


def _is_empty(node: Node | None, *kinds: object) -> bool:
    return node is not None and any(node.kind is kind for kind in kinds)


def _some_have(node: Node | None, names: Iterable[str]) -> bool:
    """Tell whether some member or item of a node is a mapping with one of the keys."""
    wanted = frozenset(names)
    return any(not wanted.isdisjoint(_members_by_key(item)) for item in _first_children(node))


def _is_manifest(top: dict[str, Node]) -> bool:
    return _is_empty(top.get("apiVersion"), SCALAR) and _is_empty(top.get("kind"), SCALAR)


def _is_chart(top: dict[str, Node]) -> bool:
    version = top.get("apiVersion")
    return (
        _is_empty(version, SCALAR)
        and version is not None
        and version.text in ("v1", "v2")
        and "version" in top
    )


def _is_compose_file(top: dict[str, Node]) -> bool:
    services = top.get("services")
    return _is_empty(services, MAPPING) and _some_have(services, _SERVICE)


def _has_jobs(top: dict[str, Node]) -> bool:
    jobs = top.get("jobs")
    return _is_empty(jobs, MAPPING, SEQUENCE) and _some_have(
        jobs, ("runs-on", "uses", "steps", "docker", "machine", "executor", "pool", "job", "template")
    )


def _is_action(top: dict[str, Node]) -> bool:
    return "using" in _members_by_key(top.get("runs"))


def _is_gitlab_pipeline(top: dict[str, Node]) -> bool:
    return any(
        "script" in members and not members.keys().isdisjoint(("stage", "image", "rules", "only", "tags"))
        for members in map(_members_by_key, list(top.values())[:MAX_LOOKED_AT])
    )


def _is_azure_pipeline(top: dict[str, Node]) -> bool:
    return not top.keys().isdisjoint(("trigger", "pr", "pool")) and any(
        _is_empty(top.get(name), SEQUENCE) for name in ("steps", "jobs", "stages")
    )


def _is_conda_environment(top: dict[str, Node]) -> bool:
    listed = top.get("dependencies")
    if not _is_empty(listed, SEQUENCE) or top.keys().isdisjoint(("channels", "name", "prefix")):
        return False
    return all(item.kind is SCALAR or "pip" in _members_by_key(item) for item in _first_children(listed))


def _is_recipe(top: dict[str, Node]) -> bool:
    return {"name", "version"} <= _members_by_key(top.get("package")).keys() and "requirements" in top


def _is_api_description(top: dict[str, Node]) -> bool:
    if not any(_is_empty(top.get(name), SCALAR) for name in ("openapi", "swagger", "asyncapi")):
        return False
    return (
        not top.keys().isdisjoint(("info", "components", "definitions", "channels", "webhooks"))
        or _some_have(top.get("paths"), _VERB)
        or "paths" in top
    )


def _is_mkdocs_config(top: dict[str, Node]) -> bool:
    return _is_empty(top.get("site_name"), SCALAR)


def _pre_commit(top: dict[str, Node]) -> bool:
    return _is_empty(top.get("repos"), SEQUENCE) and _some_have(top.get("repos"), ("repo", "hooks"))


def _is_dependabot_config(top: dict[str, Node]) -> bool:
    return _is_empty(top.get("updates"), SEQUENCE) and _some_have(top.get("updates"), ("package-ecosystem",))


def _is_cloud_template(top: dict[str, Node]) -> bool:
    return "AWSTemplateFormatVersion" in top or any(
        (kind := _members_by_key(item).get("Type")) is not None and kind.kind is SCALAR and "::" in kind.text
        for item in _first_children(top.get("Resources"))
    )


def _is_serverless_config(top: dict[str, Node]) -> bool:
    return {"service", "provider", "functions"} <= top.keys()


def _has_stages(top: dict[str, Node]) -> bool:
    return _is_empty(top.get("stages"), MAPPING) and _some_have(top.get("stages"), ("cmd",))


def _is_dataset_card(top: dict[str, Node]) -> bool:
    if not top.keys().isdisjoint(
        ("dataset_info", "dataset_infos", "task_categories", "task_ids", "pipeline_tag", "model-index")
    ):
        return True
    if _some_have(top.get("configs"), ("config_name",)):
        return True
    return "license" in top and not top.keys().isdisjoint(("language", "tags", "datasets", "library_name"))


def _is_citation(top: dict[str, Node]) -> bool:
    return "cff-version" in top


def _is_scrape_config(top: dict[str, Node]) -> bool:
    return _is_empty(top.get("scrape_configs"), SEQUENCE)


_SHAPES: tuple[tuple[Callable[[dict[str, Node]], bool], str], ...] = (
    (_is_manifest, "a Kubernetes manifest"),
    (_is_chart, "a Helm chart"),
    (_is_compose_file, "a Docker Compose file"),
    (_is_action, "a GitHub action"),
    (_has_jobs, "a workflow of jobs"),
    (_is_gitlab_pipeline, "a GitLab pipeline"),
    (_is_azure_pipeline, "an Azure pipeline"),
    (_is_conda_environment, "a conda environment"),
    (_is_recipe, "a conda recipe"),
    (_is_api_description, "an API description"),
    (_is_mkdocs_config, "an MkDocs file"),
    (_pre_commit, "a pre-commit file"),
    (_is_dependabot_config, "a Dependabot file"),
    (_is_cloud_template, "a CloudFormation template"),
    (_is_serverless_config, "a Serverless file"),
    (_has_stages, "a DVC pipeline"),
    (_is_dataset_card, "a data set or model card"),
    (_is_citation, "a citation file"),
    (_is_scrape_config, "a Prometheus file"),
)


def _kind_of_list(root: Node) -> str | None:
    """Return which tool's file has such a list at its top, or None for no known tool.

    Known are Ansible playbooks and the hooks of pre-commit.
    """
    for item in _first_children(root):
        members = _members_by_key(item)
        if "hosts" in members and not members.keys().isdisjoint(("tasks", "roles", "name", "become")):
            return "an Ansible playbook"
        if {"id", "entry", "language"} <= members.keys():
            return "a pre-commit file"
    return None


_TOP = re.compile(r"(?m)^[\"']?([A-Za-z_$][\w.-]*)[\"']?[ \t]*:")
_WORDS = (
    (frozenset({"apiVersion", "kind"}), "a Kubernetes manifest"),
    (frozenset({"services"}), "a Docker Compose file"),
    (frozenset({"on", "jobs"}), "a GitHub workflow"),
    (frozenset({"channels", "dependencies"}), "a conda environment"),
    (frozenset({"openapi"}), "an API description"),
    (frozenset({"swagger"}), "an API description"),
    (frozenset({"site_name"}), "an MkDocs file"),
    (frozenset({"repos"}), "a pre-commit file"),
    (frozenset({"dataset_info"}), "a data set or model card"),
    (frozenset({"license", "task_categories"}), "a data set or model card"),
)
"""Keys at the left margin that tell a file that does not parse."""


def tool_of(document: Document) -> str | None:
    """Return the kind of file that a document is for another tool, in words.

    Such as `a GitHub workflow`. None where no other tool is known.
    """
    path = document.source.path.replace("\\", "/")
    for place, what in _PLACES:
        if place.search(path):
            return what
    if document.problem is not None:
        names = frozenset(_TOP.findall(document.source.text[:200_000]))
        return next((what for words, what in _WORDS if words <= names), None)
    for root in document.roots[:MAX_LOOKED_AT]:
        node = deref(root) if root.kind is ALIAS else root
        if node.kind is SEQUENCE:
            what_listed = _kind_of_list(node)
            if what_listed is not None:
                return what_listed
        top = _members_by_key(node)
        if top:
            for holds, what in _SHAPES:
                if holds(top):
                    return what
    return None
