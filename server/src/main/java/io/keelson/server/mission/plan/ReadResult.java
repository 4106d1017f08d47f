package io.keelson.server.mission.plan;

import io.keelson.core.plan.PlanProblem;
import java.util.List;

/** The result of reading: the value, or all problems. */
public sealed interface ReadResult<T> {

    record Ok<T>(T value) implements ReadResult<T> {}

    /** @param problems at least one, in the order of the document as far as possible */
    record Invalid<T>(List<PlanProblem> problems) implements ReadResult<T> {

        public Invalid {
            problems = List.copyOf(problems);
        }
    }
}
