package io.keelson.server.engine.dispatch;

import io.keelson.api.Absent;
import io.keelson.api.worker.Report;
import io.keelson.core.run.Reply;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.store.read.StepWorkReader;
import io.keelson.server.engine.store.read.StepWorkReader.Recorded;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Reports under an epoch whose result is recorded: the same output is answered with the stored one, a
 * different one, or one after a failure, is a conflict.
 */
final class RepeatedReports {
    static final String CONFLICT = "RESULT_CONFLICT";

    private final Database database;
    private final StepWorkReader reader;

    RepeatedReports(Database database, StepWorkReader reader) {
        this.database = database;
        this.reader = reader;
    }

    /** 64 bits of the reported output; stored outputs are redacted and cannot be compared. */
    static long hash(JsonNode output) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256")
                    .digest(output.toString().getBytes(StandardCharsets.UTF_8));
            return ByteBuffer.wrap(digest).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A late report may be one whose first answer was lost: its result is recorded all the same. */
    List<Reply> judged(List<? extends Report> items, List<Reply> replies) {
        if (replies.stream().noneMatch(RepeatedReports::repeated)) {
            return replies;
        }
        List<UUID> steps = items.stream().<UUID>map(Report::stepId).toList();
        Map<UUID, Map<Integer, Recorded>> results = database.withConnection(c -> reader.resultsOf(c, steps));
        List<Reply> judged = new ArrayList<>();
        for (int i = 0; i < replies.size(); i++) {
            Recorded recorded = results.getOrDefault(steps.get(i), Map.of()).get(items.get(i).leaseEpoch());
            judged.add(recorded == null || !repeated(replies.get(i)) ? replies.get(i)
                    : judged(replies.get(i), output(items.get(i)), recorded));
        }
        return judged;
    }

    /** The reported output; null for reports without one. */
    private static @Nullable JsonNode output(Report report) {
        return report instanceof Report.WithOutput result ? Absent.asNull(result.output()) : null;
    }

    private static Reply judged(Reply reply, @Nullable JsonNode output, Recorded recorded) {
        UUID next = reply instanceof Reply.Duplicate duplicate ? duplicate.next() : null;
        Long stored = recorded.hash();
        if (output != null && stored == null && recorded.failed()) {
            return Reply.rejected(CONFLICT, "a failure is recorded under this lease epoch, and stays");
        }
        if (output == null || stored == null) {
            return new Reply.Duplicate(next, null);
        }
        return hash(output) == stored ? new Reply.Duplicate(next, recorded.output())
                : Reply.rejected(CONFLICT, "another output is recorded under this lease epoch, and stays");
    }

    private static boolean repeated(Reply reply) {
        return reply instanceof Reply.Duplicate
                || reply instanceof Reply.Rejected refused && refused.code().equals("STALE_LEASE");
    }
}
