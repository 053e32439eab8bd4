"""wire.py - a connection to a server or a Sentinel: requests in one write, and their replies."""

import socket

HERE = "127.254.0.1"  # never cut off


class Refused(Exception):
    """An error reply, or none at all."""


class Wire:
    def __init__(self, address, timeout=1.0):
        self.socket = socket.create_connection(address, timeout, (HERE, 0))
        self.file = self.socket.makefile("rb")

    def close(self):
        self.file.close()
        self.socket.close()

    def send(self, *requests):
        out = b""
        for words in requests:
            out += b"*%d\r\n" % len(words)
            for word in words:
                word = str(word).encode()
                out += b"$%d\r\n%s\r\n" % (len(word), word)
        self.socket.sendall(out)

    def reply(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise Refused("no reply")
        kind, rest = line[:1], line[1:-2].decode()
        if kind == b"-":
            raise Refused(rest)
        if kind == b"$":
            return None if rest == "-1" else self.file.read(int(rest) + 2)[:-2].decode()
        if kind == b"*":
            return None if rest == "-1" else [self.reply() for _ in range(int(rest))]
        return int(rest) if kind == b":" else rest


def ask(address, *words, timeout=1.0):
    """One reply; None where there is none."""
    try:
        wire = Wire(address, timeout)
        try:
            wire.send(words)
            return wire.reply()
        finally:
            wire.close()
    except (OSError, Refused):
        return None
