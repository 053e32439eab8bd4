"""watch.py - how late this machine is, and whom a majority of a service's Sentinels names. These
are asked all the time, by the library's rule: what a Sentinel says while it leads a failover counts
from the promotion on."""

import threading
import time

from wire import Refused, Wire

PERIOD_S = 0.02
BEFORE_PROMOTION = ("wait_start", "select_slave", "send_slaveof_noone", "wait_promotion")
AFTER_PROMOTION = ("reconf_slaves", "update_config")


def statement(told, address):
    """(host, term), or None."""
    state = told.get("failover-state", "")
    term = int(told["config-epoch"])
    if "failover_in_progress" not in told["flags"].split(",") or state in BEFORE_PROMOTION:
        return told["ip"], term
    if state in AFTER_PROMOTION and address[0] != told["ip"]:
        return address[0], term
    return None


class Heart:
    """By how much naps were too long: what is late beside that is no fault."""

    def __init__(self):
        self.beats = []  # (when it ended, too long by)
        self.over = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.over:
            began = time.monotonic()
            time.sleep(PERIOD_S)
            late = time.monotonic() - began - PERIOD_S
            if late > PERIOD_S:
                self.beats.append((began + late, late))

    def late(self, since, until):
        return sum(late for at, late in self.beats if since <= at <= until)

    def end(self):
        self.over = True
        self.thread.join()


class Watch:
    def __init__(self, service):
        self.service = service
        self.changes = [(0.0, None)]  # (since, (host, term) or None), the last one is of now
        self.wires = {}
        self.over = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def end(self):
        self.over = True
        self.thread.join()

    def one(self, watcher):
        if not watcher.process or watcher.paused:
            self.wires.pop(watcher.host, None)
            return None
        try:
            if watcher.host not in self.wires:
                self.wires[watcher.host] = Wire(watcher.address, 0.3)
            wire = self.wires[watcher.host]
            wire.send(("SENTINEL", "MASTER", self.service.name),
                      ("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.service.name))
            words, address = wire.reply(), wire.reply()
            return statement(dict(zip(words[::2], words[1::2])), address)
        except (OSError, Refused):
            self.wires.pop(watcher.host, None)
            return None

    def run(self):
        watchers = self.service.watchers.all
        while not self.over:
            said = [self.one(watcher) for watcher in watchers]
            now = max(set(said), key=said.count)
            if now is not None and said.count(now) <= len(watchers) // 2:
                now = None
            if now != self.changes[-1][1]:
                self.changes.append((time.monotonic(), now))
            time.sleep(PERIOD_S)

    def master(self):
        """The server that is named now, or was last."""
        for _, named in reversed(self.changes):
            if named:
                return self.service.server_at(named[0])
        raise LookupError("no majority has named anybody")

    def term(self):
        return next(named[1] for _, named in reversed(self.changes) if named)

    def first_word(self, since, term):
        """When a higher term than that was first named, after that time, and for whom."""
        for at, named in self.changes:
            if at >= since and named and named[1] > term:
                return at, self.service.server_at(named[0])
        return None
