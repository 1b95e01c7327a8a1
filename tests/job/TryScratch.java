package drey.spare;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.stream.Stream;

/** TryScratch DIR [exit]: what the spare does with its directory below DIR; "exit" leaves it as a killed one does. */
public final class TryScratch {
	public static void main(String[] args) throws Exception {
		org.apache.flink.configuration.Configuration users = new org.apache.flink.configuration.Configuration();
		users.setString("io.tmp.dirs", args[0]);
		Scratch scratch = new Scratch(users);
		Path made = scratch.directory("a");
		Files.write(made.resolve("file"), new byte[1]);
		Files.createSymbolicLink(made.resolve("link"), Paths.get(args[0], "elsewhere"));
		if (args.length > 1) {
			System.out.println(scratch.kept());
			Runtime.getRuntime().halt(0);
		}
		scratch.close();
		try (Stream<Path> left = Files.list(scratch.kept())) {
			System.out.println(left.map(each -> each.getFileName().toString()).reduce("", (a, b) -> a + b));
		}
	}
}
