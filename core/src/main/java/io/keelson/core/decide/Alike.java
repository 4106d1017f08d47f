package io.keelson.core.decide;

import io.keelson.core.decide.TicketRow.Kind;
import io.keelson.core.run.JsonText;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Open tickets about failures of one tool with one code, of the same system if it is known: one question to a person. */
final class Alike {
    private Alike() {}

    /** The tickets of the question, this one included, the oldest first. */
    static List<TicketRow> of(RunView view, TicketRow ticket) {
        String cause = cause(view, ticket);
        return view.tickets.values().stream()
                .filter(each -> each == ticket || cause != null && cause.equals(cause(view, each))).toList();
    }

    /** Run, code, system and tool of a failure as a JSON array; null for a ticket about a plan. */
    static @Nullable String cause(RunView view, TicketRow ticket) {
        StepRow step = ticket.stepId() == null ? null : view.steps.get(ticket.stepId());
        return ticket.kind() != Kind.FAILURE ? null
                : "[\"" + view.run.id() + "\"," + text(ticket.errorCode()) + "," + text(ticket.system()) + ","
                        + text(step == null ? null : step.spec().tool()) + "]";
    }

    private static String text(@Nullable String value) {
        return value == null ? "null" : JsonText.string(value);
    }
}
