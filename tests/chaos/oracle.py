#!/usr/bin/env python3
"""oracle.py EVENTS STORAGE - did a job start empty, from something older, twice, or again after its end?

It reads what the job itself has written (EVENTS: tests/job/ContinuityJob.java) and what was to be seen in the storage (STORAGE:
watch.py), and knows nothing of drey. Into EVENTS the test writes what a person has asked for, before drey is told:

    ASKED empty COUNT ms=MS          to start without state (COUNT 0), or from a snapshot that holds COUNT

Numbers are consecutive and a gap is an event, so the count that a snapshot holds says how far it is. Prints each violation and
one line about all; exit status 1 if there is a violation.
"""
import re
import sys


class Oracle:
    def __init__(self):
        self.counts = {}  # (job, id): the count that the job has put into this snapshot
        self.stored = {}  # path: (job, id), those that are there
        self.completed = 0  # the highest count in a snapshot of which the job was told that it is complete
        self.completed_what = "nothing"
        self.starts = {}  # job: ms of its first RESTORED
        self.order = []  # jobs in the order of their starts
        self.end = None  # the last number of an input that has ended
        self.left = set()  # paths that a job has gone back behind, inside of Flink
        self.ended = set()  # jobs that have put the last number into a snapshot
        self.of_job = {}  # job: its checkpoints in storage
        self.finished = None  # the job that has finished and must not run again
        self.violations = []
        self.seen = {"RESTORED": 0, "COMPLETED": 0, "STORED": 0, "ASKED": 0, "FINISHED": 0}

    def violation(self, ms, text):
        self.violations.append(f"{ms} {text}")

    def full(self, job):
        """The job whose id begins so."""
        return next((known for known in reversed(self.order) if known.startswith(job)), job)

    def newest(self):
        """The highest count that is known to be complete, and what has it."""
        best, what = self.completed, self.completed_what
        for path, key in self.stored.items():
            if self.counts.get(key, -1) > best:
                best, what = self.counts[key], path
        return best, what

    # ---- what the job says

    def asked(self, ms, count):
        self.seen["ASKED"] += 1
        self.completed, self.completed_what = count, "what was asked for"
        self.finished = self.end = None
        # what is there now is behind that wish
        self.stored = {}

    def restored(self, ms, job, attempt, snapshot, count):
        first = job not in self.starts
        if first:
            self.starts[job] = ms
            self.order.append(job)
            self.seen["RESTORED"] += 1
            if self.finished:
                self.violation(ms, f"job {job} was started although {self.finished} has finished")
        # a failure inside of Flink goes back to what Flink has told the job about, and never to a savepoint
        newest, what = self.newest() if first else (self.completed_checkpoint(job), f"the last of {job}")
        if snapshot == "-" and newest > 0:
            self.violation(ms, f"job {job} attempt {attempt} started empty, {newest} were in {what}")
        elif count < newest:
            self.violation(ms, f"job {job} attempt {attempt} restored {count} from {snapshot}, {newest} were in {what}")
        if not first and snapshot != "-":
            self.left |= {path for path, key in self.stored.items() if key[0] == job and key[1] > int(snapshot)}

    def completed_checkpoint(self, job):
        return max((self.counts.get(key, 0) for key in self.of_job.get(job, ()) if key in self.told), default=0)

    told = frozenset()

    def complete(self, ms, job, snapshot):
        self.seen["COMPLETED"] += 1
        count = self.counts.get((job, snapshot), 0)
        self.told = self.told | {(job, snapshot)}
        if count > self.completed:
            self.completed, self.completed_what = count, f"checkpoint {snapshot} of {job}"

    def snapshot(self, ms, job, snapshot, count):
        # Flink gives no number twice to one job, so two JobManagers have each made this one; the job has one subtask
        if (job, snapshot) in self.counts:
            self.violation(ms, f"two of job {job} at a time: it has made snapshot {snapshot} twice")
        self.counts[job, snapshot] = count
        if count == self.end:
            self.ended.add(job)

    def event(self, ms, words):
        kind, snapshot, count, fields = words[0], words[1], words[2], dict(w.split("=", 1) for w in words if "=" in w)
        job = fields.get("job", "")
        if kind == "ASKED":
            self.asked(ms, int(count))
        elif kind == "GAP":
            self.violation(ms, "the numbers do not continue: " + " ".join(words))
        elif kind == "RESTORED":
            self.restored(ms, job, fields["attempt"], snapshot, int(count))
        elif kind == "SNAPSHOT":
            self.snapshot(ms, job, int(snapshot), int(count))
        elif kind == "COMPLETED":
            self.complete(ms, job, int(snapshot))
        elif kind == "END":
            # whose it is does not say: the source may end before the state of the same job has been read
            self.end = int(count)

    # ---- what the storage says

    def is_stored(self, ms, job, number, path):
        self.seen["STORED"] += 1
        job = self.full(job)
        # what a job has completed since it went back is newer than a savepoint that it went back behind
        for behind in [other for other in self.left if self.stored.get(other, (None,))[0] == job]:
            self.left.discard(behind)
            del self.stored[behind]
        self.stored[path] = (job, number)
        if "/chk-" in path:
            self.of_job.setdefault(job, set()).add((job, number))
        if job not in self.starts:
            return
        for later in self.order[self.order.index(job) + 1:]:
            self.violation(ms, f"two jobs: {job} has completed {path} after {later} had started at {self.starts[later]}")

    def is_gone(self, ms, path):
        job, _ = self.stored.pop(path, ("", 0))
        # Flink removes the checkpoints of a job that has finished, and of no other
        rest = any(key[0] == job and "/chk-" in other for other, key in self.stored.items())
        if "/chk-" in path and job in self.ended and not rest and job == self.order[-1]:
            self.finished = job
            self.seen["FINISHED"] += 1

    def storage(self, ms, words):
        if words[0] == "STORED":
            self.is_stored(ms, words[2], int(words[3]), words[4])
        elif words[0] == "GONE":
            self.is_gone(ms, words[2])


def lines_of(path, ms_of, kind):
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            ms = ms_of(line)
            if ms is not None:
                yield ms, kind, line.split()


def event_ms(line):
    found = re.search(r" ms=(\d+)$", line.rstrip())
    return int(found[1]) if found and len(line.split()) >= 4 else None


def storage_ms(line):
    found = re.match(r"(?:STORED|GONE) (\d+) ", line)
    return int(found[1]) if found else None


def main(events, storage):
    oracle = Oracle()
    lines = list(lines_of(events, event_ms, "event")) + list(lines_of(storage, storage_ms, "storage"))
    # what the job has written comes before the file that is written after it, in the same millisecond
    for ms, kind, words in sorted(lines, key=lambda line: (line[0], line[1] == "storage")):
        if kind == "event":
            oracle.event(ms, words)
        else:
            oracle.storage(ms, words)
    for text in oracle.violations:
        print(text)
    print(", ".join(f"{count} {kind}" for kind, count in oracle.seen.items()) + f", {len(oracle.violations)} violations")
    return 1 if oracle.violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
