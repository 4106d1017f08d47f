package io.keelson.core.sim;

import io.keelson.core.run.Command;
import io.keelson.core.run.Event;
import io.keelson.core.run.Reply;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A command on a node, what it met on its way and who waits for the answer. */
final class PendingCommand {
    final Command command;
    final Set<Fault> met = EnumSet.noneOf(Fault.class);
    private final Consumer<Reply> answer;
    /** The steps of a new run that were executed before its creation is committed; null if absent. */
    final BatchListener.@Nullable FirstSteps executed;
    Reply reply;
    /** To the report of the executed steps; null without a report. */
    @Nullable Reply reportReply;
    /** The events of its last decision. */
    List<Event> events = List.of();

    PendingCommand(Command command, BatchListener.@Nullable FirstSteps executed, Consumer<Reply> answer) {
        this.command = command;
        this.executed = executed;
        this.answer = answer;
    }

    /** The report of the executed steps; null if absent. */
    @Nullable Command report() {
        return executed == null ? null : executed.report();
    }

    void answer() {
        answer.accept(reply);
    }
}
