"""What a machine has: detected, named by a profile, or read from a file; every value says where it came from.

`presets.resolve_hardware` answers which machine is meant, `presets.parse_profile` reads a profile, `detect.detect`
reads this machine, `saved` writes one to a file and lists its facts, `storage.measure` measures reading. The names are
imported from their modules, so that a command that needs no hardware loads none of it.
"""
