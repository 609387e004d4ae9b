"""`python -m fairest_server.ops.health` asks the server of this container whether it lives; exit code 0 if it does.

A module of its own, of the standard library alone: a command of `fairest-server` would load all of the server, half a
second of processor time for each health check. It asks the port that FAIREST_PORT names, and with FAIREST_TLS_CERT over
TLS. It says nothing about Redis: to restart a container because Redis is away would help nobody.
"""

import http.client
import os
import ssl
import sys
from collections.abc import Mapping
from typing import Final

TIMEOUT_SECONDS: Final = 4.0
_EVERY_ADDRESS: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def check(environment: Mapping[str, str]) -> str:
    """Return "" if /livez answers, else the reason. `environment` has the settings of the server."""
    host = environment.get("FAIREST_HOST") or "127.0.0.1"
    address, port = _EVERY_ADDRESS.get(host, host), environment.get("FAIREST_PORT") or "8765"
    connection: http.client.HTTPConnection
    try:
        if environment.get("FAIREST_TLS_CERT"):
            # The certificate is for the name by which players know the server, and this asks the server beside it.
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            connection = http.client.HTTPSConnection(address, int(port), timeout=TIMEOUT_SECONDS, context=context)
        else:
            connection = http.client.HTTPConnection(address, int(port), timeout=TIMEOUT_SECONDS)
        connection.request("GET", "/livez")
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException, ValueError) as reason:
        return f"no server answers at {address}:{port}: {reason or type(reason).__name__}"
    return "" if status == http.HTTPStatus.OK else f"the server at {address}:{port} answers with HTTP {status}"


if __name__ == "__main__":
    sys.exit(check(os.environ) or None)
