package io.keelson.server.engine.store.queue;

import io.keelson.api.work.ToolVersions;
import io.keelson.core.decide.ChangeSet.Lot;
import io.keelson.core.run.VersionRule;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** The rules about versions of workers, with the versions that there are. Each change has its entry in the audit log. */
public final class ToolVersionStore {
    /** Maximum tools of a workspace with a rule. */
    public static final int MAX_RULES = 1_000;

    private static final int MAX_FORMER = 20;

    private static final Sql RULES =
            Sql.of("""
            select tool, current, previous, ramping, percent, behavior, former, version, updated_by, updated_at
              from tool_versions where workspace_id = :workspace and (:tool::text is null or tool = :tool) order by tool""");

    private static final Sql COUNT =
            Sql.of("select count(*) as n from tool_versions where workspace_id = :workspace");

    private static final Sql INSERT = Sql.of("""
            insert into tool_versions (workspace_id, tool, current, behavior, updated_by)
            values (:workspace, :tool, :current, :behavior, :by)
            on conflict (workspace_id, tool) do nothing""");

    private static final Sql UPDATE = Sql.of("""
            update tool_versions set current = :current, previous = :previous, ramping = :ramping, percent = :percent,
                behavior = :behavior, former = :former, version = version + 1, updated_by = :by,
                updated_at = clock_timestamp()
             where workspace_id = :workspace and tool = :tool""");

    private static final Sql DELETE =
            Sql.of("delete from tool_versions where workspace_id = :workspace and tool = :tool");

    /** Workers that announce no version count for tools with a rule only. */
    private static final Sql WORKERS = Sql.of("""
            select t.tool, coalesce(w.version, 'unversioned') as version, count(*) as n
              from workers w cross join lateral unnest(w.tools) as t (tool)
             where w.workspace_id = :workspace and w.slots > 0 and w.last_seen_at >= {now} - interval '1 minute'
               and (:tool::text is null or t.tool = :tool)
               and (w.version is not null or exists (select from tool_versions v
                    where v.workspace_id = w.workspace_id and v.tool = t.tool))
             group by 1, 2""");

    /** From the open runs, which are few in a long history. */
    private static final Sql RUNS = Sql.of("""
            select p.tool, p.version, count(*) as n
              from (select id from orchestration_runs
                     where workspace_id = :workspace and state_type <> 'terminal' limit 100000) r
             cross join lateral (select v.tool, v.version from run_tool_versions v
                     where v.run_id = r.id and (:tool::text is null or v.tool = :tool) limit 1000) p
             group by 1, 2""");

    private static final Sql WAITING = Sql.of("""
            select q.tool, coalesce(q.lot, keelson_run_lot(q.run_id)) as lot, count(*) as n
              from tool_versions t cross join lateral (
                select w.tool, w.lot, w.run_id from work_queue w
                 where w.workspace_id = t.workspace_id and w.tool = t.tool and w.holder is null limit 100000) q
             where t.workspace_id = :workspace and (:tool::text is null or t.tool = :tool)
             group by 1, 2""");

    /** Why a rule is not changed. */
    public enum Refusal {
        NO_RULE, NO_CURRENT, ALREADY_CURRENT, NO_PREVIOUS, TOO_MANY
    }

    /** A change that is not possible. */
    public static final class RefusedException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final Refusal refusal;

        private RefusedException(Refusal refusal) {
            super(refusal.name());
            this.refusal = refusal;
        }

