package io.keelson.core.sim;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * Where simulations try their luck, this leaves nothing out: every order of events of a small configuration. In each
 * state all laws hold, and from each an end can be reached.
 */
class ExplorationTest {

    @Test
    void everyOrderOfASmallRunKeepsTheLawsAndCanEnd() {
        Exploration exploration = new Exploration().from(SmallWorld.started());
        System.out.printf("exploration: %,d states, %,d moves, %,d ends%n", exploration.states(), exploration.moves(),
                exploration.ends());
        assertThat(exploration.hopeless()).as("a way on which the run can never end").isNull();
        assertThat(exploration.states()).isGreaterThan(1_000);
    }
}
