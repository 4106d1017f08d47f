package io.keelson.server.outlet.board;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Sql;
import java.time.Instant;
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
            id, report_type as type, title, run_id, run_attempt as attempt, orchestration_task_id as task_id, agent, state,
            coalesce(tokens, 0) as tokens, coalesce(cost, 0) as cost, duration_ms, coalesce(subject_id, id) as subject,
            coalesce(created_at, to_timestamp(0)) as created_at""";

    /**
     * All rows of one commit have the same time: each run's own report comes first, before its tasks' reports, the
     * latest task first. The index orders by time; rows of one time are sorted.
     */
    private static final String LIST = """
            select %s, '' as content from agent_reports
             where workspace_id = :workspace %s and created_at <= :created_at and created_at >= :from and created_at < :to
               and (created_at, coalesce(run_id, id), coalesce(subject_id = run_id, false), coalesce(subject_id, id), id)
                   < (:created_at, :run, :of_run, :subject, :id)
               and case when :type::text is null then true else report_type = :type end
               and case when :agent::text is null then true else agent = :agent end
             order by agent_reports.created_at desc, coalesce(run_id, id) desc, coalesce(subject_id = run_id, false) desc,
                   coalesce(subject_id, id) desc, id desc
             limit :limit""";

    private static final Sql OF_WORKSPACE = Sql.of(LIST.formatted(FIELDS, ""));
    private static final Sql OF_RUN = Sql.of(LIST.formatted(FIELDS, "and run_id = :only"));

    private static final Sql ONE = Sql.of("select " + FIELDS
            + ", coalesce(content, '') as content from agent_reports where workspace_id = :workspace_id and id = :id");

    private static final RecordColumns<AgentReport> REPORT = RecordColumns.of(AgentReport.class);

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
            Sql.Call read = filter.run() == null ? OF_WORKSPACE.on(c) : OF_RUN.on(c).set("only", filter.run());
            return read.set("workspace", workspace).set("created_at", place.createdAt())
                    .set("from", filter.from() == null ? Instant.EPOCH : filter.from())
                    .set("to", filter.to() == null ? Place.END.createdAt() : filter.to()).set("run", place.run())
                    .set("of_run", place.subject().equals(place.run())).set("subject", place.subject())
                    .set("id", place.id()).set("type", filter.type()).set("agent", filter.agent()).set("limit", limit)
                    .all(REPORT);
        });
    }

    public Optional<AgentReport> find(UUID workspace, UUID id) {
        return database.withConnection(c -> ONE.on(c).set("workspace_id", workspace).set("id", id).first(REPORT));
    }
}
