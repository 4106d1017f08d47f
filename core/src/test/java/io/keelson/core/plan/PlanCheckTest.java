package io.keelson.core.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.keelson.core.policy.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class PlanCheckTest {
    private static final int MANY = 10_000;

    @ParameterizedTest(name = "{0}")
    @MethodSource("plans")
    void aPlanHasTheseProblems(String title, Plan plan, List<String> expected) {
        assertProblems(plan, expected);
    }

    static Stream<Arguments> plans() {
        return Stream.of(plan("no task at all", List.of()),
                plan("a diamond", List.of(task("a"), task("b", "a"), task("c", "a"), task("d", "b", "c"))),
                plan("an upstream named before its task", List.of(task("b", "a"), task("a"))),
                plan("two in a circle", List.of(task("t1", "t2"), task("t2", "t1")),
                        "DEPENDENCY_CYCLE /plan/tasks/0/depends_on t1 → t2 → t1"),
                plan("a circle behind others", List.of(task("x", "y"), task("y", "z"), task("z", "y")),
                        "DEPENDENCY_CYCLE /plan/tasks/1/depends_on y → z → y"),
                plan("a task that waits for itself", List.of(task("a"), task("b", "b")),
                        "DEPENDENCY_CYCLE /plan/tasks/1/depends_on b → b"),
                plan("an upstream that does not exist", List.of(task("a", "ghost")),
                        "DEPENDENCY_UNKNOWN /plan/tasks/0/depends_on/0 'ghost', which does not exist"),
                plan("an upstream named twice", List.of(task("a"), task("b", "a", "a")),
                        "DUPLICATE_NAME /plan/tasks/1/depends_on/1 'a' is named twice"),
                plan("two tasks of one name", List.of(task("a"), task("b"), task("a")),
                        "DUPLICATE_NAME /plan/tasks/2/id already used by task 0"),
                plan("two steps of one name", List.of(steps("a", step("s", "echo"), step("s", "noop"))),
                        "DUPLICATE_NAME /plan/tasks/0/steps/1/name 's' is used twice"),
                plan("steps of one name in two tasks", List.of(steps("a", step("s", "echo")),
                        steps("b", step("s", "echo")))),
                plan("an unknown tool", List.of(steps("a", step("s", "teleport"))),
                        "UNKNOWN_TOOL /plan/tasks/0/steps/0/tool 'teleport'"),
                plan("kinds without a tool of the catalogue", List.of(steps("a",
                        step("s", StepKind.APPROVAL, "approval", "{}"), step("t", StepKind.TURN, "agent.turn", "{}")))),
                plan("an input that its tool refuses", List.of(steps("a", step("s", "echo", "bad"))),
                        "BAD /plan/tasks/0/steps/0/input bad"),
                plan("expressions that do not parse",
                        List.of(expressions("a", "bad", null, null), expressions("b", null, "bad", "bad")),
                        "BAD /plan/tasks/0/when bad", "BAD /plan/tasks/1/for_each bad", "BAD /plan/tasks/1/output bad"),
                plan("everything at once",
                        List.of(steps("a", step("s", "teleport"), step("s", "echo", "bad")), task("a", "ghost"),
                                task("c", "d"), task("d", "c")),
                        "DUPLICATE_NAME /plan/tasks/1/id already used",
                        "UNKNOWN_TOOL /plan/tasks/0/steps/0/tool 'teleport'",
                        "DUPLICATE_NAME /plan/tasks/0/steps/1/name twice", "BAD /plan/tasks/0/steps/1/input bad",
                        "DEPENDENCY_UNKNOWN /plan/tasks/1/depends_on/0 ghost",
                        "DEPENDENCY_CYCLE /plan/tasks/2/depends_on c → d → c"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("references")
    void expressionsNameOnlyWhatHasEnded(String title, Plan plan, List<String> expected) {
        assertProblems(plan, expected);
    }

    static Stream<Arguments> references() {
        return Stream.of(plan("a direct upstream", List.of(task("a"), input("b", "@a", "a"))),
                plan("an upstream's upstream", List.of(task("a"), task("b", "a"), input("c", "@a @b", "b"))),
                plan("a task that does not exist", List.of(input("a", "@ghost")),
                        "UNKNOWN_REFERENCE /plan/tasks/0/steps/0/input 'ghost', which does not exist"),
                plan("a task beside it", List.of(task("a"), input("b", "@a")),
                        "REFERENCE_NOT_UPSTREAM /plan/tasks/1/steps/0/input add it to depends_on"),
                plan("a task behind it", List.of(input("a", "@b"), task("b", "a")),
                        "REFERENCE_NOT_UPSTREAM /plan/tasks/0/steps/0/input 'b'"),
                plan("itself in a step", List.of(input("a", "@a")),
                        "REFERENCE_NOT_UPSTREAM /plan/tasks/0/steps/0/input 'a'"),
                plan("itself in its output", List.of(expressions("a", null, null, "@a"))),
                plan("a stranger in its output", List.of(task("a"), expressions("b", null, null, "@a")),
                        "REFERENCE_NOT_UPSTREAM /plan/tasks/1/output 'a'"),
                plan("itself in what decides whether it runs", List.of(expressions("a", "@a", "@a", null)),
                        "REFERENCE_NOT_UPSTREAM /plan/tasks/0/when 'a'",
                        "REFERENCE_NOT_UPSTREAM /plan/tasks/0/for_each 'a'"),
                plan("declared inputs and others", List.of(input("a", "$path $pat")),
                        "UNKNOWN_REFERENCE /plan/tasks/0/steps/0/input input 'pat', which is not declared"),
                plan("a name of the scope and others", List.of(input("a", "^task ^tsk ^item")),
                        "UNKNOWN_REFERENCE /plan/tasks/0/steps/0/input '.item', which exists in a task with for_each",
                        "UNKNOWN_REFERENCE /plan/tasks/0/steps/0/input '.tsk', which does not exist here; known: inp"),
                plan("an item", List.of(expressions("a", null, "^inputs", "^item ^index"))),
                plan("an earlier step", List.of(steps("a", step("s", "echo"), step("t", "echo", "%s")))),
                plan("itself, a later step and none",
                        List.of(steps("a", step("s", "echo", "%s %t %u"), step("t", "echo"))),
                        "REFERENCE_NOT_UPSTREAM /plan/tasks/0/steps/0/input step 's', which has not ended",
                        "REFERENCE_NOT_UPSTREAM /plan/tasks/0/steps/0/input step 't', which has not ended",
                        "UNKNOWN_REFERENCE /plan/tasks/0/steps/0/input step 'u', which this task does not have"),
                plan("a step of another task", List.of(steps("a", step("s", "echo")), steps("b",
                        step("t", "echo", "%s"))),
                        "UNKNOWN_REFERENCE /plan/tasks/1/steps/0/input step 's', which this task does not have"),
                plan("a step beside it", List.of(parallel("a", step("s", "echo"), step("t", "echo", "%s"))),
                        "REFERENCE_NOT_UPSTREAM /plan/tasks/0/steps/1/input step 's', which has not ended"),
                plan("its steps in its output", List.of(expressions("a", null, null, "%s"))),
                plan("its steps before they are", List.of(expressions("a", "%s", null, null)),
                        "REFERENCE_NOT_UPSTREAM /plan/tasks/0/when step 's', which has not ended"));
    }

    @Test
    void aChainOfTenThousandIsCheckedAtOnceAndWithoutRecursion() {
        List<TaskSpec> chain = new ArrayList<>(List.of(task("t0")));
        IntStream.range(1, MANY).forEach(i -> chain.add(input("t" + i, "@t0 @t" + (i - 1), "t" + (i - 1))));
        assertTimeoutPreemptively(Duration.ofSeconds(10), () -> assertThat(check(new Plan(1, chain))).isEmpty());
    }

    @Test
    void aCircleOfTenThousandIsFoundWithBothEndsOfItsPath() {
        List<TaskSpec> circle = IntStream.range(0, MANY).mapToObj(i -> task("t" + i, "t" + (i + 1) % MANY)).toList();
        PlanProblem problem = assertTimeoutPreemptively(Duration.ofSeconds(10),
                () -> check(new Plan(1, circle)).getFirst());
        assertThat(problem.code()).isEqualTo("DEPENDENCY_CYCLE");
        assertThat(problem.message()).contains("t0 → t1 → t2").contains("(9981 more)").endsWith("t9999 → t0");
    }

    @Test
    void aHundredByAHundredFanOutWithItsJoinIsCheckedAtOnce() {
        List<TaskSpec> plan = new ArrayList<>();
        for (int layer = 0; layer < 100; layer++) {
            String[] above = layer == 0 ? new String[0] : names(layer - 1);
            for (String name : names(layer)) {
                plan.add(input(name, layer == 0 ? "" : "@l0n0 @" + above[50], above));
            }
        }
        assertTimeoutPreemptively(Duration.ofSeconds(10), () -> assertThat(check(new Plan(1, plan))).isEmpty());
    }

    @Test
    void aLongNameIsCutInMessages() {
        String name = "n".repeat(100_000);
        assertThat(check(new Plan(1, List.of(task(name), task(name)))))
                .allSatisfy(problem -> assertThat(problem.message()).hasSizeLessThan(200)).hasSize(1);
    }

    private static String[] names(int layer) {
        return IntStream.range(0, 100).mapToObj(i -> "l" + layer + "n" + i).toArray(String[]::new);
    }

    /** A row reads like a report: code, pointer and a part of the message. */
    private static void assertProblems(Plan plan, List<String> rows) {
        assertThat(check(plan)).zipSatisfy(rows, (problem, row) -> {
            String[] parts = row.split(" ", 3);
            assertThat(problem.code()).isEqualTo(parts[0]);
            assertThat(problem.pointer()).isEqualTo(parts[1]);
            assertThat(problem.message()).contains(parts[2]);
        });
    }

    private static List<PlanProblem> check(Plan plan) {
        return PlanCheck.check(plan, new SimpleTools(), Set.of("path"));
    }

    private static Arguments plan(String title, List<TaskSpec> tasks, String... expected) {
        return Arguments.of(title, new Plan(1, tasks), List.of(expected));
    }

    private static TaskSpec task(String id, String... upstreams) {
        return spec(id, null, null, null, List.of(step("s", "echo")), upstreams);
    }

    private static TaskSpec steps(String id, StepSpec... steps) {
        return spec(id, null, null, null, List.of(steps));
    }

    private static TaskSpec parallel(String id, StepSpec... steps) {
        return new TaskSpec(id, id, null, TaskType.OTHER, null, List.of(), TriggerRule.ALL_SUCCESS, null, null, null,
                true,
                List.of(steps), null);
    }

    private static TaskSpec input(String id, String input, String... upstreams) {
        return spec(id, null, null, null, List.of(step("s", "echo", input)), upstreams);
    }

    private static TaskSpec expressions(String id, String when, String forEach, String output) {
        return spec(id, when, forEach, output, List.of(step("s", "echo")));
    }

    private static TaskSpec spec(String id, String when, String forEach, String output, List<StepSpec> steps,
            String... upstreams) {
        List<Dependency> dependsOn = Arrays.stream(upstreams).map(u -> new Dependency(u, true)).toList();
        return new TaskSpec(id, id, null, TaskType.OTHER, null, dependsOn, TriggerRule.ALL_SUCCESS, when, forEach,
                output, false, steps, null);
    }

    private static StepSpec step(String name, String tool) {
        return step(name, tool, "{}");
    }

    private static StepSpec step(String name, String tool, String input) {
        return step(name, StepKind.TOOL, tool, input);
    }

    private static StepSpec step(String name, StepKind kind, String tool, String input) {
        return new StepSpec(name, kind, tool, input, RetryPolicy.STEP, Duration.ofSeconds(30));
    }
}
