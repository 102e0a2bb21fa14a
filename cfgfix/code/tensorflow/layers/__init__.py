"""What Keras layers make of their inputs: shapes, weights, and what they keep for the backward pass."""
