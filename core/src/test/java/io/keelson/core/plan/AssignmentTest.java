package io.keelson.core.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.policy.CallApprovals;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who of a roster gets a task: the same facts always give the same choice. */
class AssignmentTest {

    private static RosterAgent agent(String slug, String capability, int open, String price) {
        return new RosterAgent(1, slug, slug, "m", null, List.of("read", "write"),
                capability == null ? List.of() : List.of(capability), 0, null, CallApprovals.NONE, open,
                price == null ? null : new BigDecimal(price), Map.of());
    }

    @ParameterizedTest(name = "{0} {1} {2} before {3} {4} {5}: {6}")
    @CsvSource(nullValues = "-", value = {
            "research, 0, 1, writing, 0, 1, what it is good at",
            "research, 3, 1, writing, 3, 1, what it can do before what others can do",
            "research, 0, 1, research, 1, 1, little to do",
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
                .containsExactly("a 800 (tools 350, skill 250, model 75, free 50 with 1 open, history 75)",
                        "b 800 (tools 350, skill 125, model 150, free 100 with 0 open, history 75)");
    }

    private static RosterAgent experienced(String slug, List<String> capabilities, int percent, String price) {
        return new RosterAgent(1, slug, slug, "m", null, List.of(), capabilities, 0, null, CallApprovals.NONE, 9,
                new BigDecimal(price), Map.of("research", percent));
    }

    @Test
    void latestTasksOfTheTypeCount() {
        AgentSelection.Choice choice = AgentSelection.choose(List.of(experienced("a", List.of(), 40, "1"),
                experienced("b", List.of(), 90, "1")), TaskType.RESEARCH, List.of());
        assertThat(choice.candidates()).containsExactly(
                "b 770 (tools 350, skill 125, model 150, free 10 with 9 open, history 135 of 90 %)",
                "a 695 (tools 350, skill 125, model 150, free 10 with 9 open, history 60 of 40 %)");
        assertThat(choice.chosen()).isNotNull();
        assertThat(AgentSelection.choose(List.of(experienced("a", List.of(), 40, "1")), TaskType.WRITING, List.of())
                .candidates().getFirst()).endsWith("history 75)");
    }

    @Test
    void anAgentThatScoresTooLittleIsNotChosen() {
        List<String> many = List.of("read", "b", "c", "d", "e", "f", "g", "h", "i", "j");
        RosterAgent other = new RosterAgent(1, "other", "other", "m", null, many, List.of("writing"), 0, null,
                CallApprovals.NONE, 0, BigDecimal.ONE, Map.of("research", 0));
        AgentSelection.Choice choice = AgentSelection.choose(List.of(other), TaskType.RESEARCH, List.of("read"));
        assertThat(choice.candidates())
                .containsExactly("other 285 (tools 35, skill 0, model 150, free 100 with 0 open, history 0 of 0 %)");
        assertThat(choice.chosen()).isNull();
        assertThat(AgentSelection.choose(List.of(other), TaskType.WRITING, List.of("read")).chosen()).isEqualTo(other);
    }
}
