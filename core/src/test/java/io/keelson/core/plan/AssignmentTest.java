package io.keelson.core.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.policy.CallApprovals;
import java.math.BigDecimal;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who of a roster gets a task: the same facts always give the same choice. */
class AssignmentTest {

    private static RosterAgent agent(String slug, String capability, int open, String price) {
        return new RosterAgent(1, slug, slug, "m", null, List.of("read", "write"),
                capability == null ? List.of() : List.of(capability), 0, null, CallApprovals.NONE, open,
                price == null ? null : new BigDecimal(price));
    }

    @ParameterizedTest(name = "{0} {1} {2} before {3} {4} {5}: {6}")
    @CsvSource(nullValues = "-", value = {
            "research, 0, 1, writing, 0, 1, what it is good at",
            "research, 9, 9, writing, 0, 1, goes before everything else",
            "research, 0, 5, research, 1, 1, little to do before a cheap model",
            "research, 3, 1, research, 3, 2, a cheap model",
            "research, 3, 1, research, 3, -, a price that is known and low",
            "-, 0, 1, writing, 0, 1, who says nothing before who says something else",
            "research, 2, 2, research, 2, 2, else the first by slug"})
    void assignmentCriteriaInOrder(String capability, int open, String price, String otherCapability, int otherOpen,
            String otherPrice, String why) {
        List<RosterAgent> roster = List.of(agent("z", otherCapability, otherOpen, otherPrice),
                agent("a", capability, open, price));
        AgentSelection.Choice choice = AgentSelection.choose(roster, TaskType.RESEARCH, List.of("read"));
        assertThat(choice.chosen()).as(why).isEqualTo(roster.get(1));
        assertThat(AgentSelection.choose(roster.reversed(), TaskType.RESEARCH, List.of("read"))).isEqualTo(choice);
    }

    @Test
    void agentWithoutARequiredToolIsExcludedAndNamed() {
        AgentSelection.Choice choice =
                AgentSelection.choose(List.of(agent("a", "research", 0, "1")), TaskType.RESEARCH,
                        List.of("read", "fly"));
        assertThat(choice.chosen()).isNull();
        assertThat(choice.candidates()).containsExactly("a lacks fly");
    }

    @Test
    void theScoreIsExplained() {
        assertThat(
                AgentSelection
                        .choose(List.of(agent("a", "research", 1, "2"), agent("b", null, 0, "1")), TaskType.RESEARCH,
                                List.of())
                        .candidates())
                .containsExactly("a 800 (match 600, load 125 with 1 open, cost 75)",
                        "b 700 (match 300, load 250 with 0 open, cost 150)");
    }
}
