#!/usr/bin/env bash
#
# man.sh - the manual pages of the programs that are no command of drey, on standard output.
#
#   tools/release/man.sh drey-init            from docs/reference/drey-init.md
#   tools/release/man.sh drey-class-archive   from the head of tools/make-class-archive.sh

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# Markdown as docs/reference/drey-init.md has it: sections, paragraphs, indented code, definitions, tables and lists as they are.
roff() {
	awk '
		function text(line) {
			gsub(/\\/, "\\e", line); gsub(/-/, "\\-", line); gsub(/\*\*/, "", line)
			while (match(line, /`[^`]*`/))
				line = substr(line, 1, RSTART - 1) "\\fB" substr(line, RSTART + 1, RLENGTH - 2) "\\fR" substr(line, RSTART + RLENGTH)
			while (match(line, /\]\([^)]*\)/)) {
				line = substr(line, 1, RSTART - 1) substr(line, RSTART + RLENGTH)
				sub(/\[/, "", line)
			}
			if (line ~ /^[.'"'"']/) line = "\\&" line
			return line
		}
		/^# / { next }
		/^## / { if (code) print ".fi"; code = 0; print ".SH " toupper(substr($0, 4)); next }
		/^### / { print ".SS " text(substr($0, 5)); next }
		/^    / || /^[|]/ { if (!code) print ".PP\n.nf"; code = 1; print text($0); next }
		code { print ".fi"; code = 0 }
		/^: / { print text(substr($0, 3)); next }
		/^`/ { print ".TP\n" text($0); next }
		/^[*] / { print ".IP \\(bu 2\n" text(substr($0, 3)); next }
		/^  / { print text(substr($0, 3)); next }
		/^$/ { print ".PP"; next }
		{ print text($0) }
		END { if (code) print ".fi" }'
}

case ${1:-} in
drey-init)
	printf '.TH "drey-init" 1 "" "drey %s" "drey"\n' "$(cat VERSION)"
	roff <docs/reference/drey-init.md
	;;
drey-class-archive)
	printf '.TH "drey-class-archive" 1 "" "drey %s" "drey"\n.SH NAME\ndrey\\-class\\-archive \\- create the archives of Flink'"'"'s classes\n.SH DESCRIPTION\n' \
		"$(cat VERSION)"
	sed -n '3,/^[^#]*$/{s/^# \{0,1\}//p}' tools/make-class-archive.sh | sed '1,/^$/d; s/^  \( *drey-class\)/    \1/' | roff
	;;
*)
	echo "usage: tools/release/man.sh drey-init|drey-class-archive" >&2
	exit 2
	;;
esac
