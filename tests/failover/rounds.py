"""rounds.py - what fails, and how it is mended again. Each fault is over when a server is named in
a new term, and somebody was granted a lock since."""

import threading
import time

from hosts import cut, heal
from service import DOWN_AFTER_MS, FAILOVER_TIMEOUT_MS, Amiss, await_until

NAMED_S = 60  # for another master to be named
MENDED_S = 90
SETTLED_S = 0.3
IDLE_S = 2.5
OLD_S = 2
DIFFER_S = 15  # so long Sentinels may name different masters before another failover is ordered
LONG_FAILOVER_MS = 20000
RESTART_DOWN_MS = 5000
REPL_TIMEOUT_S, REPL_TIMEOUT_DEFAULT_S = 5, 60
BEHIND_S = 3


class Round:
    """One fault of one service: when another server was named, and what followed."""

    def __init__(self, play, service):
        self.play, self.service, self.watch = play, service, play.watches[service.name]
        self.master, self.term = self.watch.master(), self.watch.term()
        self.began = time.monotonic()
        self.named_at = self.granted_at = self.ended = None
        self.counts_at = 0  # when a majority of its Sentinels counts again
        self.note = self.amiss = ""

    def await_named(self):
        self.granted_at = None
        await_until(lambda: self.watch.first_word(self.began, self.term), NAMED_S,
                    f"another master of {self.service.name} than {self.master.host}")
        self.named_at, server = self.watch.first_word(self.began, self.term)
        return server

    def await_grant(self, who="main"):
        """By the new master where it is alone: not before its quarantine is over."""
        quarantined = self.play.promised and self.play.single
        since = self.named_at + (self.play.max_ttl if quarantined else 0)
        limit = self.play.window + 10
        await_until(lambda: self.play.users.first_grant(since, who), limit + self.play.max_ttl,
                    "a grant after the failover")
        self.granted_at = self.play.users.first_grant(since, who)

    def run(self, fault):
        try:
            fault(self)
            if self.play.promised and self.is_late():
                self.amiss = "the first lock after the failover was late"
        except Amiss as amiss:
            self.amiss = f"{amiss}; {self.service.text()}"

    def text(self):
        named = f"named after {self.named_at - self.began:.2f} s" if self.named_at else "not named"
        if self.granted_at:
            named += f", granted after {self.granted_at - self.named_at:.2f} s"
        more = ", ".join(text for text in (self.note, self.amiss) if text)
        return named + (f" ({more})" if more else "")

    def is_late(self):
        """A service alone grants within a second of what the rules demand, but for stalls."""
        demanded = max(self.named_at, self.counts_at) + self.play.window
        late = self.granted_at - demanded
        stalled = self.play.heart.late(self.named_at, self.granted_at)
        return self.play.single and late > 1 + 2 * stalled

    def connect_idle(self):
        """Idle users have a connection to the master of now, and then rest."""
        for third in range(3):
            self.play.users.idle_ask(third)
        time.sleep(IDLE_S)
        self.began = time.monotonic()

    def await_held(self):
        time.sleep(self.play.ttl)

    def mend(self):
        """All that failed runs again, and each knows whom to follow."""
        heal()
        for process in self.service.servers + self.service.watchers.all:
            if process.paused:
                process.resume()
            if not process.process:
                process.start()
        for server in self.service.servers:
            server.ask("CONFIG", "SET", "replica-priority", 100)
            server.ask("CONFIG", "SET", "repl-timeout", REPL_TIMEOUT_DEFAULT_S)
        self.service.tell_watchers("failover-timeout", FAILOVER_TIMEOUT_MS)
        self.service.tell_watchers("down-after-milliseconds", DOWN_AFTER_MS)
        self.ended = time.monotonic()


def kill(this):
    """The master is killed."""
    this.master.kill()
    this.await_named()
    this.await_grant()


