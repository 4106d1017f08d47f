package io.keelson.server.engine.store;

import io.keelson.api.tenant.LimitName;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.policy.Rate;
import io.keelson.server.base.db.Rows;
import io.keelson.server.engine.store.RunStore.Candidate;
import io.keelson.server.engine.store.sql.BinaryParameter;
import io.keelson.server.engine.store.sql.ModelName;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Limits of work in a workspace, in total, by tool, model and agent: of lanes claimed at a time, and of steps claimed per minute. Uses
 * the limits that were read last; counts claimed lanes, and reads the admissions of the rates, at each claim. Without limits
 * there is no query.
 */
public final class WorkLimits implements LocalCapacity.Limits {
    private static final String READ = """
            select workspace_id, split_part(name, ':', 1) as name, substr(name, strpos(name, ':') + 1) as of, most
              from workspace_limits where split_part(name, ':', 1) = any (?::text[])""";

    private static final String WORKSPACES = "select id from workspaces where closed_at is null";

    /** The planner settings: a plan made while the queue was empty would later read the whole queue. */
    private static final String BY_INDEX = "select set_config('enable_seqscan', 'off', true)";

    private static final String HELD = """
            select workspace_id, tool, model, count(*) as held from work_queue
             where holder is not null and workspace_id = any (?)
             group by workspace_id, tool, model""";

    private static final String ADMITTED = """
            select clock_timestamp() as now, r.workspace_id, split_part(r.name, ':', 1) as name,
                    substr(r.name, strpos(r.name, ':') + 1) as of, r.admitted_until
              from (select) as one left join work_rates r on r.workspace_id = any (?)
                    and split_part(r.name, ':', 1) = any (?::text[])""";

    private static final String ADMIT = """
            insert into work_rates (workspace_id, name, admitted_until) values (?, ?, ?)
            on conflict (workspace_id, name) do update set admitted_until = excluded.admitted_until""";

    private static final String LOCK = """
            select pg_advisory_xact_lock(hashtextextended('keelson work ' || id, 0)) from unnest(?) as w (id)""";

    /** @param of the tool, model or agent that it is of; empty for a limit of the workspace */
    private record Key(UUID workspaceId, LimitName limit, String of) {

        /** In the tables. */
        String name() {
            return limit.members() == null ? limit.text() : limit.of(of);
        }

        static Key of(ResultSet row) throws SQLException {
            LimitName limit = LimitName.find(row.getString("name")).orElseThrow();
            return new Key(ViewLoader.uuid(row, "workspace_id"), limit,
                    limit.members() == null ? "" : row.getString("of"));
        }

        private @Nullable String tool() {
            return switch (limit) {
                case TOOL, TOOL_PER_MINUTE -> of;
                case OPEN_RUNS, STEPS, RUNS_PER_MINUTE, STORAGE_BYTES, REQUESTS_PER_MINUTE, USD_PER_MONTH,
                        STEPS_PER_MINUTE, MODEL, MODEL_PER_MINUTE, MODEL_TOKENS_PER_MINUTE, AGENT_PER_MINUTE ->
                    null;
            };
        }

        private @Nullable String model() {
            return switch (limit) {
                case MODEL, MODEL_PER_MINUTE, MODEL_TOKENS_PER_MINUTE -> of;
                case OPEN_RUNS, STEPS, RUNS_PER_MINUTE, STORAGE_BYTES, REQUESTS_PER_MINUTE, USD_PER_MONTH,
                        STEPS_PER_MINUTE, TOOL, TOOL_PER_MINUTE, AGENT_PER_MINUTE ->
                    null;
            };
        }

        private @Nullable String agent() {
            return limit == LimitName.AGENT_PER_MINUTE ? of : null;
        }
    }

    /**
     * A reached limit.
     *
     * @param tool null for any tool
     * @param model null for any model
     * @param agent null for the work of all agents, and for work without an agent
     */
    record Full(UUID workspaceId, @Nullable String tool, @Nullable String model, @Nullable String agent) {}

    private volatile Map<Key, Long> most = Map.of();
    private volatile Set<UUID> workspaces = Set.of();
    /** Workspaces with limits on models. */
    private volatile Set<UUID> models = Set.of();
    /** Workspaces with limits per minute. */
    private volatile Set<UUID> rated = Set.of();
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

