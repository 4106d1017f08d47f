package io.keelson.server.outlet.board;

import io.keelson.server.base.db.Database;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads {@code agent_reports}. Another workspace's do not exist here. */
public final class AgentReports {

    /**
     * Which reports.
     *
     * @param from inclusive
     * @param to exclusive
     */
    public record Filter(@Nullable UUID run, @Nullable String type, @Nullable String agent, @Nullable Instant from,
            @Nullable Instant to) {}

    /**
     * The end of a page: the last report's position in the order.
     *
     * @param run the group in the order: the run, or a report without a run
     * @param subject the run or one of its tasks
     */
    public record Place(Instant createdAt, UUID run, UUID subject, UUID id) {
        private static final UUID LAST = new UUID(-1, -1);
        private static final Place END = new Place(Instant.parse("9999-01-01T00:00:00Z"), LAST, LAST, LAST);

        public static Place of(AgentReport report) {
            UUID run = report.runId();
            return new Place(report.createdAt(), run == null ? report.id() : run, report.subject(), report.id());
        }
    }

    private static final String FIELDS = """
            id, report_type, title, run_id, run_attempt, orchestration_task_id, agent, state, coalesce(tokens, 0) as tokens,
            coalesce(cost, 0) as cost, duration_ms, coalesce(subject_id, id) as subject,
            coalesce(created_at, to_timestamp(0)) as created_at""";

    /**
     * All rows of one commit have the same time: each run's own report comes first, before its tasks' reports, the
     * latest task first. The index orders by time; rows of one time are sorted.
     */
    private static final String LIST = """
            select %s, '' as content from agent_reports
             where workspace_id = ? %s and created_at <= ? and created_at >= ? and created_at < ?
               and (created_at, coalesce(run_id, id), coalesce(subject_id = run_id, false), coalesce(subject_id, id), id)
                   < (?, ?, ?, ?, ?)
               and case when ?::text is null then true else report_type = ? end
               and case when ?::text is null then true else agent = ? end
             order by agent_reports.created_at desc, coalesce(run_id, id) desc, coalesce(subject_id = run_id, false) desc,
                   coalesce(subject_id, id) desc, id desc
             limit ?""";

    private static final String OF_WORKSPACE = LIST.formatted(FIELDS, "");
    private static final String OF_RUN = LIST.formatted(FIELDS, "and run_id = ?");

    private static final String ONE = "select " + FIELDS
            + ", coalesce(content, '') as content from agent_reports where workspace_id = ? and id = ?";

    private final Database database;

    public AgentReports(Database database) {
        this.database = database;
    }

    /**
     * Newest first, without their contents.
     *
     * @param after null to begin with the newest
     */
    public List<AgentReport> list(UUID workspace, Filter filter, @Nullable Place after, int limit) {
        Place place = after == null ? Place.END : after;
        return database.withConnection(c -> {
            try (PreparedStatement read = c.prepareStatement(filter.run() == null ? OF_WORKSPACE : OF_RUN)) {
                int p = 1;
                read.setObject(p++, workspace);
                if (filter.run() != null) {
                    read.setObject(p++, filter.run());
                }
                read.setObject(p++, place.createdAt().atOffset(ZoneOffset.UTC));
                read.setObject(p++, (filter.from() == null ? Instant.EPOCH : filter.from()).atOffset(ZoneOffset.UTC));
                read.setObject(p++,
                        (filter.to() == null ? Place.END.createdAt() : filter.to()).atOffset(ZoneOffset.UTC));
                read.setObject(p++, place.createdAt().atOffset(ZoneOffset.UTC));
                read.setObject(p++, place.run());
                read.setBoolean(p++, place.subject().equals(place.run()));
                read.setObject(p++, place.subject());
                read.setObject(p++, place.id());
                read.setString(p++, filter.type());
                read.setString(p++, filter.type());
                read.setString(p++, filter.agent());
                read.setString(p++, filter.agent());
                read.setInt(p, limit);
                return list(read);
            }
        });
    }

    public Optional<AgentReport> find(UUID workspace, UUID id) {
        return database.withConnection(c -> {
            try (PreparedStatement read = c.prepareStatement(ONE)) {
                read.setObject(1, workspace);
                read.setObject(2, id);
                return list(read).stream().findFirst();
            }
        });
    }

    private static List<AgentReport> list(PreparedStatement read) throws SQLException {
        try (ResultSet row = read.executeQuery()) {
            List<AgentReport> found = new ArrayList<>();
            while (row.next()) {
                found.add(new AgentReport(row.getObject("id", UUID.class), row.getString("report_type"),
                        row.getString("title"), row.getObject("run_id", UUID.class),
                        row.getObject("run_attempt", Integer.class), row.getObject("orchestration_task_id", UUID.class),
                        row.getObject("subject", UUID.class), row.getString("agent"), row.getString("state"),
                        row.getLong("tokens"), row.getBigDecimal("cost"), row.getObject("duration_ms", Long.class),
                        row.getString("content"), row.getObject("created_at", OffsetDateTime.class).toInstant()));
            }
            return found;
        }
    }
}