def machine(this):
    """The master and a Sentinel are killed at once, as on one machine. The Sentinel that leads the
    failover does so for long, since the third server can't get the new master's data."""
    service, watchers = this.service, this.service.watchers.all
    heir, third = service.others(this.master)
    service.tell_watchers("failover-timeout", LONG_FAILOVER_MS)
    third.ask("CONFIG", "SET", "replica-priority", 0)
    await_until(lambda: service.priority(third) == ["0"] * len(watchers), MENDED_S,
                "the Sentinels know whom to prefer")
    if this.play.can_cut:
        cut([third.host], [heir.host])
    watchers[0].kill()
    this.began = time.monotonic()
    this.master.kill()
    this.await_named()
    this.await_grant()
    leads = [one for one in watchers[1:] if "failover_in_progress" in service.told(one)["flags"]]
    this.note = "beside a failover in progress" if leads else ""


def idle_meet(this, resume):
    """Idle users ask the former master at its return, while others have their locks elsewhere."""
    users = this.play.users
    since = time.monotonic()
    users.idle_ask(2)
    await_until(lambda: users.first_grant(since, least_name=this.play.names), NAMED_S,
                "a lock for a user that was idle")
    users.idle_ask(0)
    time.sleep(0.03)
    resume()
    users.idle_ask(1)
    this.await_held()


def pause(this):
    """It stands while another is named, and goes on. Idle users ask it in that moment."""
    this.connect_idle()
    this.master.pause()
    this.await_named()
    this.await_grant()
    idle_meet(this, this.master.resume)


def back_again(this):
    """It stands, another is named, and is killed as the first goes on: that one is named again,
    with its old data. The third server stands, so that nobody else can be."""
    other = this.service.others(this.master)
    this.connect_idle()
    this.master.pause()
    second = this.await_named()
    third = next(one for one in other if one is not second)
    third.pause()
    this.await_grant()
    this.await_held()
    this.term = this.watch.term()
    this.began = time.monotonic()
    this.play.users.idle_ask(2)
    time.sleep(SETTLED_S)
    second.kill()
    this.master.resume()
    this.play.users.idle_ask(1)
    named = this.await_named()
    this.note = "back" if named is this.master else ""
    this.await_grant()


def partition(this):
    """The master, some users and one Sentinel are cut off from all others. These users have no lock
    of it once what they heard before is too old."""
    watchers = this.service.watchers.all
    here = [this.master.host, watchers[0].host, this.play.cut_off]
    there = [one.host for one in this.service.others(this.master) + watchers[1:]]
    cut(here, there + [this.play.main])
    this.await_named()
    this.await_grant()
    this.await_held()
    if this.play.single and this.play.users.first_grant(this.named_at + OLD_S, "cut"):
        if this.play.promised:
            raise Amiss("users who were cut off with the former master got a lock")
        this.note = "users who were cut off with the former master got locks"


def long_partition(this):
    """The same for longer than `repl-timeout`: the master has no replica any more, and knows it."""
    this.master.ask("CONFIG", "SET", "repl-timeout", REPL_TIMEOUT_S)
    partition(this)
    await_until(lambda: this.master.info().get("connected_slaves") == "0", NAMED_S,
                "the former master has no replica")
    this.await_held()
    this.await_held()


def behind(this):
    """The replica that Sentinels prefer has not heard of its master for some seconds, and the other
    one has, when the master is killed: what was granted meanwhile is lost."""
    preferred = this.service.others(this.master)[0]
    preferred.ask("CONFIG", "SET", "replica-priority", 1)
    await_until(lambda: set(this.service.priority(preferred)) == {"1"}, MENDED_S,
                "the Sentinels know whom to prefer")
    cut([preferred.host], [this.master.host])
    time.sleep(BEHIND_S)
    this.began = time.monotonic()
    this.master.kill()
    this.note = "" if this.await_named() is preferred else "the other one was preferred"
    this.await_grant()


