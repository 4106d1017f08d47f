package io.keelson.cli.inbox;

import io.keelson.api.inbox.InboxItem.Approvals;
import io.keelson.cli.view.TerminalText;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Approvals of questions that several people have to approve, as people read them. */
final class Votes {
    private Votes() {}

    /** The progress in a table of questions; empty for a question that one person decides. */
    static String brief(@Nullable Approvals approvals) {
        return approvals == null ? "" : " (" + count(approvals) + " approved)";
    }

    /** The progress after an approval; empty after a decision. */
    static String after(@Nullable Approvals approvals) {
        return approvals == null ? "" : ": " + line(approvals);
    }

    /** The people who have approved, and when. */
    static String line(@Nullable Approvals approvals) {
        if (approvals == null) {
            return "one person decides";
        }
        List<String> votes = approvals.votes().stream().map(vote -> TerminalText.clean(vote.by()) + " at "
                + vote.at().truncatedTo(ChronoUnit.SECONDS)).toList();
        return count(approvals) + " people approved" + (votes.isEmpty() ? "" : ": " + String.join(", ", votes))
                + ", waiting for another person";
    }

    private static String count(Approvals approvals) {
        return approvals.votes().size() + " of " + approvals.required();
    }
}
