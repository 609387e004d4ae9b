"""Accepted sockets are handed over to the process of their room, or served where they were accepted."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from string import ascii_lowercase

import pytest

from fairest_server.edge.room_address import preferred_process
from fairest_server.edge.room_handover import IS_SUPPORTED, MAX_UNCLAIMED, RoomHandover
from tests.support.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.skipif(not IS_SUPPORTED, reason="sockets are handed over on Linux only")
NEVER_SECONDS = 10 * PATIENCE_SECONDS
AT_ONCE_SECONDS = 0.01


class Worker:
    """The handover of one process, with the sockets that it was passed and the ends of those that it has passed."""

    def __init__(self, folder: Path, process_id: str, claim_seconds: float = NEVER_SECONDS) -> None:
        self.handover = RoomHandover(folder, process_id, claim_seconds)
        self.taken: asyncio.Queue[socket.socket] = asyncio.Queue()
        self.ends: asyncio.Queue[bool] = asyncio.Queue()

    def open(self) -> None:
        self.handover.open(self.taken.put_nowait)

    def try_pass(self, accepted: socket.socket) -> bool:
        return self.handover.try_pass(accepted, self.ends.put_nowait)


class Client:
    """Both ends of a connection: a client's, and the one that was accepted."""

    def __init__(self, sent: bytes) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.end = socket.create_connection(listener.getsockname())
            self.accepted, _ = listener.accept()
        self.accepted.setblocking(False)
        self.end.sendall(sent)
        self.end.settimeout(PATIENCE_SECONDS)

    def wait_until_readable(self) -> None:
        """Wait until what the client has sent can be read at the other end."""
        self.accepted.setblocking(True)
        self.accepted.settimeout(PATIENCE_SECONDS)
        self.accepted.recv(1, socket.MSG_PEEK)
        self.accepted.setblocking(False)


@pytest.fixture
async def workers(tmp_path: Path) -> AsyncIterator[tuple[Worker, Worker]]:
    """Two processes on one port."""
    both = Worker(tmp_path, "a"), Worker(tmp_path, "b")
    for worker in both:
        worker.open()
    yield both
    for worker in both:
        worker.handover.close()


@contextmanager
def client(sent: bytes) -> Iterator[Client]:
    made = Client(sent)
    with made.end, made.accepted:
        if sent:
            made.wait_until_readable()
        yield made


def request_to(process_id: str) -> bytes:
    """A request to the address of a room of process `a` or `b`."""
    codes = (f"amber-quiet-{letter}" for letter in ascii_lowercase)
    code = next(code for code in codes if preferred_process(code, "ab") == process_id)
    return f"GET /r/{code} HTTP/1.1\r\nHost: x\r\n\r\n".encode()


async def soon(queue: asyncio.Queue[bool] | asyncio.Queue[socket.socket]) -> bool | socket.socket:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await queue.get()


async def test_a_socket_is_served_by_the_process_of_its_room(workers: tuple[Worker, Worker]) -> None:
    a, b = workers
    with client(request_to("b")) as made:
        assert a.try_pass(made.accepted)
        served = await soon(b.taken)
        assert isinstance(served, socket.socket)
        with served:
            assert served.recv(1_000) == request_to("b")
            served.sendall(b"hello")
        assert made.end.recv(1_000) == b"hello"
        assert await soon(a.ends) is True


async def test_the_client_sees_the_end_of_a_socket_that_was_handed_over(workers: tuple[Worker, Worker]) -> None:
    a, b = workers
    with client(request_to("b")) as made:
        assert a.try_pass(made.accepted)
        served = await soon(b.taken)
        assert isinstance(served, socket.socket)
        served.recv(1_000)
        served.close()
        assert await soon(a.ends) is True
        made.accepted.close()
        assert made.end.recv(1) == b""


async def test_a_socket_for_a_room_of_our_own_is_served_here(workers: tuple[Worker, Worker]) -> None:
    with client(request_to("a")) as made:
        assert not workers[0].try_pass(made.accepted)


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\n\r\n", b"GET /r/amber-qu", b"\xff\x00 /r/", b"x" * 4_096])
async def test_a_socket_that_names_no_room_is_served_here(workers: tuple[Worker, Worker], sent: bytes) -> None:
    with client(sent) as made:
        assert not any(worker.try_pass(made.accepted) for worker in workers)


async def test_a_request_that_is_not_whole_is_not_waited_for(workers: tuple[Worker, Worker]) -> None:
    line = request_to("b").partition(b"\r\n")[0]
    with client(line) as made:
        assert not workers[0].try_pass(made.accepted)
        assert made.accepted.recv(1_000) == line


