"""Run a program as far as reading tells: from an entry point, with the values of one config in it.

- `objects`: what expressions stand for; `values`: questions about them; `classes`: what classes inherit.
- `events`: what others judge of a run; `command_line`: the options that it declares; `library_names`: how outside names are written.
- `notes`: what a run notes of the values of configs; `decisions`: how its tests turn out.
- `run`: the state of a run, its frames, and the calls it makes.
- `reading` and `writing`: attributes and entries, and what asking for them tells of a config.
- `models`: what functions and methods of Python and of libraries do; each takes the `Call` and returns a value.
- `expressions`, `statements`: what each kind of them does; `calls`: how functions and classes of the project are called.
- `interpreter`: a run from an entry point.

Where a part needs one that is built on it, it asks the run: `Run.call`, `Run.suite`, `Run.module`.
"""
