"""Has a program run by the server, with the streams of this process, and exits as it does.

It is started for each command, so it imports only what is compiled into Python: `socket` alone would double its time.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import os
import sys


def main() -> None:
    address, *arguments = sys.argv[1:]
    environment = [f"{name}={value}" for name, value in os.environ.items()]
    request = "\0".join([str(len(arguments)), *arguments, os.getcwd(), *environment]).encode()  # noqa: PTH109 - pathlib is slow to import
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.connect(address)
    streams = b"".join(stream.to_bytes(4, sys.byteorder) for stream in (0, 1, 2))
    connection.sendmsg([len(request).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    connection.sendall(request)
    process = int.from_bytes(connection.recv(4, _socket.MSG_WAITALL), "big")
    for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP):
        _signal.signal(number, lambda number, _: os.kill(process, number))
    status = int.from_bytes(connection.recv(4, _socket.MSG_WAITALL), "big", signed=True)
    if status < 0:
        if -status != _signal.SIGKILL:
            _signal.signal(-status, _signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)


main()
