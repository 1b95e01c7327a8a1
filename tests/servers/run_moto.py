#!/usr/bin/env python3
"""AWS on 127.0.0.1, by moto: STS, IAM that is enforced, and S3 that checks signatures; for tests/servers/test_sts.sh.

run_moto.py PORT FIXTURE     until it is killed; says "ready" when all is there

The bucket `flink` has FIXTURE as ck/<job>/chk-7/_metadata and sp/savepoint-aabbcc-0123456789ab/_metadata. Roles, for
a web identity and for who has keys: `reader` has the rights of docs/reference/storage.md, `lister` lacks s3:GetObject, `stranger`
has none, `middle` may only assume `reader`. Users `robot`, with the rights of `reader`, and `clerk`, who may only assume
`middle`, with the external id of-the-team: their keys are printed.
"""

import json
import sys
import time
from urllib.parse import parse_qsl, quote, urlencode

import boto3
from moto import settings
from moto.iam.access_control import IAMRequestBase
from moto.server import ThreadedMotoServer
from moto.sts.responses import TokenResponse

JOB = "0123456789abcdef0123456789abcdef"
LIST = {"Effect": "Allow", "Action": "s3:ListBucket", "Resource": "arn:aws:s3:::flink"}
READ = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::flink/*"}


def assume(role):
    return {"Effect": "Allow", "Action": "sts:AssumeRole", "Resource": f"arn:aws:iam::123456789012:role/{role}"}


def policy(*statements):
    return json.dumps({"Version": "2012-10-17", "Statement": statements})


def prepare(url, fixture):
    keys = {"region_name": "eu-central-1", "aws_access_key_id": "any", "aws_secret_access_key": "any"}
    s3 = boto3.client("s3", endpoint_url=url, **keys)
    iam = boto3.client("iam", endpoint_url=url, **keys)
    s3.create_bucket(Bucket="flink", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    for name in (f"ck/{JOB}/chk-7", "sp/savepoint-aabbcc-0123456789ab"):
        s3.put_object(Bucket="flink", Key=f"{name}/_metadata", Body=fixture)
    trust = {"Effect": "Allow", "Principal": {"Federated": "*"}, "Action": "sts:AssumeRoleWithWebIdentity"}
    roles = (("reader", (LIST, READ)), ("lister", (LIST,)), ("stranger", ()), ("middle", (assume("reader"),)))
    for role, statements in roles:
        users = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}
        if role == "middle":
            users["Condition"] = {"StringEquals": {"sts:ExternalId": "of-the-team"}}
        iam.create_role(RoleName=role, AssumeRolePolicyDocument=policy(trust, users))
        if statements:
            iam.put_role_policy(RoleName=role, PolicyName="p", PolicyDocument=policy(*statements))
    for user, statements in (("robot", (LIST, READ)), ("clerk", (assume("middle"),))):
        iam.create_user(UserName=user)
        iam.put_user_policy(UserName=user, PolicyName="p", PolicyDocument=policy(*statements))
        key = iam.create_access_key(UserName=user)["AccessKey"]
        print(user, key["AccessKeyId"], key["SecretAccessKey"], flush=True)


def correct_moto():
    enforce = TokenResponse._authenticate_and_authorize_normal_action
    create = IAMRequestBase._create_aws_request

    # a web identity is not signed; moto's enforcement does not know that
    def authenticate(self, *args, **kwargs):
        if self._get_action() != "AssumeRoleWithWebIdentity":
            enforce(self, *args, **kwargs)

    # moto signs the decoded query, so that not even boto3 may list a prefix with a slash in it
    def create_encoded(self):
        path, _, query = self._path.partition("?")
        if query:
            query = urlencode(parse_qsl(query, keep_blank_values=True), quote_via=quote, safe="-_.~")
            self._path = f"{path}?{query}"
        return create(self)

    TokenResponse._authenticate_and_authorize_normal_action = authenticate
    IAMRequestBase._create_aws_request = create_encoded


def main():
    port = int(sys.argv[1])
    with open(sys.argv[2], "rb") as file:
        fixture = file.read()
    ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=True).start()
    prepare(f"http://127.0.0.1:{port}", fixture)
    settings.INITIAL_NO_AUTH_ACTION_COUNT = 0  # from now on signatures and rights count
    correct_moto()
    print("ready", flush=True)
    while True:
        time.sleep(60)


main()
