"""Follow datasets, functions and objects through assignments, branches, calls and classes.

Each function is run once on its own, with parameters that are not known, and again where a project function is
called with a dataset or a function (so a helper that takes and returns datasets is followed). Running means reading
the statements in order with a table of what each name stands for; branches are joined, loops are read once. Every
call is noted as a `Site` with what it resolves to. What is not known stays not known: it gives no site a name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from cfgfix.code.inference.parameters import Parameters, is_classmethod, is_static
from cfgfix.code.model.expressions import constant, dotted, is_true
from cfgfix.code.model.program import Module, Program, fold, is_keras_part
from cfgfix.code.model.summary import (
    ASSIGNED,
    ATTRIBUTE,
    BINARY,
    BOOLEAN,
    CALL,
    CHOICE,
    COMPARE,
    COMPREHENSION,
    CONSTANT,
    FORMAT,
    ITEMS,
    LAMBDA,
    MAPPING,
    NAME,
    STARRED,
    SUBSCRIPT,
    UNARY,
    YIELD,
    Call,
    Event,
    Expr,
    Scope,
)
from cfgfix.code.model.values import (
    UNKNOWN,
    ClassValue,
    Constant,
    Dataset,
    Element,
    Env,
    External,
    Function,
    Instance,
    Items,
    Made,
    Many,
    ModuleValue,
    Site,
    Value,
    alternatives,
    first_dataset,
    functions_of,
    in_order,
    join,
)

DATASET = "tensorflow.data.Dataset"
TRANSFORMATIONS = frozenset(
    [
        "apply",
        "batch",
        "bucket_by_sequence_length",
        "cache",
        "concatenate",
        "enumerate",
        "filter",
        "fingerprint",
        "flat_map",
        "group_by_window",
        "ignore_errors",
        "interleave",
        "map",
        "map_with_legacy_function",
        "filter_with_legacy_function",
        "padded_batch",
        "prefetch",
        "ragged_batch",
        "rebatch",
        "rejection_resample",
        "repeat",
        "scan",
        "shard",
        "shuffle",
        "skip",
        "snapshot",
        "sparse_batch",
        "take",
        "take_while",
        "unbatch",
        "unique",
        "window",
        "with_options",
        "zip",
        "as_unbatched",
    ]
)
"""Methods of `tf.data.Dataset` that return a dataset (TensorFlow 2.21, `tensorflow/python/data/ops/dataset_ops.py`)."""
MODEL_METHODS = frozenset({"fit", "fit_generator", "evaluate", "predict"})
"""Methods that say by their names and arguments that they are those of a Keras model."""
SYMBOLIC = Made("keras.KerasTensor", None)
"""What layers give for what `keras.Input` gives."""
_SYMBOLIC = frozenset({"keras.Input", "keras.layers.Input", SYMBOLIC.name})
_CHOOSING = frozenset({"choose_from_datasets", "sample_from_datasets"})
"""Constructors that take the elements of their first argument in an order that another dataset may give."""
_CALLED_BY_KERAS = ("keras.layers.", "keras.Model", "keras.Sequential", "keras.applications.")
CONSTRUCTORS = frozenset(
    {
        *(
            f"{DATASET}.{name}"
            for name in [
                "choose_from_datasets",
                "counter",
                "from_generator",
                "from_tensor_slices",
                "from_tensors",
                "list_files",
                "load",
                "random",
                "range",
                "sample_from_datasets",
                "zip",
                "from_sparse_tensor_slices",
            ]
        ),
        *(
            f"tensorflow.data.{name}"
            for name in [
                "TFRecordDataset",
                "TextLineDataset",
                "FixedLengthRecordDataset",
                "experimental.CsvDataset",
                "experimental.SqlDataset",
                "experimental.make_csv_dataset",
                "experimental.make_batched_features_dataset",
                "experimental.RandomDataset",
                "experimental.Counter",
                "experimental.sample_from_datasets",
                "experimental.choose_from_datasets",
                "experimental.from_list",
                "experimental.load",
                "experimental.from_variant",
            ]
        ),
        *(
            f"keras.utils.{name}"
            for name in [
                "image_dataset_from_directory",
                "text_dataset_from_directory",
                "audio_dataset_from_directory",
                "timeseries_dataset_from_array",
            ]
        ),
    }
)
"""Calls that make a dataset."""
WITH_FUNCTION = {
    "map": ("map_func", 0),
    "filter": ("predicate", 0),
    "flat_map": ("map_func", 0),
    "interleave": ("map_func", 0),
    "scan": ("scan_func", 1),
    "reduce": ("reduce_func", 1),
    "take_while": ("predicate", 0),
    "group_by_window": ("reduce_func", 1),
    "map_with_legacy_function": ("map_func", 0),
    "filter_with_legacy_function": ("predicate", 0),
    "bucket_by_sequence_length": ("element_length_func", 0),
    "rejection_resample": ("class_func", 0),
}
"""Dataset methods to the name and position of the function they call for each element."""
_TREATED = frozenset(
    {
        "tensorflow.function",
        "functools.partial",
        "tensorflow_datasets.load",
        "tensorflow_datasets.builder.as_dataset",
    }
)
"""What `_external` knows more of than its name, beside what is built in."""
_WRAPPERS = frozenset({"tensorflow.function", "tensorflow.autograph.experimental.do_not_convert"})
_PASS_THROUGH = frozenset(
    {
        "functools.wraps",
        "functools.lru_cache",
        "functools.cache",
        "contextlib.contextmanager",
        "tensorflow.Module.with_name_scope",
    }
)
MAX_RUNS = 4000
"""Most runs of functions with particular arguments in one program; beyond it calls are not entered."""
MAX_DEPTH = 8
"""Most calls entered inside one another."""
MAX_WAYS = 64
"""Most further ways to a function that are kept, beside the one by which it was run or first reached."""
MAX_STEPS = 3_000_000
"""Most expressions read in one program, so that a program made to be slow ends."""


class _Frame:
    """One run of a scope."""

    __slots__ = ("env", "instance", "returned", "scope", "through")

    def __init__(self, scope: Scope, env: Env, instance: Value | None, through: tuple[Site, ...]) -> None:
        self.scope = scope
        self.env = env
        self.instance = instance
        self.returned: list[Value] = []
        self.through = through


class Flow:
    """All runs over a program.

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

    def run(self) -> None:
        """Run every scope of the program's modules."""
        for module in self.program.modules:
            for scope in module.summary.scopes:
                if scope.kind in ("function", "lambda"):
                    self.default(scope)
                elif scope.kind == "module":
                    self.module_env(module)

    # Sites

    def named(self, *names: str) -> Iterator[Site]:
        """Yield the sites that call one of some canonical names."""
        for name in names:
            yield from self.by_name.get(name, ())

    def under(self, *prefixes: str) -> list[Site]:
        """Return the sites whose canonical name begins with one of some prefixes, in the order they were met."""
        count, found = self._under.get(prefixes, (-1, []))
        if count != len(self.sites):
            names = [name for name in self.by_name if name.startswith(prefixes)]
            found = in_order(self.named(*names))
            self._under[prefixes] = (len(self.sites), found)
        return found

    def within(self, scope: Scope) -> list[Site]:
        """Return the sites that stand in a scope."""
        return self.by_scope.get(id(scope), [])

    def callers(self, scope: Scope) -> list[Site]:
        """Return the sites that may enter a scope."""
        return self.by_target.get(id(scope), [])

    def _note(self, site: Site) -> None:
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

    # Running scopes

    def module_env(self, module: Module) -> Env | None:
        """Return the names of a module after its body has run."""
        scope = module.scope
        if scope is None:
            return None
        env = self._envs.get(id(scope))
        if env is None:
            env = Env(scope, None)
            self._envs[id(scope)] = env
            self._body(_Frame(scope, env, None, ()))
        return env

    def env_of(self, scope: Scope) -> Env | None:
        """Return the names of a scope after a run on its own."""
        if scope.kind == "module":
            return self.module_env(scope.module)
        self.default(scope)
        return self._envs.get(id(scope))

    def stands_for(self, scope: Scope, expr: Expr) -> Value:
        """Return what a name, or a chain of attributes of one, stands for at the end of a scope's run on its own."""
        env = self.env_of(scope)
        if env is None or dotted(expr) is None:
            return UNKNOWN
        owner = self.program.owner(scope)
        return self.eval(_Frame(scope, env, Instance(owner) if owner is not None else None, ()), expr)

    def default(self, scope: Scope) -> Value:
        """Run a function on its own, once, and return what it returns."""
        key = id(scope)
        if key in self._done:
            return self._done[key]
        if len(self._running) > 40:
            return UNKNOWN
        self._done[key] = UNKNOWN
        outer = self.program.outer(scope)
        parent: Env | None = None
        owner: Scope | None = None
        if outer is not None:
            if outer.kind == "class":
                owner = outer
                beyond = self.program.outer(outer)
                parent = self.env_of(beyond) if beyond is not None else None
            else:
                parent = self._envs.get(id(outer)) if id(outer) in self._done else self.env_of(outer)
        env = Env(scope, parent)
        self._envs[key] = env
        instance = Instance(owner) if owner is not None and not is_static(scope) else None
        self._bind_parameters(scope, env, instance)
        self._running.append(key)
        frame = _Frame(scope, env, instance, ())
        self._body(frame)
        self._running.pop()
        result = self._result(scope, frame)
        self._done[key] = result
        return result

    def _result(self, scope: Scope, frame: _Frame) -> Value:
        if scope.generator or scope.is_async:
            return UNKNOWN
        if not frame.returned:
            return self._annotated(scope.returns, scope)
        result = frame.returned[0]
        for other in frame.returned[1:]:
            result = join(result, other)
        if result is UNKNOWN:
            return self._annotated(scope.returns, scope)
        return result

    def _bind_parameters(self, scope: Scope, env: Env, instance: Value | None) -> None:
        outer = self.program.outer(scope)
        for position, (name, annotation, _, kind) in enumerate(scope.params):
            if position == 0 and instance is not None and kind == "plain":
                env.names[name] = (
                    ClassValue(instance.scope)
                    if is_classmethod(scope) and isinstance(instance, Instance)
                    else instance
                )
                continue
            env.names[name] = (
                self._annotated(annotation, outer)
                if kind in ("plain", "keyword") and outer is not None
                else UNKNOWN
            )

    def _annotated(self, annotation: Expr | None, scope: Scope) -> Value:
        """Return what an annotation tells about a value."""
        if annotation is None:
            return UNKNOWN
        kind = annotation[0]
        if kind == CONSTANT and isinstance(annotation[1], str):
            text = annotation[1].strip()
            if not all(part.isidentifier() for part in text.split(".")):
                return UNKNOWN
            expr: Expr = (NAME, text.split(".")[0], (0, 0, 0, 0))
            for part in text.split(".")[1:]:
                expr = (ATTRIBUTE, expr, part, (0, 0, 0, 0))
            annotation = expr
        elif kind == SUBSCRIPT:
            # Optional[X] and X | None say X.
            name = self.program.static_name(annotation[1], scope)
            if name in ("typing.Optional", "typing.Annotated"):
                inner = annotation[2]
                return self._annotated(inner[2][0] if inner[0] == ITEMS and inner[2] else inner, scope)
            return UNKNOWN
        elif kind == BINARY and annotation[1] == "|":
            left, right = annotation[2], annotation[3]
            if constant(right) is None:
                return self._annotated(left, scope)
            return UNKNOWN
        value = self.program.static_value(annotation, scope)
        if isinstance(value, ClassValue):
            return Instance(value.scope)
        if isinstance(value, External):
            name = fold(value.name)
            if name == DATASET:
                found = Dataset("parameter", None)
                self.datasets.append(found)
                return found
            if name.startswith(("tensorflow.", "keras.")):
                return Made(name, None)
        return UNKNOWN

    def enter(
        self, function: Function, site: Site, args: tuple[Value, ...], keywords: Mapping[str, Value]
    ) -> Value:
        """Return what a call of a project function returns, run with its arguments where they tell something."""
        scope = function.scope
        if function.receiver is not None:
            args = (function.receiver, *args)
        telling = any(_telling(value) for value in (*args, *keywords.values()))
        if (
            not (telling or self._means_another_class(function))
            or self.exhausted
            or self._runs >= MAX_RUNS
            or len(site.through) >= MAX_DEPTH
            or id(scope) in self._running
            or scope.generator
        ):
            return self.default(scope) if id(scope) not in self._running else UNKNOWN
        key = (
            id(scope),
            *(_identity(value) for value in args),
            *sorted((n, _identity(v)) for n, v in keywords.items()),
        )
        if key in self._special:
            first = self._entered[key]
            if len(first.also) < MAX_WAYS:
                first.also = (*first.also, site)
            return self._special[key]
        self._runs += 1
        self._special[key] = UNKNOWN
        self._entered[key] = site
        parent = function.env
        owner = self.program.owner(scope)
        if parent is None:
            outer = self.program.outer(scope)
            if outer is not None and outer.kind == "class":
                outer = self.program.outer(outer)
            parent = self.env_of(outer) if outer is not None else None
        env = Env(scope, parent)
        instance = args[0] if owner is not None and args and not is_static(scope) else None
        self._bind_parameters(scope, env, instance)
        star = any(item[0] == STARRED for item in site.call.args) and not site.expanded
        plain = [name for name, _, _, kind in scope.params if kind == "plain"]
        if not star:
            for name, value in zip(plain, args, strict=False):
                if value is not UNKNOWN:
                    env.names[name] = value
            for position, (name, _, default, kind) in enumerate(scope.params):
                if kind in ("plain", "keyword") and name not in keywords and default is not None:
                    given = kind == "plain" and position < len(args)
                    if not given and not site.call.opaque and default[0] == CONSTANT:
                        env.names[name] = Constant(default[1])
            rest = next((name for name, _, _, kind in scope.params if kind == "*"), None)
            if rest is not None:
                env.names[rest] = Items(tuple(args[len(plain) :]))
        names = {name for name, _, _, kind in scope.params if kind in ("plain", "keyword")}
        for name, value in keywords.items():
            if name in names and value is not UNKNOWN:
                env.names[name] = value
        self._running.append(id(scope))
        frame = _Frame(scope, env, instance, (*site.through, site))
        self._body(frame)
        self._running.pop()
        result = self._result(scope, frame)
        self._special[key] = result
        return result

    def _run_where_made(self, function: Function, site: Site) -> None:
        """Run a function that was made in a run with particular arguments once more: its free names stand for these."""
        scope, env = function.scope, function.env
        key = (id(scope), id(env))
        if (
            env is None
            or key in self._made
            or env.scope.kind not in ("function", "lambda")
            or self._envs.get(id(env.scope)) is env
            or self.exhausted
            or self._runs >= MAX_RUNS
            or len(site.through) >= MAX_DEPTH
            or id(scope) in self._running
        ):
            return
        self._runs += 1
        self._made[key] = (site, env)
        self._made_at.add(id(site))
        inner = Env(scope, env)
        self._bind_parameters(scope, inner, None)
        self._running.append(id(scope))
        self._body(_Frame(scope, inner, None, (*site.through, site)))
        self._running.pop()

    def run_of(self, function: Function) -> Site | None:
        """Return the call for which a function that was made in a run with particular arguments was run; None for any other."""
        found = self._made.get((id(function.scope), id(function.env)))
        return found[0] if found is not None else None

    def made_for(self, site: Site) -> bool:
        """Tell whether a call was met in such a run."""
        return bool(site.through) and id(site.through[-1]) in self._made_at

    def _means_another_class(self, function: Function) -> bool:
        """Tell whether a method is bound to an object of a subclass, which replaces methods that its class calls."""
        owner = self.program.owner(function.scope)
        receiver = function.receiver
        if owner is None or type(receiver) is not Instance or receiver.scope is owner:
            return False
        key = (id(receiver.scope), id(owner))
        known = self._replaces.get(key)
        if known is None:
            classes = self.program.bases(receiver.scope)[0]
            known = False
            if owner in classes:
                nearer = classes[: classes.index(owner)]
                replaced = {name for scope in nearer for name in scope.children} - {"__init__"}
                known = not replaced.isdisjoint(self._own_members(owner))
            self._replaces[key] = known
        return known

    def _own_members(self, owner: Scope) -> set[str]:
        """Return the names that the methods of a class look up on their object in calls: `self.parse(x)`, `map(self.parse)`."""
        names: set[str] = set()
        scopes = owner.module.summary.scopes
        for number in owner.children.values():
            method = scopes[number]
            if method.kind != "function" or not method.params:
                continue
            own = method.params[0][0]
            # Lambdas and functions inside see the same object.
            for scope in scopes[number:]:
                if scope.place[0] > method.place[2]:
                    break
                for call in scope.calls:
                    for part in (call.func, *call.args, *(value for _, value in call.keywords)):
                        if part[0] == ATTRIBUTE and part[1][0] == NAME and part[1][1] == own:
                            names.add(part[2])
        return names

    # Statements

    def _body(self, frame: _Frame) -> None:
        self._statements(frame, frame.scope.body)

    def _statements(self, frame: _Frame, events: list[Event]) -> bool:
        """Run some statements; return whether the end is never reached."""
        for event in events:
            if self._steps > MAX_STEPS:
                self.exhausted = True
                return True
            if self._statement(frame, event):
                return True
        return False

    def _statement(self, frame: _Frame, event: Event) -> bool:
        kind = event.kind
        names = frame.env.names
        if kind in ("expr", "yield"):
            if event.value is not None and event.value[0] != CONSTANT:
                self.eval(frame, event.value)
        elif kind == "assign":
            assert event.value is not None
            value = self.eval(frame, event.value)
            for target in event.targets:
                self._assign(frame, target, value)
        elif kind == "annotate":
            if event.value is not None:
                value = self.eval(frame, event.value)
                if value is UNKNOWN:
                    value = self._annotated(event.extra, frame.scope)
                self._assign(frame, event.targets[0], value)
            elif event.targets[0][0] == NAME:
                names.setdefault(event.targets[0][1], self._annotated(event.extra, frame.scope))
        elif kind == "augment":
            assert event.value is not None
            self.eval(frame, event.value)
            self._assign(frame, event.targets[0], UNKNOWN)
        elif kind == "return":
            frame.returned.append(
                self.eval(frame, event.value) if event.value is not None else Constant(None)
            )
            return True
        elif kind == "if":
            assert event.value is not None
            self.eval(frame, event.value)
            self._branches(frame, event)
        elif kind in ("for", "while"):
            self._loop(frame, event)
        elif kind == "with":
            for manager, target in zip(event.extra, event.targets, strict=True):
                value = self.eval(frame, manager)
                self._assign(frame, target, value)
            return self._statements(frame, event.bodies[0][1])
        elif kind == "try":
            return self._try(frame, event)
        elif kind == "define":
            self._define(frame, event)
        elif kind == "import":
            for name, source in event.extra:
                if name and name not in names:
                    names[name] = self.program.find(source, frame.scope.module)
        elif kind in ("raise", "break", "continue"):
            if event.value is not None:
                self.eval(frame, event.value)
            return True
        elif kind == "match":
            assert event.value is not None
            self.eval(frame, event.value)
            self._branches(frame, event)
        elif kind == "assert":
            if event.value is not None:
                self.eval(frame, event.value)
        elif kind == "delete":
            for target in event.targets:
                if target[0] == NAME:
                    names.pop(target[1], None)
        return False

    def _define(self, frame: _Frame, event: Event) -> None:
        scope = frame.scope.module.summary.scopes[event.extra]
        value = self._defined(frame, scope)
        frame.env.names[scope.name] = value
        if scope.kind == "class":
            self._class_body(frame, scope)

    def _class_body(self, frame: _Frame, scope: Scope) -> None:
        """Run the statements of a class body, so that its calls are noted."""
        if id(scope) in self._envs:
            return
        env = Env(scope, frame.env)
        self._envs[id(scope)] = env
        self._body(_Frame(scope, env, None, frame.through))
        for name, value in env.names.items():
            if not isinstance(value, Function):
                self._attributes.setdefault((id(scope), name), value)

    def _defined(self, frame: _Frame, scope: Scope) -> Value:
        bare: Value = ClassValue(scope) if scope.kind == "class" else Function(scope, env=frame.env)
        if not scope.decorators or id(scope) in self._defining:
            # A decorator that names what it decorates means what the name was before.
            return bare
        self._defining.add(id(scope))
        try:
            if scope.kind == "class":
                for decorator in scope.decorators:
                    self.eval(frame, decorator)
                return bare
            value = bare
            for decorator in reversed(scope.decorators):
                value = self._decorated(frame, decorator, value)
            return value
        finally:
            self._defining.discard(id(scope))

    def _decorated(self, frame: _Frame, decorator: Expr, value: Value) -> Value:
        """Return a function as a decorator leaves it: compiled, unchanged, or not known to be the same."""
        made = self.eval(frame, decorator)
        name = ""
        site: Site | None = None
        if decorator[0] == CALL:
            for item in alternatives(made):
                if isinstance(item, Made):
                    name, site = item.name, item.site
            if not name and isinstance(value, Function):
                return value
        else:
            for item in alternatives(made):
                if isinstance(item, External):
                    name = fold(item.name)
            if name in _WRAPPERS:
                site = Site(frame.scope, _decorator_call(decorator, frame.scope), frame.through)
                site.name = site.raw = name
                site.result = value
        if isinstance(value, Function):
            if name == "tensorflow.function":
                return Function(value.scope, value.receiver, site, value.env)
            if name in ("tensorflow.py_function", "tensorflow.numpy_function") and site is not None:
                return Made(name, site)
        return value

    def _assign(self, frame: _Frame, target: Expr, value: Value) -> None:
        kind = target[0]
        if kind == NAME:
            if target[1] in frame.scope.outer:
                env = frame.env.parent
                while env is not None and target[1] not in env.names:
                    env = env.parent
                if env is not None:
                    env.names[target[1]] = join(env.names[target[1]], value)
                return
            frame.env.names[target[1]] = value
        elif kind == ITEMS:
            items = value.items if isinstance(value, Items) else ()
            if isinstance(value, Element):
                items = tuple(value for _ in target[2])
            for position, inner in enumerate(target[2]):
                known = len(items) == len(target[2]) and not any(item[0] == STARRED for item in target[2])
                self._assign(frame, inner, items[position] if known else UNKNOWN)
        elif kind == STARRED:
            self._assign(frame, target[1], UNKNOWN)
        elif kind == ATTRIBUTE:
            owner = self.eval(frame, target[1])
            if type(owner) is Instance:
                key = (id(owner.scope), target[2])
                before = self._attributes.get(key)
                if type(before) is Constant and before.value is None:
                    before = None
                self._attributes[key] = value if before is None else join(before, value)
            elif type(owner) is Made:
                frame.env.names[f"<{id(owner)}>.{target[2]}"] = value
        elif kind == SUBSCRIPT:
            self.eval(frame, target[1])
            self.eval(frame, target[2])

    def _branches(self, frame: _Frame, event: Event) -> None:
        before = frame.env.names
        ends: list[dict[str, Value]] = []
        for _, body in event.bodies:
            frame.env.names = dict(before)
            if not self._statements(frame, body):
                ends.append(frame.env.names)
        if (event.kind == "if" and len(event.bodies) < 2) or event.kind == "match":
            ends.append(before)
        frame.env.names = _merge(before, ends)

    def _loop(self, frame: _Frame, event: Event) -> None:
        assert event.value is not None
        value = self.eval(frame, event.value)
        before = dict(frame.env.names)
        if event.kind == "for":
            item: Value = UNKNOWN
            for alternative in alternatives(value):
                if isinstance(alternative, Dataset):
                    alternative.uses.append(("loop", None))
                    self.consumed.append(("loop", alternative, frame.scope, event.bodies[0][0]))
                    item = Element(alternative)
                elif (
                    isinstance(alternative, Made)
                    and alternative.name == "builtins.enumerate"
                    and alternative.site
                ):
                    inner = first_dataset(alternative.site.args[0]) if alternative.site.args else None
                    if inner is not None:
                        inner.uses.append(("loop", None))
                        self.consumed.append(("loop", inner, frame.scope, event.bodies[0][0]))
                        item = Items((UNKNOWN, Element(inner)))
                elif isinstance(alternative, Made) and alternative.name == "iterator" and alternative.site:
                    inner = first_dataset(alternative.site.args[0]) if alternative.site.args else None
                    if inner is not None:
                        item = Element(inner)
            for target in event.targets:
                self._assign(frame, target, item)
        ends = [before]
        if not self._statements(frame, event.bodies[0][1]):
            ends.append(frame.env.names)
        else:
            ends.append(frame.env.names)
        frame.env.names = _merge(before, ends)
        for _, body in event.bodies[1:]:
            self._statements(frame, body)

    def _try(self, frame: _Frame, event: Event) -> bool:
        before = dict(frame.env.names)
        body = event.bodies[0][1]
        last = len(body) - 1
        while last > 0 and only_tells(body[last], frame.scope):
            last -= 1
        left = self._statements(frame, body[:last])
        # A handler sees what was done before the statement that failed: of the last one, nothing it binds.
        reached = dict(frame.env.names)
        if not left and body:
            left = self._statements(frame, body[last:])
            if body[last].bodies:
                reached = frame.env.names
        done = frame.env.names
        ends: list[dict[str, Value]] = []
        interrupted = _merge(before, [before, reached])
        blocks = frame.scope.blocks
        for block, suite in event.bodies[1:]:
            kind = blocks[block].kind
            if kind == "except":
                frame.env.names = dict(interrupted)
                if not self._statements(frame, suite):
                    ends.append(frame.env.names)
            elif kind == "try-else" and not left:
                frame.env.names = dict(done)
                left = self._statements(frame, suite)
                done = frame.env.names
        if not left:
            ends.insert(0, done)
        frame.env.names = _merge(before, ends) if ends else done
        for block, suite in event.bodies[1:]:
            if blocks[block].kind == "finally":
                self._statements(frame, suite)
        return not ends

    # Expressions

    def eval(self, frame: _Frame, expr: Expr) -> Value:
        """Return what an expression stands for; calls in it are noted."""
        self._steps += 1
        kind = expr[0]
        if kind == NAME:
            value = frame.env.names.get(expr[1])
            return value if value is not None else self._name(frame, expr[1])
        if kind == CALL:
            return self._call(frame, expr[1])
        if kind == ATTRIBUTE:
            return self._attribute(frame, expr)
        if kind == CONSTANT:
            return Constant(expr[1])
        if kind == ITEMS:
            return Items(tuple([self.eval(frame, item) for item in expr[2]]))
        if kind == LAMBDA:
            scope = frame.scope.module.summary.scopes[expr[1]]
            return Function(scope, env=frame.env)
        if kind == CHOICE:
            self.eval(frame, expr[1])
            return join(self.eval(frame, expr[2]), self.eval(frame, expr[3]))
        if kind == BOOLEAN:
            values = [self.eval(frame, item) for item in expr[2]]
            result = values[0]
            for value in values[1:]:
                result = join(result, value)
            return result
        if kind == SUBSCRIPT:
            return self._subscript(frame, expr)
        if kind == ASSIGNED:
            value = self.eval(frame, expr[2])
            frame.env.names[expr[1]] = value
            return value
        if kind == BINARY:
            left, right = self.eval(frame, expr[2]), self.eval(frame, expr[3])
            if (type(left) is Made and left.name in _SYMBOLIC) or (
                type(right) is Made and right.name in _SYMBOLIC
            ):
                return SYMBOLIC
        elif kind == UNARY:
            if is_symbolic(self.eval(frame, expr[2])):
                return SYMBOLIC
        elif kind == COMPARE:
            self.eval(frame, expr[1])
            for _, right in expr[2]:
                self.eval(frame, right)
        elif kind == MAPPING:
            for key, value_expr in expr[1]:
                if key is not None:
                    self.eval(frame, key)
                self.eval(frame, value_expr)
        elif kind == FORMAT:
            if expr[3]:
                for part in expr[1]:
                    self.eval(frame, part)
        elif kind in (STARRED, YIELD):
            self.eval(frame, expr[1])
        elif kind == COMPREHENSION:
            for part in expr[2]:
                self.eval(frame, part)
        return UNKNOWN

    def _name(self, frame: _Frame, name: str) -> Value:
        env: Env | None = frame.env
        while env is not None:
            value = env.names.get(name)
            if value is not None:
                return value
            if name in env.scope.names and env.scope.kind != "module" and name not in env.scope.outer:
                return UNKNOWN
            env = env.parent
        module = frame.scope.module
        scope = module.scope
        child = scope.children.get(name)
        if child is not None:
            inner = module.summary.scopes[child]
            module_env = self.module_env(module)
            known = module_env.names.get(name) if module_env is not None else None
            if known is not None:
                return known
            top = _Frame(scope, module_env or Env(scope, None), None, ())
            return self._defined(top, inner)
        imported = self.program.imported(frame.scope, name)
        if imported is not None:
            return imported
        if name in scope.names:
            return UNKNOWN
        for star in scope.stars:
            found = self.program.find(star, module)
            if isinstance(found, ModuleValue):
                value = self._member(found.module, name)
                if not isinstance(value, External):
                    return value
        return External(f"builtins.{name}") if name in _BUILTINS and not scope.stars else UNKNOWN

    def _member(self, module: Module, name: str) -> Value:
        """Return a module's top-level name, with values its body gives it."""
        scope = module.scope
        if scope is not None and name in scope.names and name not in scope.children:
            env = self.module_env(module)
            value = env.names.get(name) if env is not None else None
            return value if value is not None else UNKNOWN
        if scope is not None and name in scope.children:
            env = self.module_env(module)
            value = env.names.get(name) if env is not None else None
            if value is not None:
                return value
        value = self.program.member(module, name)
        if isinstance(value, Function) and value.scope.module is not module:
            return self._member(value.scope.module, value.scope.name)
        return value

    def _attribute(self, frame: _Frame, expr: Expr) -> Value:
        return self._attribute_among(frame, self.eval(frame, expr[1]), expr[2])

    def _attribute_among(self, frame: _Frame, base: Value, name: str) -> Value:
        """Return an attribute of something that may be one of several things."""
        if type(base) is not Many:
            return self._attribute_of(frame, base, name)
        ways = base.values
        result = self._attribute_of(frame, ways[0], name)
        for item in ways[1:]:
            result = join(result, self._attribute_of(frame, item, name))
        return result

    def _attribute_of(self, frame: _Frame, base: Value, name: str) -> Value:
        # By type, since no class is derived from these: `isinstance` takes three times as long to say no.
        if type(base) is External:
            return base.member(name)
        if type(base) is ModuleValue:
            return self._member(base.module, name)
        if type(base) is Instance:
            return self._instance_attribute(base, name)
        if type(base) is ClassValue:
            method = self.program.method(base.scope, name)
            if method is not None:
                return self._method_value(method, None)
            return self._attributes.get((id(base.scope), name), UNKNOWN)
        if type(base) is Made:
            stored = frame.env.names.get(f"<{id(base)}>.{name}")
            return stored if stored is not None else External(f"{base.name}.{name}")
        return UNKNOWN

    def _method_value(self, method: Scope, receiver: Value | None) -> Value:
        outer = self.program.outer(method)
        beyond = self.program.outer(outer) if outer is not None else None
        env = self.env_of(beyond) if beyond is not None and beyond.kind == "module" else None
        top = _Frame(outer or method, env or Env(outer or method, None), None, ())
        names = {self.program.static_name(item, method) for item in method.decorators}
        value: Value = Function(method, None if is_static(method) else receiver, env=env)
        if (
            "property" in {item[1] for item in method.decorators if item[0] == NAME}
            or "functools.cached_property" in names
        ):
            return self.default(method)
        for decorator in reversed(method.decorators):
            if decorator[0] == NAME and decorator[1] in ("staticmethod", "classmethod", "property"):
                continue
            value = self._decorated_quietly(top, decorator, value)
        return value

    def _decorated_quietly(self, frame: _Frame, decorator: Expr, value: Value) -> Value:
        """Apply a method's decorator without noting its call again."""
        name = self.program.static_name(
            frame.scope.calls[decorator[1]].func if decorator[0] == CALL else decorator, frame.scope
        )
        if name is None or not isinstance(value, Function):
            return value
        if fold(name) == "tensorflow.function":
            call = (
                frame.scope.calls[decorator[1]]
                if decorator[0] == CALL
                else _decorator_call(decorator, frame.scope)
            )
            site = Site(frame.scope, call, ())
            site.name, site.raw = "tensorflow.function", name
            return Function(value.scope, value.receiver, site, value.env)
        return value

    def _instance_attribute(self, base: Instance, name: str) -> Value:
        classes, outside = self.program.bases(base.scope)
        for scope in classes:
            child = scope.children.get(name)
            if child is not None:
                method = self._method_value(scope.module.summary.scopes[child], base)
                # A method may be replaced on the object: `agent.train = tf.function(agent.train)`.
                replaced = self._attributes.get((id(base.scope), name))
                return method if replaced is None else join(method, replaced)
        result: Value | None = None
        for scope in classes:
            value = self._stored(scope, base, name)
            if value is not None:
                result = value if result is None else join(result, value)
        if result is not None:
            return result
        for outer in outside:
            if outer.startswith(("keras.", "tensorflow.")):
                return External(f"{outer}.{name}")
        return UNKNOWN

    def _stored(self, scope: Scope, base: Instance, name: str) -> Value | None:
        """Return what methods of a class store in an attribute, running those methods first."""
        key = (id(base.scope), name)
        if key in self._resolving:
            return self._attributes.get(key) or self._attributes.get((id(scope), name))
        writers = self._writers.get(id(scope))
        if writers is None:
            writers = {}
            for child in scope.module.summary.scopes[scope.number + 1 :]:
                if child.parent == scope.number and child.kind == "function" and child.params:
                    own = child.params[0][0]
                    for event in child.events():
                        for target in event.targets:
                            for part in target[2] if target[0] == ITEMS else (target,):
                                if part[0] == ATTRIBUTE and part[1][0] == NAME and part[1][1] == own:
                                    found = writers.setdefault(part[2], [])
                                    if child not in found:
                                        found.append(child)
                elif child.place[0] > scope.place[2]:
                    break
            self._writers[id(scope)] = writers
        named = writers.get(name)
        if named is not None:
            done = self._done
            for writer in named:
                if id(writer) not in done:
                    self._resolving.add(key)
                    self.default(writer)
                    self._resolving.discard(key)
        if scope is not base.scope:
            inherited = self._attributes.get((id(scope), name))
            if inherited is not None:
                return inherited
        found_value = self._attributes.get(key)
        if found_value is None and name in writers:
            return UNKNOWN
        if found_value is UNKNOWN and name not in writers:
            # A base class stores it; what it stores for this class is not known, and what it stores as a rule is.
            return None
        return found_value

    def _subscript(self, frame: _Frame, expr: Expr) -> Value:
        base = self.eval(frame, expr[1])
        self.eval(frame, expr[2])
        index = constant(expr[2])
        if isinstance(base, Items) and isinstance(index, int) and -len(base.items) <= index < len(base.items):
            return base.items[index]
        if isinstance(base, Element):
            return base
        if (
            type(base) is Made
            and base.name == "tfds.splits"
            and isinstance(index, str)
            and base.site is not None
        ):
            return self._constructed(base.site, "tfds.load")
        return SYMBOLIC if is_symbolic(base) else UNKNOWN

    # Calls

    def _call(self, frame: _Frame, number: int) -> Value:
        call = frame.scope.calls[number]
        site = Site(frame.scope, call, frame.through)
        func = call.func
        method = ""
        receiver: Value | None = None
        callee: Value = UNKNOWN
        if func[0] == ATTRIBUTE:
            base = func[1]
            # Most are names, which need no step of their own.
            receiver = frame.env.names.get(base[1]) if base[0] == NAME else None
            if receiver is None:
                receiver = self.eval(frame, base)
            method = func[2]
            if type(receiver) is External:
                dataset = None
                callee = receiver.member(method)
            else:
                dataset = first_dataset(receiver)
                if dataset is None:
                    callee = self._attribute_among(frame, receiver, method)
        else:
            dataset = None
            callee = self.eval(frame, func)
        site.args = self._arguments(frame, site) if call.args else ()
        if call.keywords:
            keywords = {}
            for name, expr in call.keywords:
                value = self.eval(frame, expr)
                if name is not None:
                    keywords[name] = value
            site.keywords = keywords
        site.receiver, site.callee = receiver, callee
        if dataset is not None:
            site.name = site.raw = f"{DATASET}.{method}"
            site.result = self._dataset_method(site, dataset, method)
            self._note(site)
            return site.result
        if type(callee) is Value:
            site.open = True
        elif type(callee) is Many:
            ways = callee.values
            site.open = any(type(item) is Value for item in ways)
            result = self._called(frame, site, ways[0])
            for item in ways[1:]:
                result = join(result, self._called(frame, site, item))
            site.result = result
        else:
            site.result = self._called(frame, site, callee)
        if site.name or site.targets:
            self._note(site)
        elif method in MODEL_METHODS:
            self.unresolved.append(site)
        return site.result

    def _arguments(self, frame: _Frame, site: Site) -> tuple[Value, ...]:
        """Return the values of the positional arguments, those of `*items` of known length one by one."""
        args = site.call.args
        if len(args) == 1 and args[0][0] != STARRED:
            expr = args[0]
            known = frame.env.names.get(expr[1]) if expr[0] == NAME else None
            return (known if known is not None else self.eval(frame, expr),)
        values: list[Value] = []
        for expr in args:
            if expr[0] != STARRED:
                values.append(self.eval(frame, expr))
                continue
            value = self.eval(frame, expr[1])
            if not isinstance(value, Items):
                site.expanded = False
                return (*values, UNKNOWN)
            site.expanded = True
            values += value.items
        return tuple(values)

    def _called(self, frame: _Frame, site: Site, callee: Value) -> Value:
        if type(callee) is External:
            return self._external(frame, site, callee.name)
        if type(callee) is Function:
            if not self._takes(callee, site.call):
                return UNKNOWN
            site.targets = (*site.targets, callee)
            return self.enter(callee, site, site.args, site.keywords)
        if type(callee) is ClassValue:
            instance = Instance(callee.scope)
            init = self.program.method(callee.scope, "__init__")
            if init is not None:
                function = Function(init, instance)
                if not self._takes(function, site.call):
                    return UNKNOWN
                site.targets = (*site.targets, function)
                self.enter(function, site, site.args, site.keywords)
            if self.program.is_subclass(callee.scope, frozenset({DATASET})):
                return UNKNOWN
            return instance
        if type(callee) is Instance:
            args, keywords = site.args, site.keywords
            symbolic = any(map(holds_symbolic, (*args, *keywords.values()))) and is_keras_part(
                self.program, callee.scope
            )
            if symbolic:
                # What Keras calls is given tensors, whatever stands for them outside.
                args = tuple(map(tensors_of, args))
                keywords = {name: tensors_of(value) for name, value in keywords.items()}
            for name in ("__call__", "call"):
                inner = self.program.method(callee.scope, name)
                if inner is not None:
                    function = Function(inner, callee)
                    site.targets = (*site.targets, function)
                    result = self.enter(function, site, args, keywords)
                    return SYMBOLIC if symbolic and name == "call" else result
            outside = self.program.bases(callee.scope)[1]
            if outside:
                site.name = site.raw = f"{outside[0]}.__call__"
            return SYMBOLIC if symbolic else UNKNOWN
        if type(callee) is Made:
            site.name = site.raw = f"{callee.name}.__call__"
            if callee.name == "tensorflow.function" and site.args:
                return self._compiled(callee.site or site, site.args[0])
            if callee.name.startswith(_CALLED_BY_KERAS) and any(map(holds_symbolic, site.args)):
                return SYMBOLIC
        return UNKNOWN

    def _takes(self, function: Function, call: Call) -> bool:
        """Tell whether a function can be called so; where not, the call stops there, or calls something else.

        What decorators and starred arguments hide is taken as right.
        """
        if function.partial or function.fixed or call.opaque:
            return True
        scope = function.scope
        known = self._parameters.get(id(scope))
        if known is None:
            known = self._parameters[id(scope)] = Parameters(scope)
        if known.changed:
            return True
        return known.take(call, int(function.receiver is not None or known.classmethod))

    def _compiled(self, site: Site, value: Value) -> Value:
        for item in alternatives(value):
            if isinstance(item, Function):
                return Function(item.scope, item.receiver, site, item.env)
        return Made("tensorflow.function.result", site)

    def _external(self, frame: _Frame, site: Site, raw: str) -> Value:
        name = fold(raw)
        if not site.name or (
            name.startswith(("tensorflow", "keras")) and (_of_class(name) or not _of_class(site.name))
        ):
            # What a function such as `load_model` gives is told by the class that it may be as well.
            site.name, site.raw = name, raw
        args = site.args
        if name in CONSTRUCTORS:
            return self._constructed(site, name.rsplit(".", 1)[1])
        if not name.startswith("builtins.") and name not in _TREATED:
            return self._used(site, name)
        if name == "tensorflow.function":
            value = site.argument(0, "func")
            if value is not None:
                return self._compiled(site, value)
            return Made(name, site)
        if name == "functools.partial" and args:
            for function in functions_of(args[0]):
                return Function(
                    function.scope,
                    function.receiver,
                    function.compiled,
                    function.env,
                    function.partial + len(args) - 1,
                    _fixed(function, site),
                )
            return UNKNOWN
        if name == "builtins.iter" and args:
            dataset = first_dataset(args[0])
            if dataset is not None:
                dataset.uses.append(("iter", site))
                return Made("iterator", site)
        elif name == "builtins.next" and args:
            item = args[0]
            if (
                isinstance(item, Made)
                and item.name == "iterator"
                and item.site is not None
                and item.site.args
            ):
                dataset = first_dataset(item.site.args[0])
                if dataset is not None:
                    return Element(dataset)
        elif name == "builtins.getattr" and len(args) >= 2 and isinstance(args[1], Constant):
            if isinstance(args[1].value, str):
                found = UNKNOWN
                for item in alternatives(args[0]):
                    found = self._attribute_of(frame, item, args[1].value)
                return found
        elif name == "builtins.super":
            owner = self.program.owner(site.scope)
            outer = site.scope
            while owner is None and outer.parent >= 0:
                outer = outer.module.summary.scopes[outer.parent]
                owner = self.program.owner(outer)
            if owner is not None:
                classes, outside = self.program.bases(owner)
                if len(classes) > 1:
                    return Instance(classes[1])
                if outside:
                    return Made(outside[0], None)
            return UNKNOWN
        elif name in ("tensorflow_datasets.load", "tensorflow_datasets.builder.as_dataset"):
            return self._tfds(site)
        elif name in ("builtins.min", "builtins.max") and args:
            return Made(name, site)
        elif name.startswith("builtins.") and name.count(".") == 1:
            for value in args:
                dataset = first_dataset(value)
                if dataset is not None:
                    dataset.uses.append((name, site))
            return (
                Made(name, site)
                if name in ("builtins.enumerate", "builtins.zip", "builtins.range")
                else UNKNOWN
            )
        return self._used(site, name)

    def _used(self, site: Site, name: str) -> Value:
        """Note which datasets a call outside the project gets, and return what it makes."""
        for value in (*site.args, *site.keywords.values()) if site.keywords else site.args:
            if type(value) is Dataset or type(value) is Many:
                dataset = first_dataset(value)
                if dataset is not None:
                    dataset.uses.append((name, site))
        return Made(name, site)

    def _tfds(self, site: Site) -> Value:
        """Return what `tfds.load` gives, where its arguments tell."""
        split = site.call.keyword("split")
        value = constant(split) if split is not None else None
        data: Value
        if isinstance(value, str):
            data = self._constructed(site, "tfds.load")
        elif isinstance(value, (list, tuple)):
            data = Items(tuple(self._constructed(site, "tfds.load") for _ in value))
        elif split is None and site.call.argument(1, "split") is None and not site.call.opaque:
            # All splits, by their names.
            data = Made("tfds.splits", site)
        else:
            return UNKNOWN
        info = site.call.keyword("with_info")
        if info is None:
            return data
        if is_true(info):
            return Items((data, UNKNOWN))
        return UNKNOWN

    def _constructed(self, site: Site, op: str) -> Dataset:
        parents: list[Dataset] = []
        values: Iterable[Value] = (*site.args, *site.keywords.values())
        if op in _CHOOSING:
            # The other dataset says from which of these the next element comes: none of its own elements does.
            values = [value for value in (site.argument(0, "datasets"),) if value is not None]
        for value in values:
            for item in value.items if isinstance(value, Items) else (value,):
                dataset = first_dataset(item)
                if dataset is not None:
                    parents.append(dataset)
        functions = self._called_by(site.argument(0, "generator")) if op == "from_generator" else ()
        result = Dataset(op, site, tuple(parents[:16]), functions)
        self.datasets.append(result)
        return result

    def _called_by(self, value: Value | None) -> tuple[Function, ...]:
        """Return the project functions that a call of a value enters, `__call__` of its objects included."""
        found = list(functions_of(value))
        for item in alternatives(value):
            if type(item) is Instance:
                method = self.program.method(item.scope, "__call__")
                if method is not None:
                    found.append(Function(method, item))
        return tuple(found)

    def _dataset_method(self, site: Site, dataset: Dataset, method: str) -> Value:
        if method not in TRANSFORMATIONS:
            dataset.uses.append((method, site))
            if method == "reduce":
                self._callbacks(site, method)
            elif method in ("as_numpy_iterator", "make_one_shot_iterator", "__iter__"):
                return Made("iterator", site) if method == "__iter__" else UNKNOWN
            return UNKNOWN
        functions: tuple[Function, ...] = ()
        detail = ""
        parents = [dataset]
        if method == "apply":
            applied = site.argument(0, "transformation_func")
            for item in alternatives(applied):
                if isinstance(item, Made) and item.name.startswith("tensorflow.data."):
                    detail = item.name.rsplit(".", 1)[1]
                elif isinstance(item, Function):
                    site.targets = (*site.targets, item)
                    value = self.enter(item, site, (dataset,), {})
                    found = first_dataset(value)
                    if found is not None:
                        return found
                    detail = "unknown"
            if not detail:
                detail = "unknown"
        else:
            functions = self._callbacks(site, method)
            if method in ("concatenate", "zip"):
                for value in site.args:
                    other = first_dataset(value)
                    if other is not None:
                        parents.append(other)
        if self.exhausted:
            return UNKNOWN
        result = Dataset(method, site, tuple(parents), functions, detail)
        self.datasets.append(result)
        return result

    def _callbacks(self, site: Site, method: str) -> tuple[Function, ...]:
        named = WITH_FUNCTION.get(method)
        if named is None:
            return ()
        functions = functions_of(site.argument(named[1], named[0]))
        for function in functions:
            self._run_where_made(function, site)
        return functions


