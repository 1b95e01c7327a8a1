# shellcheck shell=bash disable=SC2034
#
# go.sh - a Go to build programs for the tests, on a machine that may have none. Sourced, after ui.sh.
#
#   go_find WHAT DIR    sets `go`: the one that is here, if it can fetch a newer one automatically for a module that needs it
#                       (since 1.21); else a pinned toolchain (70 MB) is fetched into DIR, with caches of its own
#                       there, so that removing DIR leaves nothing behind. WHAT is what it is for. Ends the script
#                       (die: 1, 3, 4, 5 as tools/get-servers.sh) when there is none.
#   go_run LABEL LOG CMD...   runs CMD with progress and with the settings that every build here has
#
# The modules come through the module proxy that GOPROXY names; go.sum or the checksum database says what they are.

go_version=1.26.8
declare -A go_sha256=(
	[amd64]=30c2b1bf7dcc88d3eb0a1364e47ddd9128edb3110a30e8a0ef61cd5856b31de7
	[arm64]=02b36b6787b3ac767668f630e2998df45a3b1f9ffee08d1bf3ef6487cd658d99
)

go_find() { # WHAT DIR
	local minor arch url
	if minor=$(go env GOVERSION 2>/dev/null) && minor=${minor#go1.} && [ "${minor%%.*}" -ge 21 ] 2>/dev/null; then
		go=go
		return
	fi
	case $(uname -m) in
	x86_64) arch=amd64 ;;
	aarch64) arch=arm64 ;;
	*) die 3 "Go 1.21 or newer is needed to build $1; none is pinned for $(uname -m)" ;;
	esac
	command -v curl >/dev/null || die 3 "curl is needed to fetch Go; install it: apt-get install curl ca-certificates"
	command -v python3 >/dev/null || die 3 "python3 is needed to unpack Go; install it: apt-get install python3"
	url=https://proxy.golang.org/golang.org/toolchain/@v/v0.0.1-go$go_version.linux-$arch.zip
	run_with_progress "fetching Go $go_version (70 MB) to build $1" "$2/log" \
		curl --silent --show-error --fail --location --retry 3 --output "$2/go.zip" "$url" 9>&- ||
		die 4 "could not fetch Go $go_version; check the network"
	echo "${go_sha256[$arch]}  $2/go.zip" | sha256sum --check --status ||
		die 5 "the file from $url is not the pinned Go; nothing was installed"
	run_with_progress "unpacking Go $go_version" "$2/log" python3 -m zipfile -e "$2/go.zip" "$2/go" 9>&- ||
		die 1 "could not unpack Go $go_version into $2"
	rm "$2/go.zip"
	go=$(echo "$2"/go/golang.org/toolchain@*/bin/go)
	chmod -R u+x "${go%/go}" "${go%/bin/go}/pkg/tool"
	export GOPATH=$2/gopath GOCACHE=$2/gocache
}

# -modcacherw: otherwise the module cache cannot be removed.
go_run() { # LABEL LOG CMD...
	local label=$1 log=$2
	shift 2
	run_with_progress "$label" "$log" env GOFLAGS="-trimpath -modcacherw -buildvcs=false" GOTOOLCHAIN=auto CGO_ENABLED=0 \
		GOWORK=off "$@" 9>&-
}
