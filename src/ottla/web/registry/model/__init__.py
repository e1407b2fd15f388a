"""The settings that are in force for a subject. Pure."""
