package io.keelson.server.app.trace;

import io.opentelemetry.sdk.trace.IdGenerator;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * Ids derived from the subject of a span, so that every server adds to the same trace, and knows a span's parent before
 * the parent has ended.
 */
final class SpanIds implements IdGenerator {

    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    private record Next(String trace, String span) {}

    private final IdGenerator others = IdGenerator.random();
    private final ThreadLocal<Next> next = new ThreadLocal<>();

    /** The trace of a run's attempt; that of the first one is the run's id without its dashes. */
    static String trace(UUID run, int attempt) {
        UUID id = attempt == 1 ? run
                : UUID.nameUUIDFromBytes((run + "/" + attempt).getBytes(StandardCharsets.UTF_8));
        return id.toString().replace("-", "");
    }

    /** The span of something's attempt or lease. */
    static String span(UUID about, int number) {
        long id = about.getLeastSignificantBits() ^ number * SPREAD;
        return String.format("%016x", id == 0 ? 1 : id);
    }

    /** Makes one span under these ids. */
    <T> T under(String trace, String span, Supplier<T> making) {
        next.set(new Next(trace, span));
        try {
            return making.get();
        } finally {
            next.remove();
        }
    }

    /** A new span id. */
    String fresh() {
        return others.generateSpanId();
    }

    String freshTrace() {
        return others.generateTraceId();
    }

    @Override
    public String generateTraceId() {
        Next given = next.get();
        return given == null ? others.generateTraceId() : given.trace;
    }

    @Override
    public String generateSpanId() {
        Next given = next.get();
        return given == null ? others.generateSpanId() : given.span;
    }
}
