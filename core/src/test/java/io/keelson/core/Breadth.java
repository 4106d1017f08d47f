package io.keelson.core;

import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/**
 * How much of a long test is executed: a part by {@code ./check}, another one each day, and everything by
 * {@code ./check --all}. {@code -Dkeelson.part=1} selects a part.
 */
public final class Breadth {
    private static final boolean ALL = Boolean.getBoolean("keelson.long");
    private static final int PARTS = 3;
    private static final int PART = Integer.getInteger("keelson.part",
            (int) (LocalDate.now(ZoneOffset.UTC).toEpochDay() % PARTS));

    private Breadth() {}

    /** Returns the elements of the part: every third one. Consecutive elements are in different parts. */
    public static <T> List<T> of(List<T> all) {
        return ALL ? all
                : IntStream.range(0, all.size()).filter(i -> i % PARTS == PART).mapToObj(all::get).toList();
    }

    /** Returns {@code all} with {@code ./check --all}, else {@code usual}, in every part. */
    public static int of(int usual, int all) {
        return ALL ? all : usual;
    }

    /** True if every part is executed. */
    public static boolean all() {
        return ALL;
    }

    /** Adds the executed part to the failures of a class whose tests depend on it. */
    public static final class InFailures implements TestExecutionExceptionHandler {
        @Override
        public void handleTestExecutionException(ExtensionContext test, Throwable failure) throws Throwable {
            failure.addSuppressed(new AssertionError(ALL ? "all parts were executed: -Dkeelson.long=true"
                    : "part %d of 0 to %d was executed: repeat it with -Dkeelson.part=%1$d".formatted(PART,
                            PARTS - 1)));
            throw failure;
        }
    }
}
