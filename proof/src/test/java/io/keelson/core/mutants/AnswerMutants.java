package io.keelson.core.mutants;

import java.util.List;
import java.util.stream.Stream;

/**
 * Mistakes in the reuse of results and in approvals by several people. Simulations reuse results if their seed is 4 modulo 6, and
 * require two people if it is 6 modulo 11.
 */
final class AnswerMutants {
    private static final String REUSE = "decide/ResultReuse.java";
    private static final String VOTES = "decide/Votes.java";
    private static final int REUSES = 4;
    private static final int TWO_PEOPLE = 6;

    private AnswerMutants() {}

    static List<Mutant> all() {
        return Stream.of(results(), votes()).flatMap(List::stream).toList();
    }

    private static List<Mutant> results() {
        return List.of(
                new Mutant(REUSE, "step.evaluating = true;", "", "a step that waits for a result never asks again")
                        .foundBy(REUSES),
                new Mutant(REUSE, "d.arm(TimerKind.EVALUATE_STEP, step.id(), next.isBefore(until) ? next : until);", "",
                        "a step that waits for a result has no timer").foundBy(REUSES),
                new Mutant(REUSE, "TaskProgress.succeed(d, step, reused.output(), (PayloadPart.Waited) null);", "",
                        "a step with the result of another one does not end").foundBy(28),
                new Mutant("decide/StepRow.java", "return state == StepState.PENDING && turn == 1", "return turn == 1",
                        "a step whose lease is lost takes over a result").foundBy(REUSES));
    }

    private static List<Mutant> votes() {
        return List.of(
                new Mutant(VOTES, "if (same.size() + 1 >= required) {", "if (same.size() + 2 >= required) {",
                        "one person approves for two").foundBy(TWO_PEOPLE),
                new Mutant(VOTES, "if (own != null) {", "if (own == null && required > 9) {",
                        "the same person approves twice").foundBy(TWO_PEOPLE),
                new Mutant(VOTES, "if (asked == null || !row.isOf(asked.subject, asked.instance)) {",
                        "if (required(d.view, null) > 9) {", "a vote outlives its question").foundBy(TWO_PEOPLE),
                new Mutant(VOTES, "d.changes.put(d.run, vote);", "", "a vote is not stored").foundBy(TWO_PEOPLE));
    }
}
