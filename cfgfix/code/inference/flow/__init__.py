"""Follow datasets, functions and objects through assignments, branches, calls and classes.

Each function is run once on its own, with parameters that are not known, and again where a project function is
called with a dataset or a function (so a helper that takes and returns datasets is followed). Running means reading
the statements in order with a table of what each name stands for; branches are joined, loops are read once. Every
call is noted as a `Site` with what it resolves to. What is not known stays not known: it gives no site a name.

Each class adds to the one below it: `run`, `datasets`, `calls`, `expressions`, `functions`, `statements`, `flow`.
"""
