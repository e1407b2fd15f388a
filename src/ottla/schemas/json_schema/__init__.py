"""JSON Schema: validated, resolved and compared, for drafts 4 to 2020-12."""
