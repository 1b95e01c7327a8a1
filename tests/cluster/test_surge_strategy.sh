#!/usr/bin/env bash
#
# T18: `upgrade.strategy` from recreate to surge and back by Helm on a real cluster, also while the application is on the side green:
# each change is one ordinary upgrade with a savepoint, and the side stays.
#
# alone: two versions of a Flink run at a time
# runs in: all

# shellcheck disable=SC2317 # cases are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/cluster/surge_lib.sh
. "$TOP/tests/cluster/surge_lib.sh"

# An upgrade that is no hand-over: the strategy changes, or is recreate.
plain_upgrade() { # T CLUSTER_ID
	local offered before=$CURRENT old=$OWNER
	offered=$(happened offered)
	check "helm upgrade to $1" helm_upgrade "$1" --wait --timeout "${WAIT_S}s"
	await "there is a Pod of $1" pod_of "$1"
	OWNER=$POD
	await "the old one has ended" told gone "$old"
	await "the job of $1 runs" pod_phase "$OWNER" Running
	await "$1 writes" has_written "$1" 50
	await "the old Pods are gone, the new ones are ready" settled
	check "it is from a savepoint" pod_is "$OWNER" '.launch.restorePoint.kind == "savepoint"'
	check "Flink has restored that" pod_restored "$OWNER" "$(pod_status "$OWNER" .launch.restorePoint.path)"
	is "$(happened offered)" "$offered" "there was no hand-over"
	is "$(journal '.launches[-1].haClusterId')" "$2" "the cluster id"
	check "$1 comes after $before" turns_end_with "$before" "$1"
	diag "$before -> $1: $(verdict '.handovers[-1].gapMs') ms"
	CURRENT=$1
}

t18() {
	local recreate='upgrade: {strategy: recreate}'
	version r1 "$recreate"
	version s1
	version s2
	version s3
	version r2 "$recreate"
	version r3 "$recreate"
	version s4
	version s5
	begin_with r1
	# the drey that runs knows no hand-over, and keeps its side to the end: the new one takes the other
	plain_upgrade s1 orders-green
	upgrade_to s2
	await_done s2
	is "$(journal .owner.side)" blue "by surge: the other side"
	upgrade_to s3
	await_done s3
	is "$(journal .owner.side)" green "and back"
	# without hand-overs the side stays
	plain_upgrade r2 orders-green
	plain_upgrade r3 orders-green
	plain_upgrade s4 orders
	upgrade_to s5
	await_done s5
	is "$(journal .owner.side)" green "by surge: the other side"
}

# with recreate the Role has no candidate, and Helm changes it while the drey of before still looks for one
MAY_BE_DENIED=" get [^ ]*/configmaps/orders-drey-candidate 403\$"
surge_begin surge-strategy
surge_cases "${@:-t18}"
