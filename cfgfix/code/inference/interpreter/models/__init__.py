"""What Python and libraries do with values, one module for each library or subject."""
