"""Run a program as far as reading tells: from an entry point, with the values of one config in it.

Lowest first, each module using only those before it:

- `objects`: what expressions stand for; `values`: questions about them; `classes`: what classes inherit;
- `events`: what others judge of a run; `run`: the state of a run, its frames, and the calls it makes;
- `reading` and `writing`: attributes and entries, and what asking for them tells of a config;
- `models`: what the functions and methods of Python and of libraries do with the values they are given;
- `calls`, `expressions`, `statements`: what each of them does;
- `interpreter`: a run from an entry point.
"""
