#!/usr/bin/env bash
#
# sbom.sh - what a release is made of, as SPDX 2.3 (JSON), on standard output.
#
#   tools/release/sbom.sh DEST
#
# The files of DEST with their digests; what the static programs are linked with (tools/static/sources.txt); what the Debian package
# depends on, by the package itself.
#
# Source: SPDX specification 2.3, clauses 6 to 8 and 11.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tools/release/lib.sh
. tools/release/lib.sh
release_begin "$1"

files() {
	local file
	for file in "$DEST"/*; do
		case $file in *.spdx.json | */SHA256SUMS*) continue ;; esac
		jq --null-input --compact-output --arg name "${file##*/}" --arg sha1 "$(sha1sum "$file" | cut -d' ' -f1)" \
			--arg sha256 "$(sha256sum "$file" | cut -d' ' -f1)" '{kind: "file", name: $name, sha1: $sha1, sha256: $sha256}'
	done
}

sources() {
	local name version digest url
	while read -r name version digest url _; do
		case $name in '' | '#'*) continue ;; esac
		jq --null-input --compact-output --arg name "$name" --arg version "$version" --arg digest "$digest" --arg url "$url" \
			'{kind: "static", name: $name, version: $version, sha256: $digest, url: $url}'
	done <tools/static/sources.txt
}

depends() {
	local deb
	for deb in "$DEST"/*.deb; do
		[ -e "$deb" ] || continue
		dpkg-deb --field "$deb" Depends | tr ',' '\n' | sed 's/^ *//; s/ .*(>= *\(.*\))/ \1/; s/ *(>= *\([^)]*\))/ \1/' |
			while read -r name version; do
				jq --null-input --compact-output --arg name "$name" --arg version "${version:-}" \
					'{kind: "depends", name: $name, version: $version}'
			done
	done
}

{ files && sources && depends; } | jq --slurp --arg version "$VERSION" \
	--arg created "$(date --utc --date="@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)" '
	def id: gsub("[^A-Za-z0-9.]"; "-");
	def package($spdx; $name; $version; $url; $license): {SPDXID: $spdx, name: $name, versionInfo: $version, downloadLocation: $url,
		filesAnalyzed: false, licenseConcluded: $license, licenseDeclared: $license, copyrightText: "NOASSERTION"};
	(map(select(.kind == "file"))) as $files | map(select(.kind == "static")) as $static | map(select(.kind == "depends")) as $depends |
	{
		spdxVersion: "SPDX-2.3", dataLicense: "CC0-1.0", SPDXID: "SPDXRef-DOCUMENT", name: "drey-\($version)",
		documentNamespace: "https://drey.dev/spdx/drey-\($version)-\($files | map(.sha256[0:8]) | join("-"))",
		creationInfo: {created: $created, creators: ["Tool: drey-tools/release/sbom.sh-\($version)"]},
		documentDescribes: ["SPDXRef-drey"],
		packages: ([package("SPDXRef-drey"; "drey"; $version; "NOASSERTION"; "Apache-2.0")] +
			($static | map(package("SPDXRef-static-\(.name | id)"; .name; .version; .url; "NOASSERTION") +
				{checksums: [{algorithm: "SHA256", checksumValue: .sha256}]})) +
			($depends | map(package("SPDXRef-debian-\(.name | id)"; .name; (.version | if . == "" then "NOASSERTION" else . end);
				"NOASSERTION"; "NOASSERTION") + {externalRefs: [{referenceCategory: "PACKAGE-MANAGER", referenceType: "purl",
				referenceLocator: "pkg:deb/debian/\(.name)"}]}))),
		files: ($files | map({SPDXID: "SPDXRef-file-\(.name | id)", fileName: "./\(.name)", licenseConcluded: "NOASSERTION",
			copyrightText: "NOASSERTION", checksums: [{algorithm: "SHA1", checksumValue: .sha1}, {algorithm: "SHA256", checksumValue: .sha256}]})),
		relationships: ([{spdxElementId: "SPDXRef-DOCUMENT", relationshipType: "DESCRIBES", relatedSpdxElement: "SPDXRef-drey"}] +
			($static | map({spdxElementId: "SPDXRef-drey", relationshipType: "STATIC_LINK", relatedSpdxElement: "SPDXRef-static-\(.name | id)"})) +
			($depends | map({spdxElementId: "SPDXRef-drey", relationshipType: "DEPENDS_ON", relatedSpdxElement: "SPDXRef-debian-\(.name | id)"})) +
			($files | map({spdxElementId: "SPDXRef-file-\(.name | id)", relationshipType: "GENERATED_FROM", relatedSpdxElement: "SPDXRef-drey"})))
	}'
