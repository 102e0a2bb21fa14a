"""The models that a program builds and trains, read from a run of it: layers, shapes and what a training step needs."""
