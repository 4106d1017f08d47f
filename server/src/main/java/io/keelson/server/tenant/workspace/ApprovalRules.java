package io.keelson.server.tenant.workspace;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import io.keelson.api.tenant.ApprovalRule;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Rules about the approval of questions, of workspaces and of the server's settings: the strictest counts. Each change has its entry in
 * the audit log. Thread-safe.
 */
public final class ApprovalRules {

    private static final Duration OLDEST = Duration.ofSeconds(5);
    private static final int MAX_KEPT = 10_000;
    private static final int OF_SETTING = 2;

    private static final Sql FIND = Sql.of(
            "select approvals, four_eyes, updated_by, updated_at from approval_rules where workspace_id = :workspace");

    /** Serialises changes of a workspace's rule, also of the first one. */
    private static final Sql TURN =
            Sql.of("select pg_advisory_xact_lock(hashtextextended('keelson approvals ' || :workspace, 0))");

    private static final Sql SET = Sql.of("""
            insert into approval_rules (workspace_id, approvals, four_eyes, updated_by)
            values (:workspace, :approvals, :four_eyes, :by)
            on conflict (workspace_id) do update set approvals = excluded.approvals, four_eyes = excluded.four_eyes,
                updated_by = excluded.updated_by, updated_at = clock_timestamp()""");

    /**
     * An effective rule.
     *
     * @param approvals people who have to approve each question
     * @param fourEyes whether the submitter of a run cannot approve for it
     */
    public record Required(int approvals, boolean fourEyes) {}

    private final Database database;
    private final NamedWorkspaces twoPeople;
    private final NamedWorkspaces fourEyes;
    private final LoadingCache<UUID, Required> kept;

    /**
     * Rules of workspaces, and of settings that name workspaces.
     *
     * @param twoPeople workspaces in which two people approve, by name; {@code *} for all
     * @param fourEyes workspaces in which no submitter approves, likewise
     */
    public ApprovalRules(Database database, WorkspaceStore workspaces, Set<String> twoPeople, Set<String> fourEyes) {
        this.database = database;
        this.twoPeople = new NamedWorkspaces(workspaces, twoPeople);
        this.fourEyes = new NamedWorkspaces(workspaces, fourEyes);
        this.kept = Caffeine.newBuilder().expireAfterWrite(OLDEST).maximumSize(MAX_KEPT).executor(Runnable::run)
                .build(this::required);
    }

    /** The rule for new runs; that of another server's request is at most five seconds late. */
    public Required ofNewRun(UUID workspace) {
        return kept.get(workspace);
    }

    /** The rule as it is now. */
    public Required required(UUID workspace) {
        ApprovalRule rule = find(workspace);
        return new Required(rule.requiredApprovals(), rule.requiredFourEyes());
    }

    /** The workspace's rule, with the effective rule. */
    public ApprovalRule find(UUID workspace) {
        return database.withConnection(c -> find(c, workspace));
    }

    private ApprovalRule find(Connection c, UUID workspace) throws SQLException {
        int most = twoPeople.contains(workspace) ? OF_SETTING : 1;
        boolean others = fourEyes.contains(workspace);
        return FIND.on(c).set("workspace", workspace).first(row -> rule(row, most, others))
                .orElseGet(() -> new ApprovalRule(1, false, most, others, null, null));
    }

    private static ApprovalRule rule(ResultSet row, int most, boolean others) throws SQLException {
        int approvals = row.getInt("approvals");
        boolean own = row.getBoolean("four_eyes");
        return new ApprovalRule(approvals, own, Math.max(approvals, most), own || others, row.getString("updated_by"),
                Rows.time(row, "updated_at"));
    }

    /**
     * Changes the given members of the workspace's rule.
     *
     * @param by name of a principal
     * @param check gets the rule of before; an exception leaves the rule unchanged
     */
    public ApprovalRule change(UUID workspace, ApprovalRule.Change given, String by, AuditOrigin origin,
            Consumer<ApprovalRule> check) {
        ApprovalRule made = database.inTransaction(c -> {
            TURN.on(c).set("workspace", workspace.toString()).exists();
            ApprovalRule before = find(c, workspace);
            check.accept(before);
            int approvals = Objects.requireNonNullElse(given.approvals(), before.approvals());
            boolean own = Objects.requireNonNullElse(given.fourEyes(), before.fourEyes());
            SET.on(c).set("workspace", workspace).set("approvals", approvals).set("four_eyes", own).set("by", by)
                    .update();
            AuditLog.write(c, origin, "approval_rule_set", workspace, workspace.toString(),
                    JsonNodeFactory.instance.objectNode().put("approvals", approvals).put("four_eyes", own));
            return find(c, workspace);
        });
        kept.invalidate(workspace);
        return made;
    }
}
