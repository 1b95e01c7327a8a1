#!/usr/bin/env bash
#
# The static drey runs, as it is, in the root directories of other distributions, and in one that has nothing but CAs and time
# zones: as user 9999, with a journal in a directory, and with HTTPS to a name whose CA is in the system's own bundle.
#
# SUITES are those of Debian and Ubuntu ("bullseye bookworm trixie focal jammy noble"). Their packages are kept for a week in the
# user's cache. As root, else skipped.

# shellcheck disable=SC2317 # functions that `ok` calls
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../contract/lib.sh"
# shellcheck source=tests/image/lib.sh
. tests/image/lib.sh

contract_begin mmdebstrap openssl python3 make
[ "$(id -u)" -eq 0 ] || { echo "1..0 # SKIP root directories are made by root" && exit 0; }
read -ra suites <<<"${SUITES:-bullseye bookworm trixie focal jammy noble}"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/drey
mkdir -p "$cache"
arch=$(dpkg --print-architecture)
ok "a static drey is built" make --no-print-directory -j2 "STATIC=$arch" "build/static/$arch/drey" "build/static/$arch/drey-init" >&2
static=$PWD/build/static/$arch
ok "it has no interpreter, and needs no library" test -z "$(readelf --wide --segments --dynamic "$static/drey" | grep -E 'INTERP|NEEDED')"

# ---- a server whose CA each root is told about

cat >"$dir/server.py" <<'PY'
import http.server, ssl, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b'<?xml version="1.0"?><ListBucketResult><Name>b</Name><Prefix>ck/</Prefix><KeyCount>0</KeyCount>' \
               b'<MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated></ListBucketResult>'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answer)
tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(sys.argv[2], sys.argv[3])
server.socket = tls.wrap_socket(server.socket, server_side=True)
server.serve_forever()
PY
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=drey-test-ca -keyout "$dir/ca.key" -out "$dir/ca.crt" 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=store.test -keyout "$dir/server.key" -out "$dir/server.csr" 2>/dev/null
openssl x509 -req -in "$dir/server.csr" -CA "$dir/ca.crt" -CAkey "$dir/ca.key" -CAcreateserial -days 2 -out "$dir/server.crt" \
	-extfile <(echo subjectAltName=DNS:store.test) 2>/dev/null
port='' && take_port port
python3 "$dir/server.py" "$port" "$dir/server.crt" "$dir/server.key" >"$dir/server.log" 2>&1 &
pids+=($!)
connects() { (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }
wait_for connects

storage=("AWS_ENDPOINT_URL=https://store.test:$port" AWS_ACCESS_KEY_ID=a AWS_SECRET_ACCESS_KEY=b AWS_REGION=here)

# ---- the roots

root_of() { # SUITE
	local archive=$cache/static-root-$1-$arch.tar mirror=http://deb.debian.org/debian options=()
	case $1 in focal | jammy | noble)
		mirror=http://archive.ubuntu.com/ubuntu
		image_ubuntu_keys "$dir" || return 1
		options=(--keyring="$dir/$IMAGE_UBUNTU_KEYRING" --aptopt='APT::Sandbox::User "root"')
		;;
	esac
	if [ -z "$(find "$archive" -mtime -7 2>/dev/null)" ]; then
		mmdebstrap --variant=essential --include=ca-certificates --format=tar "${options[@]}" "$1" "$archive.new" "$mirror" \
			>"$dir/out" 2>"$dir/err" || return 1
		mv "$archive.new" "$archive"
	fi
	mkdir -p "$dir/$1" && tar -C "$dir/$1" --exclude=./dev -xf "$archive"
}

put_drey() { # NAME: drey and what it is to read, in that root
	local root=$dir/$1
	mkdir -p "$root"/{usr/bin,etc,tmp} "$root/data/ck/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01/chk-4"
	cp "$static/drey" "$static/drey-init" "$root/usr/bin/"
	cp tests/fixtures/metadata/1.20.5-hashmap-chk "$root/data/ck/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01/chk-4/_metadata"
	echo "127.0.0.1 localhost store.test" >"$root/etc/hosts"
	chmod -R a+rX "$root/data"
}

in_root() { # NAME CMD...
	local root=$dir/$1
	shift
	# nothing of this shell's, which may name a bundle
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "${storage[@]}" chroot --userspec=9999:9999 "$root" "$@" </dev/null
}

over_https() { # NAME: lists a bucket
	in_root "$1" /usr/bin/drey resolve --checkpoints s3://b/ck
}

check_root() { # NAME TRUST...: which makes the root trust the CA
	local name=$1
	shift
	put_drey "$name"
	ok "$name: its version" test "$(in_root "$name" /usr/bin/drey version)" = "drey $(cat VERSION)"
	ok "$name: drey-init starts it" test "$(in_root "$name" /usr/bin/drey-init -- /usr/bin/drey version)" = "drey $(cat VERSION)"
	ok "$name: a decision from a directory" status 0 in_root "$name" /usr/bin/drey resolve --checkpoints /data/ck
	ok "$name: the right one" grep -q '^START_FROM .*chk-4' "$dir/out"
	over_https "$name" >"$dir/out" 2>&1
	ok "$name: a CA that its bundle does not have is not trusted" grep -q certificate "$dir/out"
	ok "$name: its bundle is told" "$@"
	ok "$name: and then it is, by name" status 0 over_https "$name"
	ok "$name: the answer counts" grep -q '^START_EMPTY' "$dir/out"
}

# As its administrator would.
tell_debian() { # NAME
	cp "$dir/ca.crt" "$dir/$1/usr/local/share/ca-certificates/test.crt" && env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$dir/$1" update-ca-certificates >"$dir/out" 2>&1
}

append_to() { # FILE
	mkdir -p "${1%/*}" && cat "$dir/ca.crt" >>"$1"
}

for suite in "${suites[@]}"; do
	ok "$suite: its packages" root_of "$suite"
	mkdir -p "$dir/$suite/dev"
	check_root "$suite" tell_debian "$suite"
	rm -rf "${dir:?}/$suite"
done

# What gcr.io/distroless/static has, and nothing else: no C library, no shell.
mkdir -p "$dir/nothing/etc/ssl/certs"
cp /etc/ssl/certs/ca-certificates.crt "$dir/nothing/etc/ssl/certs/"
check_root nothing append_to "$dir/nothing/etc/ssl/certs/ca-certificates.crt"
# Where Fedora and RHEL have it.
mkdir -p "$dir/fedora/etc/pki/tls/certs"
cp /etc/ssl/certs/ca-certificates.crt "$dir/fedora/etc/pki/tls/certs/ca-bundle.crt"
check_root fedora append_to "$dir/fedora/etc/pki/tls/certs/ca-bundle.crt"
contract_end
