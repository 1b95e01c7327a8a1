# shellcheck shell=bash disable=SC2034
#
# gcs.sh - Google Cloud Storage on this machine, by fake-gcs-server over a plain folder. Sourced after tests/servers/lib.sh, whose
# servers it extends: server_down gcs ends it, gcs_up with the same DIR brings it back with the same data on the same port.
#
#   gcs_find           sets GCS (tools/get-servers.sh); fails if it is not to be had
#   gcs_up DIR BUCKET  GCS_URL, without credentials; the bucket exists then
#   gcs_upload DIR TO  every file below DIR
#   gcs_names PREFIX   the names of all objects with that prefix, a line each; gcs_read NAME, gcs_remove NAME

gcs_find() {
	GCS=${GCS:-$("$TOP/tools/get-servers.sh" gcs)} && [ -n "$GCS" ]
}

gcs_up() { # DIR BUCKET
	local dir=$1
	GCS_BUCKET=$2
	mkdir -p "$dir/$GCS_BUCKET"
	dir=$(cd "$dir" && pwd)
	server_port "$dir"
	GCS_URL=http://127.0.0.1:${SERVER_PORT[$dir]}
	# it sends clients to the external URL for the next part of an upload
	spawn gcs "$GCS/bin/fake-gcs-server" -scheme http -host 127.0.0.1 -port "${SERVER_PORT[$dir]}" -external-url "$GCS_URL" \
		-public-host "${GCS_URL#http://}" -backend filesystem -filesystem-root "$dir" -log-level warn
	server_wait gcs "$GCS_URL/storage/v1/b/$GCS_BUCKET" gcs
}

gcs_call() { # METHOD PATH [CURL_ARG...]
	curl --silent --show-error --fail --max-time 30 --request "$1" "$GCS_URL/storage/v1/b/$GCS_BUCKET$2" "${@:3}"
}

gcs_names() { # PREFIX
	local page token=''
	while page=$(gcs_call GET /o --get --data-urlencode "prefix=$1" --data-urlencode "pageToken=$token"); do
		jq --raw-output '.items[]?.name' <<<"$page"
		token=$(jq --raw-output '.nextPageToken // ""' <<<"$page")
		[ -n "$token" ] || return 0
	done
	return 1
}

gcs_path() { # NAME
	jq --null-input --raw-output --arg name "$1" '"/o/\($name | @uri)"'
}

gcs_read() { # NAME
	gcs_call GET "$(gcs_path "$1")?alt=media"
}

gcs_remove() { # NAME
	gcs_call DELETE "$(gcs_path "$1")" --output /dev/null
}

gcs_upload() { # DIR TO
	local file name
	while IFS= read -r -d '' file; do
		name=$(jq --null-input --raw-output --arg name "$2${file#"$1"}" '$name | @uri')
		curl --silent --show-error --fail --max-time 30 --output /dev/null --data-binary "@$file" \
			--header 'Content-Type: application/octet-stream' \
			"$GCS_URL/upload/storage/v1/b/$GCS_BUCKET/o?uploadType=media&name=$name" || return
	done < <(find "$1" -type f -print0)
}
