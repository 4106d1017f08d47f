package io.keelson.core.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The canonical states in each contract, and that they refine it. */
class ProjectionTest {

    /** Columns: handoff | gate4 | steps | mission | lifecycle. */
    @ParameterizedTest(name = "run {0}")
    @CsvSource(delimiter = '|', textBlock = """
            created           | CREATED   | received                   | PENDING          | pending           | requested
            pending           | PENDING   | queued                     | PENDING          | pending           | queued
            planning          | PENDING   | executing                  | RUNNING          | planning          | queued
            awaiting_approval | PENDING   | awaiting_user_confirmation | WAITING_APPROVAL | awaiting_approval | queued
            ready             | PENDING   | executing                  | RUNNING          | running           | queued
            running           | RUNNING   | executing                  | RUNNING          | running           | running
            paused            | PAUSED    | awaiting_user_confirmation | RUNNING          | paused            | running
            budget_exceeded   | PAUSED    | awaiting_user_confirmation | RUNNING          | budget_exceeded   | running
            escalated         | PAUSED    | awaiting_user_confirmation | WAITING_APPROVAL | paused            | running
            resuming          | RESUMING  | executing                  | RUNNING          | running           | running
            retrying          | RETRYING  | received                   | PENDING          | pending           | requested
            completed         | COMPLETED | completed                  | SUCCEEDED        | completed         | completed
            skipped           | COMPLETED | completed                  | SUCCEEDED        | completed         | completed
            failed            | FAILED    | failed                     | FAILED           | failed            | failed
            cancelled         | CANCELLED | cancelled                  | CANCELED         | cancelled         | failed
            """)
    void runs(String state, String handoff, String gate4, String steps, String mission, String lifecycle) {
        assertThat(Contracts.all()).extracting(each -> each.run().of(RunState.of(state), Circumstance.USUAL))
                .containsExactly(handoff, gate4, steps, mission, lifecycle);
        if (!state.equals("running")) {
            assertThat(Contracts.all()).allSatisfy(each -> assertThat(
                    EnumSet.complementOf(EnumSet.of(Circumstance.NOT_BEGUN)))
                    .extracting(when -> each.run().of(RunState.of(state), when)).containsOnly(
                            each.run().of(RunState.of(state), Circumstance.USUAL)));
        }
    }

    @Test
    void aRunningRunMayWait() {
        assertThat(Contracts.all()).extracting(c -> c.run().of(RunState.RUNNING, Circumstance.WAITS_FOR_TIMER))
                .containsExactly("RUNNING", "awaiting_tool", "RUNNING", "running", "running");
        assertThat(Contracts.all()).extracting(c -> c.run().of(RunState.RUNNING, Circumstance.WAITS_FOR_HUMAN))
                .containsExactly("RUNNING", "awaiting_user_confirmation", "WAITING_APPROVAL", "running", "running");
    }

    /** "queued → running: the first step begins". */
    @Test
    void aRunIsQueuedInTheLifecycleUntilItsFirstStep() {
        assertThat(EnumSet.allOf(RunState.class).stream().filter(each -> Contracts.LIFECYCLE.run()
                .of(each, Circumstance.NOT_BEGUN).equals("queued"))).containsExactly(RunState.PENDING,
                        RunState.PLANNING, RunState.AWAITING_APPROVAL, RunState.READY, RunState.PAUSED,
                        RunState.BUDGET_EXCEEDED, RunState.RESUMING);
        assertThat(Circumstance.ofStart(false)).isEqualTo(Circumstance.NOT_BEGUN);
        assertThat(Circumstance.ofStart(true)).isEqualTo(Circumstance.USUAL);
    }