        public Refusal refusal() {
            return refusal;
        }
    }

    /**
     * A rule as stored.
     *
     * @param revision number of its last change
     * @param former versions that were current or ramping, the last ones first
     */
    private record Row(String tool, String current, @Nullable String previous, @Nullable String ramping, int percent,
            String behavior, List<String> former, int revision, String updatedBy, Instant updatedAt) {

        /** This rule with another state; versions that are not current or ramping any more are former. */
        private Row with(String nowCurrent, @Nullable String nowPrevious, @Nullable String nowRamping, int nowPercent,
                String nowBehavior) {
            List<String> gone = new ArrayList<>();
            for (String version : new String[] {current, ramping}) {
                if (version != null) {
                    gone.add(version);
                }
            }
            gone.addAll(former);
            List<String> left = gone.stream().distinct()
                    .filter(version -> !version.equals(nowCurrent) && !version.equals(nowRamping)).limit(MAX_FORMER)
                    .toList();
            return new Row(tool, nowCurrent, nowPrevious, nowRamping, nowPercent, nowBehavior, left, revision,
                    updatedBy, updatedAt);
        }

        private VersionRule rule() {
            return new VersionRule(current, ramping, percent, behavior.equals("pinned"));
        }
    }

    /** Refuses a change of a rule by a client with an older revision; gets the locked rule. */
    @FunctionalInterface
    public interface Check {
        void accept(int revision, ToolVersions current);
    }

    /** Counts of one version of a tool: workers, runs that stay with it, steps that wait. */
    private static final class Counts {
        private int workers;
        private int runs;
        private int waiting;
    }

    private final DbClock clock;

    public ToolVersionStore(DbClock clock) {
        this.clock = clock;
    }

    /** The tools with a rule, and tools whose workers announce versions, in order of their names. */
    public List<ToolVersions> list(Connection c, UUID workspace) throws SQLException {
        return read(c, workspace, null);
    }

    /** One tool; empty without a rule and without workers that announce versions. */
    public Optional<ToolVersions> find(Connection c, UUID workspace, String tool) throws SQLException {
        return read(c, workspace, tool).stream().findFirst();
    }

    private List<ToolVersions> read(Connection c, UUID workspace, @Nullable String tool) throws SQLException {
        Map<String, Row> rules = new TreeMap<>();
        RULES.on(c).set("workspace", workspace).set("tool", tool).all(ToolVersionStore::row)
                .forEach(row -> rules.put(row.tool, row));
        Map<String, Map<String, Counts>> counts = new HashMap<>();
        WORKERS.on(c).at(clock).set("workspace", workspace).set("tool", tool).all(row -> {
            counts(counts, row, row.getString("version")).workers += row.getInt("n");
            return true;
        });
        if (!rules.isEmpty()) {
            RUNS.on(c).set("workspace", workspace).set("tool", tool).all(row -> {
                counts(counts, row, row.getString("version")).runs += row.getInt("n");
                return true;
            });
            WAITING.on(c).set("workspace", workspace).set("tool", tool).all(row -> {
                Row rule = rules.get(row.getString("tool"));
                if (rule != null) {
                    counts(counts, row, Lot.version(rule.rule(), row.getString("lot"))).waiting += row.getInt("n");
                }
                return true;
            });
        }
        Set<String> tools = new TreeSet<>(rules.keySet());
        counts.forEach((name, versions) -> {
            if (versions.values().stream().anyMatch(each -> each.workers > 0)) {
                tools.add(name);
            }
        });
        return tools.stream().map(name -> document(name, rules.get(name), counts.getOrDefault(name, Map.of())))
                .toList();
    }

    private static Counts counts(Map<String, Map<String, Counts>> counts, ResultSet row, String version)
            throws SQLException {
        return counts.computeIfAbsent(row.getString("tool"), _ -> new HashMap<>())
                .computeIfAbsent(version, _ -> new Counts());
    }

    private static ToolVersions document(String tool, @Nullable Row rule, Map<String, Counts> counts) {
        Map<String, Counts> all = new TreeMap<>(counts);
        if (rule != null) {
            all.computeIfAbsent(rule.current, _ -> new Counts());
            if (rule.ramping != null) {
                all.computeIfAbsent(rule.ramping, _ -> new Counts());
            }
            rule.former.forEach(version -> all.computeIfAbsent(version, _ -> new Counts()));
        }
        List<ToolVersions.Version> versions = new ArrayList<>();
        all.forEach((version, each) -> versions.add(new ToolVersions.Version(version, state(rule, version, each),
                each.workers, each.runs, each.waiting)));
        return rule == null ? new ToolVersions(tool, null, null, null, 0, null, 0, null, null, versions)
                : new ToolVersions(tool, rule.current, rule.previous, rule.ramping, rule.percent, rule.behavior,
                        rule.revision, rule.updatedBy, rule.updatedAt, versions);
    }

    private static String state(@Nullable Row rule, String version, Counts counts) {
        if (rule == null) {
            return "unruled";
        }
        if (version.equals(rule.current)) {
            return "current";
        }
        if (version.equals(rule.ramping)) {
            return "ramping";
        }
        if (counts.runs > 0 || rule.former.contains(version) && counts.workers > 0) {
            return "draining";
        }
        return rule.former.contains(version) ? "drained" : "inactive";
    }

    /**
     * Makes a version current, or ramps it. A promotion that is in force changes nothing.
     *
     * @param promotion without a behavior keeps that of the rule
     * @throws RefusedException with the reason
     */
    public ToolVersions promote(Connection c, UUID workspace, String tool, ToolVersions.Promotion promotion,
            AuditOrigin origin, Check check) throws SQLException {
        Row before = locked(c, workspace, tool, check);
        String version = promotion.version();
        Integer percent = promotion.percent();
        if (before == null) {
            if (percent != null) {
                throw new RefusedException(Refusal.NO_CURRENT);
            }
            if (COUNT.on(c).set("workspace", workspace).one(row -> row.getInt("n")) >= MAX_RULES) {
                throw new RefusedException(Refusal.TOO_MANY);
            }
            String behavior = promotion.behavior() == null ? "pinned" : promotion.behavior();
            if (INSERT.on(c).set("workspace", workspace).set("tool", tool).set("current", version)
                    .set("behavior", behavior).set("by", origin.name()).update() == 0) {
                return promote(c, workspace, tool, promotion, origin, check);
            }
            audit(c, origin, "version_promoted", workspace, tool, version, null, behavior);
            return find(c, workspace, tool).orElseThrow();
        }
        String behavior = promotion.behavior() == null ? before.behavior : promotion.behavior();
        Row after;
        if (percent != null) {
            if (version.equals(before.current)) {
                throw new RefusedException(Refusal.ALREADY_CURRENT);
            }
            after = before.with(before.current, before.previous, version, percent, behavior);
        } else {
            after = before.with(version, version.equals(before.current) ? before.previous : before.current, null, 0,
                    behavior);
        }
        if (!after.equals(before)) {
            update(c, workspace, after, origin);
            audit(c, origin, percent == null ? "version_promoted" : "version_ramped", workspace, tool, version, percent,
                    behavior);
        }
        return find(c, workspace, tool).orElseThrow();
    }

    /**
     * Ends the ramp; without one makes the previous version current again.
     *
     * @throws RefusedException with the reason
     */
    public ToolVersions rollback(Connection c, UUID workspace, String tool, AuditOrigin origin, Check check)
            throws SQLException {
        Row before = locked(c, workspace, tool, check);
        if (before == null) {
            throw new RefusedException(Refusal.NO_RULE);
        }
        if (before.ramping == null && before.previous == null) {
            throw new RefusedException(Refusal.NO_PREVIOUS);
        }
        Row after = before.ramping != null || before.previous == null
                ? before.with(before.current, before.previous, null, 0, before.behavior)
                : before.with(before.previous, null, null, 0, before.behavior);
        update(c, workspace, after, origin);
        audit(c, origin, "version_rolled_back", workspace, tool, after.current, null, after.behavior);
        return find(c, workspace, tool).orElseThrow();
    }

    /** Removes a rule: any worker gets the steps of the tool. False without a rule. */
    public boolean clear(Connection c, UUID workspace, String tool, AuditOrigin origin, Check check)
            throws SQLException {
        Row before = locked(c, workspace, tool, check);
        if (before == null) {
            return false;
        }
        DELETE.on(c).set("workspace", workspace).set("tool", tool).update();
        audit(c, origin, "versions_cleared", workspace, tool, before.current, null, before.behavior);
        return true;
    }

    private @Nullable Row locked(Connection c, UUID workspace, String tool, Check check) throws SQLException {
        Row row = RULES.and(" for update").on(c).set("workspace", workspace).set("tool", tool)
                .first(ToolVersionStore::row).orElse(null);
        if (row != null) {
            check.accept(row.revision, find(c, workspace, tool).orElseThrow());
        }
        return row;
    }

    private static void update(Connection c, UUID workspace, Row after, AuditOrigin origin) throws SQLException {
        UPDATE.on(c).set("workspace", workspace).set("tool", after.tool).set("current", after.current)
                .set("previous", after.previous).set("ramping", after.ramping).set("percent", after.percent)
                .set("behavior", after.behavior).setTexts("former", after.former).set("by", origin.name()).update();
    }

    private static void audit(Connection c, AuditOrigin origin, String action, UUID workspace, String tool,
            String version, @Nullable Integer percent, String behavior) throws SQLException {
        ObjectNode detail = Json.object().put("version", version).put("behavior", behavior);
        if (percent != null) {
            detail.put("percent", percent);
        }
        AuditLog.write(c, origin, action, workspace, tool, detail);
    }

    private static Row row(ResultSet row) throws SQLException {
        Array former = row.getArray("former");
        return new Row(row.getString("tool"), row.getString("current"), row.getString("previous"),
                row.getString("ramping"), row.getInt("percent"), row.getString("behavior"),
                List.of((String[]) former.getArray()), row.getInt("version"), row.getString("updated_by"),
                Rows.time(row, "updated_at"));
    }
}
