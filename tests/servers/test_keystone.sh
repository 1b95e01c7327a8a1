#!/usr/bin/env bash
#
# OpenStack Swift by its own API, signed in by Keystone: password and project, application credential.

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/servers/snapshots.sh
. "$(dirname "${BASH_SOURCE[0]}")/snapshots.sh"

servers_begin keystone openstack
server_up keystone "$RUN/keystone"
server_up swift "$RUN/swift"
export HOME=$RUN OS_AUTH_URL=$KEYSTONE_URL OS_USERNAME=$KEYSTONE_USER OS_PASSWORD=$KEYSTONE_PASSWORD
export OS_PROJECT_NAME=$KEYSTONE_PROJECT OS_IDENTITY_API_VERSION=3 OS_USER_DOMAIN_NAME=Default
export OS_PROJECT_DOMAIN_NAME=Default
snapshots_make "$RUN/tree"
rm -r "$RUN/tree/check"
check "swiftclient puts the snapshots there" swift_upload "$RUN/tree" flink

says 0 "complete" "verify: a savepoint with all its files is complete" verify "swift://flink/sp/$GOOD"
says 1 "missing" "verify: a missing file is named" verify "swift://flink/hole/$HOLE"
says 0 "swift://flink/sp/$GOOD" "resolve: starts from the good savepoint" \
	resolve --explain --savepoints swift://flink/sp
OS_PASSWORD=not-$KEYSTONE_PASSWORD says 4 "401" "a wrong password: unreadable, and why" verify "swift://flink/sp/$GOOD"
OS_PROJECT_NAME=nix says 4 "401" "a project that is not there: unreadable, and why" verify "swift://flink/sp/$GOOD"
OS_REGION_NAME=two says 4 "two" "a region that the catalog does not have: unreadable, and why" \
	verify "swift://flink/sp/$GOOD"
OS_REGION_NAME=one says 0 "complete" "the one that it has" verify "swift://flink/sp/$GOOD"
OS_PASSWORD=not-$KEYSTONE_PASSWORD says 4 "HOLD" "a wrong password is not an empty store: resolve holds" \
	resolve --explain --savepoints swift://flink/none
says 4 "nix" "a container that is not there is an error, not an empty one" resolve --explain --savepoints swift://nix/sp

# ---- an application credential, and a user who has no rights in the project's account
token=$(keystone_token)
user=$(keystone_call "$token" GET "/users?name=$KEYSTONE_USER" | jq -r '.users[0].id')
secret=$(random_hex 16)
credential=$(keystone_call "$token" POST "/users/$user/application_credentials" \
	"$(jq -n --arg secret "$secret" '{application_credential: {name: "drey", $secret, roles: [{name: "member"}]}}')" |
	jq -r .application_credential.id)
(
	unset OS_USERNAME OS_PASSWORD OS_PROJECT_NAME OS_USER_DOMAIN_NAME OS_PROJECT_DOMAIN_NAME
	export OS_AUTH_TYPE=v3applicationcredential OS_APPLICATION_CREDENTIAL_ID=$credential
	OS_APPLICATION_CREDENTIAL_SECRET=$secret "$BUILD/drey" verify "swift://flink/sp/$GOOD" >>"$RUN/said.log" 2>&1 || exit
	OS_APPLICATION_CREDENTIAL_SECRET=not-$secret "$BUILD/drey" verify "swift://flink/sp/$GOOD" >>"$RUN/said.log" 2>&1
	[ $? -eq 4 ]
)
is $? 0 "an application credential, right and wrong"
project=$(keystone_call "$token" GET "/projects?name=$KEYSTONE_PROJECT" | jq -r '.projects[0].id')
reader=$(keystone_call "$token" GET "/roles?name=reader" | jq -r '.roles[0].id')
guest_password=$(random_hex 16)
guest=$(keystone_call "$token" POST /users "$(jq -n --arg password "$guest_password" \
	'{user: {name: "guest", domain_id: "default", $password}}')" | jq -r .user.id)
keystone_call "$token" PUT "/projects/$project/users/$guest/roles/$reader"
OS_USERNAME=guest OS_PASSWORD=$guest_password says 4 "403" "a user whose role may not read: unreadable, and why" \
	verify "swift://flink/sp/$GOOD"

# ---- Keystone itself
server_down keystone
says 4 "HOLD" "no Keystone: resolve holds" resolve --explain --savepoints swift://flink/none
no_secret "$KEYSTONE_PASSWORD" "$secret" "$guest_password" "$token" gAAAA
e2e_end
