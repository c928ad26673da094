"""Engines: what runs a compiled family over one generation."""
