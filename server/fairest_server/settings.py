"""The settings of the server: each is a command-line option, and `FAIREST_...` in the environment."""

from functools import cached_property
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from platformdirs import user_data_path
from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from fairest_protocol.calculation.rules import VARIANTS, BadRules, Rules, find_variant
from fairest_protocol.drand_signature import CAN_CHECK, HOW_TO_INSTALL

ENV_PREFIX: Final = "FAIREST_"


class Settings(BaseSettings):
    """Serve Fairest: races of Calculation over WebSocket. With --version alone, print the version instead."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX,
        cli_prog_name="fairest-server",
        cli_kebab_case=True,
        cli_hide_none_type=True,
        cli_avoid_json=True,
        cli_implicit_flags=True,
        extra="forbid",
    )

    host: Annotated[str, Field(description="Address to listen on.")] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535, description="Port to listen on; 0 takes any free one.")] = 8765
    workers: Annotated[int, Field(ge=1, le=64, description="Server processes on this port.")] = 1
    reuse_port: Annotated[
        bool,
        Field(description="Share the port with other processes that set this too; --workers sets it for its workers."),
    ] = False
    handover_folder: Annotated[
        Path | None,
        Field(
            description="Folder in which processes that share a port find each other, to hand connections over to the "
            "process of their room; --workers sets it for its workers. Linux only, and without --tls-cert."
        ),
    ] = None
    ends_with_input: Annotated[
        bool,
        Field(
            description="Stop when standard input ends, so that this process does not outlive the one that started it."
        ),
    ] = False
    worker_deaths: Annotated[
        int, Field(ge=0, description="Workers that died in the place of this one; --workers sets it, for a metric.")
    ] = 0
    redis_url: Annotated[
        str | None,
        Field(
            description="URL of an external Redis (redis://, rediss:// or unix://) or of a Cluster "
            "(redis+cluster://host:port,host:port, or rediss+cluster://); without it, an embedded Redis is started."
        ),
    ] = None
    data_dir: Annotated[Path, Field(description="Data folder of the embedded Redis.")] = (
        user_data_path("fairest") / "redis"
    )
    redis_program: Annotated[
        Path | None,
        Field(
            description="Program of the embedded Redis, a valkey-server or redis-server; without it, the Valkey of the "
            "installation, else one on the PATH."
        ),
    ] = None
    admin_host: Annotated[str, Field(description="Address of the admin port.")] = "127.0.0.1"
    admin_port: Annotated[
        int | None,
        Field(
            ge=0,
            le=65535,
            description="Port of /metrics, /livez and /readyz; with --workers that of the first worker, and the others "
            "take the next ports.",
        ),
    ] = None
    tls_cert: Annotated[Path | None, Field(description="Certificate chain (PEM), to serve wss://.")] = None
    tls_key: Annotated[Path | None, Field(description="Private key of the certificate (PEM).")] = None
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Field(description="Lowest level of the events that are logged: debug, info, warning or error."),
    ] = "info"
    own_hosts: Annotated[
        str,
        Field(
            description="Names under which this server is reached, comma-separated: play.example.org. Pages of these "
            "hosts may connect, and what this server shows over HTTP is shown under these names only. localhost, "
            "--host and IP addresses need not be named."
        ),
    ] = ""
    origins: Annotated[
        str,
        Field(
            description="Origins whose pages may connect, and read what this server shows over HTTP, besides this "
            "server's own, comma-separated: https://example.org. Programs send no origin and may always connect."
        ),
    ] = ""
    trusted_proxies: Annotated[
        str,
        Field(
            description="Proxies whose X-Forwarded-For is believed, as addresses or networks, comma-separated: "
            "10.0.0.0/8."
        ),
    ] = ""
    max_connections: Annotated[
        int, Field(ge=1, description="Limit of connections to one process; further ones get HTTP 503, browsers 1013.")
    ] = 10_000
    connections_per_address: Annotated[
        int,
        Field(
            ge=1,
            description="Limit of connections to one process per address (IPv6: per /64); further ones get HTTP 429, "
            "browsers 1013.",
        ),
    ] = 200
    players_per_address: Annotated[
        int,
        Field(ge=1, description="Limit of new players and of changed names from one address, per hour and process."),
    ] = 1_000
    rooms_per_player: Annotated[
        int, Field(ge=1, description="Limit of rooms that one player opens within ten minutes.")
    ] = 30
    rooms_per_address: Annotated[
        int,
        Field(ge=1, description="Limit of rooms that one address opens within ten minutes, on all processes."),
    ] = 500
    rounds_per_address: Annotated[
        int,
        Field(
            ge=1,
            description="Limit of `ready` messages from one address, and of joins that open a round, per hour and "
            "process.",
        ),
    ] = 3_000
    misses_per_address: Annotated[
        int,
        Field(
            ge=1,
            description="Codes of no room that may come from one address, per hour and process; after that only rooms "
            "of the lobby, and those in which the player has a seat.",
        ),
    ] = 300
    closed_room_seconds: Annotated[
        int,
        Field(
            ge=1, description="How long the log of a closed room is kept, for players who ask late for their record."
        ),
    ] = 3_600
    rounds_kept: Annotated[
        int,
        Field(
            ge=1_000,
            description="Entries of the chain of rounds that are kept, two for each round; anybody may audit these.",
        ),
    ] = 100_000
    daily_rules: Annotated[
        str,
        Field(
            description="Variants with a daily deal, comma-separated: classic,easy; `all` for each of them. Give all "
            "processes of a deployment the same ones."
        ),
    ] = ""
    daily_drand: Annotated[
        str,
        Field(
            description="A relay of drand, such as https://api.drand.sh: the first drand round of a day is the beacon "
            "of its daily deals, so that nobody can choose their decks, you included."
        ),
    ] = ""
    messages_per_second: Annotated[
        float, Field(gt=0, description="Messages that are read from one connection in the long run; further ones wait.")
    ] = 20.0
    messages_burst: Annotated[
        int,
        Field(ge=1, description="Messages that are read from one connection without delay before that rate applies."),
    ] = 200
    flood_seconds: Annotated[
        float, Field(gt=0, description="A client that exceeds the rate for this long without a rest is disconnected.")
    ] = 30.0
    max_unsent_bytes: Annotated[
        int, Field(ge=65_536, description="A client that leaves more than this unread is disconnected.")
    ] = 262_144
    hello_seconds: Annotated[float, Field(gt=0, description="Time in which a new connection must say hello.")] = 10.0
    heartbeat_seconds: Annotated[
        float,
        Field(gt=0, description="Interval of pings to each client, and the time in which it must answer one."),
    ] = 10.0
    archive: Annotated[
        str | None,
        Field(
            description="Archive with the records that Redis no longer has: a folder, or a URL for fsspec "
            "(s3://bucket/prefix); `fairest-server archive` moves them there."
        ),
    ] = None
    max_frame_bytes: Annotated[int, Field(ge=512, description="Largest frame accepted from a client.")] = 4096

    @property
    def origin_list(self) -> frozenset[str]:
        """The origins that the operator named."""
        return frozenset(_split(self.origins))

    @property
    def own_host_list(self) -> frozenset[str]:
        """The names of this server that the operator gave, in lower case."""
        return frozenset(each.lower() for each in _split(self.own_hosts))

    @cached_property
    def daily_list(self) -> tuple[Rules, ...]:
        """The variants with a daily deal. Raises `BadRules` for a name that is none."""
        names = _split(self.daily_rules)
        if names == ["all"]:
            return tuple(variant.rules for variant in VARIANTS.values())
        return tuple({(rules := find_variant(name).rules).name: rules for name in names}.values())

    @cached_property
    def proxy_networks(self) -> tuple[IPv4Network | IPv6Network, ...]:
        """The networks of the trusted proxies."""
        return tuple(ip_network(each, strict=False) for each in _split(self.trusted_proxies))

    @model_validator(mode="after")
    def _fit_together(self) -> "Settings":
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("--tls-cert and --tls-key go together")
        for origin in self.origin_list:
            if urlsplit(origin).scheme not in ("http", "https") or origin != origin.lower().rstrip("/"):
                raise ValueError(f"--origins: an origin looks like https://example.org, not {origin!r}")
        for host in self.own_host_list:
            if "/" in host or ":" in host:
                raise ValueError(f"--own-hosts: a host is a name like play.example.org, without a port, not {host!r}")
        try:
            _ = self.daily_list
        except BadRules as reason:
            raise ValueError(f"--daily-rules: {reason}") from None
        if self.daily_drand:
            _check_relay(self.daily_drand)
        try:
            _ = self.proxy_networks
        except ValueError as reason:
            raise ValueError(f"--trusted-proxies: {reason}") from None
        return self


def _check_relay(url: str) -> None:
    """Raise ValueError for a URL that is not of a relay, and where pyblst is missing."""
    parts = urlsplit(url)
    if parts.scheme not in ("https", "http") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"--daily-drand: a relay looks like https://api.drand.sh, not {url!r}")
    if not CAN_CHECK:
        raise ValueError(f"--daily-drand: pyblst is missing, which checks what a relay shows; {HOW_TO_INSTALL}")


def public_url(settings: Settings, port: int) -> str:
    """Return the URL that players connect to."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"{'wss' if settings.tls_cert else 'ws'}://{host}:{port}"


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
