#!/usr/bin/env python3
"""driver.py - lock clients of Python for tests/interop/suite.py, see docs/INTEROP.md.

    driver.py redis-py | redlock-py | pottery

redis-py's Lock knows one master; the first of the list is taken. pottery writes its keys below
"redlock:", and the suite knows that. All settings are at their defaults, but for the TTL,
the pause between two tries where there is such a setting, and how often pottery extends a lock.
"""

import logging
import sys
import threading
import time
from importlib.metadata import version

import pottery
import redis
import redlock
from redis.lock import Lock

RETRY_S = 0.02


class RedisPy:
    package = "redis"

    def __init__(self, ttl_ms, urls):
        self.ttl_s = ttl_ms / 1000
        self.client = redis.Redis.from_url(urls[0])

    def acquire(self, name, wait_ms):
        self.lock = Lock(self.client, name, timeout=self.ttl_s, sleep=RETRY_S)
        return self.lock.acquire(blocking=wait_ms > 0, blocking_timeout=wait_ms / 1000 or None)

    def extend(self):
        return self.lock.extend(self.ttl_s, replace_ttl=True)

    def release(self):
        self.lock.release()
        return True


class RedlockPy:
    package = "redlock-py"

    def __init__(self, ttl_ms, urls):
        self.ttl_ms = ttl_ms
        self.redlock = redlock.Redlock(urls, retry_delay=RETRY_S)

    def acquire(self, name, wait_ms):
        give_up = time.monotonic() + wait_ms / 1000
        while True:
            self.lock = self.redlock.lock(name, self.ttl_ms)
            if self.lock or time.monotonic() + RETRY_S > give_up:
                return self.lock
            time.sleep(RETRY_S)

    def release(self):
        self.redlock.unlock(self.lock)  # it does not say whether there was one
        return True


class Pottery:
    package = "pottery"

    def __init__(self, ttl_ms, urls):
        self.ttl_s = ttl_ms / 1000
        self.masters = {redis.Redis.from_url(url) for url in urls}

    def acquire(self, name, wait_ms):
        self.lock = pottery.Redlock(key=name, masters=self.masters, auto_release_time=self.ttl_s,
                                    num_extensions=sys.maxsize)
        return self.lock.acquire(blocking=wait_ms > 0, timeout=wait_ms / 1000 if wait_ms else -1)

    def extend(self):
        self.lock.extend()
        return True

    def release(self):
        self.lock.release()
        return True


def pairs(kind, ttl_ms, urls, prefix, count, ms):
    """That many threads, each with a client and a lock of its own that it takes and releases for
    so long."""
    clients = [kind(ttl_ms, urls) for _ in range(count)]
    done = [0] * count
    begun = time.monotonic()

    def user(i):
        while time.monotonic() < begun + ms / 1000:
            if clients[i].acquire(f"{prefix}:{i}", 0):
                clients[i].release()
                done[i] += 1

    threads = [threading.Thread(target=user, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return f"ok {sum(done)} {int(1e6 * (time.monotonic() - begun))}"


CLIENTS = {"redis-py": RedisPy, "redlock-py": RedlockPy, "pottery": Pottery}
GONE = (redis.exceptions.LockError, pottery.ReleaseUnlockedLock, pottery.ExtendUnlockedLock)


def answer(client, verb, words):
    try:
        if verb == "acquire":
            return "ok" if client.acquire(words[0], int(words[1])) else "no held"
        if hasattr(client, verb):
            return "ok" if getattr(client, verb)() else "no"
        return "no such verb"
    except GONE as error:
        return f"gone {error!r}"
    except Exception as error:  # whatever it is, the suite shows it
        return "no " + " ".join(repr(error).split())[:200]


def main():
    logging.disable()
    client = None
    for line in sys.stdin:
        verb, *words = line.split()
        if verb == "hello":
            # hello 1 ttl_ms N nodes URL...
            settings = (CLIENTS[sys.argv[1]], int(words[2]), words[4:])
            client = settings[0](*settings[1:])
            print(f"ok {sys.argv[1]} {version(client.package)}", flush=True)
        elif verb == "quit":
            break
        elif verb == "pairs":
            print(pairs(*settings, words[0], int(words[1]), int(words[2])), flush=True)
        else:
            print(answer(client, verb, words), flush=True)


main()
