"""The operations of the controller: one function per request, without side effects."""
