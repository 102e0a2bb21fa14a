import numpy as np
import keras
from sklearn.metrics import classification_report, confusion_matrix

from classifier import claim_model
from frames import claims, rows, to_dataset


def main():
    keras.utils.set_random_seed(6)
    table, labels = claims()
    train_table, train_labels = rows(table, labels, 0, 600)
    test_table, test_labels = rows(table, labels, 600, 900)

    train_ds = to_dataset(train_table, train_labels)
    test_ds = to_dataset(test_table, test_labels)

    model = claim_model(train_ds.map(lambda x, y: x))
    model.fit(train_ds, epochs=15, verbose=0)
    print("evaluate", round(model.evaluate(test_ds, verbose=0)[1], 3))

    predicted = np.argmax(model.predict(test_ds, verbose=0), axis=1)
    print(confusion_matrix(test_labels, predicted))
    print(classification_report(test_labels, predicted, digits=3))


if __name__ == "__main__":
    main()
