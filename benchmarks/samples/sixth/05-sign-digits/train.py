import numpy as np
import tensorflow as tf


def get_datasets(config):
    rng = np.random.default_rng(config.seed)
    x = rng.random((40, config.image_size, config.image_size, 1), dtype="float32")
    y = rng.integers(0, config.model.num_classes, 40)
    train = tf.data.Dataset.from_tensor_slices((x[:32], y[:32])).shuffle(32, seed=config.seed)
    test = tf.data.Dataset.from_tensor_slices((x[32:], y[32:]))
    return train.batch(config.batch_size, drop_remainder=True), test.batch(config.batch_size)


def create_model(config):
    size = config.image_size
    model = tf.keras.Sequential([tf.keras.Input((size, size, 1))])
    for features in config.model.features:
        model.add(tf.keras.layers.Conv2D(features, 3, activation=config.model.activation))
        model.add(tf.keras.layers.AveragePooling2D(2))
    model.add(tf.keras.layers.Flatten())
    model.add(tf.keras.layers.Dense(config.model.num_classes))
    return model


def create_learning_rate(optim, num_epochs, steps_per_epoch):
    if optim.schedule == "constant":
        return optim.learning_rate
    if optim.schedule == "cosine":
        return tf.keras.optimizers.schedules.CosineDecay(optim.learning_rate, num_epochs * steps_per_epoch)
    if optim.schedule == "warmup_cosine":
        warmup = optim.warmup_epochs * steps_per_epoch
        return tf.keras.optimizers.schedules.CosineDecay(
            0.0, num_epochs * steps_per_epoch - warmup, warmup_target=optim.learning_rate, warmup_steps=warmup)
    raise ValueError(f"unknown schedule {optim.schedule}")


def train_and_evaluate(config):
    tf.keras.utils.set_random_seed(config.seed)
    train_ds, test_ds = get_datasets(config)
    model = create_model(config)
    lr = create_learning_rate(config.optim, config.num_epochs, len(train_ds))
    optimizer = tf.keras.optimizers.SGD(lr, momentum=0.9)
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    test_loss = 0.0
    for epoch in range(config.num_epochs):
        for images, labels in train_ds:
            with tf.GradientTape() as tape:
                loss = loss_fn(labels, model(images, training=True))
            optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        if (epoch + 1) % config.eval_every_epochs == 0:
            test_loss = float(np.mean([loss_fn(y, model(x)) for x, y in test_ds]))
    print("params", model.count_params())
    return test_loss
