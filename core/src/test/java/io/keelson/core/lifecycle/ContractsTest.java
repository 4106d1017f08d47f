package io.keelson.core.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The five contracts against their documents' own matrices, written out here; staying is allowed everywhere. */
class ContractsTest {
    private static final String HANDOFF_RUN = """
            CREATED   -> PENDING, CANCELLED
            PENDING   -> RUNNING, CANCELLED, FAILED
            RUNNING   -> COMPLETED, FAILED, PAUSED, CANCELLED
            PAUSED    -> RESUMING, CANCELLED
            RESUMING  -> RUNNING, FAILED
            COMPLETED ->
            FAILED    -> RETRYING
            CANCELLED ->
            RETRYING  -> PENDING, FAILED
            """;
    private static final String GATE4 = """
            received                   -> received, queued, failed, cancelled
            queued                     -> queued, executing, failed, cancelled
            executing                  -> executing, awaiting_tool, awaiting_user_confirmation, completed, failed, cancelled
            awaiting_tool              -> awaiting_tool, executing, failed, cancelled
            awaiting_user_confirmation -> awaiting_user_confirmation, executing, failed, cancelled
            completed                  -> completed
            failed                     -> failed
            cancelled                  -> cancelled
            """;
    private static final String STEPS_RUN = """
            PENDING          -> RUNNING, CANCELED
            RUNNING          -> WAITING_APPROVAL, SUCCEEDED, FAILED, CANCELED
            WAITING_APPROVAL -> RUNNING, SUCCEEDED, FAILED, CANCELED
            SUCCEEDED        ->
            FAILED           ->
            CANCELED         ->
            """;
    private static final String STEPS_STEP = """
            PENDING          -> RUNNING, WAITING_APPROVAL, SUCCEEDED, CANCELED
            RUNNING          -> SUCCEEDED, PENDING, FAILED, CANCELED, RUNNING
            WAITING_APPROVAL -> SUCCEEDED, PENDING, FAILED, CANCELED
            SUCCEEDED        ->
            FAILED           ->
            CANCELED         ->
            """;
    private static final String MISSION_RUN = """
            pending           -> planning, cancelled
            planning          -> awaiting_approval, running, cancelled
            awaiting_approval -> running, failed, cancelled
            running           -> completed, failed, paused, budget_exceeded, cancelled
            paused            -> running, cancelled
            budget_exceeded   -> running, cancelled
            completed         ->
            failed            ->
            cancelled         ->
            """;
    private static final String MISSION_TASK = """
            pending        -> queued, skipped, cancelled
            queued         -> assigned, cancelled
            assigned       -> running, queued, cancelled
            running        -> continuing, verifying, failed, awaiting_retry, skipped, cancelled
            continuing     -> running, cancelled
            verifying      -> completed, awaiting_human, awaiting_retry, failed, cancelled
            awaiting_human -> completed, awaiting_retry, failed, cancelled
            awaiting_retry -> assigned, cancelled
            completed      ->
            failed         ->
            cancelled      ->
            skipped        ->
            """;
    private static final String LIFECYCLE_RUN = """
            requested -> queued
            queued    -> running
            running   -> running, completed, failed
            completed ->
            failed    ->
            """;
    private static final String TYPES = """
            handoff pending   -> CREATED, PENDING, RETRYING
            handoff running   -> RUNNING, RESUMING
            handoff paused    -> PAUSED
            handoff terminal  -> COMPLETED, FAILED, CANCELLED
            gate4 pending     -> received, queued
            gate4 running     -> executing
            gate4 paused      -> awaiting_tool, awaiting_user_confirmation
            gate4 terminal    -> completed, failed, cancelled
            steps pending     -> PENDING
            steps running     -> RUNNING
            steps paused      -> WAITING_APPROVAL
            steps terminal    -> SUCCEEDED, FAILED, CANCELED
            mission pending   -> pending, planning, awaiting_approval, queued, awaiting_retry
            mission running   -> running, assigned, continuing
            mission paused    -> paused, budget_exceeded, verifying, awaiting_human
            mission terminal  -> completed, failed, cancelled, skipped
            lifecycle pending -> requested, queued
            lifecycle running -> running
            lifecycle terminal -> completed, failed
            """;

    /** The machine, its document's matrix, and where an item begins. */
    private record Given(Projection<?> projection, String text, String initial) {

        Machine machine() {
            return projection.machine();
        }

        Map<String, List<String>> matrix() {
            return Tables.read(text);
        }

        @Override
        public String toString() {
            return machine().name() + " " + machine().entity();
        }
    }

    static List<Given> machines() {
        return List.of(new Given(Contracts.HANDOFF.run(), HANDOFF_RUN, "CREATED"),
                new Given(Contracts.GATE4.run(), GATE4, "received"),
                new Given(Contracts.GATE4.task(), GATE4, "received"),
                new Given(Contracts.STEPS.run(), STEPS_RUN, "PENDING"),
                new Given(Contracts.STEPS.step(), STEPS_STEP, "PENDING"),
                new Given(Contracts.MISSION.run(), MISSION_RUN, "pending"),
                new Given(Contracts.MISSION.task(), MISSION_TASK, "pending"),
                new Given(Contracts.LIFECYCLE.run(), LIFECYCLE_RUN, "requested"));
    }

