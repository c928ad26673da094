"""Finding what is wrong with family files, and telling it to people and to machines."""
