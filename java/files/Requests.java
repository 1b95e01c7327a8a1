package drey.files;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;

/** One request after another. Each ends with one frame: done, or an error that voids all before it. */
final class Requests {
	private static final int IN_FLIGHT = 32;
	private static final int MAX_DEPTH = 16; // directories inside directories
	private static final int MAX_READ = 256 << 10;

	private final FlinkFiles files;
	private final Wire wire;
	private final Map<Integer, InputStream> streams = new HashMap<>();
	private final ExecutorService pool = Executors.newFixedThreadPool(IN_FLIGHT, work -> {
		Thread thread = new Thread(work, "drey-files");
		thread.setDaemon(true);
		return thread;
	});

	Requests(FlinkFiles files, Wire wire) {
		this.files = files;
		this.wire = wire;
	}

	void serve(DataInputStream in) throws Exception {
		int type = in.readByte();
		int seq = in.readInt();
		wire.begin();
		try {
			serve(type, seq, in);
		} catch (Failure e) {
			wire.error(seq, e);
		}
	}

	private void serve(int type, int seq, DataInputStream in) throws Exception {
		switch (type) {
			case 'S':
				FileStatus status = files.file(new Path(Wire.text(in)));
				wire.done(seq, status.getLen(), status.getModificationTime());
				break;
			case 'L':
				list(seq, new Path(Wire.text(in)));
				break;
			case 'D':
				listDirectories(seq, new Path(Wire.text(in)), Wire.text(in));
				break;
			case 'T':
				listTree(seq, Wire.text(in));
				break;
			case 'M':
				look(seq, in.readInt(), paths(in));
				break;
			case 'X':
				delete(seq, paths(in));
				break;
			case 'E':
				removeEmpty(new Path(Wire.text(in)), 0);
				wire.done(seq, 0, 0);
				break;
			case 'O':
				open(seq, new Path(Wire.text(in)), in.readLong());
				break;
			case 'R':
				read(seq, in.readInt(), in.readInt());
				break;
			case 'C':
				close(seq, in.readInt());
				break;
			default:
				throw new IOException("drey: a request of the type " + type);
		}
	}

	private static List<Path> paths(DataInputStream in) throws IOException {
		List<Path> paths = new ArrayList<>();
		for (int left = in.readInt(); left > 0; left--) {
			paths.add(new Path(Wire.text(in)));
		}
		return paths;
	}

	private <T> List<Future<T>> all(List<Callable<T>> work) {
		List<Future<T>> results = new ArrayList<>(work.size());
		work.forEach(one -> results.add(pool.submit(one)));
		return results;
	}

	/** The result of one, or why there is none. */
	private <T> T result(Future<T> future) throws Failure, InterruptedException {
		try {
			return future.get();
		} catch (ExecutionException e) {
			if (e.getCause() instanceof Error) {
				throw (Error) e.getCause();
			}
			throw files.failure((Exception) e.getCause());
		}
	}

	private void list(int seq, Path directory) throws Exception {
		for (FileStatus entry : files.list(directory)) {
			if (entry.isDir()) {
				wire.directory(seq, entry.getPath().getName());
			} else {
				wire.file(seq, 0, entry.getPath().getName(), entry, new byte[0]);
			}
		}
		wire.done(seq, 0, 0);
	}

	private void listDirectories(int seq, Path directory, String leaf) throws Exception {
		List<String> names = new ArrayList<>();
		List<Callable<FileStatus>> work = new ArrayList<>();
		for (FileStatus entry : files.list(directory)) {
			if (entry.isDir()) {
				names.add(entry.getPath().getName());
				work.add(() -> files.status(new Path(entry.getPath(), leaf)));
			}
		}
		List<Future<FileStatus>> results = all(work);
		for (int i = 0; i < names.size(); i++) {
			try {
				FileStatus status = result(results.get(i));
				if (status.isDir()) {
					wire.missing(seq, 0, names.get(i), new Failure(Failure.ABSENT, ""));
				} else {
					wire.file(seq, 0, names.get(i), status, new byte[0]);
				}
			} catch (Failure e) {
				wire.missing(seq, 0, names.get(i), e);
			}
		}
		wire.done(seq, 0, 0);
	}

	/** Level by level, the directories of each at the same time. */
	private void listTree(int seq, String top) throws Exception {
		List<String> names = new ArrayList<>(List.of(""));
		List<FileStatus[]> level = new ArrayList<>();
		level.add(files.list(new Path(top)));
		for (int depth = 0; !level.isEmpty(); depth++) {
			List<String> below = new ArrayList<>();
			List<Callable<FileStatus[]>> work = new ArrayList<>();
			for (int i = 0; i < level.size(); i++) {
				for (FileStatus entry : level.get(i)) {
					String name = names.get(i) + entry.getPath().getName();
					if (!entry.isDir()) {
						wire.file(seq, 0, name, entry, new byte[0]);
					} else if (depth < MAX_DEPTH) {
						below.add(name + "/");
						work.add(() -> listOrGone(entry.getPath()));
					} else {
						throw new Failure(Failure.FORMAT, top + "/" + name + ": too many directories inside each other");
					}
				}
			}
			names = below;
			level = new ArrayList<>();
			for (Future<FileStatus[]> future : all(work)) {
				level.add(result(future));
			}
		}
		wire.done(seq, 0, 0);
	}