    static Stream<Arguments> pairs() {
        List<Arguments> pairs = new ArrayList<>();
        for (Given given : machines()) {
            for (String from : given.matrix().keySet()) {
                for (String to : given.matrix().keySet()) {
                    boolean allowed = from.equals(to) || given.matrix().getOrDefault(from, List.of()).contains(to);
                    pairs.add(Arguments.of(given, from, to, allowed));
                }
            }
        }
        return pairs.stream();
    }

    @Test
    void allMachinesOfAllContractsAreListed() {
        assertThat(Contracts.all()).extracting(Contract::name)
                .containsExactly("handoff", "gate4", "steps", "mission", "lifecycle");
        assertThat(machines()).extracting(Given::projection).containsExactlyElementsOf(
                Contracts.all().stream().<Projection<?>>flatMap(each -> each.projections().stream()).toList());
    }

    @ParameterizedTest(name = "{0}: {1} -> {2} allowed: {3}")
    @MethodSource("pairs")
    void everyPairIsAsTheDocumentSays(Given given, String from, String to, boolean allowed) {
        assertThat(given.machine().allows(from, to)).isEqualTo(allowed);
    }

    @ParameterizedTest
    @MethodSource("machines")
    void listedStatesEqualTheDocuments(Given given) {
        given.matrix().forEach((from, targets) -> assertThat(given.machine().transitions().stream()
                .filter(each -> each.from().equals(from)).map(Machine.Transition::to))
                .containsExactlyInAnyOrderElementsOf(targets));
        assertThat(given.machine().transitions())
                .allSatisfy(each -> {
                    assertThat(each.by()).isNotBlank();
                    assertThat(each.event()).isNull();
                });
    }

    @ParameterizedTest
    @MethodSource("machines")
    void statesAreTheDocumentsWithTheirTypes(Given given) {
        Map<String, List<String>> types = Tables.read(TYPES);
        Machine machine = given.machine();
        assertThat(machine.states()).extracting(Machine.Node::name)
                .containsExactlyInAnyOrderElementsOf(given.matrix().keySet());
        assertThat(machine.states()).allSatisfy(state -> assertThat(
                types.getOrDefault(machine.name() + " " + state.type().wire(), List.of())).contains(state.name()));
        assertThat(machine.initial()).isEqualTo(given.initial());
    }

    @ParameterizedTest(name = "{0} {1} knows no state {2}")
    @CsvSource({"gate4, run, running", "gate4, run, COMPLETED", "handoff, run, ''"})
    void aStateOfAnotherVocabularyIsNotEvenAllowedToStay(String contract, String entity, String state) {
        Machine machine = machines().stream().map(Given::machine)
                .filter(each -> each.name().equals(contract) && each.entity().equals(entity)).findFirst().orElseThrow();
        assertThat(machine.allows(state, state)).isFalse();
        assertThat(machine.allows(machine.initial(), state)).isFalse();
    }

    @Test
    void onlyInTheHandoffAnEndHasAWayOut() {
        for (Given given : machines()) {
            Set<String> open = new TreeSet<>();
            given.machine().states().stream().filter(each -> each.type() == StateType.TERMINAL)
                    .map(Machine.Node::name).filter(each -> !given.machine().immutable(each)).forEach(open::add);
            assertThat(open).as(given.toString())
                    .isEqualTo(given.machine().name().equals("handoff") ? Set.of("FAILED") : Set.of());
        }
    }

    @Test
    void aMachineThatContradictsItselfIsABug() {
        List<Machine.Node> states = List.of(new Machine.Node("a", StateType.PENDING));
        Machine.Transition loop = new Machine.Transition("a", "a", "x", null);
        Machine.Transition lost = new Machine.Transition("a", "b", "x", null);
        assertThatThrownBy(() -> new Machine("m", "run", List.of(states.getFirst(), states.getFirst()), List.of()))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("state named twice");
        assertThatThrownBy(() -> new Machine("m", "run", states, List.of(loop, loop)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("transition named twice");
        assertThatThrownBy(() -> new Machine("m", "run", states, List.of(lost)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("not between states");
    }

    @Test
    void aProjectionWithAHoleIsABug() {
        ContractTable<AgentState> hole = new ContractTable<>("m", Lifecycles.AGENT);
        hole.state("a", StateType.PENDING, AgentState.PENDING);
        assertThatThrownBy(hole::build).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("RUNNING has no name");
        assertThatThrownBy(() -> hole.state("b", StateType.PENDING, AgentState.PENDING))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("two names");
        ContractTable<AgentState> astray = new ContractTable<>("m", Lifecycles.AGENT);
        astray.state("a", StateType.PENDING, AgentState.values()).names(Circumstance.LATER_ATTEMPT, "b",
                AgentState.PENDING);
        assertThatThrownBy(astray::build).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no state b");
    }
}
