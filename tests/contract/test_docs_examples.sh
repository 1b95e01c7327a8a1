#!/usr/bin/env bash
#
# What the pages show exists: every command and option, exit status, key, metric and target of make that is mentioned anywhere, and
# no other; each block of sh is a script, and each drey.yaml is taken by the program. Each check finds a mistake when one is made.

# shellcheck disable=SC2016 # the backquotes are those of Markdown
# shellcheck disable=SC2317 # functions that `ok` calls

set -uo pipefail
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
contract_begin python3
top=$PWD

# In a copy of the pages, to which a test can add a mistake.
mkdir "$dir/tree" "$dir/scratch"
cp ./*.md Makefile "$dir/tree"
find docs hooks chart agent java tests tools \( -name '*.md' -o -name rules.mk \) -exec cp --parents -t "$dir/tree" {} +

examined() { # WHAT [ARG...]: nothing is wrong
	(cd "$dir/tree" && python3 "$top/tests/contract/docs_examples.py" "$@") >"$dir/out" 2>"$dir/err"
	sed 's/^/# /' "$dir/out" "$dir/err"
	[ ! -s "$dir/out" ] && [ ! -s "$dir/err" ]
}

finds() { # MISTAKE PAGE TEXT WHAT [ARG...]
	local what=$1 page=$2 text=$3
	shift 3
	cp "$top/$page" "$dir/saved"
	printf '\n%b\n' "$text" >>"$dir/tree/$page"
	(cd "$dir/tree" && python3 "$top/tests/contract/docs_examples.py" "$@") >"$dir/out" 2>"$dir/err"
	cp "$dir/saved" "$dir/tree/$page"
	[ "$(wc -l <"$dir/out")" -ge 1 ] && grep -q "^$page:" "$dir/out" && [ ! -s "$dir/err" ]
	result $? "... $what is found"
}

ok 'every command and option exists' examined commands "$DREY"
finds 'a command that is none' docs/tasks/chart.md 'Use `drey explode`.' commands "$DREY"
finds 'an option that is none' docs/tasks/chart.md '```sh\nkubectl exec deploy/x -- drey resume --from PATH --boldly\n```' commands "$DREY"
finds 'an option of another command' docs/reference/kubectl.md '`kubectl drey list --from`' commands "$DREY"
ok 'the exit statuses are those of --help' examined statuses "$DREY"
finds 'a status that no command has' docs/reference/commands/README.md '| 9 | never |' statuses "$DREY"
ok 'every metric exists' examined metrics
finds 'a metric that is none' docs/tasks/sizing.md 'the metric `drey_moods`' metrics
ok 'every key exists' examined keys
finds 'a key that is none' docs/tasks/chart.md 'Set `savepoints.intervall`.' keys
ok 'every target of make exists' examined targets
finds 'a target that is none' CONTRIBUTING.md 'Run `make coffee`.' targets
ok 'each block of sh is a script' examined shell
finds 'a script that is none' docs/tasks/sql.md '```sh\nif true; echo\n```' shell
ok 'each drey.yaml is taken' examined configurations "$DREY" "$dir/scratch"
finds 'a configuration that is refused' docs/reference/storage.md '```yaml\nrestore:\n  policy: oldest\n```' configurations "$DREY" "$dir/scratch"

contract_end
