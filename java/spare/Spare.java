package drey.spare;

/**
 * A JVM with Flink loaded and warm, which waits until drey-init passes it the arguments of the entry point.
 *
 * <p>java ... -classpath CP:/usr/lib/drey/spare.jar drey.spare.Spare ENTRY_CLASS CONFIG_DIR
 */
public final class Spare {
	private Spare() {}

	public static void main(String[] args) {
		throw new UnsupportedOperationException("not implemented");
	}
}
