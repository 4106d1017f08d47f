package io.keelson.server.plan;

import io.keelson.core.plan.Problem;
import java.util.List;

/** What came of reading something: the value, or everything that is wrong with it. */
public sealed interface Reading<T> {

    record Done<T>(T value) implements Reading<T> {}

    /** @param problems at least one, in the order of the document as far as possible */
    record Refused<T>(List<Problem> problems) implements Reading<T> {

        public Refused {
            problems = List.copyOf(problems);
        }
    }
}
