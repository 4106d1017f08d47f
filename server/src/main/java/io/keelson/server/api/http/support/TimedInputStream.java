package io.keelson.server.api.http.support;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * A request's body on its way. In each stretch of time a minimum of bytes must arrive. Otherwise the body is refused, also
 * when its client has gone silent. Time between two reads does not count: the server is busy with the bytes before.
 */
public final class TimedInputStream extends FilterInputStream {

    /** Bytes per second that a body must have in each stretch. */
    public static final int SLOWEST = 1 << 10;
    private static final double SECOND_NANOS = 1e9;

    private final LongSupplier nanoTime;
    private final long stretch;
    private final Consumer<Duration> silence;
    private long begun;
    private long arrived;
    private boolean hurried;
    private long read;

    /**
     * @param stretch the interval in which the minimum number of bytes must arrive
     * @param silence receives the idle time after which a read on the connection fails
     */
    public TimedInputStream(InputStream body, Duration stretch, Consumer<Duration> silence, LongSupplier nanoTime) {
        super(body);
        this.nanoTime = nanoTime;
        this.begun = nanoTime.getAsLong();
        this.read = begun;
        this.stretch = stretch.toNanos();
        this.silence = silence;
    }

    /** The rest must arrive within one more interval. */
    void hurry() {
        begun = nanoTime.getAsLong();
        hurried = true;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    /** @throws ApiProblem REQUEST_TIMEOUT when too little has come in the time */
    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        if (!hurried) {
            begun += nanoTime.getAsLong() - read;
        }
        if (available() == 0) {
            silence.accept(Duration.ofNanos(left()));
        }
        int bytes = super.read(into, offset, length);
        if (bytes > 0) {
            arrived += bytes;
            left(); // refuses what came too late
        }
        read = nanoTime.getAsLong();
        return bytes;
    }

    /** Nanoseconds for which nothing need come. */
    private long left() {
        long now = nanoTime.getAsLong();
        long passed = now - begun;
        if (passed >= stretch) {
            if (hurried || !enough(passed)) {
                throw ApiProblem.of(ErrorCode.REQUEST_TIMEOUT, "the body arrives too slowly: " + arrived + " bytes in "
                        + Duration.ofNanos(passed).toSeconds() + " s, the minimum is " + SLOWEST + " a second");
            }
            begun = now;
            arrived = 0;
        }
        return !hurried && enough(stretch) ? stretch : stretch - (now - begun);
    }

    private boolean enough(long passed) {
        return arrived >= passed / SECOND_NANOS * SLOWEST;
    }
}
