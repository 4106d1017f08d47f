package io.keelson.server.secret;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A stream with every occurrence of certain texts struck out. It holds no more than a piece of its source. */
final class StrikingStream extends InputStream {

    private static final int PIECE = 64 << 10;
    private static final byte[] STRUCK = Redaction.STRUCK.getBytes(StandardCharsets.UTF_8);

    private final InputStream source;
    private final List<byte[]> forms;
    private final boolean[] begins = new boolean[256];
    private final int longest;
    private final byte[] buffer;
    private int at;
    private int end;
    private boolean ended;
    private int struck = STRUCK.length;

    /** @param forms longest first, none empty */
    StrikingStream(InputStream source, List<byte[]> forms) {
        this.source = source;
        this.forms = forms;
        forms.forEach(form -> begins[form[0] & 0xff] = true);
        this.longest = forms.getFirst().length;
        this.buffer = new byte[PIECE + longest];
    }

    @Override
    public int read() throws IOException {
        if (struck < STRUCK.length) {
            return STRUCK[struck++] & 0xff;
        }
        fill();
        if (at == end) {
            return -1;
        }
        byte[] form = begins[buffer[at] & 0xff] ? formHere() : null;
        if (form == null) {
            return buffer[at++] & 0xff;
        }
        at += form.length;
        struck = 1;
        return STRUCK[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int from, int length) throws IOException {
        int read = 0;
        for (int next; read < length && (next = read()) >= 0; read++) {
            into[from + read] = (byte) next;
        }
        return read == 0 && length > 0 ? -1 : read;
    }

    private byte @Nullable [] formHere() {
        for (byte[] form : forms) {
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
