package io.keelson.server.engine.commit;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.engine.commit.BatchPolicy.Kind;
import io.keelson.server.engine.commit.BatchPolicy.Line;
import io.keelson.server.engine.commit.BatchPolicy.Lines;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.aggregator.AggregateWith;
import org.junit.jupiter.params.aggregator.ArgumentsAccessor;
import org.junit.jupiter.params.aggregator.ArgumentsAggregator;
import org.junit.jupiter.params.provider.CsvSource;

/** Which line's commit begins next, and with how many commands. */
class BatchPolicyTest {

    @ParameterizedTest(name = "begin {0}/{1}/{2}, end {3}/{4}/{5}, middle {6}/{7}/{8}: {9}")
    @CsvSource({
            // waiting, commits, passed: of the line of begins; of the line of ends; of the line of other commands
            "0, 0, 0,   0, 0, 0,   0, 0, 0,   ",
            "1, 0, 0,   0, 0, 0,   0, 0, 0,   BEGIN",
            "0, 0, 0,   1, 0, 0,   0, 0, 0,   END",
            "0, 0, 0,   0, 0, 0,   1, 0, 0,   MIDDLE",
            // a few commands on tasks wait until a commit on steps has begun
            "1, 0, 0,   0, 0, 0,   1, 0, 0,   MIDDLE",
            "0, 0, 0,   1, 0, 0,   1, 0, 0,   MIDDLE",
            "7, 0, 0,   0, 0, 0,   0, 1, 0,   ",
            "8, 0, 0,   0, 0, 0,   0, 1, 0,   BEGIN",
            "1, 0, 1,   0, 0, 0,   0, 1, 0,   BEGIN",
            "0, 0, 0,   7, 0, 0,   0, 1, 0,   ",
            "0, 0, 0,   8, 0, 0,   0, 1, 0,   END",
            "0, 0, 0,   1, 0, 1,   0, 1, 0,   END",
            // a few commands on steps wait for the end of a commit on tasks, which two such commits precede at most
            "0, 1, 0,   0, 0, 0,   3, 0, 0,   ",
            "0, 0, 0,   0, 1, 0,   3, 0, 1,   ",
            "0, 1, 0,   0, 0, 0,   3, 0, 2,   MIDDLE",
            "0, 0, 0,   0, 1, 0,   4, 0, 0,   MIDDLE",
            // ends of tasks pass begins: a few begins wait for one commit, a few ends for the end of a commit of begins
            "1, 0, 0,   1, 0, 0,   0, 0, 0,   END",
            "7, 0, 0,   0, 1, 0,   0, 0, 0,   ",
            "8, 0, 0,   0, 1, 0,   0, 0, 0,   BEGIN",
            "1, 0, 1,   0, 1, 0,   0, 0, 0,   BEGIN",
            "0, 1, 0,   3, 0, 0,   0, 0, 0,   ",
            "0, 1, 0,   3, 0, 2,   0, 0, 0,   END",
            "0, 1, 0,   4, 0, 0,   0, 0, 0,   END",
            // a commit beside a running one of its own line needs more
            "23, 1, 1,   0, 0, 0,   0, 0, 0,   ",
            "24, 1, 0,   0, 0, 0,   0, 0, 0,   BEGIN",
            "0, 0, 0,   23, 1, 2,   0, 0, 0,   ",
            "0, 0, 0,   24, 1, 0,   0, 0, 0,   END",
            "0, 0, 0,   0, 0, 0,   23, 1, 2,   ",
            "0, 0, 0,   0, 0, 0,   24, 1, 0,   MIDDLE",
            // several are due: the line that was passed most often, else begins before ends before the others
            "8, 0, 0,   8, 0, 0,   4, 0, 0,   BEGIN",
            "8, 0, 0,   8, 0, 1,   4, 0, 0,   END",
            "24, 1, 1,   0, 0, 0,   4, 0, 2,   MIDDLE",
            "24, 1, 2,   0, 0, 0,   4, 0, 2,   BEGIN"})
    void nextCommit(@AggregateWith(OfLines.class) Lines lines, @AggregateWith(OfNext.class) Kind next) {
        assertThat(BatchPolicy.next(lines)).isEqualTo(next);
    }

    /** The first nine columns. */
    static final class OfLines implements ArgumentsAggregator {
        @Override
        public Lines aggregateArguments(ArgumentsAccessor row, ParameterContext context) {
            return new Lines(line(row, 0), line(row, 3), line(row, 6));
        }

        private static Line line(ArgumentsAccessor row, int from) {
            return new Line(row.getInteger(from), row.getInteger(from + 1), row.getInteger(from + 2));
        }
    }

    /** The last column; null for an empty one. */
    static final class OfNext implements ArgumentsAggregator {
        @Override
        public Kind aggregateArguments(ArgumentsAccessor row, ParameterContext context) {
            String name = row.getString(9);
            return name == null ? null : Kind.valueOf(name);
        }
    }

    /** Without a running commit, a commit begins for each number of waiting commands. */
    @Test
    void waitingCommandsAreNeverStuck() {
        for (int i = 1; i < 1_000; i++) {
            Lines lines = new Lines(new Line(i % 10, 0, i % 3), new Line(i / 10 % 10, 0, i % 2),
                    new Line(i / 100, 0, i % 3));
            assertThat(BatchPolicy.next(lines)).as("%s", lines).isNotNull();
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 300", "47, 300", "48, 24", "49, 25", "599, 300", "10000, 300"})
    void halfOfManyCommandsIsEnough(int waiting, int enough) {
        assertThat(BatchPolicy.enough(waiting)).isEqualTo(enough);
    }
}
