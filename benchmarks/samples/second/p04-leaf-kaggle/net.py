from tensorflow import keras


def constant(args, steps):
    return args.lr


def cosine(args, steps):
    return keras.optimizers.schedules.CosineDecay(args.lr, steps)


def linear(args, steps):
    return keras.optimizers.schedules.PolynomialDecay(args.lr, steps)


SCHEDULERS = {"CosineAnnealingLR": cosine, "LinearLR": linear}


def get_model(args, steps):
    base = getattr(keras.applications, args.backbone)(
        include_top=False, weights=args.pretrained, input_shape=args.shape, pooling="avg")
    out = keras.layers.Dense(args.target_size, activation="softmax")(base.output)
    model = keras.Model(base.input, out)
    rate = SCHEDULERS.get(args.scheduler, constant)(args, steps)
    model.compile(keras.optimizers.AdamW(rate, weight_decay=args.wd), "sparse_categorical_crossentropy")
    return model
