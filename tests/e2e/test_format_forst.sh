#!/usr/bin/env bash
#
# What drey does with savepoints of a job on forst: see formats_lib.sh.
#
# runs in: all on 2.3.0

# shellcheck source=tests/e2e/formats_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/formats_lib.sh"

format_story forst native
