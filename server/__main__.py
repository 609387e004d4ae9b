"""`python -m server` is `fairest-server`."""

from server.app import main

main()
