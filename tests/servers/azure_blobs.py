#!/usr/bin/env python3
"""A client of Azure's blob storage that has nothing to do with Hadoop's, with Shared Key signatures; $AZURE_KEY is the key.

azure_blobs.py URL create CONTAINER            URL is http://HOST/ACCOUNT
azure_blobs.py URL names CONTAINER PREFIX      the names of all blobs but the markers of directories, a line each
azure_blobs.py URL read CONTAINER NAME         its bytes, to stdout
azure_blobs.py URL remove CONTAINER NAME
azure_blobs.py URL upload CONTAINER DIR TO     every file below DIR
"""

import base64
import hashlib
import hmac
import os
import sys
import urllib.parse
import urllib.request
import xml.etree.ElementTree
from email.utils import formatdate

url = sys.argv[1]
account = url.rsplit("/", 1)[1]


def call(method, path, query, body=None):
    headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2019-12-12"}
    kind = ""
    if body is not None:
        headers["x-ms-blob-type"] = "BlockBlob"
        kind = "application/octet-stream"
    encoded = urllib.parse.quote(path)
    # the account is in the path of the URL, too
    resource = f"/{account}/{account}{encoded}" + "".join(f"\n{name}:{query[name]}" for name in sorted(query))
    lines = [method, "", "", str(len(body or "") or ""), "", kind, "", "", "", "", "", ""]
    lines += [f"{name}:{headers[name]}" for name in sorted(headers)]
    key = base64.b64decode(os.environ["AZURE_KEY"])
    signed = hmac.new(key, "\n".join(lines + [resource]).encode(), hashlib.sha256).digest()
    headers["Authorization"] = f"SharedKey {account}:{base64.b64encode(signed).decode()}"
    headers["Content-Type"] = kind
    target = f"{url}{encoded}?{urllib.parse.urlencode(query)}"
    request = urllib.request.Request(target, data=body, method=method, headers=headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read()


def create(container):
    call("PUT", f"/{container}", {"restype": "container"})


def names(container, prefix):
    query = {"restype": "container", "comp": "list", "include": "metadata", "prefix": prefix}
    while True:
        page = xml.etree.ElementTree.fromstring(call("GET", f"/{container}", query))
        for blob in page.iter("Blob"):
            if blob.find("Metadata/hdi_isfolder") is None:
                print(blob.findtext("Name"))
        marker = page.findtext("NextMarker")
        if not marker:
            return
        query["marker"] = marker


def read(container, name):
    sys.stdout.buffer.write(call("GET", f"/{container}/{name}", {}))


def remove(container, name):
    call("DELETE", f"/{container}/{name}", {})


def upload(container, directory, to):
    for root, _, files in os.walk(directory):
        for file in files:
            path = os.path.join(root, file)
            with open(path, "rb") as content:
                call("PUT", f"/{container}/{to}/{os.path.relpath(path, directory)}", {}, content.read())


{"create": create, "names": names, "read": read, "remove": remove, "upload": upload}[sys.argv[2]](*sys.argv[3:])