    @ParameterizedTest(name = "task {0}")
    @CsvSource(delimiter = '|', textBlock = """
            pending        | received                   | received
            queued         | queued                     | awaiting_tool
            assigned       | queued                     | awaiting_tool
            running        | executing                  | executing
            continuing     | executing                  | executing
            verifying      | executing                  | executing
            awaiting_human | awaiting_user_confirmation | awaiting_user_confirmation
            awaiting_retry | awaiting_tool              | awaiting_tool
            completed      | completed                  | completed
            failed         | failed                     | failed
            cancelled      | cancelled                  | cancelled
            skipped        | cancelled                  | cancelled
            """)
    void tasks(String state, String first, String later) {
        Projection<TaskState> gate4 = Objects.requireNonNull(Contracts.GATE4.task());
        Projection<TaskState> mission = Objects.requireNonNull(Contracts.MISSION.task());
        assertThat(gate4.of(TaskState.of(state), Circumstance.ofTask(TaskState.of(state), false, false, Set.of())))
                .isEqualTo(first);
        assertThat(gate4.of(TaskState.of(state), Circumstance.ofTask(TaskState.of(state), true, false, Set.of())))
                .isEqualTo(later);
        assertThat(mission.of(TaskState.of(state), Circumstance.ofTask(TaskState.of(state), true, false, Set.of())))
                .isEqualTo(state);
    }

    @ParameterizedTest(name = "task {0}, dispatched: {1}, open steps {2}: {3}")
    @CsvSource(delimiter = '|', nullValues = "none", textBlock = """
            running   | false | awaiting_retry                  | awaiting_tool
            verifying | false | awaiting_retry                  | awaiting_tool
            running   | false | waiting_approval                | awaiting_user_confirmation
            running   | true  | awaiting_retry                  | executing
            running   | false | awaiting_retry running          | executing
            running   | false | awaiting_retry waiting_approval | executing
            running   | false | waiting                         | executing
            running   | false | none                            | executing
            """)
    void aWorkItemWhoseStepsAllWaitIsPaused(String state, boolean dispatched, String open, String name) {
        Set<StepState> steps = Stream.ofNullable(open).flatMap(all -> Stream.of(all.split(" "))).map(StepState::of)
                .collect(Collectors.toSet());
        Projection<TaskState> gate4 = Objects.requireNonNull(Contracts.GATE4.task());
        Projection<TaskState> mission = Objects.requireNonNull(Contracts.MISSION.task());
        for (boolean tried : List.of(false, true)) {
            Circumstance when = Circumstance.ofTask(TaskState.of(state), tried, dispatched, steps);
            assertThat(gate4.of(TaskState.of(state), when)).isEqualTo(name);
            assertThat(mission.of(TaskState.of(state), when)).isEqualTo(state);
        }
    }

    @ParameterizedTest(name = "step {0}")
    @CsvSource(delimiter = '|', textBlock = """
            pending          | PENDING
            awaiting_retry   | PENDING
            running          | RUNNING
            waiting          | RUNNING
            waiting_approval | WAITING_APPROVAL
            completed        | SUCCEEDED
            failed           | FAILED
            cancelled        | CANCELED
            skipped          | CANCELED
            """)
    void steps(String state, String name) {
        Projection<StepState> steps = Objects.requireNonNull(Contracts.STEPS.step());
        assertThat(steps.of(StepState.of(state), Circumstance.USUAL)).isEqualTo(name);
    }

    @ParameterizedTest(name = "dispatched: {0}, tasks: {1}, steps: {2}: {3}")
    @CsvSource(delimiter = '|', nullValues = "none", textBlock = """
            false | none                           | none                            | usual
            false | pending completed              | completed                       | usual
            true  | running                        | waiting_approval                | usual
            true  | running                        | awaiting_retry                  | usual
            false | running                        | waiting_approval running        | usual
            false | running                        | waiting_approval waiting        | usual
            false | running verifying              | waiting_approval                | usual
            false | running                        | waiting_approval                | waits_for_human
            false | running queued pending failed  | waiting_approval pending failed | waits_for_human
            false | awaiting_human                 | completed                       | waits_for_human
            false | running                        | awaiting_retry pending          | waits_for_timer
            false | awaiting_retry                 | failed                          | waits_for_timer
            false | continuing                     | completed                       | waits_for_timer
            false | running                        | awaiting_retry waiting_approval | usual
            false | continuing awaiting_human      | completed                       | usual
            """)
    void openWorkHasAWaitReason(boolean dispatched, String tasks, String steps, String circumstance) {
        Set<TaskState> taskStates = EnumSet.noneOf(TaskState.class);
        Set<StepState> stepStates = EnumSet.noneOf(StepState.class);
        Stream.ofNullable(tasks).flatMap(t -> Stream.of(t.split(" "))).forEach(t -> taskStates.add(TaskState.of(t)));
        Stream.ofNullable(steps).flatMap(s -> Stream.of(s.split(" "))).forEach(s -> stepStates.add(StepState.of(s)));
        assertThat(Circumstance.ofRun(dispatched, taskStates, stepStates).wire()).isEqualTo(circumstance);
    }

