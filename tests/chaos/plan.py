#!/usr/bin/env python3
"""plan.py SEED STEPS [pods] - what is done to a drey and its Flink, one action a line; the same seed gives the same lines.

    signal SIGNAL TARGET WHICH MS    to the jm, a tm (the WHICHth), the agent or the init; after STOP comes CONT MS later
    savepoint, suspend, resume, restart, fail, hold, unhold, finish, older
                                     what a person, or the job itself, does
    move SIGNAL                      another checkpoint directory in the next container
    away, deny, readonly, full       the storage is a file, may not be read, may not be written, has no space left
    gone                             the container ends, and the next one does not find the storage
    back                             the storage is well again
    wait MS
    settle                           until the job runs and has completed a checkpoint

With "pods" a signal is also DELETE, FORCE (delete without grace) or EVICT (drain the node), TARGET is the jm or a tm, and there are

    patch KEY VALUE                  in the control ConfigMap
    upgrade                          helm upgrade, with other arguments of the job

STEPS is the number of signals; the other actions come in between.
"""
import random
import sys

FAULTS = ("away", "gone", "deny", "readonly", "full")
SIGNALS = (("KILL", 5), ("TERM", 3), ("STOP", 2))
TARGETS = (("jm", 4), ("tm", 3), ("agent", 3), ("init", 3))
OPERATIONS = (
    ("savepoint", 6), ("suspend", 4), ("restart", 3), ("fail", 2), ("hold", 2),
    ("finish", 3), ("older", 1), ("move", 3), ("away", 1), ("gone", 2),
    ("deny", 1), ("readonly", 1), ("full", 2),
)
POD_SIGNALS = (("KILL", 4), ("TERM", 2), ("STOP", 2), ("DELETE", 4), ("FORCE", 4), ("EVICT", 2))
POD_TARGETS = (("jm", 2), ("tm", 1))
POD_OPERATIONS = OPERATIONS + (("patch", 4), ("upgrade", 3))


class Plan:
    # Only random(), which gives the same numbers in every version of Python.
    def __init__(self, seed, pods):
        self.random = random.Random(seed).random
        self.pods = pods
        self.nonce = 0
        self.until = {}  # an action that has to be taken back, and after how many signals

    def one_of(self, weights):
        at = self.random() * sum(weight for _, weight in weights)
        for name, weight in weights:
            at -= weight
            if at < 0:
                return name
        return weights[-1][0]

    def ms(self, least, most):
        return least + int(self.random() * (most - least))

    def pause(self):
        chance = self.random()
        if chance < 0.35:
            print("settle")
        elif chance < 0.55:
            print("wait", self.ms(0, 300))
        elif chance < 0.85:
            print("wait", self.ms(300, 3000))
        else:
            print("wait", self.ms(3000, 8000))

    def operation(self):
        name = self.one_of(POD_OPERATIONS if self.pods else OPERATIONS)
        if name == "patch":
            name = self.patch()
        elif name == "move":
            print("move", self.one_of((("TERM", 1), ("KILL", 1))))
        else:
            print(name)
        if name == "suspend":
            self.until["resume"] = self.ms(0, 3)
        elif name == "hold":
            self.until["unhold"] = self.ms(0, 2)
        elif name in FAULTS:
            self.until["back"] = self.ms(0, 3)
        if self.random() < 0.7:
            print("wait", self.ms(0, 1500))

    def patch(self):
        what = self.one_of((("state", 2), ("savepoint-nonce", 1), ("restart-nonce", 1)))
        self.nonce += 1
        if what == "state":
            self.until["patch state running"] = self.ms(0, 3)
            print("patch state suspended")
        else:
            print("patch", what, f"n{self.nonce}")
        return "patch"

    def take_back(self):
        for name in sorted(self.until):
            self.until[name] -= 1
            if self.until[name] < 0:
                del self.until[name]
                print(name)

    def signal(self):
        signal = self.one_of(POD_SIGNALS if self.pods else SIGNALS)
        targets = POD_TARGETS if signal in ("DELETE", "FORCE", "EVICT") else TARGETS
        print("signal", signal, self.one_of(targets), self.ms(0, 2), self.ms(200, 8000))

    def print(self, steps):
        for _ in range(steps):
            if self.random() < 0.3:
                self.operation()
            self.signal()
            self.take_back()
            self.pause()


if __name__ == "__main__":
    Plan(int(sys.argv[1]), sys.argv[3:] == ["pods"]).print(int(sys.argv[2]))
