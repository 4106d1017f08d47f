package io.keelson.server.base.artifact;

import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.util.HexFormat;

/**
 * Whole content with its digest verified. The last bytes are returned only after the verification, so that a reader never has damaged
 * content of the full length.
 */
public final class VerifiedContent extends InputStream {

    private static final int BUFFER_BYTES = 1 << 16;

    private final InputStream content;
    private final String sha256;
    private final MessageDigest digest = ArtifactRules.sha256();
    private byte[] current = new byte[BUFFER_BYTES];
    private byte[] next = new byte[BUFFER_BYTES];
    private int from;
    private int to;
    private int nextBytes;

    private VerifiedContent(InputStream content, String sha256) {
        this.content = content;
        this.sha256 = sha256;
    }

    /**
     * Verifies content of up to 64 KiB at once, longer content while it is read.
     *
     * @param content from its first byte; closed with the stream, and if this method throws
     * @param sha256 64 lower-case hex digits
     * @throws ContentDamagedException for short damaged content
     */
    public static InputStream of(InputStream content, String sha256) throws IOException {
        VerifiedContent verified = new VerifiedContent(content, sha256);
        try {
            verified.readNext();
            verified.advance();
            return verified;
        } catch (IOException | RuntimeException e) {
            content.close();
            throw e;
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    /** @throws ContentDamagedException at the end of damaged content */
    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        if (from == to) {
            advance();
        }
        if (from == to) {
            return -1;
        }
        int read = Math.min(length, to - from);
        System.arraycopy(current, from, bytes, offset, read);
        from += read;
        return read;
    }

    private void advance() throws IOException {
        byte[] emptied = current;
        current = next;
        next = emptied;
        from = 0;
        to = nextBytes;
        if (to > 0) {
            readNext();
        }
    }

    private void readNext() throws IOException {
        nextBytes = content.readNBytes(next, 0, BUFFER_BYTES);
        digest.update(next, 0, nextBytes);
        if (nextBytes == 0) {
            String actual = HexFormat.of().formatHex(digest.digest());
            if (!actual.equals(sha256)) {
                throw new ContentDamagedException(sha256, actual);
            }
        }
    }

    @Override
    public void close() throws IOException {
        content.close();
    }
}
