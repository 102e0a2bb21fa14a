"""One run from a request to a report: session, checkers, fixes and suppressions."""
