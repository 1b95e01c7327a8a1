#!/usr/bin/env bash
#
# provenance.sh - how a release was made, as SLSA provenance in a signed envelope, on standard output.
#
#   tools/release/provenance.sh DEST
#
# The files of DEST with their digests; the commit and the parameters that they were made from; the sources that the static programs
# are linked with; the compiler and the distribution. One line of JSON: an in-toto statement in a DSSE envelope, the form in which
# attestations are published. Without KEY it has no signature.
#
# Environment: as release.sh, which calls it, and
#   SOURCE     where the sources are published (a git URL), for the commit's name; default: only its digest
#   BUILDER    URI of who builds (default: https://drey.dev/release/make)
#
# Source: SLSA provenance 1.0; in-toto attestation framework 1.0, statement and DSSE envelope; DSSE 1.0.2, "Pre-Authentication Encoding".

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tools/release/lib.sh
. tools/release/lib.sh
release_begin "$1"
payload_type=application/vnd.in-toto+json

subjects() {
	local file
	for file in "$DEST"/*; do
		case $file in *.intoto.jsonl | */SHA256SUMS*) continue ;; esac
		jq --null-input --compact-output --arg name "${file##*/}" --arg sha256 "$(sha256sum "$file" | cut -d' ' -f1)" \
			'{name: $name, digest: {sha256: $sha256}}'
	done
}

materials() {
	local name version digest url
	jq --null-input --compact-output --arg uri "${SOURCE:+git+$SOURCE}" --arg commit "$(git rev-parse HEAD)" \
		'{name: "drey", digest: {gitCommit: $commit}} + if $uri == "" then {} else {uri: "\($uri)@\($commit)"} end'
	while read -r name version digest url _; do
		case $name in '' | '#'*) continue ;; esac
		jq --null-input --compact-output --arg name "$name" --arg version "$version" --arg digest "$digest" --arg url "$url" \
			'{name: "\($name) \($version)", uri: $url, digest: {sha256: $digest}}'
	done <tools/static/sources.txt
}

# Nothing in it depends on when or where: the same commit, built with the same compiler, gives the same statement.
statement() {
	jq --null-input --compact-output --slurpfile subject <(subjects) --slurpfile materials <(materials) \
		--arg version "$VERSION" --arg archs "${ARCHS:-amd64 arm64}" --arg url "${URL:-}" --arg epoch "$SOURCE_DATE_EPOCH" \
		--arg builder "${BUILDER:-https://drey.dev/release/make}" \
		--arg compiler "$("${CC:-gcc}" --version | head -n 1)" --arg system "$(sed -n 's/^PRETTY_NAME=//p' /etc/os-release | tr -d '"')" '
		{
			_type: "https://in-toto.io/Statement/v1", subject: $subject,
			predicateType: "https://slsa.dev/provenance/v1",
			predicate: {
				buildDefinition: {
					buildType: "https://drey.dev/release/make/v1",
					externalParameters: {version: $version, architectures: ($archs | split(" ") | map(select(. != ""))), url: $url},
					internalParameters: {compiler: $compiler, system: $system, SOURCE_DATE_EPOCH: $epoch},
					resolvedDependencies: $materials
				},
				runDetails: {builder: {id: $builder}}
			}
		}'
}

# keyid: the digest of the public key, by which a verifier with many finds it.
signature() { # FILE
	[ -n "${KEY:-}" ] || return 0
	{
		printf 'DSSEv1 %d %s %d ' ${#payload_type} "$payload_type" "$(wc -c <"$1")"
		cat "$1"
	} >"$WORK/signed"
	openssl pkeyutl -sign -inkey "$KEY" -rawin -in "$WORK/signed" -out "$WORK/signature"
	jq --null-input --compact-output --arg sig "$(base64 -w 0 "$WORK/signature")" \
		--arg keyid "SHA256:$(openssl pkey -in "$KEY" -pubout -outform DER | sha256sum | cut -d' ' -f1)" '{keyid: $keyid, sig: $sig}'
}

[ -z "$(git status --porcelain --untracked-files=no)" ] || {
	echo "provenance.sh: the tree differs from the commit: commit it first" >&2
	exit 1
}
statement | tr -d '\n' >"$WORK/statement"
jq --null-input --compact-output --arg type "$payload_type" --arg payload "$(base64 -w 0 "$WORK/statement")" \
	--slurpfile signatures <(signature "$WORK/statement") '{payloadType: $type, payload: $payload, signatures: $signatures}'
