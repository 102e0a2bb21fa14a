class Registry(dict):
    def register(self, name=None):
        def wrap(obj):
            self[name or obj.__name__.lower()] = obj
            return obj
        return wrap

    def make(self, spec, *args):
        return self[spec["name"]](*args, **spec.get("params", {}))


MODELS = Registry()
LOSSES = Registry()
OPTIMIZERS = Registry()
AUGMENTS = Registry()
