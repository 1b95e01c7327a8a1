# shellcheck shell=bash
#
# check_lib.sh - `drey check` for the next version of a job that runs. Sourced after tap.sh.

# shellcheck disable=SC2034,SC2154 # it shares variables with tap.sh and with the tests
WARN=() # options of `drey check`

# Checks generation g2 of which these keys and arguments of the job are different; STATUS is its exit status.
check_new() { # [KEY=VALUE...] [-- JOB_ARG...]
	local -A before=()
	local key
	for key in "${!DREY_CONF[@]}"; do
		before[$key]=${DREY_CONF[$key]}
	done
	DREY_CONF[generation]=g2
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		DREY_CONF[${1%%=*}]=${1#*=}
		shift
	done
	[ $# -eq 0 ] || DREY_CONF[flink.arguments]=$(yaml_list "${@:2}")
	write_drey_yaml
	mv "$RUN/drey.yaml" "$RUN/new.yaml"
	DREY_CONF=()
	for key in "${!before[@]}"; do
		DREY_CONF[$key]=${before[$key]}
	done
	write_drey_yaml
	env "E2E_RUN=$RUN" "${FLINK_ENV[@]}" "$BUILD/drey" check --config "$RUN/new.yaml" "${WARN[@]}" >"$RUN/check" 2>&1
	STATUS=$?
	sed 's/^/# /' "$RUN/check"
}

says() { # TEXT
	grep --quiet --fixed-strings -- "$1" "$RUN/check"
}

# Flink's Table API, for a job that needs it.
table_jars() {
	local name
	for name in flink-table-api-java-uber flink-table-planner-loader flink-table-runtime flink-cep; do
		cp "$("$TOP/tools/get-flink.sh" --plugin "$name" "$FLINK_VERSION")" "$RUN/flink/lib/" || return 1
	done
}
