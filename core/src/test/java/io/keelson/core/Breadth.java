package io.keelson.core;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.junit.platform.commons.annotation.Testable;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.HierarchyTraversalMode;

/**
 * How much of a long test is executed. {@code ./check} executes one of seven parts, selected by
 * {@code scripts/check-part} from the commit. {@code -Dkeelson.part=1} or {@code -Dkeelson.part=1,4} selects parts; without it
 * all parts are executed. {@code ./check --all} also executes the long runs.
 */
public final class Breadth {
    private static final boolean ALL = Boolean.getBoolean("keelson.long");
    private static final int COUNT = 7;
    /** The executed parts, in the order of their selection. */
    private static final List<Integer> PARTS = ALL
            ? List.of(0, 1, 2, 3, 4, 5, 6)
            : Stream.of(System.getProperty("keelson.part", "0,1,2,3,4,5,6").split(",")).map(Integer::valueOf).toList();

    private Breadth() {}

    /** Returns the elements of the executed parts. Consecutive elements are in different parts. */
    public static <T> List<T> of(List<T> all) {
        return IntStream.range(0, all.size()).filter(Breadth::has).mapToObj(all::get).toList();
    }

    /** True if an executed part has the case of this number, from 0. */
    public static boolean has(int number) {
        return PARTS.contains(number % COUNT);
    }

    /** True if an executed part has the case of this name: each part has two of seven. */
    public static boolean has(String name) {
        return PARTS.stream().anyMatch(part -> Math.floorMod(name.hashCode() + part, COUNT) < 2);
    }

    /** Returns {@code all} with {@code ./check --all}, else {@code usual}, in every part. */
    public static int of(int usual, int all) {
        return ALL ? all : usual;
    }

    /** Returns the first executed part. A test that generates its cases uses it as a seed. */
    public static int part() {
        return PARTS.getFirst();
    }

    /** True for {@code ./check --all}. */
    public static boolean all() {
        return ALL;
    }

    /** A test, or a class of tests, of one part or some. */
    @Target({ElementType.TYPE, ElementType.METHOD})
    @Retention(RetentionPolicy.RUNTIME)
    @ExtendWith({OfItsPart.class, InFailures.class})
    public @interface InPart {
        int[] value();
    }

    /**
     * A class of many tests alike. Each part executes two of seven of them, selected by their names. Tests with
     * {@link InPart} and tests of nested classes are not selected here.
     */
    @Target(ElementType.TYPE)
    @Retention(RetentionPolicy.RUNTIME)
    @Inherited
    @ExtendWith(Spreading.class)
    public @interface Spread {}

    private static final class Spreading implements ExecutionCondition {
        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            boolean here = context.getTestMethod().map(Spreading::executes)
                    .orElseGet(() -> executesSome(context.getRequiredTestClass()));
            return here ? ConditionEvaluationResult.enabled("of this part")
                    : ConditionEvaluationResult.disabled("executed in other parts than " + PARTS);
        }

        /** False if no test of the class is selected, so that the class does not start its server. */
        private static boolean executesSome(Class<?> tests) {
            return AnnotationSupport.findAnnotatedMethods(tests, Testable.class, HierarchyTraversalMode.TOP_DOWN)
                    .stream()
                    .anyMatch(Spreading::executes)
                    || Arrays.stream(tests.getDeclaredClasses())
                            .anyMatch(each -> each.isAnnotationPresent(Nested.class));
        }

        private static boolean executes(Method test) {
            return !test.getDeclaringClass().isAnnotationPresent(Spread.class) || test.isAnnotationPresent(InPart.class)
                    || has(test.getName());
        }
    }

    private static final class OfItsPart implements ExecutionCondition {
        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            return context.getElement().map(test -> test.getAnnotation(InPart.class))
                    .filter(its -> IntStream.of(its.value()).noneMatch(PARTS::contains))
                    .map(its -> ConditionEvaluationResult
                            .disabled("executed in part %s, as with -Dkeelson.part=%d; selected: %s"
                                    .formatted(Arrays.toString(its.value()), its.value()[0], PARTS)))
                    .orElseGet(() -> ConditionEvaluationResult.enabled("of this part"));
        }
    }

    /** Adds the executed part to the failures of a class whose tests depend on it. */
    public static final class InFailures implements TestExecutionExceptionHandler {
        @Override
        public void handleTestExecutionException(ExtensionContext test, Throwable failure) throws Throwable {
            failure.addSuppressed(new AssertionError(ALL ? "executed with -Dkeelson.long=true"
                    : "repeat it with -Dkeelson.part="
                            + PARTS.stream().map(String::valueOf).collect(Collectors.joining(","))));
            throw failure;
        }
    }
}
