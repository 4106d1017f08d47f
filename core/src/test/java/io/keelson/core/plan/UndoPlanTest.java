package io.keelson.core.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.core.plan.UndoPlan.Original;
import io.keelson.core.plan.UndoPlan.Part;
import io.keelson.core.policy.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The order of an undo, and the work that it has. */
class UndoPlanTest {
    private static final StepSpec CALL =
            new StepSpec("back", StepKind.TOOL, "back", "{}", RetryPolicy.STEP, Duration.ofSeconds(30));
    private static final List<Part> DONE = List.of(new Part(null, true, List.of(CALL)));

    @Test
    void workIsUndoneAfterAllLaterWork() {
        Plan undo = UndoPlan.of(List.of(task("a", DONE), task("b", DONE, "a"), task("c", List.of(), "b"),
                task("d", DONE, "c"), task("e", DONE, "a")));
        assertThat(order(undo)).isEqualTo(Map.of("undo.a", List.of("undo.e", "undo.b"), "undo.b", List.of("undo.d"),
                "undo.d", List.of(), "undo.e", List.of()));
    }

    @Test
    void branchesWithoutDependencyAreUndoneSideBySide() {
        Plan undo = UndoPlan.of(List.of(task("a", DONE), task("b", DONE, "a"), task("x", DONE), task("y", DONE, "x")));
        assertThat(order(undo)).isEqualTo(Map.of("undo.a", List.of("undo.b"), "undo.b", List.of(), "undo.x",
                List.of("undo.y"), "undo.y", List.of()));
    }

    @Test
    void lastRoundIsUndoneFirst() {
        Plan undo = UndoPlan.of(List.of(task("a", DONE), task("b", List.of(), "a"), round("b", 1), round("b", 2),
                round("b", 3), task("c", DONE, "b")));
        assertThat(order(undo)).isEqualTo(Map.of("undo.a", List.of("undo.b.1"), "undo.b.1", List.of("undo.b.2"),
                "undo.b.2", List.of("undo.b.3"), "undo.b.3", List.of("undo.c"), "undo.c", List.of()));
    }

    @Test
    void stepsAreUndoneFromTheLastOne() {
        List<Part> steps = List.of(new Part("s1", true, List.of(CALL)), new Part("s2", false, List.of(CALL)));
        Plan undo = UndoPlan.of(List.of(task("a", steps), task("b", DONE, "a")));
        assertThat(order(undo)).isEqualTo(Map.of("undo.a.s1", List.of("undo.a.s2"), "undo.a.s2", List.of("undo.b"),
                "undo.b", List.of()));
        assertThat(undo.tasks().get(1).steps()).extracting(StepSpec::name).containsExactly(UndoPlan.QUESTION, "back");
    }

    @Test
    void tooMuchWorkIsRefused() {
        List<Original> many = IntStream.rangeClosed(0, UndoPlan.MAX_TASKS).mapToObj(i -> task("t" + i, DONE)).toList();
        assertThatThrownBy(() -> UndoPlan.of(many)).isInstanceOf(UndoPlan.TooLargeException.class);
        List<Original> wide = new ArrayList<>(IntStream.range(0, 300).mapToObj(i -> task("u" + i, DONE)).toList());
        String[] all = wide.stream().map(Original::key).toArray(String[]::new);
        IntStream.range(0, 300).forEach(i -> wide.add(task("d" + i, DONE, all)));
        assertThatThrownBy(() -> UndoPlan.of(wide)).isInstanceOf(UndoPlan.TooLargeException.class);
    }

    @Test
    void onlyRefusalsOfAnOnlyExecutionAreKnownAsNotDone() {
        Undo undo = new Undo(List.of(CALL), Map.of());
        assertThat(UndoWork.parts(undo, false, List.of(step(0, true, null, null)))).isEmpty();
        assertThat(UndoWork.parts(undo, false, List.of(step(1, true, "REFUSED", "permanent")))).isEmpty();
        assertThat(UndoWork.parts(undo, false, List.of(step(1, false, "NET", "infrastructure")))).isEmpty();
        for (UndoWork.Step unknown : List.of(step(1, true, "NET", "infrastructure"), step(1, true, null, null),
                step(2, true, "REFUSED", "permanent"), step(1, true, "STEP_TIMEOUT", "permanent"))) {
            assertThat(UndoWork.parts(undo, false, List.of(unknown)))
                    .containsExactly(new Part(null, false, List.of(CALL)));
        }
        assertThat(UndoWork.parts(undo, true, List.of())).containsExactly(new Part(null, true, List.of(CALL)));
        Undo own = new Undo(List.of(), Map.of("s", List.of(CALL)));
        assertThat(UndoWork.parts(own, false, List.of(step(1, true, "NET", "infrastructure"),
                new UndoWork.Step("s", true, 1, true, null, null))))
                .containsExactly(new Part("s", true, List.of(CALL)));
    }

    @Test
    void lastCompletedRowOfATaskCounts() {
        Undo undo = new Undo(List.of(CALL), Map.of());
        List<UndoWork.Step> broken = List.of(step(1, true, "NET", "infrastructure"));
        assertThat(UndoWork.of(List.of(row(1, undo, true, broken), row(2, undo, false, broken)))).singleElement()
                .extracting(Original::task).isEqualTo(new UUID(0, 1));
        assertThat(UndoWork.of(List.of(row(1, undo, false, broken), row(2, undo, false, List.of())))).singleElement()
                .extracting(Original::task).isEqualTo(new UUID(0, 1));
        assertThat(UndoWork.of(List.of(row(1, undo, true, broken), row(2, undo, true, broken)))).singleElement()
                .extracting(Original::task).isEqualTo(new UUID(0, 2));
        assertThat(UndoWork.of(List.of(row(1, undo, true, broken), row(2, null, true, List.of())))).singleElement()
                .extracting(Original::task).isEqualTo(new UUID(0, 1));
    }

    @Test
    void upstreamsOfReplacedRowsCountWithoutCircles() {
        List<Original> all = UndoWork.of(List.of(row("a"), row("b", "a"), row("a", "b"), row("b")));
        assertThat(all).extracting(Original::upstreams).containsExactly(List.of("b"), List.of());
        List<Original> two = UndoWork.of(List.of(row("a"), row("b", "a"), row("b")));
        assertThat(two).extracting(Original::upstreams).containsExactly(List.of(), List.of("a"));
    }

    private static UndoWork.Row row(String key, String... upstreams) {
        return new UndoWork.Row(new UUID(0, 9), key, key, null, 0, List.of(upstreams), false, null, true, List.of());
    }

    private static UndoWork.Row row(int id, Undo undo, boolean completed, List<UndoWork.Step> steps) {
        return new UndoWork.Row(new UUID(0, id), "a", "a", null, 0, List.of(), false, undo, completed, steps);
    }

    private static UndoWork.Step step(int executions, boolean effects, String code, String errorClass) {
        return new UndoWork.Step("s", false, executions, effects, code, errorClass);
    }

    private static Map<String, List<String>> order(Plan undo) {
        Map<String, List<String>> order = new java.util.HashMap<>();
        undo.tasks().forEach(task -> order.put(task.id(), task.dependsOn().stream().map(Dependency::task).toList()));
        return order;
    }

    private static Original task(String key, List<Part> parts, String... upstreams) {
        return new Original(new UUID(0, key.hashCode()), key, key, null, 0, List.of(upstreams), false, parts);
    }

    private static Original round(String group, int number) {
        String key = group + "[" + number + "]";
        return new Original(new UUID(0, key.hashCode()), key, key, group, number, List.of(), false, DONE);
    }
}