def _of_class(name: str) -> bool:
    """Tell whether a dotted name is that of a class's member: `keras.Model.fit`."""
    return name.rpartition(".")[0].rpartition(".")[2][:1].isupper()


def only_tells(event: Event, scope: Scope) -> bool:
    """Tell whether a statement only prints or logs, and so is not the one that fails."""
    if event.kind == "pass":
        return True
    if event.kind != "expr" or event.value is None or event.value[0] != CALL:
        return False
    func = scope.calls[event.value[1]].func
    return (func[0] == NAME and func[1] == "print") or (
        func[0] == ATTRIBUTE and func[2] in ("info", "debug", "warning", "error", "print", "log")
    )


def _merge(before: dict[str, Value], ends: list[dict[str, Value]]) -> dict[str, Value]:
    """Return the names where several ways meet."""
    if not ends:
        return before
    if len(ends) == 1:
        return ends[0]
    result = dict(ends[0])
    for other in ends[1:]:
        for name, value in other.items():
            mine = result.get(name)
            if mine is None:
                result[name] = value
            elif mine is not value:
                result[name] = join(mine, value)
    return result


def is_symbolic(value: Value) -> bool:
    """Tell whether something is what Keras gives out for a tensor while a model is built of layers: a KerasTensor."""
    return type(value) is Made and value.name in _SYMBOLIC


