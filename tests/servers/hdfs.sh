# shellcheck shell=bash disable=SC2034
#
# hdfs.sh - a real HDFS on this machine, one NameNode and one DataNode. Sourced after tests/servers/lib.sh, whose servers it
# extends: server_down hdfs ends both, hdfs_up with the same DIR brings them back with the same data on the same ports.
#
#   hdfs_find              sets HDFS (tools/get-servers.sh); fails if it is not to be had
#   hdfs_up DIR            HDFS_URI (hdfs://127.0.0.1:PORT); HDFS_CONF is a configuration directory for clients
#   hdfs_fs ARG...         Hadoop's own `hdfs dfs`; hdfs_names DIR, the names of all files below DIR, relative to it, one a line

hdfs_find() {
	HDFS=${HDFS:-$("$TOP/tools/get-servers.sh" hdfs)} && [ -n "$HDFS" ]
}

hdfs_property() { # NAME VALUE
	printf '<property><name>%s</name><value>%s</value></property>\n' "$1" "$2"
}

# Five ports; all of them are of 127.0.0.1.
hdfs_configure() { # DIR
	local dir=$1 name port
	mkdir -p "$dir/conf" "$dir/client"
	{
		echo '<configuration>'
		hdfs_property dfs.namenode.name.dir "file://$dir/name"
		hdfs_property dfs.datanode.data.dir "file://$dir/data"
		hdfs_property dfs.permissions.enabled false
		hdfs_property dfs.replication 1
		hdfs_property dfs.namenode.safemode.extension 0
		for name in namenode.http-address datanode.address datanode.http.address datanode.ipc.address; do
			take_port port
			[ "$name" != namenode.http-address ] || echo "$port" >"$dir/web"
			hdfs_property "dfs.$name" "127.0.0.1:$port"
		done
		echo '</configuration>'
	} >"$dir/conf/hdfs-site.xml"
	take_port port
	echo "$port" >"$dir/port"
	{
		echo '<configuration>'
		hdfs_property fs.defaultFS "hdfs://127.0.0.1:$port"
		hdfs_property hadoop.tmp.dir "$dir/tmp"
		echo '</configuration>'
	} >"$dir/conf/core-site.xml"
	# standard output has the bytes of files
	printf '%s\n' 'log4j.rootLogger=WARN,out' 'log4j.appender.out=org.apache.log4j.ConsoleAppender' \
		'log4j.appender.out.target=System.err' 'log4j.appender.out.layout=org.apache.log4j.PatternLayout' \
		'log4j.appender.out.layout.ConversionPattern=%d %p %c{1}: %m%n' \
		>"$dir/conf/log4j.properties"
	# what a client needs: one copy is enough, and a server that is down is noticed soon
	{
		echo '<configuration>'
		hdfs_property dfs.replication 1
		echo '</configuration>'
	} >"$dir/client/hdfs-site.xml"
	hdfs_java "$dir" namenode.NameNode -format -force -nonInteractive >"$RUN/log/hdfs-format.log" 2>&1
}

hdfs_java() { # DIR CLASS ARG...
	"${JAVA_HOME:+$JAVA_HOME/bin/}java" -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$1/conf:$HDFS/lib/*" \
		"org.apache.hadoop.hdfs.server.$2" "${@:3}"
}

hdfs_up() { # DIR
	local dir=$1 name
	mkdir -p "$dir"
	dir=$(cd "$dir" && pwd)
	[ -f "$dir/port" ] || hdfs_configure "$dir" || die 1 "HDFS cannot be formatted: $RUN/log/hdfs-format.log"
	HDFS_URI=hdfs://127.0.0.1:$(cat "$dir/port")
	HDFS_WEB=http://127.0.0.1:$(cat "$dir/web")
	HDFS_CONF=$dir/client
	for name in namenode.NameNode datanode.DataNode; do
		spawn "hdfs-${name%%.*}" "${JAVA_HOME:+$JAVA_HOME/bin/}java" -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
			-cp "$dir/conf:$HDFS/lib/*" "org.apache.hadoop.hdfs.server.$name"
	done
	wait_until "HDFS answers" 120 hdfs_is_ready || die 1 "HDFS has not started: $RUN/log/hdfs-*.log"
}

# Not in safe mode: it knows that its blocks are there.
hdfs_is_ready() {
	local beans='http://127.0.0.1'
	beans=$(curl --silent --max-time 5 "$HDFS_WEB/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState") || return
	jq -e '.beans[0] | .FSState == "Operational" and .NumLiveDataNodes == 1' <<<"$beans" >/dev/null
}

hdfs_fs() { # ARG...
	"${JAVA_HOME:+$JAVA_HOME/bin/}java" -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$HDFS_CONF/../conf:$HDFS/lib/*" \
		org.apache.hadoop.fs.FsShell "$@"
}

hdfs_names() { # DIR
	hdfs_fs -ls -R "/$1" 2>>"$RUN/log/hdfs-fs.log" | awk -v dir="/$1/" '/^-/ { print substr($8, length(dir) + 1) }'
}
