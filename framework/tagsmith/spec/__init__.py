"""The family format: models and the named values they allow."""
