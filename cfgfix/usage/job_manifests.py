"""The jobs that manifests of Kubernetes and Compose files describe, with what their images run."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping

from cfgfix.config.document.compose import MAPPING, SCALAR, SEQUENCE, Node, compose, deref, is_merge
from cfgfix.core.errors import UnreadableError
from cfgfix.core.records import dataclass
from cfgfix.core.source_file import SourceFile, read_regular, read_source
from cfgfix.usage.job_limits import (
    BINARY,
    KUBERNETES,
    MIB,
    Job,
    Limits,
    RunBy,
    count_of_set,
    number_of,
)
from cfgfix.usage.project_files import ProjectFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.usage.commands import Command

MAX_DEPTH = 24
_MAY_LIMIT = re.compile(r"\b(?:resources|mem_limit|cpus|cpuset|containers|services)\b|nvidia\.com/gpu")
_COMPOSE = re.compile(r"(?:docker-)?compose(?:\.(?P<override>override))?\.ya?ml$")
_SCRIPT = re.compile(r"(?:^|\s)(?:(?:ba|da)?sh\s+)?(\S+\.(?:sh|bash))(?=\s|$)")
_CARD_LABEL = re.compile(
    r"accelerator|gpu[./-]?(?:product|type|class|model|name)|gpu\.nvidia\.com/", re.IGNORECASE
)
_MACHINE_LABEL = re.compile(r"instance-type$")


def may_limit(text: str) -> bool:
    """Tell whether a text contains words by which job files give limits."""
    return _MAY_LIMIT.search(text) is not None


@dataclass(frozen=True, slots=True)
class Image:
    """The entry point and command of a container image."""

    entry: tuple[str, ...]
    command: tuple[str, ...]

    def words(self, entry: list[str], arguments: list[str]) -> list[str]:
        """Return the words of the command that a container runs.

        An entry point or arguments that are not given come from the image.
        """
        if entry:
            return [*entry, *arguments]
        return [*self.entry, *(arguments or self.command)]


NO_IMAGE = Image((), ())


def image_of(path: str) -> Image:
    """Return the entry point and command in a Dockerfile."""
    try:
        text = read_regular(path, 400_000).decode("utf-8", "replace")
    except OSError:
        return NO_IMAGE
    words: dict[str, list[str]] = {}
    for name, rest in re.findall(r"^\s*(ENTRYPOINT|CMD)\s+(.+?)\s*$", text, re.MULTILINE):
        try:
            listed = json.loads(rest)
        except ValueError:
            listed = rest.split()
        words[name] = [str(word) for word in listed] if isinstance(listed, list) else []
    return Image(tuple(words.get("ENTRYPOINT", ())), tuple(words.get("CMD", ())))


def commands_of_words(whole: str, line: int, words: str) -> Iterator[Command]:
    """Yield the Python programs and shell scripts that a job's command starts."""
    from cfgfix.usage.commands import Command, commands_of

    yield from commands_of(whole, line, words)
    for found in _SCRIPT.finditer(words):
        yield Command(whole, line, found[1], False, (), (), os.path.dirname(whole))


@dataclass(frozen=True, slots=True)
class _ManifestContainer:
    """A container or service: its place, its limits, and the words of its command."""

    kind: str
    path: str
    line: int
    limits: Limits
    words: tuple[str, ...]
    identity: tuple[str, ...]
    """What a patch names it by: the kind and name of its object, and its own name."""


