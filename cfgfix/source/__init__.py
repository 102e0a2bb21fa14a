"""Python source: what runs per element, per step, and under which config."""