async def test_a_client_that_has_gone_is_no_fault(workers: tuple[Worker, Worker]) -> None:
    with client(b"") as made:
        made.end.close()
        assert not workers[0].try_pass(made.accepted)


async def test_the_room_of_a_killed_process_is_served_here(tmp_path: Path) -> None:
    # A process that is killed leaves its socket in the folder.
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as killed:
        killed.bind(str(tmp_path / "b"))
    a = Worker(tmp_path, "a")
    a.open()
    try:
        with client(request_to("b")) as made:
            assert not a.try_pass(made.accepted)
        assert not (tmp_path / "b").exists()
    finally:
        a.handover.close()


async def test_a_process_that_dies_behind_its_first_socket_is_noticed(workers: tuple[Worker, Worker]) -> None:
    a, b = workers
    with client(request_to("b")) as made:
        assert a.try_pass(made.accepted)
        served = await soon(b.taken)
        assert isinstance(served, socket.socket)
        served.close()
        assert await soon(a.ends) is True
    b.handover.close()
    with client(request_to("b")) as made:
        assert not a.try_pass(made.accepted)


@contextmanager
def stopped_process(folder: Path) -> Iterator[socket.socket]:
    """Process `b`, which has stopped: the system accepts what is passed to it, and nobody reads that."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(folder / "b"))
        listener.listen()
        yield listener


async def test_a_socket_that_a_stopped_process_does_not_take_is_served_here(tmp_path: Path) -> None:
    a = Worker(tmp_path, "a", AT_ONCE_SECONDS)
    a.open()
    with stopped_process(tmp_path), client(request_to("b")) as made:
        assert a.try_pass(made.accepted)
        assert await soon(a.ends) is False
        assert made.accepted.recv(1_000) == request_to("b")
    a.handover.close()


async def test_a_stopped_process_is_passed_nothing_for_a_while(tmp_path: Path) -> None:
    a = Worker(tmp_path, "a", AT_ONCE_SECONDS)
    a.open()
    with stopped_process(tmp_path):
        with client(request_to("b")) as made:
            assert a.try_pass(made.accepted)
            assert await soon(a.ends) is False
        with client(request_to("b")) as made:
            assert not a.try_pass(made.accepted)
    a.handover.close()


async def test_a_process_that_goes_on_does_not_take_what_is_served_elsewhere(tmp_path: Path) -> None:
    a, b = Worker(tmp_path, "a", AT_ONCE_SECONDS), Worker(tmp_path, "b")
    a.open()
    with stopped_process(tmp_path) as listener, client(request_to("b")) as made:
        assert a.try_pass(made.accepted)
        assert await soon(a.ends) is False
        # From here on process b reads what waits for it.
        listener.setblocking(False)
        b.handover._accept_process(listener)
        (connection,) = b.handover._incoming
        b.handover._receive(connection)
        assert b.taken.empty()
        b.handover.close()
    a.handover.close()


async def test_a_process_that_is_far_behind_is_passed_no_more(tmp_path: Path) -> None:
    a = Worker(tmp_path, "a")
    a.open()
    with stopped_process(tmp_path), ExitStack() as stack:
        made = [stack.enter_context(client(request_to("b"))) for _ in range(MAX_UNCLAIMED + 1)]
        passed = [a.try_pass(each.accepted) for each in made]
        assert passed[0] and not passed[-1]
        a.handover.close()


async def test_a_process_that_leaves_is_passed_nothing(workers: tuple[Worker, Worker]) -> None:
    a, b = workers
    b.handover.leave()
    with client(request_to("b")) as made:
        assert not a.try_pass(made.accepted)


async def test_closing_closes_the_sockets_that_nobody_has_taken(tmp_path: Path) -> None:
    a = Worker(tmp_path, "a")
    a.open()
    with client(request_to("b")) as made:
        with stopped_process(tmp_path):
            assert a.try_pass(made.accepted)
            a.handover.close()
        # Not an orderly end, since the request was never read.
        with pytest.raises(ConnectionResetError):
            made.end.recv(1)


async def test_what_is_not_a_socket_with_a_claim_is_dropped(workers: tuple[Worker, Worker], tmp_path: Path) -> None:
    a, b = workers
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as liar:
        liar.connect(str(tmp_path / "b"))
        liar.send(b"no sockets")
    with client(request_to("b")) as made:
        assert a.try_pass(made.accepted)
        served = await soon(b.taken)
        assert isinstance(served, socket.socket)
        served.close()


async def test_without_a_usable_folder_all_is_served_here(tmp_path: Path) -> None:
    a = Worker(tmp_path / "missing", "a")
    a.open()
    with client(request_to("b")) as made:
        assert not a.try_pass(made.accepted)
    a.handover.close()
