"""`python -m fairest_cli` is `fairest`."""

from fairest_cli.commands.main import main

main()
