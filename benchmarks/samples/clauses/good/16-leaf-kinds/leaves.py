import tensorflow as tf
import tensorflow_datasets as tfds


def crop(image, label):
    image = tf.image.resize(image, [160, 160]) / 255.0
    return tf.image.random_crop(image, [128, 128, 3]), label


def centre(image, label):
    return tf.image.resize(image, [128, 128]) / 255.0, label


def splits(name):
    parts, info = tfds.load(name, split=None, with_info=True, as_supervised=True)
    train, test = parts["train"], parts["test"]
    train = train.cache().map(crop, num_parallel_calls=tf.data.AUTOTUNE)
    train = train.shuffle(1000).batch(32).prefetch(tf.data.AUTOTUNE)
    test = test.map(centre, num_parallel_calls=tf.data.AUTOTUNE).batch(32)
    return train, test, info.features["label"].num_classes


if __name__ == "__main__":
    train, test, classes = splits("plant_leaves")
    model = tf.keras.applications.MobileNetV2(weights=None, input_shape=(128, 128, 3), classes=classes)
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(train, validation_data=test, epochs=10)
