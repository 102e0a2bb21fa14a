"""The state of the runs over a program: their frames, the calls they met, and what was made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from cfgfix.code.inference.parameters import Parameters
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Expr
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Dataset, Env, Function, Site, Value, in_order

MAX_RUNS = 4000
"""Most runs of functions with particular arguments in one program; beyond it calls are not entered."""
MAX_DEPTH = 8
"""Most calls entered inside one another."""
MAX_WAYS = 64
"""Most further ways to a function that are kept, beside the one by which it was run or first reached."""
MAX_STEPS = 3_000_000
"""Most expressions read in one program, so that a program made to be slow ends."""


class Frame:
    """One run of a scope."""

    __slots__ = ("env", "instance", "returned", "scope", "through", "yielded")

    def __init__(self, scope: Scope, env: Env, instance: Value | None, through: tuple[Site, ...]) -> None:
        self.scope = scope
        self.env = env
        self.instance = instance
        self.returned: list[Value] = []
        self.yielded: list[Value] = []
        self.through = through


class Run:
    """The shared state of the runs over a program: the calls and datasets they met.

    Attributes:
        sites: Every resolved or project-internal call, in the order it was met.
        by_name: Sites by canonical name.
        datasets: Every dataset made, in order.
        by_target: Sites by the number `id` of the scope they may enter.
        entering: Sites that may enter a function of the project, in the order they were met.
        compiled: Sites that may enter a function which `tf.function` compiles, in the order they were met.
        unresolved: Calls of methods by which models are trained and used, on what is not known, in the order they were met.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        program.flow = self
        self.sites: list[Site] = []
        self.by_name: defaultdict[str, list[Site]] = defaultdict(list)
        self.by_scope: defaultdict[int, list[Site]] = defaultdict(list)
        self.by_target: defaultdict[int, list[Site]] = defaultdict(list)
        self.entering: list[Site] = []
        self.compiled: list[Site] = []
        self.unresolved: list[Site] = []
        self._under: dict[tuple[str, ...], tuple[int, list[Site]]] = {}
        self._by_call: dict[int, tuple[int, dict[int, list[Site]]]] = {}
        self.datasets: list[Dataset] = []
        self.consumed: list[tuple[str, Dataset, Scope, int]] = []
        """`(kind, dataset, scope, block)`: where datasets are looped over."""
        self.exhausted = False
        self._envs: dict[int, Env] = {}
        self._defining: set[int] = set()
        self._done: dict[int, Value] = {}
        self._parameters: dict[int, Parameters] = {}
        self._special: dict[tuple[object, ...], Value] = {}
        self._replaces: dict[tuple[int, int], bool] = {}
        """Whether a class replaces methods that one of its bases calls, by both."""
        self._made: dict[tuple[int, int], tuple[Site, Env]] = {}
        """The calls for which functions were run with the names around them, by the identity of function and names; these are
        kept, so that no other takes over their identity."""
        self._made_at: set[int] = set()
        self._entered: dict[tuple[object, ...], Site] = {}
        """The first site that entered a function with some values."""
        self._running: list[int] = []
        self._attributes: dict[tuple[int, str], Value] = {}
        self._writers: dict[int, dict[str, list[Scope]]] = {}
        self._runs = 0
        self._steps = 0
        self._resolving: set[tuple[int, str]] = set()

    def named(self, *names: str) -> Iterator[Site]:
        """Yield the sites that call one of some canonical names."""
        for name in names:
            yield from self.by_name.get(name, ())

    def under(self, *prefixes: str) -> list[Site]:
        """Return the sites whose canonical name begins with one of some prefixes.

        They come in the order they were met.
        """
        count, found = self._under.get(prefixes, (-1, []))
        if count != len(self.sites):
            names = [name for name in self.by_name if name.startswith(prefixes)]
            found = in_order(self.named(*names))
            self._under[prefixes] = (len(self.sites), found)
        return found

    def within(self, scope: Scope) -> list[Site]:
        """Return the call sites in a scope."""
        return self.by_scope.get(id(scope), [])

    def of_calls(self, scope: Scope, numbers: Iterable[int]) -> list[Site]:
        """Return the call sites of a scope with some numbers, in the order met."""
        sites = self.within(scope)
        count, found = self._by_call.get(id(scope), (0, {}))
        if count != len(sites):
            for site in sites[count:]:
                found.setdefault(site.call.number, []).append(site)
            self._by_call[id(scope)] = (len(sites), found)
        return in_order(site for number in numbers for site in found.get(number, ()))

    def callers(self, scope: Scope) -> list[Site]:
        """Return the sites that may enter a scope."""
        return self.by_target.get(id(scope), [])

    def run_of(self, function: Function) -> Site | None:
        """Return the call whose run, with own arguments, made a function; None for others."""
        found = self._made.get((id(function.scope), id(function.env)))
        return found[0] if found is not None else None

    def made_for(self, site: Site) -> bool:
        """Tell whether a call was met in a run of a function made with own arguments."""
        return bool(site.through) and id(site.through[-1]) in self._made_at

    def _note_site(self, site: Site) -> None:
        site.number = len(self.sites)
        self.sites.append(site)
        if site.name:
            self.by_name[site.name].append(site)
        self.by_scope[id(site.scope)].append(site)
        if not site.targets:
            return
        self.entering.append(site)
        compiled = False
        for target in site.targets:
            self.by_target[id(target.scope)].append(site)
            compiled = compiled or target.compiled is not None
        if compiled:
            self.compiled.append(site)

    # What is built on this class.

    def eval(self, frame: Frame, expr: Expr) -> Value:
        """Return the value of an expression, noting the calls in it."""
        raise NotImplementedError

    def module_env(self, module: Module) -> Env | None:
        """Return the names of a module after its body has run."""
        raise NotImplementedError

    def env_of(self, scope: Scope) -> Env | None:
        """Return the names of a scope after a run on its own."""
        raise NotImplementedError

    def default(self, scope: Scope) -> Value:
        """Run a function once without known arguments, and return its result."""
        raise NotImplementedError

    def enter(
        self, function: Function, site: Site, args: tuple[Value, ...], keywords: Mapping[str, Value]
    ) -> Value:
        """Return the result of calling a function of the project.

        The function is run with the arguments of the call where these are of use.
        """
        raise NotImplementedError

    def _run_where_made(self, function: Function, site: Site) -> None:
        raise NotImplementedError

    def _attribute_of(self, frame: Frame, base: Value, name: str) -> Value:
        raise NotImplementedError

    def _attribute_among(self, frame: Frame, base: Value, name: str) -> Value:
        raise NotImplementedError

    def _assign_target(self, frame: Frame, target: Expr, value: Value) -> None:
        raise NotImplementedError

    def _defined_value(self, frame: Frame, scope: Scope) -> Value:
        raise NotImplementedError

    def _run_body(self, frame: Frame) -> None:
        raise NotImplementedError
