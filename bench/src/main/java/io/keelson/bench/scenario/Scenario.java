package io.keelson.bench.scenario;

import io.keelson.bench.contender.ContenderKind;
import java.util.List;

/** One question to the contenders. */
public interface Scenario {

    /** As an option names it. */
    String name();

    /** As tables show it. */
    String title();

    /** Who can take part, in the order of the first round. */
    default List<ContenderKind> contenders() {
        return List.of(ContenderKind.KEELSON);
    }

    /** Whether there is one turn only, because a turn takes long. Most such turns repeat their loads instead. */
    default boolean hasOneTurn() {
        return false;
    }

    /** One contender's turn in one round, on an empty database. */
    void measure(Bench bench) throws Exception;
}
