"""`python -m fairest_server` is `fairest-server`."""

from fairest_server.commands.main import main

main()
