import tensorflow as tf

L = tf.keras.layers


def tower(n, opts, name):
    reg = tf.keras.regularizers.L2(opts["l2"])
    net = tf.keras.Sequential(name=name)
    net.add(L.Input((), dtype="int32"))
    net.add(L.Embedding(n, opts["dim"], embeddings_regularizer=reg))
    for units in opts["tower_units"]:
        net.add(L.Dense(units, activation=opts["activation"]))
    if opts.get("normalize", False):
        net.add(L.UnitNormalization())
    return net


def build_ranker(n_users, n_recipes, opts):
    user, recipe = L.Input((), dtype="int32"), L.Input((), dtype="int32")
    score = L.Dot(axes=1)([tower(n_users, opts, "user")(user), tower(n_recipes, opts, "recipe")(recipe)])
    return tf.keras.Model([user, recipe], L.Activation("sigmoid")(score))
