"""The plugin that comes with the loom: says what it was given."""


def finish(log, **how):
    print("finished", len(log), sorted(how.items()))
