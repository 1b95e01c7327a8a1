#!/usr/bin/env bash
#
# The faults that other tests request do what their names say: checked with curl as the ServiceAccount.

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/faults.sh
. "$TOP/tests/api/faults.sh"

api_begin faults own
kubectl create configmap "$APPLICATION-drey-control" --from-literal=state=running >/dev/null

check "at first requests are answered" api_answers 200
check "429 for us" api_throttle
check "and for nobody else" kubectl get configmap "$APPLICATION-drey-control"
check "and no more" api_unthrottle
check "answered again" api_answers 200

check "writes are refused" api_refuse_writes "not today"
check "with the reason" grep -q "not today" "$RUN/answer"
check "reads are not" api_answers 200
check "nor those of others" kubectl create configmap another --from-literal=a=b
check "and no more" api_allow_writes

check "another CA" api_renew_ca
check "the old one does not know the server" api_answers 000
api_give_ca
check "the new one does" api_answers 200
check "also kubectl" kubectl get namespace "$NAMESPACE"
await "the controllers work with it" kubectl get configmap kube-root-ca.crt --output 'jsonpath={.data.*}'

check "the namespace ends" api_terminate_namespace
check "nothing can be created in it" not kubectl create configmap late --from-literal=a=b
await "the Role is gone with it" api_answers 403
e2e_end
