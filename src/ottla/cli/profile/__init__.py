"""`ottla profile`: named clusters in a file of the user's."""
