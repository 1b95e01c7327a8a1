#!/usr/bin/env bash
#
# A release is made twice, in two directories: the same bytes. What is in it can be installed, verified and pulled.

# shellcheck disable=SC2317 # functions that `ok` calls
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../contract/lib.sh"
contract_begin git dpkg-deb dpkg-shlibdeps openssl jq
show=(first.log second.log)
top=$PWD
version=$(cat VERSION)
arch=$(dpkg --print-architecture)
# the static programs of the other architecture, where this machine has its cross compiler and an emulator (tools/deps.sh static-arm64)
archs=$arch
if [ "$arch" = amd64 ] && command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64-static >/dev/null; then
	archs="amd64 arm64"
fi

# A root directory as the images of Flink have it, without Java and without Flink.
mkdir -p "$dir/root/opt/flink/lib" "$dir/root/etc"
echo jar >"$dir/root/opt/flink/lib/flink-dist-2.3.0.jar"
echo root:x:0:0:root:/root:/bin/sh >"$dir/root/etc/passwd"
openssl genpkey -algorithm ED25519 -out "$dir/key.pem" 2>/dev/null
openssl pkey -in "$dir/key.pem" -pubout -out "$dir/key.pub"

release() { # DIRECTORY LOG
	git clone --quiet "$top" "$1" && (cd "$1" && umask 077 &&
		make release ARCHS="$archs" ROOTFS="$dir/root" KEY="$dir/key.pem") >"$dir/$2" 2>&1
}
ok "a release is made" release "$dir/first" first.log
ok "and once more, somewhere else" release "$dir/somewhere/else/second" second.log
one=$dir/first/build/release/$version
two=$dir/somewhere/else/second/build/release/$version
ok "with the same bytes" diff -r "$one" "$two"
archives=$(for one_arch in $archs; do printf 'drey-%s-linux-%s.tar.gz ' "$version" "$one_arch"; done)
[ "$(cd "$one" && echo *)" = "SHA256SUMS SHA256SUMS.sig ${archives}drey-$version.intoto.jsonl drey-$version.spdx.json \
drey-crds-$version.tgz drey-gate-$version.jar drey-image-2.3.0-$arch.oci.tar drey.krew.yaml drey_${version}_$arch.deb flink-application-$version.tgz" ]
result $? "it has all its files"

verified() {
	openssl pkeyutl -verify -pubin -inkey "$dir/key.pub" -rawin -in "$one/SHA256SUMS" -sigfile "$one/SHA256SUMS.sig" &&
		(cd "$one" && sha256sum --check --strict SHA256SUMS)
}
ok "its digests are signed, and right" verified

mkdir -p "$dir/static" "$dir/deb" "$dir/oci" "$dir/chart"
tar -xf "$one/drey-$version-linux-$arch.tar.gz" -C "$dir/static"
ok "the static drey runs" "$dir/static/drey-$version-linux-$arch/drey" version
if [ "$archs" = "amd64 arm64" ]; then
	tar -xf "$one/drey-$version-linux-arm64.tar.gz" -C "$dir/static"
	for program in drey drey-init; do
		runs_there() { # as no other machine can: the emulator runs programs for arm64 only
			[ "$(qemu-aarch64-static "$dir/static/drey-$version-linux-arm64/$program" "$1" 2>&1)" = "$program $version" ]
		}
		ok "$program for arm64 runs, in an emulator" runs_there "$([ $program = drey ] && echo version || echo --version)"
	done
	ok "krew gets both" grep -qF "drey-$version-linux-arm64.tar.gz" "$one/drey.krew.yaml"
else
	skip "drey for arm64 runs, in an emulator" "no cross compiler or no emulator: tools/deps.sh static-arm64"
fi
dpkg-deb --extract "$one/drey_${version}_$arch.deb" "$dir/deb"
ok "so does that of the package" "$dir/deb/usr/bin/drey" version
ok "and as a plugin of kubectl" grep -q 'kubectl drey list' <("$dir/deb/usr/bin/kubectl-drey" list --help)
ok "the package needs libcurl" grep -q 'libcurl' <(dpkg-deb --field "$one/drey_${version}_$arch.deb" Depends)
ok "no file names the directory that it was built in" \
	bash -c "! grep -rqF '$dir' '$dir/static' '$dir/deb'"
if command -v lintian >/dev/null; then
	ok "lintian has no complaint" lintian --allow-root --fail-on error,warning "$one/drey_${version}_$arch.deb"
else
	skip "lintian has no complaint" "no lintian"
fi
tar -xf "$one/flink-application-$version.tgz" -C "$dir/chart"
ok "the chart is that of the tree" diff -r "$dir/chart/flink-application" chart/flink-application

