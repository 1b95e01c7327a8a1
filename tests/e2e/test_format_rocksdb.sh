#!/usr/bin/env bash
#
# What drey does with savepoints of a job on rocksdb: see formats_lib.sh.
#
# runs in: all

# shellcheck source=tests/e2e/formats_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/formats_lib.sh"

format_story rocksdb canonical
