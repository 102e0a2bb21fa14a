HEADS = {}


def head(name):
    def keep(cls):
        HEADS[name] = cls
        return cls
    return keep


def make_head(spec):
    return HEADS[spec["name"]](**spec.get("args", {}))
