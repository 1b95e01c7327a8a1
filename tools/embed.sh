#!/usr/bin/env bash
#
# embed.sh - files as a table in C (agent/base/embedded.h), on standard output. The same files give the same bytes.
#
#   tools/embed.sh TABLE FILE...
#
# The name in the table is that of the file, without .md.
# Of .css, .html and .js the indentation, empty lines and lines that are only a comment (// or one-line /* */) are left out, so
# a string of several lines must not be in them. Exit status: 0 done, 2 usage.

set -euo pipefail
export LC_ALL=C

[ $# -ge 2 ] || {
	sed -n '5p' "${BASH_SOURCE[0]}" | sed 's/^# *//' >&2
	exit 2
}
table=$1
shift

squeezed() { # FILE
	case $1 in
	*.css | *.html | *.js) sed -E 's/^[[:space:]]+//; /^$/d; /^\/\/.*$/d; /^\/\*.*\*\/$/d' "$1" ;;
	*) cat "$1" ;;
	esac
}

printf '#include "base/embedded.h"\n\nconst struct embedded %s[] = {\n' "$table"
while IFS= read -r file; do
	# a literal with a question mark could be a trigraph
	name=${file##*/}
	printf '\t{"%s",\n' "${name%.md}"
	squeezed "$file" | sed 's/[\\"?]/\\&/g; s/\t/\\t/g; s/^/\t "/; s/$/\\n"/'
	hash=$(squeezed "$file" | sha256sum | sed 's/ .*//; s/../\\x&/g')
	# shellcheck disable=SC2059 # the bytes
	printf '\t ,%s, "%s"},\n' "$(squeezed "$file" | wc -c)" "$(printf "$hash" | base64)"
done < <(printf '%s\n' "$@" | sort)
printf '\t{0},\n};\n'
