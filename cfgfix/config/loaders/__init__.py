"""What the YAML loaders make of a scalar."""
