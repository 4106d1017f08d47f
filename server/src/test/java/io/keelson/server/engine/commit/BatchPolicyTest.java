package io.keelson.server.engine.commit;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.engine.commit.BatchPolicy.Line;
import io.keelson.server.engine.commit.BatchPolicy.Next;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which line's commit begins next, and with how many commands. */
class BatchPolicyTest {

    @ParameterizedTest(name = "tasks {0}/{1}/{2}, steps {3}/{4}/{5}: {6}")
    @CsvSource({
            // waiting, commits, passed of tasks; the same of steps
            "0, 0, 0,   0, 0, 0,   NEITHER",
            "1, 0, 0,   0, 0, 0,   TASKS",
            "0, 0, 0,   1, 0, 0,   STEPS",
            // a few commands on tasks wait until a commit on steps has begun
            "1, 0, 0,   1, 0, 0,   STEPS",
            "7, 0, 0,   0, 1, 0,   NEITHER",
            "8, 0, 0,   0, 1, 0,   TASKS",
            "1, 0, 1,   0, 1, 0,   TASKS",
            // a few commands on steps wait for the end of a commit on tasks, which two such commits precede at most
            "0, 1, 0,   3, 0, 0,   NEITHER",
            "0, 1, 0,   3, 0, 1,   NEITHER",
            "0, 1, 0,   3, 0, 2,   STEPS",
            "0, 1, 0,   4, 0, 0,   STEPS",
            // a commit beside a running one of its own line needs more
            "23, 1, 1,   0, 0, 0,   NEITHER",
            "24, 1, 0,   0, 0, 0,   TASKS",
            "0, 0, 0,   23, 1, 2,   NEITHER",
            "0, 0, 0,   24, 1, 0,   STEPS",
            // both are due: the line that was passed more often, else the tasks
            "8, 0, 0,   4, 0, 0,   TASKS",
            "24, 1, 1,   4, 0, 2,   STEPS",
            "24, 1, 2,   4, 0, 2,   TASKS"})
    void nextCommit(int waitingTasks, int commitsOfTasks, int passedTasks, int waitingSteps, int commitsOfSteps,
            int passedSteps, Next next) {
        assertThat(BatchPolicy.next(new Line(waitingTasks, commitsOfTasks, passedTasks),
                new Line(waitingSteps, commitsOfSteps, passedSteps))).isEqualTo(next);
    }

    @ParameterizedTest
    @CsvSource({"1, 300", "47, 300", "48, 24", "49, 25", "599, 300", "10000, 300"})
    void halfOfManyCommandsIsEnough(int waiting, int enough) {
        assertThat(BatchPolicy.enough(waiting)).isEqualTo(enough);
    }
}
