package io.keelson.server.app;

import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The started parts of a server; closes them in the reverse order of their start. */
final class Closer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Closer.class);

    private final Deque<AutoCloseable> started = new ArrayDeque<>();

    /** Closes the part with the server; returns it. */
    <T extends AutoCloseable> T register(T part) {
        started.push(part);
        return part;
    }

    /** Closes every part, also when closing another one fails. */
    @Override
    public void close() {
        while (!started.isEmpty()) {
            try {
                started.pop().close();
            } catch (Exception e) {
                LOG.warn("stopping a part of the server failed", e);
            }
        }
    }
}
