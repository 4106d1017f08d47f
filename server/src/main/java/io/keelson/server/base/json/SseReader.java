package io.keelson.server.base.json;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Reads the data of server-sent events, in bounded memory. Their names are left out: the data of each protocol repeat them. At the
 * end of the stream, an event without its empty line is left out as well.
 */
public final class SseReader {
    private static final byte[] DATA = "data:".getBytes(StandardCharsets.UTF_8);
    private static final int MAX_EVENT = 8 << 20;
    private static final int BUFFER_SIZE = 64 << 10;
    /** Copies of the bytes of an event while they are put together. */
    private static final int COPIES = 3;

    private final InputStream in;
    private final ByteArrayOutputStream data = new ByteArrayOutputStream();
    private boolean afterReturn;
    private long taken;

    public SseReader(InputStream body) {
        this.in = new BufferedInputStream(body, BUFFER_SIZE);
    }

    /**
     * The data of the next whole event, in UTF-8; null at the end of the stream.
     *
     * @throws IOException when an event has more than 8 MiB
     */
    public byte @Nullable [] next() throws IOException {
        data.reset();
        DocumentMemory.giveBack(taken);
        taken = 0;
        boolean any = false;
        for (int first = read(); first >= 0; first = read()) {
            if (isEnd(first)) {
                if (any) {
                    return data.toByteArray();
                }
                continue;
            }
            int matched = 0;
            int one = first;
            while (matched < DATA.length && one == DATA[matched]) {
                matched++;
                one = read();
            }
            if (matched < DATA.length) {
                skipLine(one);
                continue;
            }
            if (any) {
                add('\n');
            }
            any = true;
            one = one == ' ' ? read() : one;
            while (one >= 0 && !isEnd(one)) {
                add(one);
                one = read();
            }
        }
        return null;
    }

    private void skipLine(int from) throws IOException {
        for (int one = from; one >= 0 && !isEnd(one);) {
            one = read();
        }
    }

    private void add(int one) throws IOException {
        if (data.size() >= MAX_EVENT) {
            throw new IOException("an event of the stream has more than " + MAX_EVENT + " bytes");
        }
        if (data.size() >= taken / COPIES + BUFFER_SIZE) {
            DocumentMemory.take((long) COPIES * BUFFER_SIZE);
            taken += (long) COPIES * BUFFER_SIZE;
        }
        data.write(one);
    }

    /** Whether the byte ends its line. */
    private boolean isEnd(int one) {
        afterReturn = one == '\r';
        return afterReturn || one == '\n';
    }

    /** The next byte; of CR LF, only the first. */
    private int read() throws IOException {
        int one = in.read();
        return afterReturn && one == '\n' ? in.read() : one;
    }
}
