"""YAML documents: nodes with exact spans, scalars under several loaders, edits, and the proof of an edit."""
