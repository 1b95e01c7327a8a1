# shellcheck shell=bash disable=SC2034,SC2119,SC2154
#
# lies_lib.sh - a store behind a proxy that lies (tests/servers/lying_proxy.py), what it really has, and the lies. Sourced after
# tap.sh, tests/servers/lib.sh and store_lib.sh, by test_chaos_lies.sh.
#
#   lies_store s3|swift           the server, with the bucket flink, and the proxy in front of it. Flink asks the server, drey the proxy
#   lies_names DIR, lies_get NAME, lies_copy DIR DIR     past the proxy: names below DIR, whole; a file; a copy of a directory
#   lies_freeze                   of a job that is dead: what there is ($FROZEN/names, needs, mirror), and a drey.yaml
#                                 ($FROZEN/drey.yaml) with a copy of the journal, whose drey asks the proxy by the store's own scheme
#   frozen COMMAND [ARG...]       drey with that configuration; the document on stdout
#   lied_to COMMAND ARG...        drey without a configuration, of whatever store the URI names
#   lie_of KIND VICTIM OTHER      the rule of that kind about the snapshot VICTIM ("ck/<job>/chk-7"); nothing: it cannot be told
#   lie_begins RULE, lie_was_told from here on; whether the proxy has told it at all

LIE_KINDS=(absent absent-text absent-head absent-get absent-file short cut mangle other older empty hide until split foreign
	foreign-empty stale no-bucket archived status break double first)

lies_store() { # s3|swift
	STORE=$1
	FROZEN=$RUN/frozen
	case $STORE in
	s3)
		S3_REGION=us-east-1
		server_up versitygw "$RUN/gw"
		BUCKETS=$RUN/gw/buckets
		mkdir -p "$BUCKETS/flink"
		lying_up "$S3_ENDPOINT"
		SCHEME=s3
		;;
	swift)
		server_up swift "$RUN/swift"
		export ST_AUTH=$SWIFT_AUTH_URL ST_USER=$SWIFT_USER ST_KEY=$SWIFT_KEY
		mkdir -p "$RUN/marker"
		touch "$RUN/marker/a-bucket"
		swift_upload "$RUN/marker" flink
		S3_ENDPOINT=$SWIFT_S3_ENDPOINT S3_ACCESS_KEY=$SWIFT_USER S3_SECRET_KEY=$SWIFT_KEY
		lying_up "$SWIFT_S3_ENDPOINT"
		swift_token
		# the sign-in names the server's own address
		export OS_STORAGE_URL=$LYING_URL${SWIFT_URL#"$SWIFT_S3_ENDPOINT"}
		SCHEME=swift
		;;
	esac
	STORE_URI=s3://flink
}

swift_token() {
	local said
	said=$(curl --silent --show-error --fail --dump-header - --header "X-Auth-User: $SWIFT_USER" \
		--header "X-Auth-Key: $SWIFT_KEY" "$SWIFT_AUTH_URL" | tr -d '\r')
	SWIFT_URL=$(sed -n 's/^X-Storage-Url: //ip' <<<"$said")
	SWIFT_TOKEN=$(sed -n 's/^X-Auth-Token: //ip' <<<"$said")
}

swift_get() { # PATH_AND_QUERY [CURL_OPTION...]
	curl --silent --show-error --fail --header "X-Auth-Token: $SWIFT_TOKEN" "${@:2}" "$SWIFT_URL/flink$1"
}

# ---- past the proxy --------------------------------------------------------------------------------

lies_names() { # [DIR]
	case $STORE in
	s3) find "$BUCKETS/flink/${1:-}" -type f -printf '%P\n' 2>/dev/null | sed "s|^|${1:+$1/}|" ;;
	swift) swift_get "?limit=10000&prefix=${1:+$1/}&format=json" | jq -r '.[].name | select(endswith("/") | not)' ;;
	esac
}

lies_get() { # NAME
	case $STORE in
	s3) cat "$BUCKETS/flink/$1" ;;
	swift) swift_get "/$1" ;;
	esac
}

lies_copy() { # FROM TO
	local name
	case $STORE in
	s3) mkdir -p "$BUCKETS/flink/$2" && cp -a "$BUCKETS/flink/$1/." "$BUCKETS/flink/$2/" ;;
	swift)
		for name in $(lies_names "$1"); do
			swift_get "/$2${name#"$1"}" --request PUT --header "X-Copy-From: /flink/$name" --header 'Content-Length: 0' || return
		done
		;;
	esac
}

# What store_lib.sh asks.
store_names() { # DIR
	lies_names "$1" | sed "s|^$1/||"
}

store_read() { # NAME
	lies_get "$1"
}

# ---- a state that is looked at many times ----------------------------------------------------------

