# shellcheck shell=bash disable=SC2034
#
# lib.sh - real object stores on this machine: versitygw and MinIO (S3), OpenStack Swift (native, and S3 through s3api) and
# Keystone (tokens for Swift). Sourced after tests/e2e/tap.sh or lib.sh, whose runs it uses: a server is a process of
# the run ($RUN) and ends with it in any case.
#
#   servers_begin NAME [KIND...]   a run without Flink, and the KINDs of server that it needs (openstack, versitygw);
#                                  if one is not available, the test is skipped, or fails if DREY_TEST_REQUIRE is set
#   server_up versitygw DIR [OPTION...]
#                                  S3_ENDPOINT, S3_ACCESS_KEY, S3_SECRET_KEY, S3_REGION; buckets are the folders of
#                                  DIR/buckets. The served requests: DIR/access.log
#   server_up minio DIR            the same variables; buckets are the folders of DIR/buckets that exist when it is started.
#                                  With S3_SCHEME=https it needs DIR/.minio/certs
#   server_up keystone DIR         KEYSTONE_URL, KEYSTONE_USER, KEYSTONE_PASSWORD, KEYSTONE_PROJECT (domain Default)
#   server_up swift DIR            SWIFT_AUTH_URL, SWIFT_USER, SWIFT_KEY (tempauth); SWIFT_S3_ENDPOINT with the access
#                                  key SWIFT_USER and the secret key SWIFT_KEY. A second user without
#                                  rights: SWIFT_GUEST, SWIFT_GUEST_KEY. If a Keystone is already up: its users
#                                  instead, and no s3api
#   server_down KIND               ends it and waits for its end; server_up with the same DIR brings it back with the
#                                  same data on the same port
#   lying_up UPSTREAM              a proxy in front of a store that lies (lying_proxy.py): LYING_URL. Its log: $RUN/log/lying.log
#   lies [RULE]...                 what it lies about from now on, one rule each; none: it tells the truth
#   s3_client COMMAND...           boto3 (client.py); swift_upload DIR CONTAINER [OPTION...]  swiftclient
#   swift_unpack DIR CONTAINER     uploads many small files in one request (tempauth)
#
# Servers listen on 127.0.0.1 (versitygw: SERVER_ADDRESS), on reserved ports. Keys are new for each run.

SERVERS_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
declare -gA SERVER_PORT=() # DIR -> port, or the first of a few

servers_begin() { # NAME [KIND...]
	local name=$1 kind tool
	shift
	for tool in curl jq setsid; do
		command -v "$tool" >/dev/null || servers_skip "$tool is missing"
	done
	for kind; do
		server_find "$kind" || servers_skip "$kind: see above"
	done
	RUN=$(mktemp -d "${TMPDIR:-/tmp}/drey-$name.XXXXXX") || die 1 "cannot make a run directory in ${TMPDIR:-/tmp}"
	EVENTS=$RUN/events.log
	mkdir -p "$RUN/log"
	trap run_end EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	echo "# $name in $RUN"
}

servers_skip() { # WHY
	if [ -n "${DREY_TEST_REQUIRE:-}" ]; then
		echo "1..1"
		echo "not ok 1 - $1, and DREY_TEST_REQUIRE is set"
		exit 1
	fi
	echo "1..0 # SKIP $1"
	exit 0
}

# Sets VERSITYGW, MINIO or OPENSTACK: the directory that tools/get-servers.sh gives.
server_find() { # versitygw|minio|openstack
	case $1 in
	minio) MINIO=${MINIO:-$("$TOP/tools/get-servers.sh" minio)} && [ -n "$MINIO" ] ;;
	versitygw) VERSITYGW=${VERSITYGW:-$("$TOP/tools/get-servers.sh" versitygw)} && [ -n "$VERSITYGW" ] ;;
	openstack) OPENSTACK=${OPENSTACK:-$("$TOP/tools/get-servers.sh" openstack)} && [ -n "$OPENSTACK" ] ;;
	esac
}

random_hex() { # BYTES
	od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'
}

# A random line in the file DIR/NAME, generated the first time.
server_secret() { # DIR NAME BYTES
	[ -s "$1/$2" ] || (umask 077 && random_hex "$3" >"$1/$2")
	cat "$1/$2"
}

# A port for the server in DIR, the same one each time.
server_port() { # DIR
	local free
	[ -n "${SERVER_PORT[$1]:-}" ] || { take_port free && SERVER_PORT[$1]=$free; }
}

server_answers() { # URL
	curl --silent --insecure --output /dev/null --max-time 2 "$1"
}

server_wait() { # KIND URL PROCESS...
	local MUST_LIVE=("${@:3}")
	wait_until "$1 answers" 60 server_answers "$2" || {
		tail -n 20 "${@/#/$RUN/log/}" 2>/dev/null | sed 's/^/# /' >&2
		die 1 "$1 has not started"
	}
}