def holds_symbolic(value: Value) -> bool:
    """Tell whether something is such a tensor, or a list with one."""
    return is_symbolic(value) or (type(value) is Items and any(map(is_symbolic, value.items)))


def tensors_of(value: Value) -> Value:
    """Return what a layer's own code sees of an argument."""
    return UNKNOWN if holds_symbolic(value) else value


def _telling(value: Value) -> bool:
    """Tell whether an argument makes a run of its own worth while."""
    if isinstance(value, (Dataset, Function)):
        return True
    if isinstance(value, Made):
        return (
            value.name.startswith(("tensorflow.data", "tensorflow.distribute", "keras."))
            or value.name == "iterator"
        )
    if isinstance(value, Many):
        return any(_telling(item) for item in value.values)
    if isinstance(value, Items):
        return any(isinstance(item, (Dataset, Function)) for item in value.items)
    return False


def _identity(value: Value) -> object:
    if isinstance(value, Constant):
        return (type(value.value).__name__, repr(value.value))
    if isinstance(value, (Function, Instance, ClassValue)):
        return ("s", id(value.scope))
    if isinstance(value, (External, Made)):
        return ("e", value.name)
    if isinstance(value, Dataset):
        return ("d", id(value))
    if isinstance(value, (Many, Items)):
        inner = value.values if isinstance(value, Many) else value.items
        return ("m", *[str(_identity(item)) for item in inner])
    return "?"


