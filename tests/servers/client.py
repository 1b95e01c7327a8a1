#!/usr/bin/env python3
"""An S3 client that has nothing to do with drey (boto3); endpoint, region and keys come from the usual variables.

client.py upload DIR BUCKET [PREFIX]         every file below DIR; makes the bucket
client.py delete BUCKET KEY...
client.py version BUCKET                     makes the bucket, which keeps old versions
client.py directories BUCKET PREFIX          the names of directories that a listing has
client.py policy BUCKET DOCUMENT             a bucket policy (JSON)
client.py newest-savepoint BUCKET PREFIX     the directory with the newest _metadata; what bench/resolve compares with
"""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import boto3
from botocore.config import Config

s3 = boto3.client(
    "s3",
    endpoint_url=os.environ["AWS_ENDPOINT_URL"],
    config=Config(s3={"addressing_style": "path"}, max_pool_connections=8, retries={"max_attempts": 5}),
)


def upload(directory, bucket, prefix=""):
    if bucket not in [b["Name"] for b in s3.list_buckets()["Buckets"]]:
        s3.create_bucket(Bucket=bucket)
    files = [os.path.join(root, name) for root, _, names in os.walk(directory) for name in names]

    def put(path):
        with open(path, "rb") as body:
            s3.put_object(Bucket=bucket, Key=prefix + os.path.relpath(path, directory), Body=body.read())

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(put, files))


def delete(bucket, *keys):
    for key in keys:
        s3.delete_object(Bucket=bucket, Key=key)


def version(bucket):
    s3.create_bucket(Bucket=bucket)
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})


def directories(bucket, prefix):
    page = s3.list_objects_v2(Bucket=bucket, Prefix=prefix, Delimiter="/")
    print(*(item["Prefix"] for item in page.get("CommonPrefixes", [])), sep="\n")


def policy(bucket, document):
    s3.put_bucket_policy(Bucket=bucket, Policy=document)


def newest_savepoint(bucket, prefix):
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    found = (o for page in pages for o in page.get("Contents", []) if o["Key"].endswith("/_metadata"))
    newest = max(found, key=lambda o: o["LastModified"], default=None)
    if newest is None:
        sys.exit(1)
    print(f"s3://{bucket}/{newest['Key'].removesuffix('/_metadata')}")


commands = {
    "upload": upload,
    "delete": delete,
    "version": version,
    "directories": directories,
    "policy": policy,
    "newest-savepoint": newest_savepoint,
}
commands[sys.argv[1]](*sys.argv[2:])
