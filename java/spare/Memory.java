package drey.spare;

/** A collection, and another for what the first one's reference handlers have freed. */
final class Memory {
	private static final int PAUSE_MS = 100;

	private Memory() {}

	static void giveBack() throws InterruptedException {
		System.gc();
		Thread.sleep(PAUSE_MS);
		System.gc();
	}
}