    /**
     * Every canonical edge in every circumstance before and after is a path of at most three transitions of the contract,
     * none of whose inner states is an end. Where the contract's end is immutable, a retry is a new item.
     */
    @ParameterizedTest(name = "{0} {1}: {2} {4} -> {3} {5}")
    @MethodSource("edges")
    <S extends Enum<S> & State> void everyCanonicalEdgeIsALegalPath(String contract, Projection<S> projection, S from,
            S to, Circumstance before, Circumstance after) {
        String start = projection.of(from, before);
        String end = projection.of(to, after);
        if (from.terminal() && projection.machine().immutable(start)) {
            assertThat(end).isEqualTo(projection.machine().initial());
        } else {
            assertThat(path(projection.machine(), start, end)).as(start + " to " + end).hasSizeBetween(1, 4);
        }
    }

    /** What open work waits for changes while the run stays where it is. */
    @ParameterizedTest
    @MethodSource("contracts")
    void aCircumstanceMayChangeToAnyOther(Contract contract) {
        for (Circumstance before : Circumstance.values()) {
            for (Circumstance after : Circumstance.values()) {
                assertThat(path(contract.run().machine(), contract.run().of(RunState.RUNNING, before),
                        contract.run().of(RunState.RUNNING, after))).hasSizeBetween(1, 3);
            }
        }
    }

    /**
     * Leaving {@code awaiting_retry} is what begins a task's next attempt. Were it still the first, Gate4 would see an item
     * go from {@code awaiting_tool} back to {@code queued}, which it forbids.
     */
    @Test
    void aTaskLeavesItsBackoffInALaterAttempt() {
        Projection<TaskState> gate4 = Objects.requireNonNull(Contracts.GATE4.task());
        for (TaskState to : List.of(TaskState.QUEUED, TaskState.ASSIGNED)) {
            assertThat(path(gate4.machine(), gate4.of(TaskState.AWAITING_RETRY, Circumstance.USUAL),
                    gate4.of(to, Circumstance.USUAL))).isEmpty();
        }
    }

    @Test
    void aRetryIsANewItemWhereAnEndIsImmutable() {
        assertThat(Contracts.all()).extracting(each -> each.run().rows().stream().filter(Projection.Row::newItem)
                .map(Projection.Row::canonical).toList()).containsExactly(List.of(), List.of(RunState.RETRYING),
                        List.of(RunState.RETRYING), List.of(RunState.RETRYING), List.of(RunState.RETRYING));
        assertThat(Contracts.all().stream().flatMap(each -> each.projections().stream())
                .filter(each -> !each.machine().entity().equals("run")).flatMap(each -> each.rows().stream()))
                .noneMatch(Projection.Row::newItem);
    }

    static List<Contract> contracts() {
        return Contracts.all();
    }

    static Stream<Arguments> edges() {
        List<Arguments> edges = new ArrayList<>();
        for (Contract contract : Contracts.all()) {
            Set<Circumstance> ofRuns = EnumSet.complementOf(EnumSet.of(Circumstance.LATER_ATTEMPT));
            add(edges, contract, contract.run(), ofRuns);
            Stream.ofNullable(contract.task())
                    .forEach(each -> add(edges, contract, each, EnumSet.allOf(Circumstance.class)));
            Stream.ofNullable(contract.step()).forEach(each -> add(edges, contract, each,
                    EnumSet.of(Circumstance.USUAL)));
        }
        return edges.stream();
    }

    private static <S extends Enum<S> & State> void add(List<Arguments> edges, Contract contract,
            Projection<S> projection, Set<Circumstance> circumstances) {
        for (Edge<S> edge : projection.canonical().edges()) {
            for (Circumstance before : circumstances) {
                for (Circumstance after : after(edge, before, circumstances)) {
                    edges.add(Arguments.of(contract.name(), projection, edge.from(), edge.to(), before, after));
                }
            }
        }
    }

