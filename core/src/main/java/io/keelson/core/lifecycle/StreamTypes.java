package io.keelson.core.lifecycle;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** The names by which event streams can be filtered: every event type, and the streams' own names for some of them. */
public final class StreamTypes {

    private static final List<String> ALL = Stream.concat(Arrays.stream(EventType.values()).map(EventType::wire),
            Stream.of("run.status.changed", "run.step.completed", "proposal.created")).toList();

    private StreamTypes() {}

    /** All types; types of the run lifecycle contract come last. */
    public static List<String> all() {
        return ALL;
    }
}
