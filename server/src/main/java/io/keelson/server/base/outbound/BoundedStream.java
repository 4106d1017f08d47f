package io.keelson.server.base.outbound;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/** A stream that fails once it has given more bytes than its bound. */
final class BoundedStream extends FilterInputStream {
    private final int maxBytes;
    private long given;

    BoundedStream(InputStream in, int maxBytes) {
        super(in);
        this.maxBytes = maxBytes;
    }

    @Override
    public int read() throws IOException {
        int one = super.read();
        count(one < 0 ? 0 : 1);
        return one;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        int read = super.read(bytes, offset, length);
        count(Math.max(0, read));
        return read;
    }

    private void count(int read) throws OutboundRefusedException {
        given += read;
        if (given > maxBytes) {
            throw OutboundRefusedException.tooLarge(maxBytes);
        }
    }
}