tar -xf "$one/drey-image-2.3.0-$arch.oci.tar" -C "$dir/oci"
blobs_are_right() {
	local blob
	for blob in "$dir"/oci/blobs/sha256/*; do
		[ "$(sha256sum "$blob" | cut -d' ' -f1)" = "${blob##*/}" ] || return
	done
}
ok "each blob of the image has the name of its digest" blobs_are_right
blob_of() { # JQ FILE
	echo "$dir/oci/blobs/sha256/$(jq -r "$1" "$2" | cut -d: -f2)"
}
manifest=$(blob_of '.manifests[0].digest' "$dir/oci/index.json")
config=$(blob_of .config.digest "$manifest")
[ "$(jq -r '.config.User, .config.Entrypoint[0], .architecture' "$config" | xargs)" = "9999:9999 /usr/bin/drey-init $arch" ]
result $? "its process 1 is drey-init, as user 9999"
diff_ids_are_right() {
	local i count
	count=$(jq '.layers | length' "$manifest")
	for ((i = 0; i < count; i++)); do
		[ "sha256:$(gzip -dc "$(blob_of ".layers[$i].digest" "$manifest")" | sha256sum | cut -d' ' -f1)" = \
			"$(jq -r ".rootfs.diff_ids[$i]" "$config")" ] || return
	done
}
ok "its layers are those of its configuration" diff_ids_are_right
ok "drey is in the last one" grep -qx ./usr/bin/drey <(tar -tzf "$(blob_of '.layers[-1].digest' "$manifest")")
if command -v buildah >/dev/null && [ "$(id -u)" -eq 0 ]; then
	ok "buildah pulls it" buildah --root "$dir/store" --runroot "$dir/run" pull --quiet "oci-archive:$one/drey-image-2.3.0-$arch.oci.tar"
	buildah --root "$dir/store" --runroot "$dir/run" rmi --all --force >/dev/null 2>&1
else
	skip "buildah pulls it" "no buildah, or not root"
fi

sbom=$one/drey-$version.spdx.json
jq -e '.spdxVersion == "SPDX-2.3" and ([.packages[].name] | contains(["drey", "musl", "openssl", "curl"])) and
	([.packages[], .files[] | .SPDXID] | length == (unique | length)) and
	([.relationships[].relatedSpdxElement, .relationships[].spdxElementId] - ([.packages[], .files[] | .SPDXID] + ["SPDXRef-DOCUMENT"]) == [])' \
	"$sbom" >/dev/null
result $? "the SBOM names what is linked, and nothing that it does not have"
jq -e '[.packages[] | select(.SPDXID | startswith("SPDXRef-static-"))] | (map(.name) | sort) ==
	["curl", "expat", "libevent", "libgcc", "libyaml", "musl", "openssl"] and
	all(.[]; ([.externalRefs[].referenceType] | sort) == ["cpe23Type", "purl"] and .licenseDeclared != "NOASSERTION" and
	(.externalRefs[] | select(.referenceType == "cpe23Type") | .referenceLocator | test("^cpe:2.3:a:[a-z_-]+:[a-z]+:[0-9.]+(:\\*){7}$")))' \
	"$sbom" >/dev/null
result $? "each library has the names by which scanners find it, and its licence"
jq -e '[.packages[] | select(.SPDXID | startswith("SPDXRef-debian-"))] | length > 3 and
	all(.[]; .externalRefs[0].referenceLocator | test("^pkg:deb/[a-z]+/[a-z0-9.+-]+@[^ ]+$"))' "$sbom" >/dev/null
result $? "each package has its package URL, with the version that is needed"
[ "$(jq -r '.files[] | select(.fileName | endswith(".deb")) | .checksums[1].checksumValue' "$sbom")" = \
	"$(sha256sum "$one/drey_${version}_$arch.deb" | cut -d' ' -f1)" ]
result $? "with the digests of the files"

# ---- how it was made
jq -r .payload "$one/drey-$version.intoto.jsonl" | base64 -d >"$dir/statement"
jq -e --arg commit "$(git -C "$dir/first" rev-parse HEAD)" '.predicateType == "https://slsa.dev/provenance/v1" and
	(.predicate.buildDefinition.resolvedDependencies | any(.digest.gitCommit == $commit) and (map(.name) | contains(["musl 1.2.6"])))' \
	"$dir/statement" >/dev/null
result $? "the provenance names the commit, and what was linked"
subjects_are_right() {
	(cd "$one" && jq -r '.subject[] | "\(.digest.sha256)  \(.name)"' "$dir/statement" | sha256sum --check --strict) &&
		[ "$(jq '.subject | length' "$dir/statement")" = "$(find "$one" -type f ! -name 'SHA256SUMS*' ! -name '*.intoto.jsonl' | wc -l)" ]
}
ok "and each file with its digest" subjects_are_right
envelope_is_signed() {
	{
		printf 'DSSEv1 28 application/vnd.in-toto+json %d ' "$(wc -c <"$dir/statement")"
		cat "$dir/statement"
	} >"$dir/encoded"
	jq -r '.signatures[0].sig' "$one/drey-$version.intoto.jsonl" | base64 -d >"$dir/encoded.sig"
	openssl pkeyutl -verify -pubin -inkey "$dir/key.pub" -rawin -in "$dir/encoded" -sigfile "$dir/encoded.sig"
}
ok "its envelope is signed as DSSE says" envelope_is_signed

contract_end
