package io.keelson.server.engine.execute;

import io.keelson.core.plan.AgentTerms;
import io.keelson.core.run.TurnAnswer;
import io.keelson.core.run.TurnAnswer.Call;
import io.keelson.core.run.TurnAnswer.Recorded;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.store.read.RecordedCalls;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Answers the calls of a task from the record of another run where the task's run was made so. Parts of the task's own results are
 * not recorded: {@code artifact.read} is called.
 */
public final class RecordedAnswers {
    private final Database database;

    public RecordedAnswers(Database database) {
        this.database = database;
    }

    /** The turn with recorded answers of its calls, if the task's calls are not made. */
    public @Nullable TurnAnswer of(UUID workspace, UUID task, @Nullable TurnAnswer turn) {
        if (!(turn instanceof TurnAnswer.Calls(List<Call> calls))) {
            return turn;
        }
        List<String> contents = calls.stream().filter(RecordedAnswers::recordable)
                .map(call -> call.tool() + ":" + call.digest()).toList();
        Optional<List<Recorded>> found = contents.isEmpty() ? Optional.empty()
                : database.withConnection(c -> RecordedCalls.of(c, workspace, task, contents));
        return found.<TurnAnswer>map(answers -> new TurnAnswer.Calls(answered(calls, answers))).orElse(turn);
    }

    private static boolean recordable(Call call) {
        return call.refusal() == null && !call.tool().equals(AgentTerms.READS_RESULTS);
    }

    private static List<Call> answered(List<Call> calls, List<Recorded> answers) {
        List<Call> answered = new ArrayList<>();
        int next = 0;
        for (Call call : calls) {
            answered.add(recordable(call) ? call.from(answers.get(next++)) : call);
        }
        return answered;
    }
}
