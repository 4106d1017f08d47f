package io.keelson.core.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.core.sim.SmallWorld.Mishaps;
import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Where simulations try their luck, this leaves nothing out: every order of events of a small configuration. In each
 * state all laws hold, and from each an end can be reached.
 */
@ExtendWith(Breadth.InFailures.class)
class ExplorationTest {
    /**
     * All five together with {@code ./check --all}, else each of them every day, and each pair within a week. Questions in a world of
     * their own: with pauses, cancellations or lost leases.
     */
    static List<Mishaps> mishaps() {
        return Breadth.all()
                ? List.of(Mishaps.ALL, new Mishaps(0, 0, 0, 1, 1, 3), new Mishaps(1, 1, 0, 0, 0, 3))
                : List.of(
                        List.of(new Mishaps(1, 0, 0, 1, 1, 0), new Mishaps(0, 1, 1, 0, 0, 0),
                                new Mishaps(0, 0, 0, 1, 0, 2)),
                        List.of(new Mishaps(0, 1, 0, 1, 1, 0), new Mishaps(1, 0, 1, 0, 0, 0),
                                new Mishaps(0, 0, 0, 0, 1, 2)),
                        List.of(new Mishaps(0, 0, 1, 1, 1, 0), new Mishaps(1, 1, 0, 0, 0, 0),
                                new Mishaps(1, 0, 0, 0, 0, 2)))
                        .get(Breadth.part() % 3);
    }

    @ParameterizedTest
    @MethodSource("mishaps")
    void everyOrderOfASmallRunKeepsTheLawsAndCanEnd(Mishaps mishaps) {
        Exploration exploration = new Exploration().from(SmallWorld.started(mishaps));
        System.out.printf("exploration of %s: %,d states, %,d moves, %,d ends%n", mishaps, exploration.states(),
                exploration.moves(), exploration.ends());
        assertThat(exploration.hopeless()).as("a way on which the run can never end").isNull();
        assertThat(exploration.states()).isGreaterThan(1_000);
    }

    /** Two kinds of mishaps with {@code ./check --all}, else one of them. */
    static List<Mishaps> mishapsOfRounds() {
        List<Mishaps> all = List.of(new Mishaps(0, 0, 1, 1, 0, 0), new Mishaps(1, 0, 0, 0, 1, 0));
        return Breadth.all() ? all : List.of(all.get(Breadth.part() % 2));
    }

    @ParameterizedTest
    @MethodSource("mishapsOfRounds")
    void everyOrderOfThreeRoundsKeepsTheLawsAndCanEnd(Mishaps mishaps) {
        Exploration exploration = new Exploration().from(SmallWorld.repeating(mishaps));
        System.out.printf("exploration of rounds with %s: %,d states, %,d moves, %,d ends%n", mishaps,
                exploration.states(), exploration.moves(), exploration.ends());
        assertThat(exploration.hopeless()).as("a way on which the run can never end").isNull();
        assertThat(exploration.states()).isGreaterThan(100);
    }

    /** Three kinds of mishaps with {@code ./check --all}, else one of them. */
    static List<Mishaps> mishapsOfGroups() {
        List<Mishaps> all = List.of(new Mishaps(0, 0, 1, 0, 0, 0), new Mishaps(1, 0, 0, 0, 0, 0),
                new Mishaps(0, 0, 0, 1, 1, 0));
        return Breadth.all() ? all : List.of(all.get(Breadth.part() % 3));
    }

    @ParameterizedTest
    @MethodSource("mishapsOfGroups")
    void everyOrderOfTwoRoundsOfAGroupKeepsTheLawsAndCanEnd(Mishaps mishaps) {
        Exploration exploration = new Exploration().from(SmallWorld.repeatingGroup(mishaps));
        System.out.printf("exploration of a group with %s: %,d states, %,d moves, %,d ends%n", mishaps,
                exploration.states(), exploration.moves(), exploration.ends());
        assertThat(exploration.hopeless()).as("a way on which the run can never end").isNull();
        assertThat(exploration.states()).isGreaterThan(100);
    }

    /** Three kinds of mishaps with {@code ./check --all}, else one of them. */
    static List<Mishaps> mishapsOfUndos() {
        List<Mishaps> all = List.of(new Mishaps(0, 0, 0, 0, 0, 0, 2), new Mishaps(0, 0, 0, 1, 0, 0, 1),
                new Mishaps(1, 0, 0, 0, 1, 0, 1));
        return Breadth.all() ? all : List.of(all.get(Breadth.part() % 3));
    }

    @ParameterizedTest
    @MethodSource("mishapsOfUndos")
    void everyOrderOfAnUndoKeepsTheLawsAndCanEnd(Mishaps mishaps) {
        Exploration exploration = new Exploration().from(SmallWorld.undoing(mishaps));
        System.out.printf("exploration of an undo with %s: %,d states, %,d moves, %,d ends%n", mishaps,
                exploration.states(), exploration.moves(), exploration.ends());
        assertThat(exploration.hopeless()).as("a way on which the undo can never end").isNull();
        assertThat(exploration.states()).isGreaterThan(100);
    }
}
