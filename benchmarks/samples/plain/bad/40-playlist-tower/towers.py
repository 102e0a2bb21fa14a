import tensorflow as tf


def playlist_tower(items, length, width):
    ids = tf.keras.Input((length,), dtype="int32", name="playlist")
    vectors = tf.keras.layers.Embedding(items + 1, width)(ids)
    pooled = tf.reduce_mean(vectors, axis=1)
    return tf.keras.Model(ids, tf.keras.layers.Dense(width)(pooled), name="playlist_tower")


def track_tower(items, width):
    track = tf.keras.Input((1,), dtype="int32", name="track")
    vector = tf.keras.layers.Embedding(items + 1, width)(track)
    flat = tf.keras.layers.Flatten()(vector)
    return tf.keras.Model(track, flat, name="track_tower")


def matcher(items, length, width=16):
    playlist = tf.keras.Input((length,), dtype="int32", name="playlist")
    track = tf.keras.Input((1,), dtype="int32", name="track")
    a = playlist_tower(items, length, width)(playlist)
    b = track_tower(items, width)(track)
    score = tf.keras.layers.Dot(axes=1)([a, b])
    fit = tf.keras.layers.Activation("sigmoid")(score)
    return tf.keras.Model([playlist, track], fit)
