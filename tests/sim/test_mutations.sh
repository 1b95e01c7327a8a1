#!/usr/bin/env bash
# Each of the bugs of mutations.txt still changes a source. (That each is caught takes an hour: mutations.sh without arguments.)
set -u
exec "$(dirname "$0")/mutations.sh" --applies
