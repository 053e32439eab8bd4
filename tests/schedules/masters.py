"""masters.py - five real masters, of which a minority dies or falls silent, and returns."""

import os
import shutil
import signal
import subprocess
import time

from clockwork import now

COUNT = 5
START_S = 10


def server_program():
    return shutil.which("redis-server") or shutil.which("valkey-server")


class Master:
    def __init__(self, directory, number):
        self.directory = os.path.join(directory, str(number))
        self.socket = os.path.join(self.directory, "socket")
        self.process = None
        os.mkdir(self.directory)

    def start(self):
        with open(os.path.join(self.directory, "log"), "ab") as log:
            self.process = subprocess.Popen(
                [server_program(), "--port", "0", "--unixsocket", self.socket, "--save", "",
                 "--appendonly", "no", "--dir", self.directory],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def end(self):
        self.process.kill()
        self.process.wait()


class Masters:
    """Each of two places is one master that is away, or was lately. So never are more than two
    without a vote, however long the guard keeps one that came back empty from voting."""

    def __init__(self, directory, stage):
        self.times, self.draw, self.clock = stage.times, stage.draw, stage.clock
        os.mkdir(directory)
        self.all = [Master(directory, number) for number in range(1, COUNT + 1)]
        self.away = set()
        self.deaths = self.silences = 0
        self.list = os.path.join(directory, "redlock.conf")
        with open(self.list, "w", encoding="ascii") as file:
            for master in self.all:
                file.write(f"node unix://{master.socket}\n")
            for setting in ("ttl", "max-ttl", "connect-timeout"):
                file.write(f"{setting} {self.times.word(setting)}\n")

    def start(self):
        for master in self.all:
            master.start()
        give_up = now() + START_S
        while not all(os.path.exists(master.socket) for master in self.all):
            if now() > give_up:
                raise OSError("the masters do not start")
            time.sleep(0.02)

    def begin_faults(self):
        for _ in range(COUNT // 2):
            self.clock.after(self.draw.uniform(0, self.times.away), self.go)

    def go(self):
        master = self.draw.choice([one for one in self.all if one not in self.away])
        self.away.add(master)
        seconds = self.draw.uniform(0.1, 1) * self.times.away
        if self.draw.random() < 0.6:
            self.deaths += 1
            master.end()
            self.clock.after(seconds, self.come_back, master)
        else:
            self.silences += 1
            master.process.send_signal(signal.SIGSTOP)
            self.clock.after(seconds, self.go_on, master)

    def come_back(self, master):
        master.start()
        self.clock.after(self.times.guard, self.is_well, master)

    def go_on(self, master):
        master.process.send_signal(signal.SIGCONT)
        self.clock.after(self.times.connect, self.is_well, master)

    def is_well(self, master):
        self.away.remove(master)
        self.clock.after(self.times.rest + self.draw.uniform(0, self.times.away / 2), self.go)

    def end(self):
        for master in self.all:
            if master.process:
                master.end()
