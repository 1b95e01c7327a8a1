#!/usr/bin/env bash
#
# test_install.sh with Helm 4, which applies on the server and waits as kstatus does.

HELM=4 exec "$(dirname "${BASH_SOURCE[0]}")/test_install.sh"