	/** A directory that is deleted meanwhile contains nothing: if what has listed it does not any more. */
	private FileStatus[] listOrGone(Path directory) throws Failure {
		try {
			return files.list(directory);
		} catch (Failure e) {
			if (e.kind == Failure.ABSENT && !isListed(directory)) {
				return new FileStatus[0];
			}
			throw e.kind == Failure.ABSENT ? new Failure(Failure.RETRY, directory + " is listed, but does not exist") : e;
		}
	}

	private boolean isListed(Path directory) throws Failure {
		FileStatus[] entries;
		if (directory.getParent() == null) {
			throw new Failure(Failure.RETRY, "the root of " + directory + " does not exist");
		}
		try {
			entries = files.list(directory.getParent());
		} catch (Failure e) {
			if (e.kind == Failure.ABSENT) {
				return isListed(directory.getParent());
			}
			throw e;
		}
		for (FileStatus entry : entries) {
			if (entry.getPath().getName().equals(directory.getName())) {
				return true;
			}
		}
		return false;
	}

	private void look(int seq, int headBytes, List<Path> paths) throws Exception {
		List<Callable<Map.Entry<FileStatus, byte[]>>> work = new ArrayList<>();
		for (Path path : paths) {
			work.add(() -> Map.entry(files.file(path), head(path, headBytes)));
		}
		List<Future<Map.Entry<FileStatus, byte[]>>> results = all(work);
		for (int i = 0; i < results.size(); i++) {
			try {
				Map.Entry<FileStatus, byte[]> found = result(results.get(i));
				wire.file(seq, i, "", found.getKey(), found.getValue());
			} catch (Failure e) {
				wire.missing(seq, i, "", e);
			}
		}
		wire.done(seq, 0, 0);
	}

	/** Of a file that was there a moment ago. */
	private byte[] head(Path path, int bytes) throws IOException {
		if (bytes == 0) {
			return new byte[0];
		}
		try (FSDataInputStream in = files.of(path).open(path)) {
			return in.readNBytes(bytes);
		}
	}

	private void delete(int seq, List<Path> paths) throws Exception {
		List<Callable<Boolean>> work = new ArrayList<>();
		for (Path path : paths) {
			work.add(() -> delete(path));
		}
		List<Future<Boolean>> results = all(work);
		for (int i = 0; i < results.size(); i++) {
			try {
				result(results.get(i));
				wire.missing(seq, i, "", new Failure(Failure.ABSENT, ""));
			} catch (Failure e) {
				wire.missing(seq, i, "", e);
			}
		}
		wire.done(seq, 0, 0);
	}

	/** Never a directory. What file systems return is not what they have done: so it is looked at again. */
	private boolean delete(Path path) throws IOException {
		FileSystem system = files.of(path);
		try {
			files.file(path);
			if (system.delete(path, false)) {
				return true;
			}
			files.file(path);
		} catch (Failure e) {
			if (e.kind == Failure.ABSENT) {
				return true;
			}
			throw e;
		}
		throw new Failure(Failure.SYSTEM, path + " was not deleted, and the file system does not say why");
	}

	/** True: it is gone. One that is not empty by then stays, because the file system refuses. */
	private boolean removeEmpty(Path directory, int depth) throws Exception {
		FileSystem system = files.of(directory);
		boolean left = false;
		for (FileStatus entry : depth == 0 ? files.list(directory) : listOrGone(directory)) {
			left |= !entry.isDir() || depth >= MAX_DEPTH || !removeEmpty(entry.getPath(), depth + 1);
		}
		if (left || listOrGone(directory).length > 0) {
			return false;
		}
		try {
			return system.delete(directory, false);
		} catch (IOException e) {
			if (listOrGone(directory).length > 0) {
				return false;
			}
			throw files.failure(e);
		}
	}

	/** The stream has the number of the request that has opened it. */
	private void open(int seq, Path path, long offset) throws Exception {
		FileStatus status = files.file(path);
		// not every file system can seek to the end
		streams.put(seq, offset > 0 && offset >= status.getLen() ? InputStream.nullInputStream() : open(path, offset));
		wire.done(seq, status.getLen(), status.getModificationTime());
	}

	private InputStream open(Path path, long offset) throws Exception {
		FSDataInputStream in = null;
		try {
			in = files.of(path).open(path);
			if (offset > 0) {
				in.seek(offset);
			}
			return in;
		} catch (Exception e) {
			if (in != null) {
				in.close();
			}
			throw files.failure(e);
		}
	}

	private void read(int seq, int stream, int most) throws Exception {
		byte[] bytes = new byte[Math.min(most, MAX_READ)];
		int got;
		try {
			got = streams.get(stream).readNBytes(bytes, 0, bytes.length);
		} catch (Exception e) {
			throw files.failure(e);
		}
		wire.content(seq, bytes, got);
		wire.done(seq, got, 0);
	}

	/** The content has been read: what fails now proves nothing. */
	private void close(int seq, int stream) throws IOException {
		try {
			streams.remove(stream).close();
		} catch (Exception e) {
			System.err.println("drey: close: " + e);
		}
		wire.done(seq, 0, 0);
	}
}
