# shellcheck shell=bash disable=SC2034
#
# azure.sh - Azure's blob storage on this machine, by Azurite. Sourced after tests/servers/lib.sh, whose servers it extends:
# server_down azure ends it, azure_up with the same DIR brings it back with the same data on the same port.
#
#   azure_find           sets AZURITE (tools/get-servers.sh); fails if it is not to be had
#   azure_up DIR         AZURE_ACCOUNT, AZURE_KEY; AZURE_HOST: the account as a host name with the port, as Hadoop needs it;
#                        AZURE_HOSTS: the file in which a JVM finds that name (-Djdk.net.hosts.file)
#   azure_blobs COMMAND  a client with a signature of its own (azure_blobs.py)

azure_find() {
	AZURITE=${AZURITE:-$("$TOP/tools/get-servers.sh" azurite)} && [ -n "$AZURITE" ] && command -v node >/dev/null
}

azure_up() { # DIR
	local dir=$1
	mkdir -p "$dir/data"
	dir=$(cd "$dir" && pwd)
	server_port "$dir"
	AZURE_ACCOUNT=drey
	AZURE_KEY=$(server_secret "$dir" key 32 | base64 --wrap=0)
	AZURE_URL=http://127.0.0.1:${SERVER_PORT[$dir]}/$AZURE_ACCOUNT
	AZURE_HOST=$AZURE_ACCOUNT.blob.localhost:${SERVER_PORT[$dir]}
	AZURE_HOSTS=$dir/hosts
	printf '127.0.0.1 %s\n' localhost "$(hostname)" "${AZURE_HOST%:*}" >"$AZURE_HOSTS"
	AZURITE_ACCOUNTS=$AZURE_ACCOUNT:$AZURE_KEY spawn azure node "$AZURITE/node_modules/azurite/dist/src/blob/main.js" --silent \
		--disableTelemetry --skipApiVersionCheck --blobHost 127.0.0.1 --blobPort "${SERVER_PORT[$dir]}" --location "$dir/data"
	server_wait azure "$AZURE_URL" azure
}

azure_blobs() { # COMMAND ARG...
	AZURE_KEY=$AZURE_KEY python3 "$SERVERS_DIR/azure_blobs.py" "$AZURE_URL" "$@"
}
