"""Families inside other people's software. Each module imports the software it is for; none is
imported by the rest of Tagsmith."""