lies_freeze() {
	local name
	rm -rf "$FROZEN"
	mkdir -p "$FROZEN/mirror" "$FROZEN/state"
	lies_names >"$FROZEN/names"
	grep '/_metadata$' "$FROZEN/names" >"$FROZEN/metadata"
	while read -r name; do
		mkdir -p "$FROZEN/mirror/${name%/*}"
		lies_get "$name" >"$FROZEN/mirror/$name" || return
	done <"$FROZEN/metadata"
	"$LIES_DIR/lies_truth.py" needs "$BUILD/drey" "$FROZEN/mirror" >"$FROZEN/needs" || return
	[ "$STORE" != s3 ] || cp -a "$BUCKETS/flink" "$FROZEN/files"
	# a job that may be started, by the store's own API
	sed "s|s3://flink|$SCHEME://flink|g" "$RUN/state/journal.json" | jq '.intent.doNotRestart = false' >"$FROZEN/state/journal.json"
	sed "s|s3://flink|$SCHEME://flink|g; s|$RUN/state|$FROZEN/state|" "$RUN/drey.yaml" >"$FROZEN/drey.yaml"
}

# What gc has deleted, put back as it was; Swift would give it another age.
lies_thaw() {
	[ "$STORE" != s3 ] || cp -a --no-clobber "$FROZEN/files/." "$BUCKETS/flink/" 2>/dev/null
}

frozen() { # COMMAND [ARG...]
	local command=$1
	shift
	"$JUDGED/drey" "$command" --config "$FROZEN/drey.yaml" "$@" 2>>"$RUN/log/frozen.log"
}

lied_to() { # COMMAND ARG...
	env "AWS_ENDPOINT_URL=$LYING_URL" "AWS_ACCESS_KEY_ID=$S3_ACCESS_KEY" "AWS_SECRET_ACCESS_KEY=$S3_SECRET_KEY" \
		AWS_REGION=us-east-1 "$JUDGED/drey" "$@" 2>>"$RUN/log/frozen.log"
}

# ---- lies ------------------------------------------------------------------------------------------

# A file of a snapshot besides its _metadata: one of its own, or one that it shares.
file_of() { # SNAPSHOT
	awk -F'\t' -v s="$1" '$1 == s && $2 !~ /_metadata$/ { print $2 }' "$FROZEN/needs" | shuf -n 1 --random-source=<(yes "$RANDOM")
}

lie_of() { # KIND VICTIM OTHER
	local victim=$2 other=$3 base=/flink file
	[ "$STORE" != swift ] || base=/v1/AUTH_test/flink
	case $1 in
	absent | absent-text | short | cut | mangle | empty | archived | break)
		case $1 in
		short | cut) set -- "$1" GET "$victim/_metadata" 0 $((RANDOM % 400)) ;;
		absent*) set -- "$1" 'GET|HEAD' "$victim/_metadata" ;;
		*) set -- "$1" GET "$victim/_metadata" ;;
		esac
		[ "$1$STORE" != archivedswift ] || set -- status GET "$victim/_metadata" 0 403
		echo "$*"
		;;
	absent-head) echo "absent HEAD $victim/_metadata" ;;
	absent-get) echo "absent GET $victim/_metadata" ;;
	absent-file | first)
		file=$(file_of "$victim")
		if [ "$1" = first ]; then echo "absent GET|HEAD $victim/ $((1 + RANDOM % 3))"; else echo "absent-html GET|HEAD ${file:-$victim/_metadata}"; fi
		;;
	other | older) [ -z "$other" ] || echo "as GET $victim/_metadata 0 $base/$other/_metadata" ;;
	hide) echo "hide GET prefix= 0 ${victim##*/}(/|\$)" ;;
	until) echo "until GET prefix= 0 $((RANDOM % 6))" ;;
	split) echo "split GET prefix= 0 ${victim##*/}(/|\$) $((1 + RANDOM % 3))" ;;
	foreign | foreign-empty) echo "$1 GET prefix=" ;;
	stale) echo "stale GET prefix=" ;;
	no-bucket) [ "$STORE" = swift ] || echo "no-bucket GET|HEAD $victim" ;;
	status) echo "status GET|HEAD ${victim%/*} 0 $((RANDOM % 2 ? 503 : 403))" ;;
	double) [ "$STORE" = swift ] || echo "double GET prefix=" ;;
	esac
}

lie_begins() { # RULE
	: >"$RUN/log/lying.log"
	lies "$1"
}

# Lines of the proxy: METHOD TARGET LIE STATUS.
lie_was_told() {
	grep -qvE ' (pass|unreachable) [0-9]+$' "$RUN/log/lying.log"
}
