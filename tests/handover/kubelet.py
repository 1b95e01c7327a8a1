#!/usr/bin/env python3
"""A node whose Pods are directories and processes, for a control plane without nodes (tests/cluster/cluster.sh).

kubelet.py --server URL --pki DIR --namespace NS --node NAME --pod PROGRAM

The Deployment's own controller, which runs there, decides which Pods there are; this only does what it says: it registers the
node, and for each Pod of NS whose template has nodeName NAME

    PROGRAM start COMPONENT     is its container, in a session of its own, with POD_NAME, POD_UID, POD_IP, POD_TEMPLATE_HASH,
                                DREY_CHECKSUM, and TEMPLATE (annotation bench/template) in the environment; COMPONENT is its
                                label `component`. It is started again when it ends, after 1, 2, 4, 8 s
    PROGRAM ready COMPONENT     is its readiness probe, every second; status 0: ready

A deleted Pod gets SIGTERM, and SIGKILL after its grace period; one that is deleted by force is killed at once, which is the
end of a node, too. Each Pod has the lowest free address: 127.0.0.2 and up for the component jobmanager, 127.0.1.2 and up
for others. $E2E_RUN/addresses/ADDRESS exists as long as the Pod has it; PROGRAM writes it. Standard output tells what happened:
"UNIXMS WHAT POD ...". On SIGTERM the Pods are killed and the node is removed.
"""

import argparse
import http.client
import json
import os
import signal
import ssl
import subprocess
import threading
import time
from datetime import datetime, timezone
from urllib.parse import urlsplit

options = None
lock = threading.Lock()
ended = threading.Event()


def say(*words):
    with lock:
        print(int(time.time() * 1000), *words, flush=True)


def now():
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Api:
    """One connection; a thread has its own."""

    def __init__(self):
        url = urlsplit(options.server)
        context = ssl.create_default_context(cafile=f"{options.pki}/ca.crt")
        context.load_cert_chain(f"{options.pki}/admin.crt", f"{options.pki}/admin.key")
        self.make = lambda: http.client.HTTPSConnection(url.hostname, url.port, timeout=30, context=context)
        self.connection = None

    def send(self, method, path, body=None, kind="application/json"):
        if not self.connection:
            self.connection = self.make()
        try:
            self.connection.request(
                method, path, json.dumps(body) if body is not None else None, {"Content-Type": kind}
            )
            return self.connection.getresponse()
        except (OSError, http.client.HTTPException):
            self.connection.close()
            self.connection = None
            raise

    def ask(self, method, path, body=None, kind="application/json"):
        """(status, object); (0, None) when nobody answers."""
        try:
            answer = self.send(method, path, body, kind)
            return answer.status, json.loads(answer.read() or b"null")
        except (OSError, http.client.HTTPException, ValueError):
            self.connection = None
            return 0, None


class Addresses:
    def __init__(self):
        self.taken = {}

    def take(self, component, uid):
        network = "127.0.0" if component == "jobmanager" else "127.0.1"
        with lock:
            for i in range(2, 250):
                address = f"{network}.{i}"
                if address not in self.taken:
                    self.taken[address] = uid
                    return address
        raise RuntimeError("no free address")

    def give(self, address):
        try:
            os.unlink(f"{os.environ['E2E_RUN']}/addresses/{address}")
        except FileNotFoundError:
            pass
        with lock:
            del self.taken[address]


addresses = Addresses()


