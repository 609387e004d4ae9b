"""The certificate of a server, which a process reads again while it serves."""

import ssl
from pathlib import Path
from typing import Final

import structlog
from cryptography import x509

from fairest_server.ops.events import Event
from fairest_server.settings import Settings

_LOG = structlog.get_logger(__name__)


class BadCertificate(Exception):
    """A certificate, or its key, cannot be used; the text says which files, and why."""


class Certificate:
    """The certificate chain and the key that the settings name. Raises BadCertificate if they cannot be used."""

    def __init__(self, cert: Path, key: Path) -> None:
        self._cert, self._key = cert, key
        self._newest = self._load()
        self.context: Final = self._newest
        """The context that listeners are given. Its handshakes go on with the newest certificate."""
        # A context of its own for each certificate: a file that turns out to be broken half-way changes nothing.
        self.context.sni_callback = self._choose

    def reload(self) -> None:
        """Read the files again: new connections get the new certificate. A broken file is logged, the old one stays."""
        try:
            newest, expires = self._load(), _end_of_validity(self._cert)
        except (BadCertificate, ValueError, OSError) as reason:
            _LOG.error(
                Event.CERTIFICATE_NOT_RELOADED, reason=str(reason), remedy="mend the files, then send SIGHUP again"
            )
        else:
            self._newest = newest
            _LOG.info(Event.CERTIFICATE_RELOADED, file=str(self._cert), expires=expires)

    def _choose(self, connection: ssl.SSLObject | ssl.SSLSocket, _name: str | None, _context: ssl.SSLContext) -> None:
        """Continue a handshake with the newest certificate. OpenSSL calls this for clients without SNI as well."""
        connection.context = self._newest

    def _load(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_cert_chain(self._cert, self._key)
        except (OSError, ssl.SSLError) as reason:
            # ssl.SSLError is an OSError, but its errno is OpenSSL's, not the system's.
            why = reason.reason if isinstance(reason, ssl.SSLError) else reason.strerror
            raise BadCertificate(f"cannot serve TLS with {self._cert} and {self._key}: {why}") from reason
        return context


def open_certificate(settings: Settings) -> Certificate | None:
    """Return the certificate that the settings name, or None without one. Raises BadCertificate."""
    if settings.tls_cert is None or settings.tls_key is None:
        return None
    return Certificate(settings.tls_cert, settings.tls_key)


def _end_of_validity(cert: Path) -> str:
    """Return the moment at which the first certificate of a PEM file expires. Raises ValueError and OSError."""
    return x509.load_pem_x509_certificate(cert.read_bytes()).not_valid_after_utc.isoformat()
