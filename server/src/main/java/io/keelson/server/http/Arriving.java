package io.keelson.server.http;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * A request's body on its way. It has some time to arrive in, and more for as long as it comes at an even pace; the
 * connector only notices who sends nothing at all.
 */
final class Arriving extends FilterInputStream {

    /** Bytes per second that a body comes at, taken from its beginning. */
    static final int SLOWEST = 1 << 10;
    private static final double SECOND_NANOS = 1e9;

    private final LongSupplier nanoTime;
    private final long begun;
    private final long patience;
    private long arrived;

    /** @param patience for how long nobody asks how fast it comes */
    Arriving(InputStream body, Duration patience, LongSupplier nanoTime) {
        super(body);
        this.nanoTime = nanoTime;
        this.begun = nanoTime.getAsLong();
        this.patience = patience.toNanos();
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    /** @throws Refusal REQUEST_TIMEOUT when too little has come in the time */
    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        int read = super.read(into, offset, length);
        if (read > 0) {
            arrived += read;
            long passed = nanoTime.getAsLong() - begun;
            if (passed > patience && arrived < passed / SECOND_NANOS * SLOWEST) {
                throw Refusal.of(ErrorCode.REQUEST_TIMEOUT, "the body comes too slowly: " + arrived + " bytes in "
                        + Duration.ofNanos(passed).toSeconds() + " s, at least " + SLOWEST + " a second are expected");
            }
        }
        return read;
    }
}
