#!/usr/bin/env python3
"""Sees what must never happen in a hand-over, and when the rest did.

observer.py --server URL --pki DIR --namespace NS --application APP --rest-port PORT

Every 0.25 s it asks each JobManager in $E2E_RUN/addresses (files ADDRESS: "POD COMPONENT GENERATION HASH") for its TaskManagers and
its jobs, and it watches APP-drey-journal and APP-drey-candidate. Standard output has JSON, one object a line, each with `ms`:

    {"what": "astray", "pod", "generation", "id"}       a TaskManager whose resource id is not GENERATION-... of that JobManager;
                                                        once for each, `end` counts the looks
    {"what": "two", "pods": [...]}                      jobs that are RUNNING at two JobManagers in one look
    {"what": "flink", "pod", "generation", "taskManagers": [ids], "jobs": ["ID STATE"]}     when it has changed
    {"what": "journal", "sequence", "owner", "handover", "id", "why"}       when owner or handover.state has changed
    {"what": "candidate", "key", "pod", "state", "why"}                     when that has changed
    {"what": "end", "looks", "seen": {GENERATION: N}, "astray": N, "two": N}     on SIGTERM
"""

import argparse
import http.client
import json
import os
import signal
import ssl
import sys
import threading
import time
from urllib.parse import urlsplit

EVERY_S = 0.25
options = None
lock = threading.Lock()
ended = threading.Event()


def say(what, **more):
    with lock:
        print(json.dumps({"ms": int(time.time() * 1000), "what": what, **more}), flush=True)


# ---- Flink ---------------------------------------------------------------------------------------


def job_managers():
    """{address: (pod, generation)}"""
    found = {}
    where = f"{os.environ['E2E_RUN']}/addresses"
    for address in os.listdir(where):
        try:
            with open(f"{where}/{address}", encoding="utf-8") as file:
                pod, component, generation = file.read().split()[:3]
        except (FileNotFoundError, ValueError):
            continue
        if component == "jobmanager":
            found[address] = (pod, generation)
    return found


def ask(address, path):
    connection = http.client.HTTPConnection(address, options.rest_port, timeout=2)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        return json.loads(body) if answer.status == 200 else None
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()


class Looks:
    def __init__(self):
        self.count, self.astray, self.two = 0, 0, 0
        self.seen, self.before, self.told = {}, {}, set()

    def look(self):
        running = []
        before = job_managers()
        answers = {}
        for address in before:
            members, jobs = ask(address, "/taskmanagers"), ask(address, "/jobs/overview")
            if members is not None and jobs is not None:
                answers[address] = (members["taskmanagers"], jobs["jobs"])
        after = job_managers()
        for address, (members, jobs) in answers.items():
            # an address may have changed hands meanwhile
            if before[address] != after.get(address):
                continue
            self.judge(*before[address], [member["id"] for member in members], jobs, running)
        self.count += 1
        if len(running) > 1:
            self.two += 1
            say("two", pods=running)

    def judge(self, pod, generation, ids, jobs, running):
        for one in ids:
            self.seen[generation] = self.seen.get(generation, 0) + 1
            if not one.startswith(generation + "-"):
                self.astray += 1
                if (pod, one) not in self.told:
                    self.told.add((pod, one))
                    say("astray", pod=pod, generation=generation, id=one)
        if any(job["state"] == "RUNNING" for job in jobs):
            running.append(pod)
        now = (sorted(ids), [f"{job['jid']} {job['state']}" for job in jobs])
        if self.before.get(pod) != now:
            self.before[pod] = now
            say("flink", pod=pod, generation=generation, taskManagers=now[0], jobs=now[1])


# ---- ConfigMaps ------------------------------------------------------------------------------------


def connect():
    url = urlsplit(options.server)
    context = ssl.create_default_context(cafile=f"{options.pki}/ca.crt")
    context.load_cert_chain(f"{options.pki}/admin.crt", f"{options.pki}/admin.key")
    return http.client.HTTPSConnection(url.hostname, url.port, timeout=60, context=context)


def versions(name):
    """The data of each version of a ConfigMap, as long as the server gives them."""
    path = f"/api/v1/namespaces/{options.namespace}/configmaps?fieldSelector=metadata.name%3D{name}"
    connection = connect()
    try:
        # without a resourceVersion a watch begins with what is there
        connection.request("GET", path + "&watch=1&timeoutSeconds=50")
        answer = connection.getresponse()
        while answer.status == 200 and (line := answer.readline()):
            event = json.loads(line)
            if event["type"] in ("ADDED", "MODIFIED"):
                yield event["object"].get("data") or {}
            elif event["type"] == "DELETED":
                yield {}
    except (OSError, http.client.HTTPException, ValueError):
        pass
    finally:
        connection.close()


def follow(name, tell):
    before = {}
    while not ended.is_set():
        for data in versions(name):
            tell(data, before)
        ended.wait(0.1)


def tell_journal(data, before):
    try:
        journal = json.loads(data["journal.json"])
    except (KeyError, ValueError):
        return
    owner, handover = journal.get("owner") or {}, journal.get("handover") or {}
    now = (owner.get("pod"), owner.get("side"), handover.get("id"), handover.get("state"))
    if before.get("now") != now:
        before["now"] = now
        say("journal", sequence=journal.get("sequence"), owner=now[0], side=now[1], id=now[2], handover=now[3],
            stateUnixMs=handover.get("stateUnixMs"), savepoint=handover.get("savepoint"), why=handover.get("why"))


def tell_candidate(data, before):
    for key in ("candidate", "reserve"):
        try:
            found = json.loads(data[key + ".json"])
        except (KeyError, ValueError):
            continue
        now = (found.get("pod"), found.get("state"), found.get("handover"))
        if before.get(key) != now:
            before[key] = now
            say("candidate", key=key, pod=now[0], state=now[1], handover=now[2], why=found.get("why"),
                warm=found.get("warm"))


def main():
    global options
    parser = argparse.ArgumentParser()
    for name in ("server", "pki", "namespace", "application"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--rest-port", type=int, required=True)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    os.makedirs(f"{os.environ['E2E_RUN']}/addresses", exist_ok=True)
    for name, tell in (("journal", tell_journal), ("candidate", tell_candidate)):
        threading.Thread(target=follow, args=(f"{options.application}-drey-{name}", tell), daemon=True).start()
    looks = Looks()
    due = time.monotonic()
    while not ended.wait(max(0, due - time.monotonic())):
        looks.look()
        due = max(due + EVERY_S, time.monotonic())
    say("end", looks=looks.count, seen=looks.seen, astray=looks.astray, two=looks.two)
    sys.stdout.flush()
    os._exit(0)  # the watches wait for their server


if __name__ == "__main__":
    main()
