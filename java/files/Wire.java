package drey.files;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.apache.flink.core.fs.FileStatus;

/** The frames of the protocol (flinkfs_wire.h). */
final class Wire {
	private static final int PAGE_ITEMS = 1000;
	private static final int PAGE_BYTES = 256 << 10;

	private final DataOutputStream out;
	private final ByteArrayOutputStream page = new ByteArrayOutputStream();
	private final DataOutputStream pageOut = new DataOutputStream(page);
	private int pageItems;
	private long items;

	Wire(OutputStream out) {
		this.out = new DataOutputStream(new BufferedOutputStream(out, PAGE_BYTES));
	}

	static String text(DataInputStream in) throws IOException {
		return new String(in.readNBytes(in.readInt()), StandardCharsets.UTF_8);
	}

	private static void text(DataOutputStream out, byte[] bytes) throws IOException {
		out.writeInt(bytes.length);
		out.write(bytes);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	void hello(int magic, int version) throws IOException {
		out.writeInt(1 + 4 + 2);
		out.writeByte('h');
		out.writeInt(magic);
		out.writeShort(version);
		out.flush();
	}

	void begin() {
		page.reset();
		pageItems = 0;
		items = 0;
	}

	/** state: 'f' file, 'd' directory, 'a' absent, 'u' unreadable. extra: the beginning of the file, or why it is unreadable. */
	private void item(int seq, int state, int kind, int index, FileStatus status, String name, byte[] extra) throws IOException {
		pageOut.writeByte(state);
		pageOut.writeByte(kind);
		pageOut.writeInt(index);
		pageOut.writeLong(status == null ? 0 : status.getLen());
		pageOut.writeLong(status == null ? 0 : status.getModificationTime());
		text(pageOut, bytes(name));
		text(pageOut, extra);
		items++;
		if (++pageItems >= PAGE_ITEMS || page.size() >= PAGE_BYTES) {
			flushItems(seq);
		}
	}

	void file(int seq, int index, String name, FileStatus status, byte[] head) throws IOException {
		item(seq, 'f', 0, index, status, name, head);
	}

	void directory(int seq, String name) throws IOException {
		item(seq, 'd', 0, 0, null, name, new byte[0]);
	}

	/** A file, or the leaf of a directory, that is not there or cannot be read. */
	void missing(int seq, int index, String name, Failure why) throws IOException {
		boolean absent = why.kind == Failure.ABSENT;
		item(seq, absent ? 'a' : 'u', absent ? 0 : why.kind, index, null, name, absent ? new byte[0] : bytes(why.getMessage()));
	}

	private void flushItems(int seq) throws IOException {
		if (pageItems == 0) {
			return;
		}
		out.writeInt(1 + 4 + 4 + page.size());
		out.writeByte('i');
		out.writeInt(seq);
		out.writeInt(pageItems);
		page.writeTo(out);
		out.flush();
		page.reset();
		pageItems = 0;
	}

	void content(int seq, byte[] bytes, int length) throws IOException {
		out.writeInt(1 + 4 + length);
		out.writeByte('b');
		out.writeInt(seq);
		out.write(bytes, 0, length);
	}

	/** The number of items tells whether one was lost. */
	void done(int seq, long first, long second) throws IOException {
		flushItems(seq);
		out.writeInt(1 + 4 + 3 * 8);
		out.writeByte('d');
		out.writeInt(seq);
		out.writeLong(items);
		out.writeLong(first);
		out.writeLong(second);
		out.flush();
	}

	void error(int seq, Failure why) throws IOException {
		byte[] message = bytes(why.getMessage());
		out.writeInt(1 + 4 + 1 + 4 + message.length);
		out.writeByte('e');
		out.writeInt(seq);
		out.writeByte(why.kind);
		text(out, message);
		out.flush();
	}
}
