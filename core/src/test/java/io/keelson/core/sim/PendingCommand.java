package io.keelson.core.sim;

import io.keelson.core.run.Command;
import io.keelson.core.run.Event;
import io.keelson.core.run.Reply;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** A command on a node, what it met on its way and who waits for the answer. */
final class PendingCommand {
    final Command command;
    final Set<Fault> met = EnumSet.noneOf(Fault.class);
    private final Consumer<Reply> answer;
    Reply reply;
    /** The events of its last decision. */
    List<Event> events = List.of();

    PendingCommand(Command command, Consumer<Reply> answer) {
        this.command = command;
        this.answer = answer;
    }

    void answer() {
        answer.accept(reply);
    }
}
