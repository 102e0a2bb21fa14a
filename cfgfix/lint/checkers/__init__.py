"""What looks at a config: its values, its schema, the code that reads it, its settings against one another."""
