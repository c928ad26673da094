"""JSON Schemas, made ready for the grammar engine: what it holds of them, and what it does not."""
