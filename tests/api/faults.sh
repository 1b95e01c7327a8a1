# shellcheck shell=bash
#
# faults.sh - what an API server does to its clients besides being gone. Sourced after lib.sh, used after api_begin. All but
# api_renew_ca concern our ServiceAccount only, so they work in a shared control plane; each waits until it counts.
#
#   api_no_seats                     a priority level without a seat: a request is accepted only while no other one is in
#   api_throttle, api_unthrottle     every request gets 429 (priority and fairness); for 50 s at most
#   api_refuse_writes MESSAGE [GROUP/RESOURCE], api_allow_writes
#                                    admission denies creating, updating and deleting them (default: /configmaps): 422
#   api_refuse_writes MESSAGE /configmaps NAME    only the existing one with that name
#   api_renew_ca                     (own control plane) another CA: the Pod has the old one until
#   api_give_ca                      puts the new one there, as the kubelet does
#   api_terminate_namespace          NAMESPACE is being deleted, and stays so: nothing can be created in it; everything
#                                    else works (RBAC objects are deleted: only the administrator has rights then)

api_account() {
	echo "system:serviceaccount:$NAMESPACE:$APPLICATION"
}

# Asks as the ServiceAccount; the answer itself does not matter.
api_answers() { # STATUS
	curl_pod GET "/api/v1/namespaces/$NAMESPACE/configmaps/$APPLICATION-drey-control"
	[ "$HTTP_STATUS" = "$1" ]
}

api_answers_not() { # STATUS
	! api_answers "$1"
}

# A priority level without a single seat, for this ServiceAccount.
api_no_seats() {
	kubectl apply --server-side --filename - >/dev/null <<-Y
		apiVersion: flowcontrol.apiserver.k8s.io/v1
		kind: PriorityLevelConfiguration
		metadata: {name: $NAMESPACE}
		spec:
		  type: Limited
		  limited: {nominalConcurrencyShares: 0, lendablePercent: 0, borrowingLimitPercent: 0, limitResponse: {type: Reject}}
		---
		apiVersion: flowcontrol.apiserver.k8s.io/v1
		kind: FlowSchema
		metadata: {name: $NAMESPACE}
		spec:
		  priorityLevelConfiguration: {name: $NAMESPACE}
		  matchingPrecedence: 2
		  rules:
		  - subjects: [{kind: ServiceAccount, serviceAccount: {name: $APPLICATION, namespace: $NAMESPACE}}]
		    resourceRules: [{verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"]}]
	Y
}

# One request is let in all the same when no other one is in, so one is that never gets to the end of its body, as long as
# the server has patience.
api_throttle() {
	api_no_seats || return 1
	printf 'Authorization: Bearer %s\n' "$(cat "$POD_SECRETS/token")" >"$RUN/throttle.header"
	# shellcheck disable=SC2016 # expanded by that shell
	spawn throttle bash -c 'until sleep 50 | curl --silent --fail --max-time 50 --cacert "$1" --header "@$2" \
		--header "Content-Type: application/json" --request POST --upload-file - "$3"; do sleep 0.1; done' throttle \
		"$POD_SECRETS/ca.crt" "$RUN/throttle.header" "$API_URL/api/v1/namespaces/$NAMESPACE/configmaps"
	wait_until "requests are turned away" "$WAIT_S" api_answers 429
}

api_unthrottle() {
	kill -- "-${PIDS[throttle]}" 2>/dev/null
	kubectl_cluster delete flowschema "$NAMESPACE" >/dev/null
	wait_until "requests are let in" "$WAIT_S" api_answers_not 429
	kubectl_cluster delete prioritylevelconfiguration "$NAMESPACE" >/dev/null
}

api_refuse_writes() { # MESSAGE [GROUP/RESOURCE [NAME]]
	local what=${2:-/configmaps}
	REFUSED=${3:-}
	kubectl apply --server-side --filename - >/dev/null <<-Y || return 1
		apiVersion: admissionregistration.k8s.io/v1
		kind: ValidatingAdmissionPolicy
		metadata: {name: $NAMESPACE}
		spec:
		  failurePolicy: Fail
		  matchConstraints:
		    resourceRules:
		    - {apiGroups: ["${what%%/*}"], apiVersions: ["*"], resources: ["${what#*/}"], operations: [CREATE, UPDATE, DELETE]}
		  validations:
		  - expression: "request.userInfo.username != '$(api_account)'${REFUSED:+ || request.name != '$REFUSED'}"
		    message: "$1"
		---
		apiVersion: admissionregistration.k8s.io/v1
		kind: ValidatingAdmissionPolicyBinding
		metadata: {name: $NAMESPACE}
		spec:
		  policyName: $NAMESPACE
		  validationActions: [Deny]
		  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NAMESPACE}}}
	Y
	[ "$what" != /configmaps ] || wait_until "writes are refused" "$WAIT_S" api_write_gives 422
}

api_allow_writes() {
	kubectl_cluster delete validatingadmissionpolicybinding "$NAMESPACE" >/dev/null
	kubectl_cluster delete validatingadmissionpolicy "$NAMESPACE" >/dev/null
	wait_until "writes are allowed" "$WAIT_S" api_write_gives 201
}

# Nothing is made or changed by it.
api_write_gives() { # STATUS
	if [ -n "$REFUSED" ]; then
		curl_pod PATCH "/api/v1/namespaces/$NAMESPACE/configmaps/$REFUSED?dryRun=All" \
			--header 'Content-Type: application/merge-patch+json' --data '{"data": {"a-write": "x"}}'
		[ "$HTTP_STATUS" = "$1" ] || [ "$HTTP_STATUS$1" = 200201 ]
		return
	fi
	curl_pod POST "/api/v1/namespaces/$NAMESPACE/configmaps?dryRun=All" --header 'Content-Type: application/json' \
		--data '{"metadata": {"name": "a-write"}}'
	[ "$HTTP_STATUS" = "$1" ]
}

api_renew_ca() {
	api_act renew
}

api_give_ca() {
	cp "$CLUSTER/pki/ca.crt" "$POD_SECRETS/.ca.crt" && mv "$POD_SECRETS/.ca.crt" "$POD_SECRETS/ca.crt"
}

# A finalizer that nobody takes away keeps it from going.
api_terminate_namespace() {
	kubectl create configmap kept-for-ever --dry-run=client --output json |
		jq '.metadata.finalizers = ["drey.dev/test"]' | kubectl create --filename - >/dev/null
	kubectl delete namespace "$NAMESPACE" --wait=false >/dev/null
	wait_until "the namespace ends" "$WAIT_S" kubectl wait --for='jsonpath={.status.phase}=Terminating' \
		"namespace/$NAMESPACE" --timeout=1s
}
