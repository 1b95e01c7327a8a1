#!/usr/bin/env bash
#
# check-subjects.sh - each commit says in its subject where it changes something: "area: what", at most 72 characters.
#
#   tools/check-subjects.sh [RANGE]    default: from the commit with which this began
#
# An area is a room or a part: a folder without agent/ (core/resolve, store, chart, docs, tests/e2e), a program (drey-init) or a
# subject (ci, release). A clone without that history has nothing to check. Exit status: 0 nothing found, 1 something found.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
began=24bb72b180c80876a8e18915946ae44ba4cd7b24
git cat-file -e "$began^{commit}" 2>/dev/null || [ $# -gt 0 ] || exit 0
status=0
while read -r commit subject; do
	if ! [[ $subject =~ ^[a-z0-9][a-z0-9_./-]*(,\ [a-z0-9][a-z0-9_./-]*)*:\ [^\ ].*[^.]$ ]] || [ ${#subject} -gt 72 ]; then
		echo "$commit $subject" >&2
		status=1
	fi
done < <(git log --no-merges --format='%h %s' "${1:-$began..HEAD}")
exit "$status"
