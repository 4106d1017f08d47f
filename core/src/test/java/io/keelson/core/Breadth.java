package io.keelson.core;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/**
 * How much of a long test is executed: a part by {@code ./check}, another one each day of the week, and
 * everything by {@code ./check --all}. {@code -Dkeelson.part=1} selects a part.
 */
public final class Breadth {
    private static final boolean ALL = Boolean.getBoolean("keelson.long");
    private static final int PARTS = 7;
    private static final int PART = Integer.getInteger("keelson.part",
            LocalDate.now(ZoneOffset.UTC).getDayOfWeek().getValue() - 1);

    private Breadth() {}

    /** Returns the elements of the part: every seventh one. Consecutive elements are in different parts. */
    public static <T> List<T> of(List<T> all) {
        return IntStream.range(0, all.size()).filter(Breadth::has).mapToObj(all::get).toList();
    }

    /** True if the part has the case of this number, from 0: every seventh one. */
    public static boolean has(int number) {
        return ALL || number % PARTS == PART;
    }

    /** Returns {@code all} with {@code ./check --all}, else {@code usual}, in every part. */
    public static int of(int usual, int all) {
        return ALL ? all : usual;
    }

    /** Returns the number of the part, with which a test that makes up its own cases makes up others each day. */
    public static int part() {
        return PART;
    }

    /** True if every part is executed. */
    public static boolean all() {
        return ALL;
    }

    /** A test, or a class of tests, that is executed in one part only, and with {@code ./check --all}. */
    @Target({ElementType.TYPE, ElementType.METHOD})
    @Retention(RetentionPolicy.RUNTIME)
    @ExtendWith({OfItsPart.class, InFailures.class})
    public @interface InPart {
        int value();
    }

    private static final class OfItsPart implements ExecutionCondition {
        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            return context.getElement().map(test -> test.getAnnotation(InPart.class))
                    .filter(its -> !ALL && its.value() != PART)
                    .map(its -> ConditionEvaluationResult.disabled(
                            "executed in part %d, -Dkeelson.part=%1$d; this is part %d".formatted(its.value(), PART)))
                    .orElseGet(() -> ConditionEvaluationResult.enabled("of this part"));
        }
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
