"""Leases: who may do a thing alone for a while, over any number of processes."""

from __future__ import annotations

import os
import socket
import threading
from datetime import timedelta

from django.db import models
from django.utils import timezone


def holder() -> str:
    """A name for this thread of this process, unique over machines and restarts of a process."""
    return f"{socket.gethostname()}:{os.getpid()}:{threading.get_ident()}"


def _runs(pid: int) -> bool:
    """Whether there is such a process on this machine."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # under another user
    return True


def alive(holder: str) -> bool:
    """Whether the process that `holder` names (in the form of `holder()`) runs on this machine."""
    host, _colon, rest = holder.partition(":")
    pid = rest.partition(":")[0]
    return host == socket.gethostname() and pid.isdigit() and _runs(int(pid))


def _died(holder: str) -> bool:
    """Whether the process that `holder` names was one of this machine's, and is no more."""
    return holder.partition(":")[0] == socket.gethostname() and not alive(holder)


class Lease(models.Model):
    """One row per thing that only one may do at a time. Compare-and-set on every database."""

    name = models.CharField(max_length=200, primary_key=True)
    holder = models.CharField(max_length=200, blank=True)
    until = models.DateTimeField()

    def __str__(self) -> str:
        return self.name

    @classmethod
    def take(cls, name: str, *, seconds: float, by: str | None = None) -> bool:
        """Take or renew the lease `name` for `seconds`; False while somebody else has it."""
        by = by or holder()
        now = timezone.now()
        until = now + timedelta(seconds=seconds)
        free = models.Q(until__lt=now) | models.Q(holder=by) | models.Q(holder="")
        if cls.objects.filter(free, name=name).update(holder=by, until=until) == 1:
            return True
        # One that died without giving it back, on this machine, need not be waited for.
        last = cls.objects.filter(name=name).values_list("holder", flat=True).first()
        if last and _died(last) and cls.objects.filter(name=name, holder=last).update(holder=by, until=until) == 1:
            return True
        # `ignore_conflicts` lets two first comers meet without an error; the row says who won.
        Lease.objects.bulk_create([Lease(name=name, holder=by, until=until)], ignore_conflicts=True)
        return cls.objects.filter(name=name, holder=by, until__gt=now).exists()

    @classmethod
    def give_back(cls, name: str, *, by: str | None = None) -> None:
        """Let others take `name` at once; somebody else's lease is left alone."""
        cls.objects.filter(name=name, holder=by or holder()).update(holder="", until=timezone.now())
