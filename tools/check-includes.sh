#!/usr/bin/env bash
#
# check-includes.sh - which room may include which (DIRECTORIES below), and which file may use a library.
#
# Rooms of agent/ and what each may include besides itself. The direction is base <- format <- store, kube, flink <-
# run <- cmd; core is pure and sees only base; drey-init (entrypoint/) sees only itself. Exit status: 0 or 1.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bad=0

# room: the rooms it may include
declare -A may=(
	[base]=""
	[core]="base"
	[format]="base"
	[store]="base format"
	[kube]="base format"
	[flink]="base format"
	[control]="base core"
	[run]="base core control format store kube flink entrypoint"
	[cmd]="base core control format store kube flink run"
	[migrate]="base cmd"
)
# A library's header: the only file (or files: a pattern) that may include it. All others use that module.
declare -A only=(
	["yaml.h"]=agent/base/yaml.c
	["curl/"]="agent/base/http*"
	["event2/"]=agent/base/loop.c
	["expat.h"]="agent/format/*_xml.c"
)
# core/ is pure: these are all the system headers that it needs.
core_system=" inttypes.h limits.h math.h signal.h stdarg.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h sys/wait.h "
# ... and the modules of base/ that do I/O, or read the clock.
core_not=" base/fs.h base/http.h base/lane.h base/log.h base/loop.h base/yaml.h "

complain() { # FILE:LINE WHAT
	echo "$1: $2" >&2
	bad=1
}

check_own() { # FILE LINE ROOM INCLUDED
	local other=${4%%/*}
	[ "$other" = "$3" ] && return 0
	if [ "$4" = "$other" ]; then
		complain "$1:$2" "write the room, too: \"$3/$4\""
	elif [[ " ${may[$3]} " != *" $other "* ]]; then
		complain "$1:$2" "$3/ may not include $4"
	elif [ "$other" = entrypoint ] && [ "$4" != entrypoint/link.h ]; then
		complain "$1:$2" "of entrypoint/, only link.h is shared"
	fi
}

check_core() { # FILE LINE INCLUDED
	[[ $core_not != *" $3 "* ]] || complain "$1:$2" "core/ is pure: not $3"
}

check_system() { # FILE LINE INCLUDED
	local library
	for library in "${!only[@]}"; do
		# shellcheck disable=SC2053 # a pattern
		if [[ $3 == "$library"* ]] && [[ $1 != ${only[$library]} ]]; then
			complain "$1:$2" "only ${only[$library]} includes <$3>"
		fi
	done
	if [[ $1 == agent/core/* ]] && [[ $core_system != *" $3 "* ]]; then
		complain "$1:$2" "core/ is pure: not <$3>"
	fi
}

# FILE:LINE:#include "x" -> FILE LINE QUOTE NAME
includes() {
	grep -nHE '^[[:space:]]*#[[:space:]]*include' "$@" |
		sed -nE 's/^([^:]*):([0-9]+):[^"<]*(["<])([^">]*)[">].*/\1 \2 \3 \4/p'
}

mapfile -t files < <(find agent entrypoint migrate -name '*.[ch]' | sort)
while read -r file line quote name; do
	room=${file#agent/}
	room=${room%%/*}
	if [ "$quote" = "<" ]; then
		check_system "$file" "$line" "$name"
	elif [[ $file == entrypoint/* ]]; then
		[ -f "entrypoint/${name#entrypoint/}" ] || complain "$file:$line" "drey-init includes only its own: not $name"
	elif [ "$file" = agent/main.c ]; then
		[[ $name == base/* || $name == cmd/* ]] || complain "$file:$line" "main.c only finds a command: not $name"
	else
		check_own "$file" "$line" "$room" "$name"
		[ "$room" != core ] || check_core "$file" "$line" "$name"
	fi
done < <(includes "${files[@]}")
for file in "${files[@]}"; do
	room=${file#agent/}
	room=${room%%/*}
	if [[ $file == agent/*/* ]] && [ -z "${may[$room]+known}" ]; then
		complain "$file:1" "a room that the table in $0 does not know: $room"
	fi
done
exit "$bad"
