"""Every setting of the server: a command-line option, or `FAIREST_...` in the environment, under one name."""

from functools import cached_property
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit

from platformdirs import user_data_path
from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

ENV_PREFIX: Final = "FAIREST_"


class Settings(BaseSettings):
    """Serve Fairest: races of Calculation over WebSocket."""

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
        bool, Field(description="Share the port with other processes that do the same; --workers does it by itself.")
    ] = False
    ends_with_input: Annotated[
        bool, Field(description="End when standard input does: a child that does not outlive whoever started it.")
    ] = False
    redis_url: Annotated[
        str | None,
        Field(
            description="redis://, rediss:// or unix:// of an external Redis, or redis+cluster://host:port,host:port "
            "(rediss+cluster://) of a Cluster; without it, an embedded one."
        ),
    ] = None
    data_dir: Annotated[Path, Field(description="Folder of the embedded Redis.")] = user_data_path("fairest") / "redis"
    admin_host: Annotated[str, Field(description="Address of the admin port.")] = "127.0.0.1"
    admin_port: Annotated[
        int | None,
        Field(
            ge=0,
            le=65535,
            description="Port of /metrics, /livez and /readyz; with --workers, of the first, the others follow it.",
        ),
    ] = None
    tls_cert: Annotated[Path | None, Field(description="Certificate chain (PEM), to serve wss://.")] = None
    tls_key: Annotated[Path | None, Field(description="Private key of the certificate (PEM).")] = None
    origins: Annotated[
        str,
        Field(description="Pages that may connect beside our own, comma-separated: https://example.org. Programs may."),
    ] = ""
    trusted_proxies: Annotated[
        str,
        Field(description="Addresses or networks, comma-separated, whose X-Forwarded-For is believed: 10.0.0.0/8."),
    ] = ""
    max_connections: Annotated[int, Field(ge=1, description="Connections to a process; more get 503.")] = 10_000
    connections_per_address: Annotated[
        int, Field(ge=1, description="Connections to a process from one address (IPv6: one /64); more get 429.")
    ] = 200
    players_per_address: Annotated[
        int, Field(ge=1, description="New players from one address, an hour and process.")
    ] = 1_000
    rooms_per_player: Annotated[int, Field(ge=1, description="Rooms that a player may open in ten minutes.")] = 30
    closed_room_seconds: Annotated[
        int, Field(ge=1, description="How long a closed room's log stays, for who asks late for its record.")
    ] = 3_600
    messages_per_second: Annotated[
        float, Field(gt=0, description="Messages of a connection that are read in the long run; more have to wait.")
    ] = 20.0
    messages_burst: Annotated[int, Field(ge=1, description="Messages of a connection that are read at once.")] = 200
    flood_seconds: Annotated[float, Field(gt=0, description="Who sends more than is read for so long is cut off.")] = (
        30.0
    )
    max_unsent_bytes: Annotated[
        int, Field(ge=65_536, description="What may lie unsent for one connection; then it is cut off.")
    ] = 262_144
    hello_seconds: Annotated[float, Field(gt=0, description="Time that a new connection has to say hello.")] = 10.0
    heartbeat_seconds: Annotated[
        float,
        Field(gt=0, description="A client is asked this often whether it is there, and has this long to answer."),
    ] = 10.0
    max_frame_bytes: Annotated[int, Field(ge=512, description="Largest frame accepted from a client.")] = 4096

    @property
    def origin_list(self) -> frozenset[str]:
        """The named origins."""
        return frozenset(_split(self.origins))

    @cached_property
    def proxy_networks(self) -> tuple[IPv4Network | IPv6Network, ...]:
        """The trusted proxies."""
        return tuple(ip_network(each, strict=False) for each in _split(self.trusted_proxies))

    @model_validator(mode="after")
    def _fit_together(self) -> "Settings":
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("--tls-cert and --tls-key go together")
        for origin in self.origin_list:
            if urlsplit(origin).scheme not in ("http", "https") or origin != origin.lower().rstrip("/"):
                raise ValueError(f"--origins: an origin looks like https://example.org, not {origin!r}")
        try:
            _ = self.proxy_networks
        except ValueError as reason:
            raise ValueError(f"--trusted-proxies: {reason}") from None
        return self


def public_url(settings: Settings, port: int) -> str:
    """Where players connect to."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"{'wss' if settings.tls_cert else 'ws'}://{host}:{port}"


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
