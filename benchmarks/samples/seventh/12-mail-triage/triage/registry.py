class Registry:
    def __init__(self, what):
        self.what = what
        self._classes = {}

    def register(self, name):
        def wrap(cls):
            self._classes[name] = cls
        return wrap

    def create(self, spec, **extra):
        name = spec["name"]
        if name not in self._classes:
            raise KeyError(f"no {self.what} called {name}, only {sorted(self._classes)}")
        return self._classes[name](**spec.get("params", {}), **extra)


ENCODERS = Registry("encoder")
LOSSES = Registry("loss")
