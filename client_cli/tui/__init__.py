"""The full-screen face: screens over the same model that the plain face draws from. Only `client_cli.cli` opens it."""
