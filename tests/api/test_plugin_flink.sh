#!/usr/bin/env bash
#
# `kubectl drey` operates a real Flink, as a user with the rights of docs/reference/kubectl.md: savepoint, restart, suspend, resume, also
# after drey's own suspend, when the state in the ConfigMap is `running` already; a resume from a savepoint that is named.
#
# runs in: all on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/plugin_lib.sh
. "$TOP/tests/api/plugin_lib.sh"

e2e_begin plugin-flink
api_begin plugin-flink
# shellcheck source=tests/api/resource_lib.sh
. "$TOP/tests/api/resource_lib.sh"
DREY_CONF[application]=$APPLICATION
DREY_CONF[kubernetes.enabled]=true
DREY_CONF[kubernetes.kubeconfig]=$POD_KUBECONFIG
DREY_CONF[kubernetes.namespace]=$NAMESPACE
DREY_CONF[kubernetes.owner]=none
drey_conf
plugin_begin
plugin_user me
plugin_role me drey-viewer
plugin_role me drey-operator
api_template configmaps.yaml >"$RUN/maps.yaml" && api_apply "$RUN/maps.yaml" || die 1 "no ConfigMaps"
resource '{}'
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
await "its launch is proven" resource_is .status.launch.proven

plugin me list
ended "it is in the list" 0 'orders   Running '
plugin me status orders
ended "its status, with the tasks" 0 'tasks running'

# a nonce in the custom resource takes precedence over one in the ConfigMap
resource '{"savepointNonce": "0"}'
await "drey follows the resource" resource_is '.status.lastOperation | .kind == "savepoint" and .nonce == "0"'
plugin me savepoint orders
ended "a savepoint: its path is all that is printed" 0 'savepoint-' 'waiting for the savepoint'
savepoint=$(cat "$RUN/out")
check "it is complete" verify "$savepoint"

plugin me restart orders
ended "a restart" 0 'restored savepoint '
is "$(status .launch.number)" 2 "which is another launch"
check "from the savepoint that is printed" restore_matches "$(plain_path "$(sed 's/restored savepoint //; s/ (.*//' "$RUN/out")")"

plugin me suspend orders
ended "suspended, with a savepoint" 0 'savepoint-' 'the job was stopped with this savepoint'
stopped=$(cat "$RUN/out")
MUST_LIVE=(tm)
plugin me list -o wide
ended "the list says so" 0 "Suspended"
plugin me resume orders
ended "resumed from exactly that" 0 "restored savepoint $stopped"
is "$(status .launch.number)" 3 "by one launch"

check "drey suspends by its own command: the ConfigMap still says running" "$BUILD/drey" suspend --config "$RUN/drey.yaml"
stopped=$(status .lastSavepoint.path)
plugin me resume orders
ended "it is resumed all the same" 0 "restored savepoint $stopped" 'setting it to suspended first'

plugin me resume orders --from "$savepoint"
ended "nothing is restored under a job that runs" 1 '' 'the application is Running; suspend or cancel it first; nothing was changed'
plugin me resume orders
ended "and a job that runs is left alone" 0 '' 'the job is running already'
plugin me suspend orders
plugin me resume orders --from "$savepoint"
ended "from a savepoint that is named" 0 "restored savepoint $savepoint"
plugin me history orders --limit 1
ended "the history says that it was requested" 0 'launch 5'
plugin me snapshots orders
ended "the snapshots are listed" 0 "$savepoint"

e2e_end
