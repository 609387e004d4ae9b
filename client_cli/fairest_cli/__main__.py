"""`python -m fairest_cli` is `fairest`."""

from fairest_cli.commands.online import main

main()