def _fixed(function: Function, site: Site) -> tuple[tuple[str, object], ...]:
    """Return the constants that `functools.partial` gives, by parameter, those given before included."""
    if site.call.opaque:
        return ()
    plain = [name for name, _, _, kind in function.scope.params if kind == "plain"]
    names = plain[int(function.receiver is not None) + function.partial :]
    given = {**dict(function.fixed), **dict(zip(names, site.args[1:], strict=False)), **site.keywords}
    return tuple(
        (name, value.value if isinstance(value, Constant) else value)
        for name, value in given.items()
        if isinstance(value, Constant) or not isinstance(value, Value)
    )


def _decorator_call(decorator: Expr, scope: Scope) -> Call:
    """Return a call that stands for a decorator without brackets."""
    place = decorator[-1] if decorator[0] in (NAME, ATTRIBUTE) else scope.place
    return Call(decorator, (), (), 0, place, -1)


_BUILTINS = frozenset(
    [
        "abs",
        "all",
        "any",
        "bool",
        "bytes",
        "callable",
        "dict",
        "dir",
        "divmod",
        "enumerate",
        "eval",
        "exec",
        "filter",
        "float",
        "format",
        "getattr",
        "globals",
        "hasattr",
        "hash",
        "id",
        "input",
        "int",
        "isinstance",
        "issubclass",
        "iter",
        "len",
        "list",
        "locals",
        "map",
        "max",
        "min",
        "next",
        "object",
        "open",
        "ord",
        "pow",
        "print",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "setattr",
        "slice",
        "sorted",
        "str",
        "sum",
        "super",
        "tuple",
        "type",
        "vars",
        "zip",
    ]
)
