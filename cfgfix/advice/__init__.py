"""What is advised for settings, and what cfgfix recommends for a machine."""
