"""The calls of a request, in each layout."""
