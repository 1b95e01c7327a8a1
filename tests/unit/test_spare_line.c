#include "run/effects/spare_line.h"

#include <string.h>

#include "base/mem.h"
#include "tap.h"

static char *words[] = {(char *)"java",
			(char *)"-Xmx1g",
			(char *)"-classpath",
			(char *)"/opt/flink/lib/a.jar",
			(char *)"org.Entry",
			(char *)"--configDir",
			(char *)"/opt/flink/conf",
			NULL};
static char *environment[] = {(char *)"PATH=/bin", (char *)"FLINK=-javaagent:no", NULL};

static struct jvm_line line(void)
{
	return (struct jvm_line){.argv = words,
				 .argc = 7,
				 .entry = 4,
				 .env = environment,
				 .envc = 2,
				 .class_path = words[3],
				 .config_dir = words[6]};
}

TEST(the_jar_comes_last_on_the_class_path)
{
	struct jvm_line of = line();
	char **argv = spare_line_argv(&of, "/usr/lib/drey/spare.jar");

	CHECK_STR(argv[1], "-Xmx1g");
	CHECK_STR(argv[3], "/opt/flink/lib/a.jar:/usr/lib/drey/spare.jar");
	CHECK_STR(argv[4], "drey.spare.Spare");
	CHECK_STR(argv[5], "org.Entry");
	CHECK_STR(argv[6], "/opt/flink/conf");
	CHECK(!argv[7]);
	spare_line_free(argv);
}

TEST(an_option_that_two_jvms_cannot_share_is_found)
{
	static const struct {
		const char *option;
		bool exclusive;
	} rows[] = {
		{"-Xmx1g", false},
		{"-Xlog:gc", false},
		{"-Dlog.file=/opt/flink/log/jm.log", false},
		{"-XX:+HeapDumpOnOutOfMemoryError", false},
		{"-Xlog:gc*:file=/opt/flink/log/gc.log", true},
		{"-Xloggc:/opt/flink/log/gc.log", true},
		{"-javaagent:/opt/jmx.jar=9404:/opt/jmx.yaml", true},
		{"-agentlib:jdwp=transport=dt_socket,server=y,address=5005", true},
		{"-Dcom.sun.management.jmxremote.port=9010", true},
		{"-XX:StartFlightRecording=filename=/tmp/a.jfr", true},
	};
	char *before = words[1], *variable = environment[0];
	struct jvm_line of = line();

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *tool = xasprintf("JAVA_TOOL_OPTIONS=-Da=b %s", rows[i].option);

		words[1] = (char *)(uintptr_t)rows[i].option;
		CHECK(!spare_line_exclusive(&of) == !rows[i].exclusive);
		words[1] = before;
		environment[0] = tool;
		CHECK(!spare_line_exclusive(&of) == !rows[i].exclusive);
		environment[0] = variable;
	}
	/* other variables, and the program's arguments, are not the JVM's */
	words[5] = (char *)"-javaagent:x";
	CHECK(!spare_line_exclusive(&of));
	words[5] = (char *)"--configDir";
}
