#!/usr/bin/env bash
#
# embed-runbook.sh - the pages of docs/runbook as a C file on stdout, for the build. The same pages make the same bytes.
#
#   tools/embed-runbook.sh PAGE.md...

set -euo pipefail
export LC_ALL=C
echo '/* made by tools/embed-runbook.sh from docs/runbook */
#include "core/report/runbook.h"

const struct runbook_page runbook_pages[] = {'
printf '%s\0' "$@" | sort -z | while IFS= read -r -d '' page; do
	name=${page##*/}
	[ "$name" != README.md ] || continue
	printf '{"%s",\n' "${name%.md}"
	sed 's/[\\"]/\\&/g; s/?/\\?/g; s/^/"/; s/$/\\n"/' "$page"
	echo '},'
done
echo '{0, 0},
};'
