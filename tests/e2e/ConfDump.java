package org.apache.flink.container.entrypoint;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.entrypoint.parser.CommandLineParser;

/** The configuration that Flink's own entry point makes of a command line: DIR/words (NUL-separated) to DIR/got. */
public final class ConfDump {
	public static void main(String[] dirs) throws Exception {
		for (String dir : dirs) {
			Path words = Paths.get(dir, "words");
			if (!Files.exists(words)) {
				continue;
			}
			String text = new String(Files.readAllBytes(words), StandardCharsets.UTF_8);
			List<String> args = new ArrayList<>();
			for (String word : text.substring(0, text.length() - 1).split("\0", -1)) {
				args.add(word);
			}
			StandaloneApplicationClusterConfiguration parsed =
					new CommandLineParser<>(new StandaloneApplicationClusterConfigurationParserFactory())
							.parse(args.toArray(new String[0]));
			Configuration configuration =
					StandaloneApplicationClusterEntryPoint.loadConfigurationFromClusterConfig(parsed);
			List<String> lines = new ArrayList<>();
			for (Map.Entry<String, String> entry : new TreeMap<>(configuration.toMap()).entrySet()) {
				lines.add(entry.getKey() + "=" + entry.getValue());
			}
			Files.write(Paths.get(dir, "got"), lines, StandardCharsets.UTF_8);
		}
	}
}
