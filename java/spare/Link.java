package drey.spare;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/**
 * Descriptor 0, a socket whose other end drey-init has: "ready\n", then it reads "N\0" and N arguments with a NUL behind
 * each until the end of the stream, and answers "go\n". What is not complete is refused: the end of the stream alone could
 * also mean that drey-init has given up.
 */
final class Link {
	private static final int LIMIT_BYTES = 1 << 20;

	// never closed: descriptor 0 stays what it is, at its end like /dev/null
	private final FileInputStream in = new FileInputStream(FileDescriptor.in);
	private final FileOutputStream out = new FileOutputStream(FileDescriptor.in);

	Link() throws IOException {
		// the encoders and decoders of an answer that has 40 ms
		decode(new byte[] {'a', 0}, 2);
	}

	void ready() throws IOException {
		out.write("ready\n".getBytes(StandardCharsets.US_ASCII));
	}

	void go() throws IOException {
		out.write("go\n".getBytes(StandardCharsets.US_ASCII));
	}

	String[] arguments() throws IOException {
		byte[] part = new byte[8192];
		ByteArrayOutputStream all = new ByteArrayOutputStream();
		for (int n; (n = in.read(part)) > 0; ) {
			all.write(part, 0, n);
			if (all.size() > LIMIT_BYTES) {
				throw new IOException("the arguments have more than " + LIMIT_BYTES + " bytes");
			}
		}
		return split(all.toByteArray());
	}

	/** "2\0a\0b\0" is {"a", "b"}. */
	static String[] split(byte[] all) throws IOException {
		int count = -1;
		String[] arguments = null;
		int found = 0;
		for (int from = 0, at = 0; at < all.length; at++) {
			if (all[at] != 0) {
				continue;
			}
			String text = decode(java.util.Arrays.copyOfRange(all, from, at), at - from);
			from = at + 1;
			if (arguments == null) {
				count = number(text);
				arguments = new String[count];
			} else if (found == count) {
				throw new IOException("more arguments than the " + count + " that were announced");
			} else {
				arguments[found++] = text;
			}
		}
		if (arguments == null || found != count || all[all.length - 1] != 0) {
			throw new EOFException("the arguments end after " + found + " of " + count);
		}
		return arguments;
	}

	private static int number(String text) throws IOException {
		try {
			int count = Integer.parseInt(text);
			if (count >= 0 && count <= LIMIT_BYTES) {
				return count;
			}
		} catch (NumberFormatException e) {
			// below
		}
		throw new IOException("\"" + text + "\" is no number of arguments");
	}

	/** In the encoding in which the java launcher decodes its arguments. */
	private static String decode(byte[] bytes, int length) throws CharacterCodingException {
		String name = System.getProperty("sun.jnu.encoding");
		Charset charset = name != null && Charset.isSupported(name) ? Charset.forName(name) : StandardCharsets.UTF_8;
		return charset.newDecoder()
				.onMalformedInput(CodingErrorAction.REPLACE)
				.onUnmappableCharacter(CodingErrorAction.REPLACE)
				.decode(ByteBuffer.wrap(bytes, 0, length))
				.toString();
	}
}
