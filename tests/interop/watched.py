"""watched.py - a service that Sentinels watch, in place of one master, and nothing fails over."""

import os
import random
import shutil
import sys
import tempfile

from masters import Masters, Talk

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "failover"))
from service import SERVER_PORT, START_S, Service, Watchers, await_until

NAME = "interop"
PATIENT_MS = 30000  # a stall of the machine is no failover


class Far:
    """Its master, as masters.py has one."""

    def __init__(self, host):
        self.talk = Talk(SERVER_PORT, host)
        self.ask = self.talk.ask


class Watched(Masters):
    def __init__(self):
        self.marked = True
        self.directory = tempfile.mkdtemp(prefix="redlock-interop.")
        net = f"127.{random.randint(1, 250)}.{random.randint(1, 250)}"
        self.service = Service(self.directory, net, NAME)
        first = self.service.servers[0].host
        self.service.watchers = Watchers(self.directory, net, [(NAME, first)])
        try:
            self.service.start()
            self.service.watchers.start()
            self.service.tell_watchers("down-after-milliseconds", PATIENT_MS)
            await_until(self.service.is_well, START_S, "the Sentinels know all")
            self.all = [Far(first)]
        except BaseException:
            self.end_processes()
            raise
        self.urls = [self.service.node().split()[1]]

    def end_processes(self):
        for process in self.service.servers + self.service.watchers.every:
            process.end()
        shutil.rmtree(self.directory)

    def end(self):
        self.all[0].talk.close()
        self.end_processes()

    def forget(self):
        """All locks: what else is there tells that the master has kept what it was told."""
        for key in self.keys()[0]:
            self.all[0].ask("DEL", key)
