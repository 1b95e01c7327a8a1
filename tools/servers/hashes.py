#!/usr/bin/env python3
"""The lines of a pip freeze (standard input) with the hashes of the wheels that fit Python 3.10 to 3.13 on Linux, as PyPI has them.

  pip freeze | tools/servers/hashes.py >> tools/servers/requirements.txt

Source: PEP 691 (JSON of the simple index), PEP 425 (names of wheels)."""
import json
import re
import sys
import urllib.request


def fits(wheel):
    python, abi, platform = wheel.removesuffix(".whl").split("-")[-3:]
    if platform != "any" and not re.search(r"manylinux.*(x86_64|aarch64)$", platform):
        return False
    if re.fullmatch(r"cp\d+t", abi):  # without the global lock
        return False
    for tag in python.split("."):
        found = re.fullmatch(r"(?:cp|py)3(\d*)", tag)
        if found and (not found[1] or int(found[1]) <= 13 and (abi == "abi3" or abi == "none" or int(found[1]) >= 10)):
            return True
    return False


def hashes(name, version):
    normal = re.sub(r"[-_.]+", "-", name).lower()
    request = urllib.request.Request(f"https://pypi.org/simple/{normal}/", headers={"Accept": "application/vnd.pypi.simple.v1+json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        files = json.load(answer)["files"]
    wheels = [f for f in files if f["filename"].endswith(".whl") and f["filename"].split("-")[1] == version and fits(f["filename"])]
    return sorted({f["hashes"]["sha256"] for f in wheels})


for line in sys.stdin:
    pinned = re.fullmatch(r"([A-Za-z0-9._-]+)==(\S+)", line.strip())
    if not pinned:
        sys.exit(f"hashes.py: not NAME==VERSION: {line.strip()}")
    found = hashes(*pinned.groups())
    if not found:
        sys.exit(f"hashes.py: PyPI has no wheel of {line.strip()} for Linux")
    print(line.strip() + "".join(f" \\\n    --hash=sha256:{one}" for one in found))
