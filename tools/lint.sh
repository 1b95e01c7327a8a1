#!/usr/bin/env bash
#
# lint.sh - all checks of the sources that do not run them.
#
#   tools/lint.sh [CHECK...]    all, or some of: format includes circles evidence doors house pins subjects shell cppcheck tidy; or `quick` or `slow`
#
# If a tool is missing, its check is skipped with a message; with CI=true that is a failure. Exit status: 0 nothing
# found, 1 something found, 2 usage.

# shellcheck disable=SC2317 # the checks are called by their names

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
status=0

found() { # CHECK
	echo "lint: $1: failed, see above" >&2
	status=1
}

# The command in the version whose output is the reference (Debian 12), or under its plain name if it is that version.
# Sets $tool; false and a message when it is missing.
tool=
need() { # COMMAND PACKAGE [VERSION]
	tool=$1-${3:-}
	if [ -n "${3:-}" ] && command -v "$tool" >/dev/null; then
		return 0
	fi
	tool=$1
	if command -v "$1" >/dev/null && { [ -z "${3:-}" ] || "$1" --version | grep -q "version $3\."; }; then
		return 0
	fi
	echo "lint: $1${3:+ $3} is missing, its check is skipped; install it: apt-get install $2" >&2
	[ "${CI:-}" != true ] || status=1
	return 1
}

mapfile -t sources < <(git ls-files -co --exclude-standard '*.c' '*.h' | while read -r f; do [ ! -f "$f" ] || echo "$f"; done)
mapfile -t programs < <(printf '%s\n' "${sources[@]}" | grep -E '^(agent|entrypoint)/.*\.c$')
mapfile -t scripts < <(git ls-files -co --exclude-standard '*.sh' .ci/run | while read -r f; do [ ! -f "$f" ] || echo "$f"; done)
read -ra flags < <(echo -std=gnu11 -D_GNU_SOURCE '-DDREY_VERSION="lint"' -Iagent -I. -Itests/unit \
	"$(pkg-config --cflags libcurl yaml-0.1 libevent 2>/dev/null)")

check_format() {
	need clang-format clang-format-14 14 || return 0
	"$tool" --dry-run --Werror "${sources[@]}" || found "format (make format)"
}

check_includes() {
	tools/check-includes.sh || found includes
}

check_circles() {
	need python3 python3 || return 0
	tools/check-circles.py || found circles
}

check_evidence() {
	need python3 python3 || return 0
	tools/check-evidence.py || found evidence
}

check_doors() {
	need python3 python3 || return 0
	tools/check-doors.py || found doors
}

at_most() { # FILE LINES
	local lines
	lines=$(wc -l <"$1")
	if [ "$lines" -gt "$2" ]; then
		echo "$1: $lines lines, more than $2" >&2
		found house
	fi
}

# Names of static functions that occur in more than three files of agent/: with its module as a prefix, a name
# says in grep and in a stack trace which function it is.
too_common() {
	# shellcheck disable=SC2016 # $0 is awk's
	printf '%s\0' "${programs[@]}" | grep -z ^agent/ | xargs -0 awk '
		/^static / && !/=/ && match($0, /[A-Za-z0-9_]+\(/) {
			name = substr($0, RSTART, RLENGTH - 1)
			if (!seen[name, FILENAME]++) {
				count[name]++
				files[name] = files[name] " " FILENAME
			}
		}
		END {
			for (name in count)
				if (count[name] > 3)
					print name "(): static in " count[name] " files:" files[name]
		}'
}

# Checks that no tool has: the size of files, names, and paths that exist on one machine only.
check_house() {
	local file common
	for file in "${sources[@]}"; do
		case $file in
		tests/*) at_most "$file" 1000 ;;
		*) at_most "$file" 600 ;;
		esac
	done
	at_most Makefile 150
	common=$(too_common)
	if [ -n "$common" ]; then
		echo "$common" >&2
		found "house: a static function in more than three files"
	fi
	# the pattern in parts, so that it does not match itself
	if git grep -nIE "(^|[^[:alnum:]_.])/(wor[k]|hom[e]|Use[r]s)/[[:alnum:]]" -- . ':!LICENSE' ':!tests/fixtures' >&2; then
		found "house: a path of one machine"
	fi
	if git grep -nE '\b(TOD[O]|FIXM[E]|XX[X])\b' -- '*.c' '*.h' '*.sh' '*.md' Makefile >&2; then
		found "house: work that is not done"
	fi
	# tests/run.sh passes over such a file
	if find tests -name 'test_*.sh' ! -perm -u+x | grep . >&2; then
		found "house: a test that never runs, because it is not executable"
	fi
}

# What others can change after it was looked at: an action by a tag, a package of PyPI without its digest.
check_pins() {
	if grep -rnE '^ *-? *uses: ' .github/workflows | grep -vE '@[0-9a-f]{40} # v[0-9.]+$' >&2; then
		found "pins: name an action by its commit, with its version behind it"
	fi
	if awk '/==/ { if (open) print open; open = $0 } /--hash=sha256:/ { open = "" } END { if (open) print open }' \
		tools/servers/requirements.txt | grep . >&2; then
		found "pins: no hash (tools/servers/hashes.py)"
	fi
}

check_subjects() {
	tools/check-subjects.sh || found "subjects: write 'area: what', at most 72 characters (docs/development/style.md)"
}

check_shell() {
	need shellcheck shellcheck || return 0
	"$tool" -x -S warning -e SC2209 "${scripts[@]}" || found shell
}

check_cppcheck() {
	need cppcheck cppcheck || return 0
	"$tool" -q -j2 --std=c11 --error-exitcode=1 --enable=warning,portability --inline-suppr \
		--suppress=missingIncludeSystem --suppress='*:tests/*' --max-configs=1 \
		"${flags[@]:1}" agent entrypoint || found cppcheck
}

check_tidy() {
	need clang-tidy clang-tidy-14 14 || return 0
	local said
	said=$(mktemp)
	# shellcheck disable=SC2016
	if ! printf '%s\0' "${programs[@]}" | TIDY=$tool xargs -0 -n 8 -P 2 sh -c \
		'"$TIDY" --quiet "$@" -- '"$(printf '%q ' "${flags[@]}")" tidy >"$said" 2>&1; then
		grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -' "$said" >&2
		found tidy
	fi
	rm -f "$said"
}

quick=(format includes circles evidence doors house pins subjects)
slow=(shell cppcheck tidy) # minutes
case $* in
'') set -- "${quick[@]}" "${slow[@]}" ;;
quick) set -- "${quick[@]}" ;;
slow) set -- "${slow[@]}" ;;
esac
for check; do
	declare -F "check_$check" >/dev/null || {
		sed -n '5p' "${BASH_SOURCE[0]}" | sed 's/^# *//' >&2
		exit 2
	}
done
for check; do
	"check_$check"
done
[ "$status" -ne 0 ] || echo "lint: nothing found ($*)"
exit "$status"