server_up() { # KIND DIR [OPTION...]
	local kind=$1 dir=$2
	shift 2
	mkdir -p "$dir"
	dir=$(cd "$dir" && pwd)
	case $kind in
	versitygw) server_find versitygw && versitygw_up "$dir" "$@" ;;
	minio) server_find minio && minio_up "$dir" ;;
	keystone) server_find openstack && keystone_up "$dir" ;;
	swift) server_find openstack && swift_up "$dir" ;;
	*) die 2 "server_up: no such server: $kind" ;;
	esac || die 1 "$kind is not to be had"
}

server_down() { # KIND
	local name
	for name in "${!PIDS[@]}"; do
		case $name in
		"$1" | "$1"-*) process_down "$name" ;;
		esac
	done
}

process_down() { # NAME of spawn
	local pid=${PIDS[$1]}
	[ -e "$RUN/$1.status" ] || kill "$pid" 2>/dev/null
	wait_quietly 10 test -e "$RUN/$1.status" || kill -KILL "$pid"
	wait_quietly 10 test -e "$RUN/$1.status"
}

# ---- versitygw -----------------------------------------------------------------------------------

versitygw_up() { # DIR [OPTION...]
	local dir=$1 sidecar=()
	shift
	mkdir -p "$dir/buckets"
	server_port "$dir"
	S3_ENDPOINT=http://${SERVER_ADDRESS:-127.0.0.1}:${SERVER_PORT[$dir]}
	S3_ACCESS_KEY=AK$(server_secret "$dir" access-key 9)
	S3_SECRET_KEY=$(server_secret "$dir" secret-key 20)
	S3_REGION=${S3_REGION:-eu-test-1}
	# where the file system has no attributes of users, they are kept beside it
	if ! server_has_attributes "$dir/buckets"; then
		mkdir -p "$dir/attributes"
		sidecar=(--sidecar "$dir/attributes")
	fi
	ROOT_ACCESS_KEY=$S3_ACCESS_KEY ROOT_SECRET_KEY=$S3_SECRET_KEY spawn versitygw "$VERSITYGW/bin/versitygw" \
		--port "${S3_ENDPOINT#http://}" --region "$S3_REGION" --access-log "$dir/access.log" --quiet \
		--keep-alive "$@" posix "${sidecar[@]}" "$dir/buckets"
	server_wait versitygw "$S3_ENDPOINT/" versitygw
}

server_has_attributes() { # DIR
	find_server_python
	"$SERVER_PYTHON" -c 'import os, sys; os.setxattr(sys.argv[1], "user.drey", b"1")' "$1" 2>/dev/null
}

find_server_python() {
	SERVER_PYTHON=${OPENSTACK:+$OPENSTACK/bin/python}
	SERVER_PYTHON=${SERVER_PYTHON:-python3}
}

# ---- MinIO ---------------------------------------------------------------------------------------

minio_up() { # DIR
	local dir=$1
	mkdir -p "$dir/buckets"
	server_port "$dir"
	S3_ENDPOINT=${S3_SCHEME:-http}://127.0.0.1:${SERVER_PORT[$dir]}
	S3_ACCESS_KEY=AK$(server_secret "$dir" access-key 9)
	S3_SECRET_KEY=$(server_secret "$dir" secret-key 20)
	S3_REGION=${S3_REGION:-eu-test-1}
	# MINIO_UPDATE: it asks nobody for a newer version
	MINIO_ROOT_USER=$S3_ACCESS_KEY MINIO_ROOT_PASSWORD=$S3_SECRET_KEY MINIO_SITE_REGION=$S3_REGION MINIO_UPDATE=off \
		MINIO_BROWSER=off HOME=$dir spawn minio "$MINIO/bin/minio" server --quiet --address "${S3_ENDPOINT#*://}" "$dir/buckets"
	server_wait minio "$S3_ENDPOINT/minio/health/live" minio
}

# ---- Keystone ------------------------------------------------------------------------------------

keystone_up() { # DIR
	local dir=$1
	server_port "$dir"
	KEYSTONE_URL=http://127.0.0.1:${SERVER_PORT[$dir]}/v3
	KEYSTONE_USER='admin'
	KEYSTONE_PROJECT='admin'
	KEYSTONE_PASSWORD=$(server_secret "$dir" admin-password 16)
	if [ ! -e "$dir/keystone.conf" ]; then
		cp "$OPENSTACK/keystone.db" "$dir/keystone.db"
		cat >"$dir/keystone.conf" <<-EOF
			[DEFAULT]
			log_file = $RUN/log/keystone-server.log
			[database]
			connection = sqlite:///$dir/keystone.db
			[cache]
			enabled = false
			[identity]
			password_hash_algorithm = bcrypt
			password_hash_rounds = 4
			[fernet_tokens]
			key_repository = $dir/fernet
			[credential]
			key_repository = $dir/credential
		EOF
		"$OPENSTACK/bin/python" "$SERVERS_DIR/run_keystone.py" prepare "$dir" "$KEYSTONE_PASSWORD" \
			"$KEYSTONE_URL" >"$RUN/log/keystone-prepare.log" 2>&1 || return
	fi
	spawn keystone "$OPENSTACK/bin/python" "$SERVERS_DIR/run_keystone.py" serve "$dir" "${SERVER_PORT[$dir]}"
	server_wait keystone "$KEYSTONE_URL" keystone
}