class Manifests:
    """The manifests and Compose files of a project."""

    def __init__(self, files: ProjectFiles) -> None:
        self._root = files.root
        images = [path for path in files.texts if path.rpartition("/")[2] == "Dockerfile"]
        # Of several images it is not known which one a job runs.
        self.image = image_of(os.path.join(files.root, images[0])) if len(images) == 1 else NO_IMAGE
        self._containers: list[_ManifestContainer] = []
        self._services: dict[tuple[str, str], list[tuple[str, SourceFile, dict[str, Node]]]] = {}

    def add(self, path: str, text: str) -> None:
        """Add the containers and services that a file describes."""
        if not path.endswith((".yaml", ".yml", ".json")) or not may_limit(text):
            return
        if path.endswith(".json") and '"apiVersion"' not in text:
            return
        whole = os.path.join(self._root, path)
        try:
            document = compose(read_source(whole))
        except UnreadableError:
            return
        for root in document.roots if document.problem is None else ():
            top = members(root)
            if "apiVersion" in top and "kind" in top:
                named = _text_of_node(members(top.get("metadata")).get("name"))
                for container, pod in containers_in(root):
                    self._containers.append(
                        self._of_container(
                            path, document.source, container, pod, (_text_of_node(top["kind"]), named)
                        )
                    )
            elif "services" in top:
                for name, service in members(top["services"]).items():
                    key = (os.path.dirname(path), name)
                    self._services.setdefault(key, []).append((path, document.source, members(service)))

    def jobs(self) -> Iterator[RunBy]:
        """Yield the jobs with limits, each with a command.

        A patch limits the container that it names.
        """
        for item in self._containers:
            words = item.words or next(
                (
                    other.words
                    for other in self._containers
                    if other.words and other.identity == item.identity and item.identity[-1]
                ),
                (),
            )
            words = words or tuple(self.image.words([], []))
            yield from self._run(item, " ".join(words))
        for key in self._services:
            service = self._merged_service(*key)
            if service is not None:
                yield from self._run(service, " ".join(service.words))

    def run_by_service(self, folder: str, name: str, words: str) -> Iterator[RunBy]:
        """Yield the commands of `docker compose run` under the limits of a service."""
        service = self._merged_service(folder, name) if (folder, name) in self._services else None
        if service is not None and words:
            yield from self._run(service, words)

    def _run(self, item: _ManifestContainer, words: str) -> Iterator[RunBy]:
        if item.limits.are_known:
            job = Job(item.kind, item.path, item.line, item.limits)
            whole = os.path.join(self._root, item.path)
            yield from (RunBy(job, command) for command in commands_of_words(whole, item.line, words))

    def _of_container(
        self,
        path: str,
        source: SourceFile,
        container: Node,
        pod: dict[str, Node],
        identity: tuple[str, str],
    ) -> _ManifestContainer:
        entries = members(container)
        limits = members(members(entries.get("resources")).get("limits"))
        cpus, ram, gpus = limits.get("cpu"), limits.get("memory"), limits.get("nvidia.com/gpu")
        entry = words_of(entries.get("command"))
        arguments = [*words_of(entries.get("args")), *words_of(entries.get("source"))]
        words = self.image.words(entry, arguments) if entry or arguments else []
        size = _size_in_units(ram, KUBERNETES)
        where = cpus or ram or gpus or container
        card = _card_of(pod) if gpus is not None else Limits()
        found = Limits(
            _size_in_units(cpus, KUBERNETES),
            size / MIB if size is not None else None,
            gpus=int(count) if (count := _size_in_units(gpus, KUBERNETES)) is not None else None,
        )
        return _ManifestContainer(
            "a Kubernetes job",
            path,
            source.position(where.start)[0],
            card.under(found),
            tuple(words),
            (*identity, _text_of_node(entries.get("name"))),
        )

    def _merged_service(self, folder: str, name: str) -> _ManifestContainer | None:
        """Return a service, merged from its Compose file and an override file.

        None for any other number of files.
        """
        found = self._services[folder, name]
        main = [item for item in found if not _is_override(item[0])]
        if len(main) != 1 or len(found) > 2:
            return None
        path, source, entries = main[0]
        limits, where = _limits_of_service(entries)
        for over, over_source, more in found:
            if over != path:
                entries = {**entries, **more}
                own, place = _limits_of_service(more)
                limits = limits.under(own)
                if place is not None:
                    path, source, where = over, over_source, place
        image = NO_IMAGE
        built = entries.get("build")
        context = members(built).get("context", built) if built is not None else None
        if context is not None and context.kind is SCALAR:
            file = _text_of_node(members(built).get("dockerfile")) or "Dockerfile"
            image = image_of(os.path.join(self._root, folder, context.text, file))
        words = image.words(words_of(entries.get("entrypoint")), words_of(entries.get("command")))
        line = source.position(where.start)[0] if where is not None else 1
        return _ManifestContainer("a Compose service", path, line, limits, tuple(words), (name,))


def _is_override(path: str) -> bool:
    found = _COMPOSE.search(path)
    return found is not None and found["override"] is not None


