package io.keelson.server.plan;

import io.keelson.core.plan.PlanProblem;
import java.util.List;

/** What came of reading something: the value, or everything that is wrong with it. */
public sealed interface ReadResult<T> {

    record Ok<T>(T value) implements ReadResult<T> {}

    /** @param problems at least one, in the order of the document as far as possible */
    record Invalid<T>(List<PlanProblem> problems) implements ReadResult<T> {

        public Invalid {
            problems = List.copyOf(problems);
        }
    }
}