keystone_call() { # TOKEN METHOD PATH [JSON]
	curl --silent --show-error --fail --max-time 120 --request "$2" --header 'Content-Type: application/json' \
		${1:+--header "X-Auth-Token: $1"} ${4:+--data "$4"} "$KEYSTONE_URL$3"
}

keystone_token() {
	jq --null-input --arg user "$KEYSTONE_USER" --arg password "$KEYSTONE_PASSWORD" --arg project "$KEYSTONE_PROJECT" '
		{id: "default"} as $domain | {auth: {scope: {project: {$domain, name: $project}},
		identity: {methods: ["password"], password: {user: {name: $user, $domain, $password}}}}}' |
		curl --silent --show-error --fail --max-time 120 --header 'Content-Type: application/json' --data @- \
			--dump-header - --output /dev/null "$KEYSTONE_URL/auth/tokens" |
		tr -d '\r' | sed -n 's/^X-Subject-Token: //ip'
}

# Adds Swift to the catalog, once.
keystone_add_swift() { # SWIFT_URL
	local token service
	token=$(keystone_token) || return
	! keystone_call "$token" GET "/services?type=object-store" | jq -e '.services[0]' >/dev/null || return 0
	service=$(keystone_call "$token" POST /services '{"service": {"type": "object-store", "name": "swift"}}' |
		jq -r .service.id) || return
	keystone_call "$token" POST /endpoints "$(jq --null-input --arg id "$service" --arg url "$1/v1/AUTH_%(project_id)s" \
		'{endpoint: {service_id: $id, interface: "public", region_id: "one", url: $url}}')" >/dev/null
}

# ---- Swift ---------------------------------------------------------------------------------------

swift_up() { # DIR
	local dir=$1 port server
	SWIFT_USER=test:tester
	SWIFT_KEY=$(server_secret "$dir" key 16)
	SWIFT_GUEST=test:guest
	SWIFT_GUEST_KEY=$(server_secret "$dir" guest-key 16)
	[ -n "${SERVER_PORT[$dir]:-}" ] || swift_configure "$dir"
	port=${SERVER_PORT[$dir]}
	SWIFT_AUTH_URL=http://127.0.0.1:$port/auth/v1.0
	SWIFT_S3_ENDPOINT=http://127.0.0.1:$port
	# A proxy that a server behind it has refused leaves that server alone for a minute.
	for server in account container object; do
		swift_spawn "$dir" "$server"
	done
	for server in account container object; do
		server_wait swift "http://127.0.0.1:$(sed -n 's/^bind_port = //p' "$dir/$server.conf")/healthcheck" "swift-$server"
	done
	swift_spawn "$dir" proxy
	server_wait swift "http://127.0.0.1:$port/healthcheck" swift-{account,container,object,proxy}
	[ -z "${KEYSTONE_URL:-}" ] || keystone_add_swift "http://127.0.0.1:$port"
}

swift_spawn() { # DIR SERVER
	spawn "swift-$2" "$OPENSTACK/bin/python" -W ignore "$OPENSTACK/bin/swift-$2-server" "$1/$2.conf" -v
}

# One copy of everything, on one "disk": a directory.
swift_configure() { # DIR
	local dir=$1 server free
	mkdir -p "$dir/disk/d1"
	cat >"$dir/swift.conf" <<-EOF
		[swift-hash]
		swift_hash_path_suffix = $(random_hex 8)
		swift_hash_path_prefix = $(random_hex 8)
		[storage-policy:0]
		name = gold
		default = yes
	EOF
	for server in account container object; do
		take_port free
		{
			swift-ring "$dir/$server.builder" create 4 1 1
			swift-ring "$dir/$server.builder" add "r1z1-127.0.0.1:$free/d1" 1
			swift-ring "$dir/$server.builder" rebalance
		} >>"$RUN/log/swift-ring.log" 2>&1
		swift_common "$dir" "$free" >"$dir/$server.conf"
		cat >>"$dir/$server.conf" <<-EOF
			devices = $dir/disk
			mount_check = false
			[pipeline:main]
			pipeline = healthcheck $server-server
			[filter:healthcheck]
			use = egg:swift#healthcheck
			[app:$server-server]
			use = egg:swift#$server
		EOF
	done
	server_port "$dir"
	swift_proxy "$dir" "${SERVER_PORT[$dir]}" >"$dir/proxy.conf"
}

