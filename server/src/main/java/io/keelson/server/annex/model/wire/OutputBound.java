package io.keelson.server.annex.model.wire;

import java.nio.charset.StandardCharsets;

/** Refuses a stream whose texts are longer than the output that was asked for. */
final class OutputBound {
    private final long maxBytes;
    private long bytes;

    OutputBound(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /** @throws UnreadableException when the texts so far have too many bytes */
    String take(String text) throws UnreadableException {
        bytes += text.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > maxBytes) {
            throw new UnreadableException("the answer is longer than " + maxBytes
                    + " bytes, more than the tokens of output that were asked for");
        }
        return text;
    }
}