def restart(this):
    """The master is killed and started again before a Sentinel calls it down. It keeps nothing on
    a disk, so it has lost all locks, and so have its replicas. Sentinels ask for its new run id in
    their own time."""
    this.service.tell_watchers("down-after-milliseconds", RESTART_DOWN_MS)
    this.await_held()
    this.began = time.monotonic()
    this.master.kill()
    this.master.start()
    this.named_at = time.monotonic()
    await_until(lambda: this.service.know(this.master), NAMED_S, "the Sentinels know the new run")
    this.counts_at = time.monotonic()
    this.await_grant()
    if this.watch.term() != this.term:
        this.note = "another was named after all"


def order(this):
    """SENTINEL FAILOVER."""
    this.service.watchers.all[0].ask("SENTINEL", "FAILOVER", this.service.name)
    this.await_named()
    this.await_grant()


def two_orders(this):
    """The same to two of them at once: their terms may be equal, and their choices not."""
    orders = [threading.Thread(target=watcher.ask, args=("SENTINEL", "FAILOVER", this.service.name))
              for watcher in this.service.watchers.all[:2]]
    for one in orders:
        one.start()
    for one in orders:
        one.join()
    this.await_named()
    this.await_grant()


def witnesses(this):
    """Sentinels are killed one after the other, and come back with their files. One has
    forgotten all but the first master of all when the master is killed."""
    for watcher in this.service.watchers.all:
        watcher.kill()
        time.sleep(SETTLED_S)
        watcher.start()
        await_until(this.service.is_well, MENDED_S, f"{this.service.name} is well again")
    forgets = this.service.watchers.all[0]
    forgets.kill()
    forgets.forget()
    forgets.start()
    this.began, this.term = time.monotonic(), this.watch.term()
    this.counts_at = this.began + this.play.window + 1  # its uptime is told in whole seconds
    this.master.kill()
    this.await_named()
    this.await_grant()


def replace(this):
    """A Sentinel of a service alone is replaced: one more comes, all clients are given the four,
    and later the three that stay. When four are known, the first one and the master are killed."""
    service, play, watchers = this.service, this.play, this.service.watchers
    first, new = watchers.all[0], watchers.one_more(service.name, this.master.host)
    new.start()
    watchers.all.append(new)
    await_until(service.is_well, MENDED_S, "the new Sentinel knows all")
    since = time.monotonic()
    play.give_list()
    time.sleep(play.window)
    this.note = f"{play.users.gap(since, time.monotonic()):.1f} s without a grant as lists changed"
    first.kill()
    this.began = time.monotonic()
    this.master.kill()
    this.await_named()
    this.await_grant()
    time.sleep(play.window)
    watchers.all.remove(first)
    play.give_list()
    # One that was reset knows no replica that does not run as such: the former master must, before.
    this.master.start()
    await_until(lambda: this.master.info().get("master_link_status") == "up", MENDED_S,
                "the former master follows")
    for watcher in watchers.all:
        watcher.ask("SENTINEL", "RESET", service.name)
    this.await_held()


ROUNDS = {"kill": kill, "machine": machine, "pause": pause, "back": back_again,
          "partition": partition, "order": order, "two-orders": two_orders,
          "witnesses": witnesses, "long": long_partition, "behind": behind, "restart": restart,
          "replace": replace}
ALONE = ("long", "behind", "restart", "replace")  # played on a service that is alone
CUTS = ("partition", "long", "behind")
OWN = ("replace",)  # what is done with a list of this library's


def order_again(service, watch):
    """Two orders may leave Sentinels that differ for good, until the next failover."""
    for watcher in service.watchers.all:
        if service.told(watcher).get("ip") != watch.master().host:
            continue
        watcher.ask("SENTINEL", "FAILOVER", service.name)
        return


def await_well(service, watch):
    end = time.monotonic() + MENDED_S
    since = time.monotonic()
    while not service.is_well():
        if time.monotonic() > end:
            raise Amiss(f"{service.name} is not well again: {service.text()}")
        if service.differs() and time.monotonic() > since + DIFFER_S:
            order_again(service, watch)
            since = time.monotonic()
        time.sleep(0.1)
