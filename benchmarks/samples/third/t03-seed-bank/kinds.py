"""Each kind of thing has a family; a class joins it by the word in its head."""


class Kind:
    families = {}

    def __init_subclass__(cls, *, family=None, name=None, **rest):
        super().__init_subclass__(**rest)
        if family is None:
            return
        cls.families.setdefault(family, {})[name or cls.__name__.lower()] = cls


def create(family, section, *args):
    section = dict(section)
    kind = section.pop("type")
    return Kind.families[family][kind](*args, **section)
