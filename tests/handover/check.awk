# check.awk - judges the output of tests/job/HandoverJob.java: what was lost, doubled, out of order or late.
#
#   awk [-v OPTION=VALUE] -f check.awk DIR/records.log committed=1 DIR/committed/part-*
#
# Options
#   ended=1     the job has ended in order: what is in the log and was not committed is lost
#   replay=1    there was a recovery from a checkpoint: the log may have records twice, and go back; never the committed ones
#   splits=N    all of these must have committed records
#   since=MS    longestMs and lateMs are of what was written from then on (wall clock)
#
# One line of JSON. Numbers of records, each 0 where all is well:
#   lost        numbers of a split without a committed line, below its greatest committed one (with `ended`, of all in the log)
#   doubled     committed once more
#   logLost, logDoubled, disordered    the same for the log, and lines with a smaller number than the line before them
#   changed     lines in which a number is due at another time than in an earlier line
#   malformed   lines of another form
# and, no violation:
#   records, committed, uncommitted (in the log, above the greatest committed one)
#   turns       the versions, in the order in which they wrote: ["A","B"]; two that write at a time have many turns (so
#               has a job whose JobManager was killed: its tasks write into the log, and nothing is committed, until they notice)
#   handovers   for each change of turns: from, to, lastMs (last record of the one), firstMs (first of the other), gapMs
#   longestMs, longestAtMs    the longest time between two consecutive records, and when it began
#   medianMs    the median of these times
#   lateMs      the longest time between due and written
#
# Exit status: 0 no violation; 1 there are; 2 there is nothing to judge.

BEGIN {
	longest = late = -1
}

NF != 5 || $2 !~ /^[0-9]+$/ || $3 !~ /^[0-9]+$/ || $4 !~ /^[0-9]+$/ || $5 !~ /^[0-9]+$/ {
	malformed++
	next
}

{
	split_of[$2] = 1
	if (($2, $3) in due && due[$2, $3] != $4)
		changed++
	due[$2, $3] = $4
}

committed {
	lines_committed++
	if (is_committed[$2, $3]++)
		doubled++
	if (!($2 in top) || $3 + 0 > top[$2])
		top[$2] = $3 + 0
	next
}

{
	lines++
	if (is_logged[$2, $3]++)
		logDoubled++
	if ($2 in last && $3 + 0 < last[$2])
		disordered++
	last[$2] = $3 + 0
	if (!($2 in logTop) || $3 + 0 > logTop[$2])
		logTop[$2] = $3 + 0
	if (lines > 1) {
		distance = $5 > wall ? $5 - wall : 0
		distances[distance]++
		if (wall >= since + 0 && distance > longest) {
			longest = distance
			longestAt = wall
		}
	}
	if ($5 >= since + 0 && $5 - $4 > late)
		late = $5 - $4
	if ($1 != turn) {
		if (turn != "")
			handovers = handovers (handovers == "" ? "" : ",") sprintf("{\"from\":\"%s\",\"to\":\"%s\",\"lastMs\":%.0f,\"firstMs\":%.0f,\"gapMs\":%.0f}", turn, $1, wall, $5, $5 - wall)
		turns = turns (turns == "" ? "" : ",") "\"" $1 "\""
		turn = $1
	}
	wall = $5
}

function median(    left, distance, greatest) {
	for (distance in distances)
		if (distance + 0 > greatest)
			greatest = distance + 0
	left = (lines - 1) / 2
	for (distance = 0; distance <= greatest; distance++) {
		left -= distances[distance]
		if (left <= 0)
			return distance
	}
	return 0
}

END {
	if (lines + lines_committed == 0) {
		print "check.awk: there are no records" >"/dev/stderr"
		exit 2
	}
	for (i = 0; i < splits + 0; i++)
		split_of[i] = 1
	for (s in split_of) {
		if (!(s in top)) {
			top[s] = -1
			if (s + 0 < splits + 0)
				lost++
		}
		if (!(s in logTop))
			logTop[s] = -1
		for (number = 0; number <= top[s] || number <= logTop[s]; number++) {
			if (!((s, number) in is_logged))
				logLost++
			if (!((s, number) in is_committed)) {
				if (number < top[s])
					lost++
				else
					uncommitted++
			}
		}
	}
	if (ended)
		lost += uncommitted
	printf "{\"lost\":%.0f,\"doubled\":%.0f,\"logLost\":%.0f,\"logDoubled\":%.0f,\"disordered\":%.0f,\"changed\":%.0f,\"malformed\":%.0f,", lost, doubled, logLost, logDoubled, disordered, changed, malformed
	printf "\"records\":%.0f,\"committed\":%.0f,\"uncommitted\":%.0f,\"turns\":[%s],\"handovers\":[%s],", lines, lines_committed, uncommitted, turns, handovers
	printf "\"longestMs\":%.0f,\"longestAtMs\":%.0f,\"medianMs\":%.0f,\"lateMs\":%.0f}\n", longest, longestAt, median(), late
	exit lost + doubled + logLost + changed + malformed + (replay ? 0 : logDoubled + disordered) > 0
}