def _limits_of_service(entries: dict[str, Node]) -> tuple[Limits, Node | None]:
    limits = members(members(members(entries.get("deploy")).get("resources")).get("limits"))
    cpus = limits.get("cpus") or entries.get("cpus")
    ram = limits.get("memory") or entries.get("mem_limit")
    count = _size_in_units(cpus, BINARY)
    if count is None and "cpuset" in entries:
        count, cpus = count_of_set(_text_of_node(entries["cpuset"])), entries["cpuset"]
    size = _size_in_units(ram, BINARY)
    return Limits(count, size / MIB if size is not None else None), cpus or ram


def _card_of(pod: dict[str, Node]) -> Limits:
    """Return limits with the card that the labels of a pod ask for."""
    from cfgfix.hardware.spoken_names import spoken_card, spoken_machine

    for label, value in _required_labels(pod):
        card = spoken_machine(value) if _MACHINE_LABEL.search(label) else None
        if card is None and _CARD_LABEL.search(label):
            card = spoken_card(value)
        if card is not None:
            return Limits(card=card.card, said=card.said)
    return Limits()


def _required_labels(pod: dict[str, Node]) -> Iterator[tuple[str, str]]:
    """Yield the node labels that a pod requires, each with its one value."""
    for label, value in members(pod.get("nodeSelector")).items():
        yield label, _text_of_node(value)
    affinity = members(members(pod.get("affinity")).get("nodeAffinity"))
    required = members(affinity.get("requiredDuringSchedulingIgnoredDuringExecution"))
    for term in _items_of_list(required.get("nodeSelectorTerms")):
        for expression in _items_of_list(members(term).get("matchExpressions")):
            wanted = members(expression)
            values = _items_of_list(wanted.get("values"))
            if _text_of_node(wanted.get("operator")) == "In" and len(values) == 1:
                yield _text_of_node(wanted.get("key")), _text_of_node(values[0])


def containers_in(node: Node) -> Iterator[tuple[Node, dict[str, Node]]]:
    """Yield the containers in a manifest, each with the mapping around it."""
    yield from _containers_of_pod(node, {}, 0)


def _containers_of_pod(
    node: Node, pod: dict[str, Node], depth: int
) -> Iterator[tuple[Node, dict[str, Node]]]:
    node = deref(node)
    if depth > MAX_DEPTH:
        return
    if node.kind is MAPPING:
        for key, value in node.items:
            name, inner = key.text if key.kind is SCALAR else "", deref(value)
            if name == "containers" and inner.kind is SEQUENCE:
                yield from ((deref(item), members(node)) for item in inner.items)
            elif name in ("container", "script") and inner.kind is MAPPING and "image" in members(inner):
                yield inner, members(node)
            else:
                yield from _containers_of_pod(value, pod, depth + 1)
    elif node.kind is SEQUENCE:
        for item in node.items:
            yield from _containers_of_pod(item, pod, depth + 1)


def members(node: Node | None, depth: int = 0) -> dict[str, Node]:
    """Return the values of a mapping by key, merged keys included."""
    node = deref(node) if node is not None else None
    if node is None or node.kind is not MAPPING or depth > MAX_DEPTH:
        return {}
    own: dict[str, Node] = {}
    merged: dict[str, Node] = {}
    for key, value in node.items:
        if is_merge(key):
            inner = deref(value)
            for item in inner.items if inner.kind is SEQUENCE else [inner]:
                for name, node_there in members(item, depth + 1).items():
                    merged.setdefault(name, node_there)
        elif key.kind is SCALAR:
            own[key.text] = deref(value)
    return {**merged, **own}


def _items_of_list(node: Node | None) -> list[Node]:
    return [deref(item) for item in node.items] if node is not None and node.kind is SEQUENCE else []


def _text_of_node(node: Node | None) -> str:
    return node.text if node is not None and node.kind is SCALAR else ""


def words_of(node: Node | None) -> list[str]:
    """Return the words of a command that is a text or a list."""
    if node is None:
        return []
    if node.kind is SCALAR:
        return node.text.split()
    return [word for item in _items_of_list(node) for word in _text_of_node(item).split()]


def _size_in_units(node: Node | None, units: Mapping[str, float]) -> float | None:
    return number_of(node.text, units) if node is not None and node.kind is SCALAR else None
