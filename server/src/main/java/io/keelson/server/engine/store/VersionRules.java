package io.keelson.server.engine.store;

import io.keelson.core.decide.ChangeSet.Lot;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.run.VersionRule;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Rules that give the steps of tools to versions of workers, as they were read last. A rule that is out of date gives an unpinned run
 * to another version for a moment; a run's own version is in its view, which each claim proves current.
 */
public final class VersionRules implements LocalCapacity.Versions {
    private static final String READ = """
            select workspace_id, tool, current, ramping, percent, behavior = 'pinned' as pinned from tool_versions""";

    private static final String READ_ONE = READ + " where workspace_id = ?";

    /** Work that servers queued before they knew the rule. Skips rows that a commit is writing, and takes the rest later. */
    private static final String SORT = """
            update work_queue q set lot = s.lot
              from (select w.task_id, w.lane, coalesce('=' || v.version, keelson_run_lot(w.run_id)) as lot
                      from tool_versions t
                      join work_queue w on w.workspace_id = t.workspace_id and w.tool = t.tool and w.holder is null
                       and w.lot is null
                      left join run_tool_versions v on v.run_id = w.run_id and v.tool = w.tool
                     limit 20000 for no key update of w skip locked) s
             where q.task_id = s.task_id and q.lane = s.lane""";

    /** The lots of one version: parallel lists. */
    record Lots(List<String> tools, List<String> lots) {
        static final Lots NONE = new Lots(List.of(), List.of());
    }

    private record Key(UUID workspaceId, String tool) {}

    private volatile Map<Key, VersionRule> rules = Map.of();

    /**
     * Reads the rules, and sorts work that was queued without them; of two concurrent calls the later one's result counts.
     *
     * @return whether searches may find work that they did not find before
     */
    public synchronized boolean refresh(Connection c) throws SQLException {
        Map<Key, VersionRule> read = new HashMap<>();
        try (PreparedStatement statement = c.prepareStatement(READ); ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                read.put(new Key(ViewLoader.uuid(row, "workspace_id"), row.getString("tool")), rule(row));
            }
        }
        boolean changed = !rules.equals(read);
        rules = Map.copyOf(read);
        if (read.isEmpty()) {
            return changed;
        }
        try (Statement statement = c.createStatement()) {
            return statement.executeUpdate(SORT) > 0 || changed;
        }
    }

    /** Whether any tool has a rule. */
    public boolean any() {
        return !rules.isEmpty();
    }

    /** The rules of a workspace at this moment, by tool. */
    public static Map<String, VersionRule> in(Connection c, UUID workspaceId) throws SQLException {
        Map<String, VersionRule> found = new HashMap<>();
        try (PreparedStatement statement = c.prepareStatement(READ_ONE)) {
            statement.setObject(1, workspaceId);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.put(row.getString("tool"), rule(row));
                }
            }
        }
        return found;
    }

    private static VersionRule rule(ResultSet row) throws SQLException {
        return new VersionRule(row.getString("current"), row.getString("ramping"), row.getInt("percent"),
                row.getBoolean("pinned"));
    }

    @Override
    public @Nullable VersionRule of(UUID workspaceId, String tool) {
        return rules.get(new Key(workspaceId, tool));
    }

    /** The lots of these tools for workers of the version; no lots for tools without a rule. */
    Lots lots(UUID workspaceId, Collection<String> tools, String version) {
        if (rules.isEmpty()) {
            return Lots.NONE;
        }
        Lots lots = new Lots(new ArrayList<>(), new ArrayList<>());
        for (String tool : tools) {
            VersionRule rule = of(workspaceId, tool);
            if (rule != null) {
                Lot.names(rule, version).forEach(lot -> {
                    lots.tools.add(tool);
                    lots.lots.add(lot);
                });
            }
        }
        return lots;
    }
}
