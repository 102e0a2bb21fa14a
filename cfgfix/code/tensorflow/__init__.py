"""What TensorFlow and Keras offer by release, and which release a project asks for."""
