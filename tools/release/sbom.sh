#!/usr/bin/env bash
#
# sbom.sh - what a release is made of, as SPDX 2.3 (JSON), on standard output.
#
#   tools/release/sbom.sh DEST
#
# The files of DEST with their digests; what the static programs are linked with (tools/static/sources.txt, and the compiler's
# libgcc); what the Debian package depends on, by the package itself. Each of them has the names by which scanners find advisories:
# a package URL, and the CPE of the NVD.
#
# Source: SPDX specification 2.3, clauses 6 to 8 and 11; purl-spec, types deb and generic; CPE dictionary of the NVD.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tools/release/lib.sh
. tools/release/lib.sh
release_begin "$1"

files() {
	local file
	for file in "$DEST"/*; do
		case $file in *.spdx.json | *.intoto.jsonl | */SHA256SUMS*) continue ;; esac
		jq --null-input --compact-output --arg name "${file##*/}" --arg sha1 "$(sha1sum "$file" | cut -d' ' -f1)" \
			--arg sha256 "$(sha256sum "$file" | cut -d' ' -f1)" '{kind: "file", name: $name, sha1: $sha1, sha256: $sha256}'
	done
}

# Licence (SPDX) and vendor:product in the CPE dictionary of a library.
identity() { # NAME
	case $1 in
	musl) echo MIT musl-libc:musl ;;
	openssl) echo Apache-2.0 openssl:openssl ;;
	curl) echo curl haxx:curl ;;
	libyaml) echo MIT pyyaml:libyaml ;;
	expat) echo MIT libexpat_project:libexpat ;;
	libevent) echo BSD-3-Clause libevent_project:libevent ;;
	*)
		echo "sbom.sh: say the licence and the CPE of $1, which is in tools/static/sources.txt" >&2
		return 1
		;;
	esac
}

sources() {
	local name version digest url licence product
	while read -r name version digest url _; do
		case $name in '' | '#'*) continue ;; esac
		read -r licence product <<<"$(identity "$name")"
		[ -n "$product" ] || return 1
		jq --null-input --compact-output --arg name "$name" --arg version "$version" --arg digest "$digest" --arg url "$url" \
			--arg licence "$licence" --arg product "$product" \
			'{kind: "static", name: $name, version: $version, sha256: $digest, url: $url, licence: $licence, product: $product,
				purl: "pkg:generic/\($name)@\($version)?checksum=sha256:\($digest)&download_url=\($url | @uri)"}'
	done <tools/static/sources.txt
}

distribution() {
	sed -n 's/^ID=//p' /etc/os-release | tr -d '"'
}

# What the compiler adds to each static program. It comes with the compiler, not from sources.txt.
libgcc() {
	local version package
	version=$("${CC:-gcc}" -dumpfullversion)
	package=libgcc-${version%%.*}-dev
	jq --null-input --compact-output --arg version "$version" --arg distribution "$(distribution)" --arg package "$package" \
		--arg packaged "$(dpkg-query --show --showformat='${Version}' "$package" 2>/dev/null)" \
		'{kind: "static", name: "libgcc", version: $version, url: "NOASSERTION", product: "gnu:gcc",
			licence: "GPL-3.0-or-later WITH GCC-exception-3.1",
			purl: "pkg:deb/\($distribution)/\($package)\(if $packaged == "" then "" else "@\($packaged | @uri)" end)"}'
}

depends() {
	local deb
	for deb in "$DEST"/*.deb; do
		[ -e "$deb" ] || continue
		dpkg-deb --field "$deb" Depends | tr ',' '\n' | sed 's/^ *//; s/ .*(>= *\(.*\))/ \1/; s/ *(>= *\([^)]*\))/ \1/' |
			while read -r name version; do
				jq --null-input --compact-output --arg name "$name" --arg version "${version:-}" --arg distribution "$(distribution)" \
					'{kind: "depends", name: $name, version: $version,
						purl: "pkg:deb/\($distribution)/\($name)\(if $version == "" then "" else "@\($version | @uri)" end)"}'
			done
	done
}

{ files && sources && libgcc && depends; } | jq --slurp --arg version "$VERSION" \
	--arg created "$(date --utc --date="@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)" '
	def id: gsub("[^A-Za-z0-9.]"; "-");
	def package($spdx; $name; $version; $url; $license): {SPDXID: $spdx, name: $name, versionInfo: $version, downloadLocation: $url,
		filesAnalyzed: false, licenseConcluded: $license, licenseDeclared: $license, copyrightText: "NOASSERTION"};
	def known_as($purl): {referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: $purl};
	def cpe($product; $version): {referenceCategory: "SECURITY", referenceType: "cpe23Type",
		referenceLocator: "cpe:2.3:a:\($product):\($version):*:*:*:*:*:*:*"};
	(map(select(.kind == "file"))) as $files | map(select(.kind == "static")) as $static | map(select(.kind == "depends")) as $depends |
	{
		spdxVersion: "SPDX-2.3", dataLicense: "CC0-1.0", SPDXID: "SPDXRef-DOCUMENT", name: "drey-\($version)",
		documentNamespace: "https://drey.dev/spdx/drey-\($version)-\($files | map(.sha256[0:8]) | join("-"))",
		creationInfo: {created: $created, creators: ["Tool: drey-tools/release/sbom.sh-\($version)"]},
		documentDescribes: ["SPDXRef-drey"],
		packages: ([package("SPDXRef-drey"; "drey"; $version; "NOASSERTION"; "Apache-2.0")] +
			($static | map(package("SPDXRef-static-\(.name | id)"; .name; .version; .url; .licence) +
				{externalRefs: [known_as(.purl), cpe(.product; .version)]} +
				if .sha256 then {checksums: [{algorithm: "SHA256", checksumValue: .sha256}]} else {} end)) +
			($depends | map(package("SPDXRef-debian-\(.name | id)"; .name; (.version | if . == "" then "NOASSERTION" else . end);
				"NOASSERTION"; "NOASSERTION") + {externalRefs: [known_as(.purl)]}))),
		files: ($files | map({SPDXID: "SPDXRef-file-\(.name | id)", fileName: "./\(.name)", licenseConcluded: "NOASSERTION",
			copyrightText: "NOASSERTION", checksums: [{algorithm: "SHA1", checksumValue: .sha1}, {algorithm: "SHA256", checksumValue: .sha256}]})),
		relationships: ([{spdxElementId: "SPDXRef-DOCUMENT", relationshipType: "DESCRIBES", relatedSpdxElement: "SPDXRef-drey"}] +
			($static | map({spdxElementId: "SPDXRef-drey", relationshipType: "STATIC_LINK", relatedSpdxElement: "SPDXRef-static-\(.name | id)"})) +
			($depends | map({spdxElementId: "SPDXRef-drey", relationshipType: "DEPENDS_ON", relatedSpdxElement: "SPDXRef-debian-\(.name | id)"})) +
			($files | map({spdxElementId: "SPDXRef-file-\(.name | id)", relationshipType: "GENERATED_FROM", relatedSpdxElement: "SPDXRef-drey"})))
	}'
