DATA, MODELS = {}, {}


def register(table, name):
    def wrap(fn):
        table[name] = fn
        return fn
    return wrap


def make(table, section, **more):
    return table[section["kind"]](**section["args"], **more)
