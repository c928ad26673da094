"""The arguments of a call, in each encoding that has a grammar."""
