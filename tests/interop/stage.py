"""stage.py - what the cases of one peer of the interop suite share."""

import concurrent.futures
import os

from clients import MARKED_MS, WATCHED, Broken, Driver
from masters import Masters
from watched import Watched

FIRST_S = 30  # for a service's first lock: its Sentinels and its master must count first


class Stage:
    """Masters, and clients that run."""

    def __init__(self, logs, server):
        self.logs = logs
        self.server = server
        self.of_count = {}
        self.drivers = {}
        self.beside, self.service = concurrent.futures.ThreadPoolExecutor(1), None
        os.makedirs(logs, exist_ok=True)

    def masters(self, count, marked):
        key = (count, marked)
        if key not in self.of_count:
            self.of_count[key] = Masters(count, self.server, marked)
        return self.of_count[key]

    def prepare(self, client):
        """A service, made beside what else is done. It is there when that client had a lock."""
        self.service = self.beside.submit(self.first_lock, client)

    def first_lock(self, client):
        masters = Watched()
        try:
            driver = self.driver(client, masters, "first", MARKED_MS, True)
            said = driver.send("first", "acquire", "first", FIRST_S * 1000, "reentrant").wait()
            driver.end()
            if not said.startswith("ok"):
                raise Broken(f"no lock of a service: {said}")
        except BaseException:
            masters.end()
            raise
        return masters

    def watched(self):
        if WATCHED not in self.of_count:
            self.of_count[WATCHED] = self.service.result()
        return self.of_count[WATCHED]

    def driver(self, client, masters, thread, ttl_ms, alone):
        """Who does one thing at a time is a process a thread."""
        key = (client.name, masters.directory, "" if client.threads else thread, ttl_ms)
        if alone or key not in self.drivers:
            log = os.path.join(self.logs, client.name + ".log")
            command = client.command + (client.marked if masters.marked else [])
            driver = Driver(command, masters.urls, ttl_ms, log)
            if alone:
                return driver
            self.drivers[key] = driver
        return self.drivers[key]

    def clear(self):
        for driver in self.drivers.values():
            driver.kill()
        self.drivers.clear()
        for masters in self.of_count.values():
            masters.forget()

    def end(self):
        for driver in self.drivers.values():
            driver.end()
        if self.service and not self.service.exception():
            self.watched()
        for masters in self.of_count.values():
            masters.end()
