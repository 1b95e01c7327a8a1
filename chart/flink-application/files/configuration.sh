#!/bin/sh
#
# configuration.sh - Flink's configuration with values that are in Secrets.
#
#   configuration.sh FROM SECRETS TO
#
# TO becomes FROM, with a line in config.yaml for each file of SECRETS, whose name is the key. All else is a link, so that Flink
# still notices a change of log4j-console.properties. Nothing of this is printed.

set -eu
umask 077
from=$1 secrets=$2 to=$3
for path in "$from"/*; do
	[ "$path" = "$from/config.yaml" ] || ln -sf "$path" "$to/"
done
# a container that is started again finds its own file
cat "$from/config.yaml" >"$to/config.yaml.new"
for path in "$secrets"/*; do
	value=$(cat "$path") # without the newline at its end
	if [ -z "$value" ] || [ "$(printf '%s' "$value" | tr -d '[:cntrl:]' | wc -c)" -ne "$(printf '%s' "$value" | wc -c)" ]; then
		echo "flink.configurationFrom: the value of ${path##*/} is empty or has more than one line" >&2
		exit 78
	fi
	printf "%s: '%s'\n" "${path##*/}" "$(printf '%s' "$value" | sed "s/'/''/g")" >>"$to/config.yaml.new"
done
mv "$to/config.yaml.new" "$to/config.yaml"
