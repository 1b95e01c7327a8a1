#!/usr/bin/env python3
"""Sees what must never happen in a hand-over, and when the rest did.

observer.py --server URL --pki DIR --namespace NS --application APP --rest-port PORT [--pods]

Every 0.25 s it asks each JobManager in $E2E_RUN/addresses (files ADDRESS: "POD COMPONENT GENERATION HASH") for its TaskManagers and
its jobs, and it watches APP-drey-journal and APP-drey-candidate. With --pods there are real Pods: it watches those of APP, and finds
the JobManagers among them. Standard output has JSON, one object a line, each with `ms`:

    {"what": "astray", "pod", "generation", "id"}       a TaskManager whose resource id is not GENERATION-... of that JobManager;
                                                        once for each, `end` counts the looks
    {"what": "two", "pods": [...]}                      jobs that are RUNNING at two JobManagers in one look
    {"what": "flink", "pod", "generation", "taskManagers": [ids], "jobs": ["ID STATE"]}     when it has changed
    {"what": "journal", "sequence", "owner", "handover", "id", "why"}       when owner or handover.state has changed
    {"what": "transition", "id", "state", "toggleUnixMs", "above", "below", "replay"}       when handover.transition.state has changed
    {"what": "candidate", "key", "pod", "state", "why"}                     when that has changed
    {"what": "pod", "pod", "component", "generation", "event": "made|ready|unready|term|gone", "exit"}      with --pods;
                                                        "exit" of "gone": of its container, if it was told
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
real_job_managers = {}
lock = threading.Lock()
ended = threading.Event()


def say(what, **more):
    with lock:
        print(json.dumps({"ms": int(time.time() * 1000), "what": what, **more}), flush=True)


# ---- Flink ---------------------------------------------------------------------------------------


def job_managers():
    """{address: (pod, generation)}"""
    if options.pods:
        with lock:
            return dict(real_job_managers)
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
    tell_transition(handover.get("transition") or {}, before)


def tell_transition(transition, before):
    now = (transition.get("id"), transition.get("state"))
    if before.get("transition") != now and now[1]:
        say("transition", id=now[0], state=now[1], **{key: transition.get(key) for key in ("toggleUnixMs", "above", "below", "replay")})
    before["transition"] = now


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


# ---- real Pods -------------------------------------------------------------------------------------


class Pods:
    """What the API server says of the Pods of the application."""

    def __init__(self):
        self.known = {}

    def follow(self):
        path = f"/api/v1/namespaces/{options.namespace}/pods?labelSelector=app.kubernetes.io%2Finstance%3D{options.application}"
        while not ended.is_set():
            connection = connect()
            try:
                connection.request("GET", path)
                found = json.loads(connection.getresponse().read())
                for name in set(self.known) - {pod["metadata"]["name"] for pod in found["items"]}:
                    self.forget(name)
                for pod in found["items"]:
                    self.see(pod)
                version = found["metadata"]["resourceVersion"]
                connection.request("GET", f"{path}&watch=1&timeoutSeconds=50&resourceVersion={version}")
                answer = connection.getresponse()
                while answer.status == 200 and (line := answer.readline()):
                    self.change(json.loads(line))
            except (OSError, http.client.HTTPException, ValueError, KeyError):
                pass
            finally:
                connection.close()
            ended.wait(0.1)

    def change(self, event):
        if event["type"] == "DELETED":
            self.see(event["object"])
            self.forget(event["object"]["metadata"]["name"])
        elif event["type"] in ("ADDED", "MODIFIED"):
            self.see(event["object"])

    def tell(self, name, event, **more):
        known = self.known[name]
        say("pod", pod=name, component=known["component"], generation=known["generation"], event=event, **more)

    def see(self, pod):
        meta, status = pod["metadata"], pod.get("status", {})
        name = meta["name"]
        if name not in self.known:
            self.known[name] = {
                "component": meta["labels"].get("app.kubernetes.io/component"),
                "generation": meta.get("annotations", {}).get("drey.dev/generation"),
                "ready": False,
                "term": False,
                "exit": None,
            }
            self.tell(name, "made")
        known = self.known[name]
        ready = any(one["type"] == "Ready" and one["status"] == "True" for one in status.get("conditions", []))
        if ready != known["ready"]:
            known["ready"] = ready
            self.tell(name, "ready" if ready else "unready")
        if "deletionTimestamp" in meta and not known["term"]:
            known["term"] = True
            self.tell(name, "term")
        for container in status.get("containerStatuses", []):
            known["exit"] = container["state"].get("terminated", {}).get("exitCode")
        if known["component"] == "jobmanager" and status.get("podIP"):
            with lock:
                real_job_managers[status["podIP"]] = (name, known["generation"])

    def forget(self, name):
        self.tell(name, "gone", exit=self.known[name]["exit"])
        del self.known[name]
        with lock:
            for address in [address for address, (pod, _) in real_job_managers.items() if pod == name]:
                del real_job_managers[address]


def main():
    global options
    parser = argparse.ArgumentParser()
    for name in ("server", "pki", "namespace", "application"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--rest-port", type=int, required=True)
    parser.add_argument("--pods", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    os.makedirs(f"{os.environ['E2E_RUN']}/addresses", exist_ok=True)
    for name, tell in (("journal", tell_journal), ("candidate", tell_candidate)):
        threading.Thread(target=follow, args=(f"{options.application}-drey-{name}", tell), daemon=True).start()
    if options.pods:
        threading.Thread(target=Pods().follow, daemon=True).start()
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
