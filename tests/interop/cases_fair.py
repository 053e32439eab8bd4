"""cases_fair.py - the order in which a fair lock is had, by waiters of both libraries."""

import time

from clients import Broken
from scene import LEASE_MS, WAKE_S, await_true


def queue(scene):
    return scene.masters.all[0].ask("LLEN", scene.beside("redisson_lock_queue"))


def head_s(scene):
    """For how long the first in the queue is waited for, by the master's own clock."""
    master = scene.masters.all[0]
    until_ms = master.ask("ZRANGE", scene.beside("redisson_lock_timeout"), 0, 0, "WITHSCORES")[1]
    seconds, microseconds = master.ask("TIME")
    return float(until_ms) / 1000 - int(seconds) - int(microseconds) / 1e6


def line_up(scene, sides):
    waiting = []
    for side in sides:
        waiting.append(side.begin())
        await_true(f"{side} is in the queue", lambda: queue(scene) == len(waiting))
    return waiting


def order_is_kept(scene):
    """Six waiters, of each library in turn, have it in the order in which they came."""
    holder = scene.one()
    holder.take()
    sides = [scene.one(f"one{i // 2}") if i % 2 else scene.other(f"other{i // 2}")
             for i in range(6)]
    waiting = line_up(scene, sides)
    released, by = holder.release(), holder
    for place, side in enumerate(sides):
        waiting[place].woken(released, by)
        if any(later.done() for later in waiting[place + 1:]):
            raise Broken(f"somebody behind {side} has it, too")
        released, by = side.release(), side


def newcomer_is_refused(scene):
    """Who comes when it is free and others wait for it does not have it."""
    holder, waiter, newcomer = scene.one(), scene.other(), scene.one("cid")
    holder.take()
    waiting = waiter.begin()
    holder.release()
    newcomer.refused()
    waiting.got(WAKE_S)
    waiter.release()


def who_leaves_is_passed_over(scene):
    """One in front gives up: its place in the queue goes, and the next has it."""
    holder, quitter, waiter = scene.one(), scene.other(), scene.one("cid")
    holder.take()
    leaves = quitter.begin(wait_ms=1500)
    stays = waiter.begin()
    leaves.not_got(10)
    await_true("one is left in the queue", lambda: queue(scene) == 1)
    holder.release()
    stays.got(WAKE_S)
    waiter.release()


def who_dies_is_passed_over(scene):
    """One in front is killed: it costs those behind it a bounded time. (Redisson's is the time
    that it would have waited. Ours is gone after 15 s in which the others of ours did not hear
    of it; where there are none, after Redisson's five minutes, for which no test waits.)"""
    holder, victim = scene.one(lease_ms=3000), scene.other(alone=True)
    waiter, last = scene.one("cid"), scene.other("dan")
    holder.take()
    victim.begin(wait_ms=4000)
    waiting = [waiter.begin(wait_ms=2 * LEASE_MS), last.begin(wait_ms=2 * LEASE_MS)]
    victim.driver.kill()
    holder.release()
    waiting[0].got(20 + 2 * WAKE_S)
    if waiting[1].done():
        raise Broken("both have it")
    waiter.release()
    waiting[1].got(WAKE_S)
    last.release()


def head_has_it_when_the_lease_runs_out(scene):
    """Nobody releases it: the first of two waiters has it, and then the second."""
    holder, first, second = scene.one(lease_ms=1500), scene.other(), scene.one("cid")
    holder.take()
    waiting = line_up(scene, [first, second])
    waiting[0].got(1.5 + WAKE_S)
    if waiting[1].done():
        raise Broken("both have it")
    first.release()
    waiting[1].got(WAKE_S)
    second.release()


def one_behind_the_dead_waits_its_time(scene):
    """The first in the queue is killed, and only the other library is behind it: it is let wait
    for as long as the queue says, and no longer."""
    holder, victim, waiter = scene.one(lease_ms=3000), scene.other(alone=True), scene.one("cid")
    holder.take()
    victim.begin(wait_ms=2000)
    waiting = waiter.begin(wait_ms=2 * LEASE_MS)
    victim.driver.kill()
    holder.release()
    began, left_s = time.monotonic(), head_s(scene)
    took = waiting.got(left_s + WAKE_S) - began
    if took < left_s - 0.1:
        raise Broken(f"got after {took:.3f} s, and the first had {left_s:.3f} s left")
    waiter.release()
