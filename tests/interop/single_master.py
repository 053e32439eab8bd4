#!/usr/bin/env python3
"""single_master.py - the lock that most people have: SET NX PX on one master, and a script that
deletes the key if the value is still ours. A client for redlock-chaos --client, see docs/CHAOS.md.

It uses the first master of the list and nothing that has to be installed. What is to be seen:
the price of one master, which is that it can be away, and that it can forget.
"""

import os
import select
import socket
import sys
import time
from urllib.parse import unquote, urlsplit

ANSWER_S = 0.5  # how long the master may take; nobody says what is right
RETRY_S = 0.1  # between two attempts
RELEASE = "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) end return 0"
EXTEND = (
    "if redis.call('get',KEYS[1]) == ARGV[1] then "
    "return redis.call('pexpire',KEYS[1],ARGV[2]) end return 0"
)


class Refused(Exception):
    """The master said -ERR..., or something else that was not to be expected."""


class Master:
    """One connection, made when it is needed, dropped at the first trouble."""

    def __init__(self, url):
        self.url = urlsplit(url)
        if self.url.scheme != "redis":
            raise SystemExit("single_master.py: only redis:// URLs")
        self.socket = None
        self.buffer = b""

    def drop(self):
        if self.socket:
            self.socket.close()
        self.socket, self.buffer = None, b""

    def call(self, *words):
        """The reply, or OSError, after which nobody knows what the master has done."""
        until = time.monotonic() + ANSWER_S
        try:
            if not self.socket:
                self.socket = socket.create_connection(
                    (self.url.hostname, self.url.port or 6379), ANSWER_S
                )
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if self.url.password:
                    user = [unquote(self.url.username)] if self.url.username else []
                    self.ask(until, "AUTH", *user, unquote(self.url.password))
                if self.url.path.strip("/"):
                    self.ask(until, "SELECT", self.url.path.strip("/"))
            return self.ask(until, *words)
        except (OSError, Refused, ValueError):
            self.drop()
            raise

    def ask(self, until, *words):
        parts = [b"*%d\r\n" % len(words)]
        for word in words:
            word = str(word).encode()
            parts.append(b"$%d\r\n%s\r\n" % (len(word), word))
        self.socket.sendall(b"".join(parts))
        line = self.line(until)
        if line[:1] == b"-":
            raise Refused(line[1:].decode(errors="replace"))
        if line[:1] == b":":
            return int(line[1:])
        if line[:1] == b"+":
            return line[1:].decode()
        if line == b"$-1":
            return None
        raise Refused("a reply that is none of ours")

    def line(self, until):
        while b"\r\n" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.socket], [], [], left)[0]:
                raise OSError("no answer")
            more = self.socket.recv(4096)
            if not more:
                raise OSError("connection closed")
            self.buffer += more
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line


class Lock:
    """At most one, as the chaos asks for no more."""

    def __init__(self, ttl_ms, url):
        self.ttl_ms = ttl_ms
        self.master = Master(url)
        self.name = self.token = None
        self.until = 0.0

    def acquire(self, name, wait_ms):
        give_up = time.monotonic() + wait_ms / 1000
        while True:
            start = time.clock_gettime(time.CLOCK_BOOTTIME)
            self.name, self.token = name, os.urandom(16).hex()
            try:
                if self.master.call("SET", name, self.token, "NX", "PX", self.ttl_ms):
                    self.until = start + self.ttl_ms / 1000
                    return "ok"
                answer = "no held"
            except (OSError, Refused) as error:
                answer = f"no {error}"
            if time.monotonic() + RETRY_S > give_up:
                return answer
            time.sleep(RETRY_S)

    def left_ms(self):
        return max(0, int((self.until - time.clock_gettime(time.CLOCK_BOOTTIME)) * 1000))

    def validity(self):
        return f"ok {self.left_ms()}"

    def extend(self):
        start = time.clock_gettime(time.CLOCK_BOOTTIME)
        try:
            mine = self.master.call("EVAL", EXTEND, 1, self.name, self.token, self.ttl_ms)
        except (OSError, Refused) as error:
            return f"no {error}"
        if mine:
            self.until = start + self.ttl_ms / 1000
        return "ok" if mine else "gone"

    def release(self):
        self.until = 0.0
        try:
            mine = self.master.call("EVAL", RELEASE, 1, self.name, self.token)
        except (OSError, Refused) as error:
            return f"no {error}"
        return "ok" if mine else "gone"


def main():
    lock = None
    for line in sys.stdin:
        verb, *words = line.split()
        if verb == "hello":
            # hello 1 ttl_ms N nodes URL...
            lock = Lock(int(words[2]), words[4])
            answer = "ok SET NX on one master"
        elif verb == "acquire":
            answer = lock.acquire(words[0], int(words[1]))
        elif verb in ("validity", "extend", "release"):
            answer = getattr(lock, verb)()
        else:  # quit
            break
        print(answer, flush=True)


main()