    /** Reads the limits of all workspaces. */
    public void meetAll(Connection c) throws SQLException {
        List<UUID> all = new ArrayList<>();
        try (PreparedStatement statement = c.prepareStatement(WORKSPACES); ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                all.add(ViewLoader.uuid(row, "id"));
            }
        }
        meet(c, all);
    }

    /** Reads the limits; of two concurrent calls the later one's result counts. */
    public synchronized void refresh(Connection c) throws SQLException {
        Map<Key, Long> read = new HashMap<>();
        try (PreparedStatement statement = c.prepareStatement(READ)) {
            BinaryParameter.bindTexts(statement, 1, names(each -> each.atATime() || each.rate()));
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    read.put(Key.of(row), row.getLong("most"));
                }
            }
        }
        Set<UUID> limited = new TreeSet<>();
        Set<UUID> ofModels = new TreeSet<>();
        Set<UUID> perMinute = new TreeSet<>();
        read.keySet().forEach(key -> {
            limited.add(key.workspaceId);
            if (key.model() != null) {
                ofModels.add(key.workspaceId);
            }
            if (key.limit.rate()) {
                perMinute.add(key.workspaceId);
            }
        });
        most = Map.copyOf(read);
        models = Set.copyOf(ofModels);
        rated = Set.copyOf(perMinute);
        workspaces = Set.copyOf(limited);
    }

    /** Also true for a workspace with unread limits: a claim from the queue reads them. */
    @Override
    public boolean limited(UUID workspaceId) {
        return workspaces.contains(workspaceId) || !known.contains(workspaceId);
    }

    @Override
    public boolean limited(UUID workspaceId, String tool, String input, @Nullable String agent) {
        return !known.contains(workspaceId)
                || limited(workspaceId) && (most.containsKey(new Key(workspaceId, LimitName.TOOL, tool))
                        || rated.contains(workspaceId) && (most.containsKey(new Key(workspaceId,
                                LimitName.STEPS_PER_MINUTE, ""))
                                || most.containsKey(new Key(workspaceId, LimitName.TOOL_PER_MINUTE, tool))
                                || agent != null && most.containsKey(new Key(workspaceId,
                                        LimitName.AGENT_PER_MINUTE, agent)))
                        || models.contains(workspaceId) && limitedModel(workspaceId, ModelName.of(input)));
    }

    private boolean limitedModel(UUID workspaceId, String model) {
        return Stream.of(LimitName.MODEL, LimitName.MODEL_PER_MINUTE, LimitName.MODEL_TOKENS_PER_MINUTE)
                .anyMatch(each -> most.containsKey(new Key(workspaceId, each, model)));
    }

    /** The names of these limits, without the name of a tool, model or agent. */
    public static List<String> names(Predicate<LimitName> which) {
        return Arrays.stream(LimitName.values()).filter(which).map(LimitName::text).toList();
    }

    /** All workspaces with limits. */
    public Set<UUID> workspaces() {
        return workspaces;
    }

    /** Blocks other claims in these workspaces until the transaction ends. Locks in the order of their ids. */
    public static void lock(Connection c, Collection<UUID> ids) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(LOCK)) {
            BinaryParameter.bindIds(statement, 1, new TreeSet<>(ids));
            statement.executeQuery().close();
        }
    }

    /** The capacity left at this moment, in a transaction. */
    public Capacity capacity(Connection c, Collection<UUID> ids) throws SQLException {
        Capacity capacity = new Capacity(most, ids);
        try (PreparedStatement index = c.prepareStatement(BY_INDEX)) {
            index.executeQuery().close();
        }
        try (PreparedStatement statement = c.prepareStatement(HELD)) {
            BinaryParameter.bindIds(statement, 1, ids);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    UUID workspace = ViewLoader.uuid(row, "workspace_id");
                    long held = row.getLong("held");
                    keys(workspace, row.getString("tool"), row.getString("model"), "")
                            .forEach(key -> capacity.use(key, held));
                }
            }
        }
        if (ids.stream().anyMatch(rated::contains)) {
            readAdmitted(c, ids, capacity);
        }
        return capacity;
    }

    private static void readAdmitted(Connection c, Collection<UUID> ids, Capacity capacity) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(ADMITTED)) {
            BinaryParameter.bindIds(statement, 1, ids);
            BinaryParameter.bindTexts(statement, 2, names(LimitName::rate));
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    capacity.now = Rows.time(row, "now");
                    if (row.getString("name") != null) {
                        capacity.admitted.put(Key.of(row), Rows.time(row, "admitted_until"));
                    }
                }
            }
        }
        capacity.rates.forEach((key, rate) -> capacity.left.put(key,
                rate.available(capacity.admitted.get(key), capacity.now)));
    }

    /** Counts the candidates that were taken for the limits per minute. */
    public void admit(Connection c, Capacity capacity) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(ADMIT)) {
            for (Map.Entry<Key, Long> each : capacity.taken.entrySet()) {
                Key key = each.getKey();
                Rate rate = Objects.requireNonNull(capacity.rates.get(key));
                Instant until = rate.after(capacity.admitted.get(key), capacity.now, each.getValue());
                statement.setObject(1, key.workspaceId);
                statement.setString(2, key.name());
                statement.setObject(3, until.atOffset(ZoneOffset.UTC));
                statement.addBatch();
            }
            statement.executeBatch();
        }
    }

    /** The limits that apply to that tool, model and agent. */
    private static List<Key> keys(UUID workspace, String tool, String model, String agent) {
        return List.of(new Key(workspace, LimitName.STEPS, ""), new Key(workspace, LimitName.TOOL, tool),
                new Key(workspace, LimitName.MODEL, model), new Key(workspace, LimitName.STEPS_PER_MINUTE, ""),
                new Key(workspace, LimitName.TOOL_PER_MINUTE, tool),
                new Key(workspace, LimitName.MODEL_PER_MINUTE, model),
                new Key(workspace, LimitName.MODEL_TOKENS_PER_MINUTE, model),
                new Key(workspace, LimitName.AGENT_PER_MINUTE, agent));
    }

    /** The names of the limits that apply to that tool, model and agent; an agent is empty if absent. */
    public static Stream<String> names(String tool, String model, String agent) {
        return keys(new UUID(0, 0), tool, model, agent).stream().map(Key::name);
    }

    /** Remaining capacity. Not thread-safe. */
    public static final class Capacity {
        private final Map<Key, Long> left;
        private final Map<Key, Rate> rates = new HashMap<>();
        private final Map<Key, Instant> admitted = new HashMap<>();
        private final Map<Key, Long> taken = new HashMap<>();
        private Instant now = Instant.EPOCH;

        private Capacity(Map<Key, Long> most, Collection<UUID> ids) {
            this.left = new HashMap<>(most);
            most.forEach((key, count) -> {
                if (key.limit.rate() && ids.contains(key.workspaceId)) {
                    rates.put(key, Rate.perMinute(count));
                }
            });
        }

        /** Claimed lanes count for the limits of lanes at a time only. */
        private void use(Key key, long count) {
            if (!rates.containsKey(key)) {
                left.computeIfPresent(key, (k, n) -> n - count);
            }
        }

        private void take(Key key) {
            if (key.limit == LimitName.MODEL_TOKENS_PER_MINUTE) {
                return;
            }
            left.computeIfPresent(key, (k, n) -> n - 1);
            if (rates.containsKey(key)) {
                taken.merge(key, 1L, Long::sum);
            }
        }

        /** Whether candidates were taken that count for a limit per minute. */
        public boolean spends() {
            return !taken.isEmpty();
        }

        /** Time until the first reached limit per minute admits a step; null if none is reached, or if it never does. */
        public @Nullable Duration soonest() {
            return rates.entrySet().stream().filter(each -> left.getOrDefault(each.getKey(), 1L) <= 0)
                    .map(each -> each.getValue().next(until(each.getKey(), each.getValue()), now))
                    .filter(Objects::nonNull).min(Comparator.naturalOrder()).map(at -> Duration.between(now, at))
                    .orElse(null);
        }

        private @Nullable Instant until(Key key, Rate rate) {
            Long count = taken.get(key);
            return count == null ? admitted.get(key) : rate.after(admitted.get(key), now, count);
        }

        /** Takes the capacity that the candidate needs, if available. */
        public boolean take(Candidate candidate) {
            List<Key> keys = keys(candidate.workspaceId(), candidate.tool(), candidate.model(),
                    candidate.agent());
            if (keys.stream().anyMatch(key -> left.getOrDefault(key, 1L) <= 0)) {
                return false;
            }
            keys.forEach(this::take);
            return true;
        }

        /** Whether any limit is reached. */
        public boolean anyFull() {
            return !full().isEmpty();
        }

        List<Full> full() {
            List<Full> full = new ArrayList<>();
            left.forEach((key, count) -> {
                if (count <= 0) {
                    full.add(new Full(key.workspaceId, key.tool(), key.model(), key.agent()));
                }
            });
            return full;
        }
    }
}
