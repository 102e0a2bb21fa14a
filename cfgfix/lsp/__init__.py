"""The language server: findings and quick fixes in an editor."""