class Pod(threading.Thread):
    def __init__(self, pod):
        super().__init__(daemon=True)
        self.meta = pod["metadata"]
        self.name, self.uid = self.meta["name"], self.meta["uid"]
        self.path = f"/api/v1/namespaces/{options.namespace}/pods/{self.name}"
        labels, notes = self.meta["labels"], self.meta.get("annotations", {})
        self.component = labels["component"]
        self.address = addresses.take(self.component, self.uid)
        self.env = dict(
            os.environ,
            POD_NAME=self.name,
            POD_UID=self.uid,
            POD_IP=self.address,
            POD_TEMPLATE_HASH=labels.get("pod-template-hash", ""),
            DREY_CHECKSUM=notes.get("checksum/drey", ""),
            TEMPLATE=notes["bench/template"],
        )
        self.grace = None  # seconds, once it is to end
        self.gone = False  # deleted by force
        self.ready = None
        self.restarts = 0
        self.api = Api()

    def end(self, grace):
        self.grace = grace

    def run(self):
        say("begins", self.name, self.address, self.env["TEMPLATE"])
        process = self.start_container()
        begun = time.monotonic()
        termed = probed = 0
        while not self.gone:
            status = process.poll()
            if self.grace is not None and not termed:
                termed = time.monotonic()
                say("term", self.name)
                if status is None:
                    process.terminate()
            if termed and (status is not None or time.monotonic() > termed + self.grace):
                break
            if status is not None:
                say("ended", self.name, status)
                self.report(False)
                begun = self.wait_before_restart(begun)
                if self.grace is None and not self.gone:
                    self.restarts += 1
                    self.kill(process)
                    process = self.start_container()
                continue
            if not termed and time.monotonic() - probed >= 1:
                probed = time.monotonic()
                self.report(self.probe())
            time.sleep(0.05)
        self.kill(process)
        say("gone", self.name, process.wait())
        addresses.give(self.address)
        if not self.gone:
            self.remove()
        with lock:
            pods.pop(self.uid, None)

    def start_container(self):
        log = open(f"{os.environ['E2E_RUN']}/log/{self.name}.log", "ab")
        with log:
            return subprocess.Popen(
                [options.pod, "start", self.component],
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def wait_before_restart(self, begun):
        if time.monotonic() - begun > 60:
            self.restarts = 0
        until = time.monotonic() + min(8, 2**self.restarts)
        while time.monotonic() < until and self.grace is None and not self.gone:
            time.sleep(0.05)
        return time.monotonic()

    def kill(self, process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def probe(self):
        try:
            return not subprocess.call(
                [options.pod, "ready", self.component],
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=5,
            )
        except subprocess.TimeoutExpired:
            return False

    def report(self, ready):
        state = (ready, self.restarts)
        if state == self.ready:
            return
        yes = "True" if ready else "False"
        conditions = [{"type": kind, "status": value, "lastTransitionTime": now()} for kind, value in
                      (("Initialized", "True"), ("PodScheduled", "True"), ("ContainersReady", yes), ("Ready", yes))]
        container = {"name": "c", "ready": ready, "started": True, "restartCount": self.restarts, "image": "none",
                     "imageID": "none", "state": {"running": {"startedAt": now()}}}
        body = {"status": {"phase": "Running", "podIP": self.address, "podIPs": [{"ip": self.address}],
                           "hostIP": "127.0.0.1", "startTime": self.meta["creationTimestamp"],
                           "conditions": conditions, "containerStatuses": [container]}}
        status, _ = self.api.ask("PATCH", self.path + "/status", body, "application/strategic-merge-patch+json")
        if status == 200:
            if self.ready is None or self.ready[0] != ready:
                say("ready" if ready else "unready", self.name)
            self.ready = state

    def shown(self, conditions):
        """The node controller has changed it while this node could not renew its lease: it is reported again."""
        for condition in conditions:
            if condition["type"] == "Ready" and self.ready and (condition["status"] == "True") != self.ready[0]:
                self.ready = (not self.ready[0], self.restarts)

    def remove(self):
        body = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0, "preconditions": {"uid": self.uid}}
        while not ended.is_set() and self.api.ask("DELETE", self.path, body)[0] not in (200, 404, 409):
            time.sleep(0.2)


pods = {}  # by uid; guarded by `lock`


def see(kind, pod):
    uid = pod["metadata"]["uid"]
    with lock:
        known = pods.get(uid)
    if kind == "DELETED":
        if known:
            known.gone = True
        return
    if not known and "deletionTimestamp" not in pod["metadata"]:
        known = Pod(pod)
        with lock:
            pods[uid] = known
        known.start()
    elif known:
        known.shown(pod.get("status", {}).get("conditions", []))
    if "deletionTimestamp" in pod["metadata"]:
        if known:
            known.end(pod["metadata"].get("deletionGracePeriodSeconds", 30))
        else:
            Api().ask("DELETE", f"/api/v1/namespaces/{options.namespace}/pods/{pod['metadata']['name']}",
                      {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})


def watch():
    """Lists, and then watches until the server ends that."""
    api = Api()
    path = f"/api/v1/namespaces/{options.namespace}/pods?fieldSelector=spec.nodeName%3D{options.node}"
    status, listed = api.ask("GET", path)
    if status != 200:
        return
    uids = {pod["metadata"]["uid"] for pod in listed["items"]}
    with lock:
        lost = [pod for uid, pod in pods.items() if uid not in uids]
    for pod in lost:
        pod.gone = True
    for pod in listed["items"]:
        see("ADDED", pod)
    version = listed["metadata"]["resourceVersion"]
    answer = api.send("GET", f"{path}&watch=1&timeoutSeconds=20&resourceVersion={version}")
    if answer.status != 200:
        return
    while line := answer.readline():
        event = json.loads(line)
        if event["type"] == "ERROR":
            return
        see(event["type"], event["object"])


def watch_always():
    while not ended.is_set():
        try:
            watch()
        except (OSError, http.client.HTTPException, ValueError):
            pass
        time.sleep(0.2)


def lease(api):
    stamp = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": options.node},
            "spec": {"holderIdentity": options.node, "leaseDurationSeconds": 40, "renewTime": stamp}}
    path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
    api.ask("PATCH", f"{path}/{options.node}?fieldManager=bench&force=true", body, "application/apply-patch+yaml")


def register(api):
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": options.node}}
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "Bench", "message": "bench",
                                        "lastHeartbeatTime": now(), "lastTransitionTime": now()}],
                        "capacity": {"pods": "100"}, "allocatable": {"pods": "100"}}}
    while not ended.is_set():
        api.ask("POST", "/api/v1/nodes", node)
        if api.ask("PATCH", f"/api/v1/nodes/{options.node}/status", ready,
                   "application/strategic-merge-patch+json")[0] == 200:
            return
        time.sleep(0.5)


def main():
    global options
    parser = argparse.ArgumentParser()
    for name in ("server", "pki", "namespace", "node", "pod"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    os.makedirs(f"{os.environ['E2E_RUN']}/addresses", exist_ok=True)
    api = Api()
    register(api)
    lease(api)
    threading.Thread(target=watch_always, daemon=True).start()
    say("registered", options.node)
    while not ended.wait(8):
        lease(api)
    with lock:
        left = list(pods.values())
    for pod in left:
        pod.gone = True
    for pod in left:
        pod.join(5)
    api.ask("DELETE", f"/api/v1/nodes/{options.node}")
    api.ask("DELETE", f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{options.node}")


if __name__ == "__main__":
    main()
