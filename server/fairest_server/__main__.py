"""`python -m fairest_server` is `fairest-server`."""

from fairest_server.app import main

main()
