"""Groups: who is in them, and what each member is to consume."""
