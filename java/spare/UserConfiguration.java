package drey.spare;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.GlobalConfiguration;

/** What the user has configured; read for two things only: where temporary files go, and which HA data to read. */
final class UserConfiguration {
	private UserConfiguration() {}

	static Configuration load(String directory, String[] args) {
		Configuration dynamic = new Configuration();
		for (int i = 2; i < args.length; i++) {
			String pair = args[i].equals("-D") && i + 1 < args.length ? args[++i]
					: args[i].startsWith("-D") ? args[i].substring(2) : "";
			int equals = pair.indexOf('=');
			if (equals > 0) {
				dynamic.setString(pair.substring(0, equals), pair.substring(equals + 1));
			}
		}
		return GlobalConfiguration.loadConfiguration(directory, dynamic);
	}
}
