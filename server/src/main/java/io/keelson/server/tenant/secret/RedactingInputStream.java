package io.keelson.server.tenant.secret;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A stream that redacts every occurrence of certain texts. Buffers one chunk of its source. */
final class RedactingInputStream extends InputStream {

    private static final int CHUNK_SIZE = 64 << 10;
    private static final byte[] REDACTED = Redaction.REDACTED.getBytes(StandardCharsets.UTF_8);

    private final InputStream source;
    /** By their first byte. */
    private final byte[][][] forms = new byte[256][][];
    private final int longest;
    private final byte[] buffer;
    private int at;
    private int end;
    private boolean ended;
    private int markAt = REDACTED.length;

    /** @param forms longest first, none empty */
    RedactingInputStream(InputStream source, List<byte[]> forms) {
        this.source = source;
        for (int first = 0; first < this.forms.length; first++) {
            byte begin = (byte) first;
            this.forms[first] = forms.stream().filter(form -> form[0] == begin).toArray(byte[][]::new);
        }
        this.longest = forms.getFirst().length;
        this.buffer = new byte[CHUNK_SIZE + longest];
    }

    @Override
    public int read() throws IOException {
        if (markAt < REDACTED.length) {
            return REDACTED[markAt++] & 0xff;
        }
        fill();
        if (at == end) {
            return -1;
        }
        byte[] form = formHere();
        if (form == null) {
            return buffer[at++] & 0xff;
        }
        at += form.length;
        markAt = 1;
        return REDACTED[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int from, int length) throws IOException {
        int read = 0;
        for (int next; read < length && (read == 0 || atHand()) && (next = read()) >= 0; read++) {
            into[from + read] = (byte) next;
        }
        return read == 0 && length > 0 ? -1 : read;
    }

    /** Whether the next byte can be had without waiting for the source. */
    private boolean atHand() {
        return markAt < REDACTED.length || ended || end - at >= longest;
    }

    private byte @Nullable [] formHere() {
        for (byte[] form : forms[buffer[at] & 0xff]) {
            if (form.length <= end - at && matches(form)) {
                return form;
            }
        }
        return null;
    }

    private boolean matches(byte[] form) {
        for (int i = 0; i < form.length; i++) {
            if (buffer[at + i] != form[i]) {
                return false;
            }
        }
        return true;
    }

    /** At least the longest text is at hand, unless the source has ended. */
    private void fill() throws IOException {
        if (ended || end - at >= longest) {
            return;
        }
        System.arraycopy(buffer, at, buffer, 0, end - at);
        end -= at;
        at = 0;
        while (!ended && end < longest) {
            int read = source.read(buffer, end, buffer.length - end);
            ended = read < 0;
            end += Math.max(0, read);
        }
    }

    @Override
    public void close() throws IOException {
        source.close();
    }
}