    /**
     * What a run waits for changes with any transition, and what a task waits for with the states of its steps; it has begun before once it leaves
     * its backoff, or has lost its lease.
     */
    private static Set<Circumstance> after(Edge<?> edge, Circumstance before, Set<Circumstance> all) {
        if (edge.from() instanceof RunState from) {
            return ofRun(from, (RunState) edge.to(), before);
        }
        if (!(edge.from() instanceof TaskState)) {
            return all;
        }
        boolean retried = edge.from() == TaskState.AWAITING_RETRY && !edge.to().terminal()
                || edge.from() == TaskState.RUNNING && edge.to() == TaskState.QUEUED;
        boolean waits = before == Circumstance.WAITS_FOR_TIMER || before == Circumstance.WAITS_FOR_HUMAN;
        if (waits && !hasSteps(edge.from())) {
            return Set.of();
        }
        Circumstance attempt = retried ? Circumstance.LATER_ATTEMPT : waits ? Circumstance.USUAL : before;
        return hasSteps(edge.to()) ? EnumSet.of(attempt, Circumstance.WAITS_FOR_TIMER, Circumstance.WAITS_FOR_HUMAN)
                : EnumSet.of(attempt);
    }

    /** A run begins with its first transition to running, and keeps that. */
    private static Set<Circumstance> ofRun(RunState from, RunState to, Circumstance before) {
        Set<Circumstance> begun = EnumSet.complementOf(EnumSet.of(Circumstance.LATER_ATTEMPT, Circumstance.NOT_BEGUN));
        if (before != Circumstance.NOT_BEGUN) {
            return begun;
        }
        boolean stays = from == RunState.RUNNING || from == RunState.ESCALATED || from.terminal();
        return stays ? Set.of() : to == RunState.RUNNING ? begun : EnumSet.of(Circumstance.NOT_BEGUN);
    }

    private static boolean hasSteps(State task) {
        return task == TaskState.RUNNING || task == TaskState.VERIFYING;
    }

    /** The states on a shortest way, both ends included; empty when there is none. */
    private static List<String> path(Machine machine, String from, String to) {
        List<List<String>> ways = new ArrayList<>(List.of(List.of(from)));
        for (int i = 0; i < ways.size(); i++) {
            List<String> way = ways.get(i);
            if (way.getLast().equals(to)) {
                return way;
            }
            for (Machine.Node next : machine.states()) {
                boolean open = next.name().equals(to) || next.type() != StateType.TERMINAL;
                if (open && !way.contains(next.name()) && machine.allows(way.getLast(), next.name())) {
                    ways.add(Stream.concat(way.stream(), Stream.of(next.name())).toList());
                }
            }
        }
        return List.of();
    }

    /** Paths of two and three transitions, by example: they are found, and nothing is found where there is none. */
    @ParameterizedTest(name = "{0} {1} -> {2}")
    @CsvSource(delimiter = '|', nullValues = "none", textBlock = """
            handoff   | PAUSED    | FAILED    | PAUSED RESUMING FAILED
            handoff   | RETRYING  | CANCELLED | RETRYING PENDING CANCELLED
            mission   | pending   | failed    | pending planning awaiting_approval failed
            lifecycle | requested | failed    | requested queued running failed
            gate4     | received  | received  | received
            gate4     | failed    | received  | none
            lifecycle | running   | queued    | none
            """)
    void pathsAreFound(String contract, String from, String to, String path) {
        Machine machine = Contracts.all().stream().filter(each -> each.name().equals(contract)).findFirst()
                .orElseThrow().run().machine();
        assertThat(path(machine, from, to))
                .isEqualTo(Stream.ofNullable(path).flatMap(p -> Stream.of(p.split(" "))).toList());
    }

    @Test
    void documentsBearWhatIsPublished() {
        assertThat(LifecycleDocument.names()).containsExactly("run", "agent", "task", "step", "handoff", "gate4",
                "steps", "mission", "lifecycle");
        Map<String, Object> gate4 = LifecycleDocument.find("gate4").orElseThrow();
        assertThat(gate4.keySet()).containsExactly("name", "entity", "initial", "states", "transitions", "projection",
                "title", "machines");
        assertThat(LifecycleDocument.find("lifecycle").orElseThrow()).containsKey("errors");
        assertThat(LifecycleDocument.find("run").orElseThrow().keySet()).containsExactly("name", "entity", "initial",
                "states", "transitions");
        assertThat(LifecycleDocument.find("Gate4")).isEmpty();
    }
}
