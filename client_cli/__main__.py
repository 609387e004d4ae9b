"""`python -m client_cli` is `fairest`."""

from client_cli.cli import main

main()
