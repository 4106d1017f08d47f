package io.keelson.core.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every pair of states of every entity, against tables written out here. */
class LifecyclesTest {
    private static final String RUN = """
            created           -> pending, cancelled
            pending           -> planning, running, paused, budget_exceeded, cancelled, failed
            planning          -> awaiting_approval, ready, failed, cancelled
            awaiting_approval -> ready, failed, cancelled
            ready             -> running, paused, budget_exceeded, failed, cancelled
            running           -> completed, skipped, failed, paused, budget_exceeded, escalated, cancelled
            paused            -> resuming, cancelled, failed
            budget_exceeded   -> resuming, cancelled, failed
            escalated         -> resuming, cancelled, failed
            resuming          -> running, failed, cancelled, paused
            failed            -> retrying
            retrying          -> pending, failed, cancelled
            completed         ->
            cancelled         ->
            skipped           ->
            """;
    private static final String AGENT = """
            pending   -> running, paused, cancelled, skipped
            running   -> completed, failed, skipped, paused, cancelled, pending
            paused    -> pending, cancelled, failed
            completed ->
            failed    ->
            cancelled ->
            skipped   ->
            """;
    private static final String TASK = """
            pending        -> queued, skipped, cancelled
            queued         -> assigned, cancelled
            assigned       -> running, queued, cancelled, failed, awaiting_retry
            running        -> continuing, verifying, awaiting_retry, completed, failed, skipped, cancelled, awaiting_human, queued
            continuing     -> running, failed, cancelled
            verifying      -> completed, awaiting_retry, awaiting_human, failed, cancelled
            awaiting_human -> completed, awaiting_retry, failed, cancelled
            awaiting_retry -> assigned, queued, cancelled, failed, skipped
            completed      ->
            failed         ->
            cancelled      ->
            skipped        ->
            """;
    private static final String STEP = """
            pending          -> running, waiting, waiting_approval, cancelled, skipped, completed
            waiting          -> completed, failed, cancelled, running
            running          -> completed, failed, awaiting_retry, cancelled, running, waiting
            awaiting_retry   -> running, cancelled, failed, skipped
            waiting_approval -> completed, pending, failed, cancelled
            completed        ->
            failed           ->
            cancelled        ->
            skipped          ->
            """;
    private static final String TYPES = """
            run   pending  -> created, pending, planning, awaiting_approval, ready, retrying
            run   running  -> running, resuming
            run   paused   -> paused, budget_exceeded, escalated
            run   terminal -> completed, failed, cancelled, skipped
            agent pending  -> pending
            agent running  -> running
            agent paused   -> paused
            agent terminal -> completed, failed, cancelled, skipped
            task  pending  -> pending, queued, awaiting_retry
            task  running  -> assigned, running, continuing
            task  paused   -> verifying, awaiting_human
            task  terminal -> completed, failed, cancelled, skipped
            step  pending  -> pending, awaiting_retry
            step  running  -> running
            step  paused   -> waiting, waiting_approval
            step  terminal -> completed, failed, cancelled, skipped
            """;

    @ParameterizedTest(name = "{0}: {2} -> {3} allowed: {4}")
    @MethodSource("pairs")
    void everyPairIsAsTheSpecificationSays(String entity, Lifecycle<?> lifecycle, State from, State to,
            boolean allowed) {
        assertThat(allows(lifecycle, from, to)).isEqualTo(allowed);
    }

    static Stream<Arguments> pairs() {
        return Stream.of(pairs(Lifecycles.RUN, RUN), pairs(Lifecycles.AGENT, AGENT), pairs(Lifecycles.TASK, TASK),
                pairs(Lifecycles.STEP, STEP)).flatMap(List::stream);
    }

