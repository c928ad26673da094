"""Family files for Tagsmith; there is no code here."""
