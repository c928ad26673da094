"""`python -m tagsmith` is `tagsmith`."""

from tagsmith.cli import main

main()
