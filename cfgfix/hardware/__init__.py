"""What a machine has: detected, named by a profile, or read from a file; every value says where it came from."""
