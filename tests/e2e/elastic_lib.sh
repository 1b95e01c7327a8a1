# shellcheck shell=bash
#
# elastic_lib.sh - a job whose number of subtasks changes while it runs. Sourced after tap.sh.

# shellcheck disable=SC2154 # variables of tap.sh
counters=b71731f1c0df9c3076c4a455334d0ad6 # the vertex of the operator with the uid `count`

# Flink's adaptive scheduler without its pauses: lines of config.yaml.
adaptive_lines() { # [LINE]
	local pause wait settle
	case $FLINK_VERSION in
	1.*)
		pause=jobmanager.adaptive-scheduler.scaling-interval.min
		wait=jobmanager.adaptive-scheduler.resource-stabilization-timeout
		settle=jobmanager.adaptive-scheduler.scaling-interval.max
		;;
	*)
		pause=jobmanager.adaptive-scheduler.executing.cooldown-after-rescaling
		wait=jobmanager.adaptive-scheduler.submission.resource-stabilization-timeout
		settle=jobmanager.adaptive-scheduler.executing.resource-stabilization-timeout
		;;
	esac
	printf '%s\n' "${1:-jobmanager.scheduler: adaptive}" "$pause: 1 s" "$wait: 1 s" "$settle: 2 s"
}

# The same, and TaskManagers with N slots. After e2e_begin.
adaptive_conf() { # N [LINE]
	adaptive_lines "${2:-}" | run_conf
	sed -i "s/numberOfTaskSlots: 1/numberOfTaskSlots: $1/" "$RUN/conf/config.yaml"
}

parallelism() {
	rest "jobs/$(job_id)" ".vertices[] | select(.id == \"$counters\") | .parallelism"
}

runs_with() { # N
	[ "$(parallelism 2>/dev/null)" = "$1" ]
}

# What an autoscaler does: other bounds of the job's vertices, without drey.
put_bounds() { # UPPER
	local bounds
	bounds=$(rest "jobs/$(job_id)/resource-requirements" ".[\"$counters\"].parallelism.upperBound = $1 | tojson") || return
	rest_send PUT "jobs/$(job_id)/resource-requirements" "$bounds" >/dev/null
}

# Flink's own idea of them.
has_bound() { # UPPER
	[ "$(rest "jobs/$(job_id)/resource-requirements" ".[\"$counters\"].parallelism.upperBound")" = "$1" ]
}

rescale() { # STATUS ARG...: what it prints is in RUN/said
	local want=$1 got=0
	shift
	drey rescale --timeout "${LIMIT:-90s}" "$@" >"$RUN/said" 2>&1 || got=$?
	[ "$got" -eq "$want" ] || {
		echo "status $got"
		cat "$RUN/said"
		return 1
	}
}

said() { # TEXT: the last rescale
	grep -F -- "$1" "$RUN/said"
}

not_said() { # TEXT
	! said "$1"
}

# What was restored under each checkpoint id is what was in it, whatever the number of subtasks. A restore that not all of them
# have come to, because it was interrupted, is not judged.
continues() {
	awk '
		$1 == "GAP" { print "state does not continue: " $0; bad = 1 }
		$1 == "SNAPSHOT" { count[$2, $4] = $3; subtasks[$4] = 1 }
		$1 == "RESTORED" && $2 != "-" {
			split($4, of, "/")
			one = $5 " " $2 " " of[2] " " ++times[$5, $2, $4]
			restored[one] += $3
			id[one] = $2
			came[one]++
			all[one] = of[2]
		}
		END {
			for (one in restored) {
				sum = 0
				for (s in subtasks) sum += count[id[one], s]
				if (came[one] == all[one] && restored[one] != sum) {
					print "restored " restored[one] " from checkpoint " id[one] ", which has " sum
					bad = 1
				}
			}
			exit bad
		}' "$EVENTS"
}
