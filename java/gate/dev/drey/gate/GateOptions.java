package dev.drey.gate;

import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;

/** What drey tells the job at its start, in Flink's configuration. Users do not set these keys. */
public final class GateOptions {
	/** The side that this launch belongs to: {@code blue} or {@code green}. Absent where there is no drey. */
	public static final ConfigOption<String> SIDE = ConfigOptions.key("drey.side").stringType().noDefaultValue();

	/**
	 * A directory of the JobManager in which drey and the gates exchange their files (docs/reference/formats.md). Absent: every gate is
	 * open.
	 */
	public static final ConfigOption<String> DIRECTORY = ConfigOptions.key("drey.gate.directory").stringType().noDefaultValue();

	private GateOptions() {}
}