    private static <S extends Enum<S> & State> List<Arguments> pairs(Lifecycle<S> lifecycle, String text) {
        Map<String, List<String>> table = Tables.read(text);
        assertThat(lifecycle.states()).extracting(State::wire).containsExactlyInAnyOrderElementsOf(table.keySet());
        List<Arguments> pairs = new ArrayList<>();
        for (S from : lifecycle.states()) {
            for (S to : lifecycle.states()) {
                boolean allowed = table.getOrDefault(from.wire(), List.of()).contains(to.wire());
                pairs.add(Arguments.of(lifecycle.entity(), lifecycle, from, to, allowed));
            }
        }
        return pairs;
    }

    @SuppressWarnings("unchecked")
    private static <S extends Enum<S> & State> boolean allows(Lifecycle<?> lifecycle, State from, State to) {
        Lifecycle<S> typed = (Lifecycle<S>) lifecycle;
        boolean allows = typed.allows((S) from, (S) to);
        assertThat(typed.edge((S) from, (S) to) != null).isEqualTo(allows);
        assertThat(typed.targets((S) from).contains(to)).isEqualTo(allows);
        return allows;
    }

    @ParameterizedTest
    @MethodSource("lifecycles")
    void everyStateHasTheTypeOfTheSpecification(Lifecycle<?> lifecycle) {
        Map<String, List<String>> types = Tables.read(TYPES);
        for (State state : lifecycle.states()) {
            assertThat(types.getOrDefault(lifecycle.entity() + " " + state.type().wire(), List.of()))
                    .as("states of type %s of a %s", state.type(), lifecycle.entity()).contains(state.wire());
            assertThat(state.terminal()).isEqualTo(state.type() == StateType.TERMINAL);
        }
    }

    @ParameterizedTest
    @MethodSource("lifecycles")
    void everyStateIsReachedFromTheFirst(Lifecycle<?> lifecycle) {
        List<State> reached = new ArrayList<>(List.of(lifecycle.initial()));
        for (int i = 0; i < reached.size(); i++) {
            State from = reached.get(i);
            lifecycle.edges().stream().filter(e -> e.from() == from && !reached.contains(e.to()))
                    .forEach(e -> reached.add(e.to()));
        }
        assertThat(lifecycle.states()).hasSameSizeAs(new ArrayList<>(Set.copyOf(reached)));
    }

    @ParameterizedTest
    @MethodSource("lifecycles")
    void everyEdgeNamesItsCauseAndItsEvent(Lifecycle<?> lifecycle) {
        assertThat(lifecycle.edges()).allSatisfy(edge -> {
            assertThat(edge.by()).isNotBlank();
            assertThat(edge.event().wire()).matches(lifecycle.entity() + "_[a-z_]+");
        });
    }

    static List<Lifecycle<?>> lifecycles() {
        return Lifecycles.all();
    }

    @Test
    void entitiesBeginWhereTheSpecificationSays() {
        assertThat(Lifecycles.RUN.initial()).isEqualTo(RunState.CREATED);
        assertThat(Lifecycles.AGENT.initial()).isEqualTo(AgentState.PENDING);
        assertThat(Lifecycles.TASK.initial()).isEqualTo(TaskState.PENDING);
        assertThat(Lifecycles.STEP.initial()).isEqualTo(StepState.PENDING);
    }

    @Test
    void storedNamesLeadBackToTheirStates() {
        assertThat(RunState.values()).allSatisfy(s -> assertThat(RunState.of(s.wire())).isSameAs(s));
        assertThat(AgentState.values()).allSatisfy(s -> assertThat(AgentState.of(s.wire())).isSameAs(s));
        assertThat(TaskState.values()).allSatisfy(s -> assertThat(TaskState.of(s.wire())).isSameAs(s));
        assertThat(StepState.values()).allSatisfy(s -> assertThat(StepState.of(s.wire())).isSameAs(s));
        assertThatThrownBy(() -> RunState.of("sleeping")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void anEdgeNamedTwiceIsABug() {
        Edge<AgentState> edge = new Edge<>(AgentState.PENDING, AgentState.RUNNING, "x", EventType.AGENT_STARTED);
        assertThatThrownBy(() -> new Lifecycle<>("agent", AgentState.class, AgentState.PENDING, List.of(edge, edge)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("twice");
    }
}
