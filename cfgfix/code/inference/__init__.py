"""What code may do when it runs: values, branches, hot paths and releases."""
