import pathlib


def export_for_serving(model, root, version):
    target = pathlib.Path(root) / model.name / str(version)
    target.parent.mkdir(parents=True, exist_ok=True)
    model.export(str(target), verbose=False)
    return str(target)
