"""`ottla delays`: what topics with delayed delivery hold."""