swift-ring() { # BUILDER COMMAND...
	"$OPENSTACK/bin/python" -W ignore "$OPENSTACK/bin/swift-ring-builder" "$@"
}

swift_common() { # DIR PORT
	cat <<-EOF
		[DEFAULT]
		bind_ip = 127.0.0.1
		bind_port = $2
		user = $(id -un)
		swift_dir = $1
		workers = 0
	EOF
}

# Without memcached, so the tokens contain their own data.
swift_proxy() { # DIR PORT
	local auth='s3api tempauth'
	[ -z "${KEYSTONE_URL:-}" ] || auth='authtoken keystoneauth'
	swift_common "$@"
	cat <<-EOF
		[pipeline:main]
		pipeline = catch_errors gatekeeper healthcheck $auth bulk slo dlo proxy-server
		[app:proxy-server]
		use = egg:swift#proxy
		account_autocreate = true
		[filter:catch_errors]
		use = egg:swift#catch_errors
		[filter:gatekeeper]
		use = egg:swift#gatekeeper
		[filter:healthcheck]
		use = egg:swift#healthcheck
		[filter:s3api]
		use = egg:swift#s3api
		s3_acl = false
		location = us-east-1
		force_swift_request_proxy_log = false
		[filter:tempauth]
		use = egg:swift#tempauth
		fernet_key_a = $(head -c 32 /dev/urandom | base64 | tr '+/' '-_')
		active_fernet_key_id = a
		user_${SWIFT_USER/:/_} = $SWIFT_KEY .admin
		user_${SWIFT_GUEST/:/_} = $SWIFT_GUEST_KEY
		[filter:bulk]
		use = egg:swift#bulk
		[filter:slo]
		use = egg:swift#slo
		min_segment_size = 1
		[filter:dlo]
		use = egg:swift#dlo
		[filter:authtoken]
		paste.filter_factory = keystonemiddleware.auth_token:filter_factory
		www_authenticate_uri = ${KEYSTONE_URL:-}
		auth_url = ${KEYSTONE_URL:-}
		auth_type = password
		username = ${KEYSTONE_USER:-}
		password = ${KEYSTONE_PASSWORD:-}
		project_name = ${KEYSTONE_PROJECT:-}
		user_domain_id = default
		project_domain_id = default
		interface = public
		service_token_roles_required = true
		[filter:keystoneauth]
		use = egg:swift#keystoneauth
		reseller_prefix = AUTH
		operator_roles = admin, member
	EOF
}

# ---- the lying proxy -----------------------------------------------------------------------------

lying_up() { # UPSTREAM
	local port
	take_port port
	lies ""
	find_server_python
	spawn lying "$SERVER_PYTHON" "$SERVERS_DIR/lying_proxy.py" --upstream "$1" --lies "$RUN/lies" \
		--port-file "$RUN/lying.port" --port "$port"
	LYING_URL=http://127.0.0.1:$port
	wait_until "the lying proxy listens" 20 test -s "$RUN/lying.port"
}

# Replaced as a whole, so that no request sees half of it.
lies() { # [RULE]...
	printf '%s\n' "$@" >"$RUN/lies.new"
	mv "$RUN/lies.new" "$RUN/lies"
}

# ---- clients -------------------------------------------------------------------------------------

s3_client() {
	"$OPENSTACK/bin/python" "$SERVERS_DIR/client.py" "$@"
}

swift_upload() { # DIR CONTAINER [OPTION...]
	(cd "$1" && "$OPENSTACK/bin/python" -W ignore "$OPENSTACK/bin/swift" --quiet upload "${@:3}" "$2" .)
}

# Swift can unpack an archive itself, which is the fastest way to create many objects.
swift_unpack() { # DIR CONTAINER
	local headers url token
	headers=$(curl --silent --show-error --fail --dump-header - --header "X-Auth-User: $SWIFT_USER" \
		--header "X-Auth-Key: $SWIFT_KEY" "$SWIFT_AUTH_URL" | tr -d '\r') || return
	url=$(sed -n 's/^X-Storage-Url: //ip' <<<"$headers")
	token=$(sed -n 's/^X-Auth-Token: //ip' <<<"$headers")
	tar --create --directory "$1" . | curl --silent --show-error --fail --max-time 200 --header "X-Auth-Token: $token" \
		--header 'Accept: application/json' --upload-file - "$url/$2?extract-archive=tar" | tee -a "$RUN/log/unpack.log" |
		jq --exit-status '."Response Status" == "201 Created" and .Errors == []' >/dev/null
}
