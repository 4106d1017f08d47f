package io.keelson.core.decide;

import io.keelson.core.decide.TicketRow.Kind;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Open tickets about failures of one tool with one code, of the same system if it is known: one question to a person. */
final class Alike {
    private Alike() {}

    /** The tickets of the question, this one included, the oldest first. */
    static List<TicketRow> of(RunView view, TicketRow ticket) {
        return view.tickets.values().stream().filter(each -> each == ticket || ticket.kind() == Kind.FAILURE
                && each.kind() == Kind.FAILURE && Objects.equals(each.errorCode(), ticket.errorCode())
                && Objects.equals(each.system(), ticket.system())
                && Objects.equals(tool(view, each), tool(view, ticket))).toList();
    }

    private static @Nullable String tool(RunView view, TicketRow ticket) {
        StepRow step = ticket.stepId() == null ? null : view.steps.get(ticket.stepId());
        return step == null ? null : step.spec().tool();
    }
}
