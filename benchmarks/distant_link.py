"""Simulated distance: packets to and from a host of this machine's own are delayed, so that the kernel measures it too.

A TUN device has an address of its own, `SERVER`, and routes a network to a program: this one. A packet to
`host(distance)` comes out of the device; it goes back in with source and destination exchanged, half a round trip
later, and so reaches the server as a packet from that host. Answers take the same way. TCP's checksum adds up both
addresses, so it stays right. With `--hold-acks`, acknowledgements without data are held back as well, as a client could
do that writes its own TCP.

It needs a network namespace of its own, in which anybody may make a device: `unshare --user --map-root-user --net`.
"""

import argparse
import asyncio
import fcntl
import heapq
import os
import socket
import struct
import subprocess
import time
from typing import Final

DEVICE: Final = "fairest0"
SERVER: Final = "10.99.0.1"
_TUNSETIFF: Final = 0x400454CA
_IFF_TUN, _IFF_NO_PI = 0x0001, 0x1000
_ACK_ONLY: Final = 0x10
SERVER_PORT: Final = 8765
_HOLDING: Final = 100
"""Added to the last byte of the hosts that hold back acknowledgements without data."""


def host(round_trip_ms: int, *, holds_acks: bool = False) -> str:
    """Return the address of a host that is so far away, in whole milliseconds up to 2000."""
    return f"10.99.{1 + round_trip_ms // 10}.{1 + round_trip_ms % 10 + _HOLDING * holds_acks}"


def round_trip_seconds(address: bytes) -> float:
    """Return the distance of a host by its address."""
    return ((address[2] - 1) * 10 + (address[3] - 1) % _HOLDING) / 1000


def open_device() -> int:
    """Make the device and return its file. Raises OSError if this machine does not allow it."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH14x", DEVICE.encode(), _IFF_TUN | _IFF_NO_PI))
    for words in (
        ("link", "set", "lo", "up"),
        ("address", "add", f"{SERVER}/16", "dev", DEVICE),
        ("link", "set", DEVICE, "mtu", "1400", "txqueuelen", "10000", "up"),
    ):
        subprocess.run(["ip", *words], check=True, capture_output=True)
    return device


class Link:
    """The packets under way, by the time at which each arrives."""

    def __init__(self, device: int, hold_seconds: float) -> None:
        self._device = device
        self._hold_seconds = hold_seconds
        self._under_way: list[tuple[float, int, bytes]] = []
        self._count = 0
        self._timer: asyncio.TimerHandle | None = None

    def on_packets(self) -> None:
        """Take the packets that wait at the device."""
        now = time.monotonic()
        for _ in range(256):
            try:
                packet = os.read(self._device, 2048)
            except BlockingIOError:
                break
            if packet[0] >> 4 == 4:
                self._take(packet, now)
        self._deliver()

    def _take(self, packet: bytes, now: float) -> None:
        source, destination = packet[12:16], packet[16:20]
        far = destination if source == socket.inet_aton(SERVER) else source
        delay = round_trip_seconds(far) / 2
        head = (packet[0] & 15) * 4
        is_from_client = struct.unpack_from("!H", packet, head + 2)[0] == SERVER_PORT
        if far[3] > _HOLDING and is_from_client and packet[9] == socket.IPPROTO_TCP and _is_empty(packet, head):
            delay += self._hold_seconds
        self._count += 1
        heapq.heappush(self._under_way, (now + delay, self._count, packet[:12] + destination + source + packet[20:]))

    def _deliver(self) -> None:
        now = time.monotonic()
        while self._under_way and self._under_way[0][0] <= now:
            _, _, packet = heapq.heappop(self._under_way)
            os.write(self._device, packet)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._under_way:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._under_way[0][0] - now, self._deliver)


def _is_empty(packet: bytes, head: int) -> bool:
    """Return whether a TCP packet acknowledges and carries nothing."""
    length = struct.unpack_from("!H", packet, 2)[0]
    data = length - head - (packet[head + 12] >> 4) * 4
    return data == 0 and packet[head + 13] == _ACK_ONLY


async def run(hold_seconds: float) -> None:
    """Carry packets until this process is ended; print "ready" once the device is there."""
    device = open_device()
    link = Link(device, hold_seconds)
    asyncio.get_running_loop().add_reader(device, link.on_packets)
    print("ready", flush=True)
    await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--hold-acks", type=float, default=0.0, help="seconds")
    asyncio.run(run(parser.parse_args().hold_acks))
