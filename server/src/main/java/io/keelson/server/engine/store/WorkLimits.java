package io.keelson.server.engine.store;

import io.keelson.core.decide.LocalCapacity;
import io.keelson.server.engine.store.RunStore.Candidate;
import io.keelson.server.engine.store.sql.BinaryParameter;
import io.keelson.server.engine.store.sql.ModelName;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Limits of concurrently claimed lanes in a workspace: in total, by tool and by model. Uses the limits that were read
 * last, and counts claimed lanes at each claim. Without limits there is no query.
 */
public final class WorkLimits implements LocalCapacity.Limits {
    private static final String READ = """
            select workspace_id, name, most from workspace_limits
             where name = 'steps' or name like 'tool:%' or name like 'model:%'""";

    private static final String STEPS = "steps";
    private static final String TOOL = "tool:";
    private static final String MODEL = "model:";

    /** The planner settings: a plan made while the queue was empty would later read the whole queue. */
    private static final String BY_INDEX = "select set_config('enable_seqscan', 'off', true)";

    private static final String HELD = """
            select workspace_id, tool, model, count(*) as held from work_queue
             where holder is not null and workspace_id = any (?)
             group by workspace_id, tool, model""";

    private static final String LOCK = """
            select pg_advisory_xact_lock(hashtextextended('keelson work ' || id, 0)) from unnest(?) as w (id)""";

    /** @param name the limit's */
    private record Key(UUID workspaceId, String name) {}

    /**
     * A reached limit.
     *
     * @param tool null for any tool
     * @param model null for any model
     */
    record Full(UUID workspaceId, @Nullable String tool, @Nullable String model) {}

    private volatile Map<Key, Long> most = Map.of();
    private volatile Set<UUID> workspaces = Set.of();
    /** Workspaces with limits on models. */
    private volatile Set<UUID> models = Set.of();
    private final Set<UUID> known = ConcurrentHashMap.newKeySet();

    /** Whether all of them are known: limits of a new workspace may not be read yet. */
    public boolean know(Collection<UUID> ids) {
        return known.containsAll(ids);
    }

    /** Reads the limits, including limits of workspaces that were unknown. */
    public void meet(Connection c, Collection<UUID> ids) throws SQLException {
        refresh(c);
        known.addAll(ids);
    }

    /** Reads the limits; of two concurrent calls the later one's result counts. */
    public synchronized void refresh(Connection c) throws SQLException {
        Map<Key, Long> read = new HashMap<>();
        try (PreparedStatement statement = c.prepareStatement(READ); ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                read.put(new Key(ViewLoader.uuid(row, "workspace_id"), row.getString("name")), row.getLong("most"));
            }
        }
        Set<UUID> limited = new TreeSet<>();
        Set<UUID> ofModels = new TreeSet<>();
        read.keySet().forEach(key -> {
            limited.add(key.workspaceId);
            if (key.name.startsWith(MODEL)) {
                ofModels.add(key.workspaceId);
            }
        });
        most = Map.copyOf(read);
        models = Set.copyOf(ofModels);
        workspaces = Set.copyOf(limited);
    }

    @Override
    public boolean limited(UUID workspaceId) {
        return workspaces.contains(workspaceId);
    }

    @Override
    public boolean limited(UUID workspaceId, String tool, String input) {
        return limited(workspaceId) && (most.containsKey(new Key(workspaceId, TOOL + tool))
                || models.contains(workspaceId)
                        && most.containsKey(new Key(workspaceId, MODEL + ModelName.of(input))));
    }

    /** All workspaces with limits. */
    public Set<UUID> workspaces() {
        return workspaces;
    }

    /** Blocks other claims in these workspaces until the transaction ends. Locks in the order of their ids. */
    public void lock(Connection c, Collection<UUID> ids) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(LOCK)) {
            BinaryParameter.bindIds(statement, 1, new TreeSet<>(ids));
            statement.executeQuery().close();
        }
    }

    /** The capacity left at this moment, in a transaction. */
    public Capacity capacity(Connection c, Collection<UUID> ids) throws SQLException {
        Capacity capacity = new Capacity(most);
        try (PreparedStatement index = c.prepareStatement(BY_INDEX)) {
            index.executeQuery().close();
        }
        try (PreparedStatement statement = c.prepareStatement(HELD)) {
            BinaryParameter.bindIds(statement, 1, ids);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    UUID workspace = ViewLoader.uuid(row, "workspace_id");
                    long held = row.getLong("held");
                    keys(workspace, row.getString("tool"), row.getString("model"))
                            .forEach(key -> capacity.use(key, held));
                }
            }
        }
        return capacity;
    }

    /** The limits that apply to that tool and model. */
    private static List<Key> keys(UUID workspace, String tool, String model) {
        return List.of(new Key(workspace, STEPS), new Key(workspace, TOOL + tool), new Key(workspace, MODEL + model));
    }

    /** Remaining capacity. Not thread-safe. */
    public static final class Capacity {
        private final Map<Key, Long> left;

        private Capacity(Map<Key, Long> most) {
            this.left = new HashMap<>(most);
        }

        private void use(Key key, long count) {
            left.computeIfPresent(key, (k, n) -> n - count);
        }

        /** Takes the capacity that the candidate needs, if available. */
        public boolean take(Candidate candidate) {
            List<Key> keys = keys(candidate.workspaceId(), candidate.tool(), candidate.model());
            if (keys.stream().anyMatch(key -> left.getOrDefault(key, 1L) <= 0)) {
                return false;
            }
            keys.forEach(key -> use(key, 1));
            return true;
        }

        /** Whether any limit is reached. */
        public boolean anyFull() {
            return !full().isEmpty();
        }

        private static @Nullable String after(String prefix, String name) {
            return name.startsWith(prefix) ? name.substring(prefix.length()) : null;
        }

        List<Full> full() {
            List<Full> full = new ArrayList<>();
            left.forEach((key, count) -> {
                if (count <= 0) {
                    full.add(new Full(key.workspaceId, after(TOOL, key.name), after(MODEL, key.name)));
                }
            });
            return full;
        }
    }
}
