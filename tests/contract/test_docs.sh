#!/usr/bin/env bash
#
# The documentation is complete: every relative link has its file (and heading), every file in the tour of CONTRIBUTING.md exists,
# every page is found from docs/README.md, the pictures are what tools/pictures.py draws, every story has the tests that the table in docs/development/testing.md names, and
# every test runs where the tables say.

# shellcheck disable=SC2016 # the backquotes are those of Markdown

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
mapfile -t pages < <(find . -maxdepth 1 -name '*.md'; find docs hooks chart -name '*.md')

# "file:target" of each link in a page that is not a URL.
links() { # PAGE
	grep -oE '\]\([^)]+\)' "$1" | sed 's/^](//; s/)$//' | grep -vE '^[a-z]+:'
}

# The anchors of a page, as GitHub makes them.
anchors() { # PAGE
	grep -E '^#+ ' "$1" | sed -E 's/^#+ //' | tr '[:upper:]' '[:lower:]' | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}

dead=''
for page in "${pages[@]}"; do
	while read -r link; do
		file=${link%%#*} anchor=
		[ "$link" = "$file" ] || anchor=${link#*#}
		target=$page
		[ -z "$file" ] || target=$(dirname "$page")/$file
		[ -e "$target" ] || dead+="# $page: $link is not there"$'\n'
		if [ -n "$anchor" ] && [ -f "$target" ]; then
			anchors "$target" | grep -qxF -- "$anchor" || dead+="# $page: $link has no such heading"$'\n'
		fi
	done < <(links "$page")
done
printf '%s' "$dead"
echo "$([ -z "$dead" ] || echo 'not ')ok 1 - every link leads somewhere"

missing=''
while read -r file; do
	case $file in
	*/*) dir=${file%/*}/ ;;
	*) file=$dir$file ;; # as in: `agent/core/resolve/facts.h`, `resolve.h`
	esac
	[ -e "$file" ] || missing+="# CONTRIBUTING.md: $file is not there"$'\n'
done < <(sed -n '/^## The files/,/^The headers/p' CONTRIBUTING.md | grep '^| `' | cut -d'|' -f2 | grep -oE '`[^`]+`' | tr -d '`')
printf '%s' "$missing"
echo "$([ -z "$missing" ] || echo 'not ')ok 2 - every file of the tour is there"

lost=''
for index in docs/README.md docs/reference/commands/README.md docs/runbook/README.md; do
	pages_of=("${index%/*}"/*.md)
	[ "$index" != docs/README.md ] || pages_of=(docs/*.md docs/{start,tasks,reference,development}/*.md docs/{runbook,reference/commands}/README.md)
	for page in "${pages_of[@]}"; do
		[ "$page" = "$index" ] || links "$index" | grep -qxF "${page#"${index%/*}"/}" || lost+="# $page: no link from $index"$'\n'
	done
done
links README.md | grep -qxF docs/README.md || lost+='# docs/README.md: no link from README.md'
printf '%s' "$lost"
echo "$([ -z "$lost" ] || echo 'not ')ok 3 - every page is found from docs/README.md"

# The stories to S67 that have a unit test, and those in the table; and each end-to-end test of the table has the number.
untold=$(diff <(grep -ohE '^([A-Z]+_)?TEST(_FROM)?\(([a-z_]+, )?(s[0-9]+_)+' tests/unit/test_{resolve,lifecycle}_stories*.c | grep -oE '[0-9]+' | sed 's/^/S/' | sort -u) \
	<(grep -oE '^\| S([0-9]|[1-5][0-9]|6[0-7]) ' docs/development/testing.md | tr -d '| ' | sort) | grep '^[<>]' | sed 's/^/# unit tests < > table: /')
while IFS='|' read -r _ story _ _ _ tests _; do
	story=${story//[ |]/}
	for name in $(grep -oE '`[a-z_]+`' <<<"$tests" | tr -d '`'); do
		grep -qE "^#.*\b$story\b" "tests/e2e/test_$name.sh" ||
			untold+=$'\n'"# docs/development/testing.md: tests/e2e/test_$name.sh does not say where $story is"
	done
done < <(grep -E '^\| S([0-9]|[1-5][0-9]|6[0-7]) ' docs/development/testing.md)
# those about two versions have no test of that form: the scripts of the table have the number
while IFS='|' read -r _ story _ _ tests _; do
	story=${story//[ |]/}
	for name in $(grep -oE 'test_[a-z_]+\.sh' <<<"$tests"); do
		grep -qE "^[[:space:]]*#.*\b$story\b" tests/*/"$name" ||
			untold+=$'\n'"# docs/development/testing.md: $name does not say where $story is"
	done
done < <(grep -E '^\| S(6[89]|7[0-9]) ' docs/development/testing.md)
[ -z "$untold" ] || printf '%s\n' "$untold"
echo "$([ -z "$untold" ] || echo 'not ')ok 4 - every story has the tests that are named for it"

# Where a test runs is in its head; the tables in docs/development/testing.md say the same, and have all that run before a release.
other=''
for file in tests/{e2e,api,handover,chart,cluster,servers}/test_*.sh; do
	group=${file#tests/} mark=$(sed -n 's/^# runs in: //p' "$file")
	group=${group%%/*}
	row=$(awk -v group="$group" -v file="\`${file##*/}\`" '
		/^##/ { at = /end-to-end tests show/ ? "e2e" : /object stores/ ? "servers" : /API server/ ? "api" : /Hand-overs/ ? "handover" : /chart/ ? "chart" : /real node/ ? "cluster" : "" }
		at == group && $2 == file { split($0, cell, " *[|] *"); print cell[3] }' docs/development/testing.md)
	default=all
	[ "$group" != servers ] || default=test
	if [ "${row:-$default}" != "${mark:-$default}" ]; then
		other+="# $file: \"runs in: $mark\", in the table of docs/development/testing.md \"$row\""$'\n'
	fi
done
printf '%s' "$other"
echo "$([ -z "$other" ] || echo 'not ')ok 5 - the tables say where each test runs"

# What is supported is in tests/versions.txt, and the table in the README says the same.
unsaid=''
supported=$(sed -n '/^## What is supported/,/^## /p' README.md)
row_has() { # ROW COLUMN NAME
	local said version
	said=$(grep "^| $1" <<<"$supported" | cut -d'|' -f"$2")
	for version in $(sed -n "s/^$3 //p" tests/versions.txt); do
		version=${version//-/ }
		grep -qE "(^|[ ,])${version//./\\.}([ ,;]|\$)" <<<"$said" || unsaid+="# README.md, What is supported, $1: not $version"$'\n'
	done
	[ -n "$said" ] || unsaid+="# README.md, What is supported: no row $1"$'\n'
}
row_has Flink 3 flink
row_has Flink 4 flink-tested
row_has Kubernetes 3 kubernetes
row_has Kubernetes 4 kubernetes-tested
row_has Helm 3 helm
row_has "To build" 3 build
row_has CPU 3 cpu
printf '%s' "$unsaid"
echo "$([ -z "$unsaid" ] || echo 'not ')ok 6 - the README says what is supported"

# The pictures: drawn from what the text says.
stale=$(tools/pictures.py --check 2>&1 | sed 's/^/# /')
for picture in docs/pictures/*.svg; do
	grep -qF "${picture#docs/}" README.md docs/*.md docs/*/*.md || stale+=$'\n'"# $picture: no page shows it"
done
[ -z "$stale" ] || printf '%s\n' "$stale"
echo "$([ -z "$stale" ] || echo 'not ')ok 7 - the pictures are those that tools/pictures.py draws, and shown"

# One version: the program's is that of the charts, and the changelog begins with it.
version=$(cat VERSION) differs=''
for chart in chart/*/Chart.yaml; do
	grep -qxF "version: $version" "$chart" || differs+="# $chart: not version $version"$'\n'
done
grep '^## ' CHANGELOG.md | head -n 1 | grep -qE "^## ${version//./\\.} \([0-9]{4}-[0-9]{2}-[0-9]{2}\)\$|^## Unreleased\$" ||
	differs+="# CHANGELOG.md: does not begin with version $version and its date"$'\n'
printf '%s' "$differs"
echo "$([ -z "$differs" ] || echo 'not ')ok 8 - there is one version"

# A page that code, charts or messages name is there (krew.sh names one of krew's own).
moved=''
while IFS=: read -r file page; do
	[ -e "$page" ] || moved+="# $file: $page is not there"$'\n'
done < <(grep -roE '\bdocs/[A-Za-z0-9_/-]+\.(md|svg)' ./*.md Makefile Dockerfile agent bench chart docs entrypoint hooks java tests tools \
	--exclude=krew.sh --exclude-dir=node_modules | sort -u)
printf '%s' "$moved"
echo "$([ -z "$moved" ] || echo 'not ')ok 9 - every page that is named anywhere is there"

echo 1..9
[ -z "$dead$missing$lost$untold$other$unsaid$stale$differs$moved" ]
