"""A TensorFlow runtime in which every key of a config has an effect."""
