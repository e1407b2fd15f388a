"""`Admin`: what an operator may ask of a cluster, one module per noun.

Values and arguments are frozen. A method for many items returns `Results`, with the value or the
error of each; a method for one item raises.
"""
