#!/bin/sh
exec sh "$(dirname "$0")/compile.sh" spare
