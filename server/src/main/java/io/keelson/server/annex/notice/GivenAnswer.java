package io.keelson.server.annex.notice;

import io.keelson.server.api.http.support.Reads;
import io.keelson.server.base.db.Page;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The answer of a question that is closed, from the events of its run.
 *
 * @param by name of the principal
 * @param did in words
 */
record GivenAnswer(String by, String did, Instant at) {

    private static final int PAGE = 500;
    private static final int MAX_PAGES = 40;
    /** Clocks of the server and of the database differ. */
    private static final long TOLERANCE_SECONDS = 60;
    private static final Set<String> PEOPLE = Set.of("human", "service");

    private static final Map<String, String> DID = Map.ofEntries(Map.entry("run_approved", "approved the plan"),
            Map.entry("run_rejected", "rejected the plan"), Map.entry("run_accepted", "accepted the result"),
            Map.entry("run_budget_approved", "let the run go on"),
            Map.entry("run_budget_increased", "raised the run's limit"),
            Map.entry("run_downgraded", "let the run go on with another model"),
            Map.entry("run_finishing", "let the run end with its current work"),
            Map.entry("run_failed", "ended the run as failed"), Map.entry("run_cancelled", "cancelled the run"),
            Map.entry("task_human_approved", "accepted the output"),
            Map.entry("task_human_rejected", "rejected the output"), Map.entry("step_approved", "accepted"),
            Map.entry("step_rejected", "rejected"), Map.entry("escalation_resolved", "answered the ticket"),
            Map.entry("proposal_accepted", "accepted the proposal"),
            Map.entry("proposal_rejected", "rejected the proposal"));

    private static final Set<String> OF_RUN = Set.of("run_approved", "run_rejected", "run_accepted",
            "run_budget_approved", "run_budget_increased", "run_downgraded", "run_finishing");
    private static final Set<String> ENDS = Set.of("run_failed", "run_cancelled");

    /** The first answer since the link was made; null if people have given none, as when the run ended otherwise. */
    static @Nullable GivenAnswer find(Reads reads, AnswerLink link) {
        long after = 0;
        for (int i = 0; i < MAX_PAGES; i++) {
            long from = after;
            Page<ObjectNode> page =
                    reads.read((runs, c) -> runs.events(c, link.workspace(), link.run(), from, PAGE));
            List<ObjectNode> events = page.items();
            for (ObjectNode event : events) {
                GivenAnswer answer = of(event, link);
                if (answer != null) {
                    return answer;
                }
            }
            if (events.size() < PAGE) {
                return null;
            }
            after = events.getLast().get("seq").longValue();
        }
        return null;
    }

    private static @Nullable GivenAnswer of(ObjectNode event, AnswerLink link) {
        String type = event.path("event_type").asString("");
        String did = DID.get(type);
        Instant at = Instant.parse(event.get("created_at").stringValue());
        return did == null || at.isBefore(link.issued().minusSeconds(TOLERANCE_SECONDS))
                || !PEOPLE.contains(event.path("actor_type").asString("")) || !isAbout(event, type, link)
                        ? null
                        : new GivenAnswer(event.path("actor_id").asString("a person"), did, at);
    }

    /** Whether the event answers the link's question: that of its run, or of the task, step, ticket or proposal in its id. */
    private static boolean isAbout(ObjectNode event, String type, AnswerLink link) {
        if (ENDS.contains(type)) {
            return true;
        }
        if (OF_RUN.contains(type)) {
            return link.item().contains(link.run().toString());
        }
        return List.of(event.path("step_id"), event.path("task_id"), event.path("payload").path("ticket_id"),
                event.path("payload").path("proposal_id")).stream()
                .anyMatch(id -> id.isString() && link.item().endsWith(id.stringValue()));
    }
}
