"""The families that come with Tagsmith."""
