import numpy as np


def confusion(y_true, y_pred, n_classes):
    table = np.zeros((n_classes, n_classes), dtype=int)
    np.add.at(table, (y_true, y_pred), 1)
    return table


def collect(model, dataset):
    """True and predicted class for each picture of a dataset."""
    y_true = np.concatenate([labels.numpy() for _, labels in dataset])
    y_pred = model.predict(dataset, verbose=0).argmax(axis=1)
    return y_true, y_pred


def print_report(model, dataset, names):
    y_true, y_pred = collect(model, dataset)
    table = confusion(y_true, y_pred, len(names))
    print("accuracy from the table: %.3f" % (np.trace(table) / table.sum()))
    for name, row in zip(names, table):
        recall = row[names.index(name)] / max(1, row.sum())
        print(f"{name:<12}", " ".join(f"{v:4d}" for v in row), f"  recall {recall:.2f}")
