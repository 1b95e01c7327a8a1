#!/usr/bin/env bash
#
# The copy of the journal (docs/reference/journal.md): the state directory is lost, and the application comes back by the copy
# that lies beside its checkpoints, in a directory and in a real S3. What was suspended stays suspended, what had finished stays
# finished, a running job goes on from its newest checkpoint. tests/api/test_recovery.sh does the same with a namespace.
#
# runs in: all on 2.3.0

# shellcheck disable=SC2119,SC2153,SC2154 # lib.sh has functions whose arguments are optional, and variables
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$TOP/tests/servers/lib.sh"
# shellcheck source=tests/e2e/recovery_lib.sh
. "$TOP/tests/e2e/recovery_lib.sh"

APPLICATION=orders

recovery_configure() {
	:
}

recovery_lose() {
	:
}

recovery_forget() {
	:
}

recovery_begin copy
recovery directory s3
e2e_end
