package io.keelson.server.engine.store;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.keelson.api.tenant.LimitName;
import io.keelson.core.policy.Rate;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.db.Tenancy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

/**
 * Limits per minute of requests to models: of their number, and of their tokens. A request takes its worst case before it is sent, and
 * gives back the rest when its usage is known. All servers share the admissions, which the claims of steps count in, too. Without limits
 * there is one query per second and model. Thread-safe.
 */
public final class SharedModelRates implements ModelRates {
    private static final Duration KNOWN = Duration.ofSeconds(1);
    private static final int MAX_KNOWN = 10_000;

    private static final Sql LIMITS =
            Sql.of("""
            select name, most from workspace_limits where workspace_id = :workspace and name in (:requests, :tokens)""");

    private static final Sql ADMITTED =
            Sql.of("""
            select clock_timestamp() as now, r.name, r.admitted_until
              from (select) as one left join work_rates r on r.workspace_id = :workspace and r.name in (:requests, :tokens)""");

    private static final Sql ADMIT = Sql.of("""
            insert into work_rates (workspace_id, name, admitted_until) values (:workspace, :name, :until)
            on conflict (workspace_id, name) do update set admitted_until = excluded.admitted_until""");

    private static final Sql CORRECT = Sql.of("""
            update work_rates set admitted_until = admitted_until + :micros * interval '1 microsecond'
             where workspace_id = :workspace and name = :name""");

    private final Database database;
    private final Cache<Key, Map<String, Rate>> known =
            Caffeine.newBuilder().maximumSize(MAX_KNOWN).expireAfterWrite(KNOWN).build();

    private record Key(UUID workspace, String model) {}

    public SharedModelRates(Database database) {
        this.database = database;
    }

    private record Present(Instant now, Map<String, Instant> admitted) {}

    @Override
    public Admission take(UUID workspace, String model, boolean counted, long tokens, Duration patience) {
        Map<String, Long> wanted = new HashMap<>();
        Map<String, Rate> rates = rates(workspace, model);
        rates.keySet().forEach(name -> wanted.put(name,
                name.equals(LimitName.MODEL_TOKENS_PER_MINUTE.of(model)) ? tokens : counted ? 0L : 1L));
        wanted.values().removeIf(amount -> amount == 0);
        if (wanted.isEmpty()) {
            return Admission.free(workspace, model);
        }
        return Tenancy.allWorkspaces(() -> database.inTransaction(c -> {
            WorkLimits.lock(c, List.of(workspace));
            Present present = present(c, workspace, model);
            Instant at = present.now;
            String limit = null;
            for (String name : wanted.keySet()) {
                Rate rate = Objects.requireNonNull(rates.get(name));
                Instant next = rate.next(present.admitted.get(name), present.now);
                if (next == null) {
                    return new Admission(workspace, model, tokens, name + "=0", null, false);
                }
                if (next.isAfter(at)) {
                    at = next;
                    limit = name + "=" + rate.limit();
                }
            }
            Duration wait = Duration.between(present.now, at);
            if (wait.compareTo(patience) > 0) {
                return new Admission(workspace, model, tokens, limit, wait, false);
            }
            for (Map.Entry<String, Long> each : wanted.entrySet()) {
                ADMIT.on(c).set("workspace", workspace).set("name", each.getKey())
                        .set("until",
                                Objects.requireNonNull(rates.get(each.getKey())).after(
                                        present.admitted.get(each.getKey()), present.now,
                                        each.getValue()))
                        .update();
            }
            return new Admission(workspace, model, tokens, limit, wait, true);
        }));
    }

    private static Present present(Connection c, UUID workspace, String model) throws SQLException {
        Map<String, Instant> admitted = new HashMap<>();
        List<Instant> now =
                ADMITTED.on(c).set("workspace", workspace).set("requests", LimitName.MODEL_PER_MINUTE.of(model))
                        .set("tokens", LimitName.MODEL_TOKENS_PER_MINUTE.of(model)).all(row -> {
                            if (row.getString("name") != null) {
                                admitted.put(row.getString("name"), Rows.time(row, "admitted_until"));
                            }
                            return Rows.time(row, "now");
                        });
        return new Present(now.getFirst(), admitted);
    }

    @Override
    public void correct(Admission request, long tokens) {
        Rate rate =
                rates(request.workspace(), request.model()).get(LimitName.MODEL_TOKENS_PER_MINUTE.of(request.model()));
        if (rate != null && rate.limit() > 0 && request.admitted() && request.tokens() > 0
                && tokens != request.tokens()) {
            Tenancy.allWorkspaces(() -> database.inTransaction(c -> {
                // A request that is counted meanwhile would overwrite the correction.
                WorkLimits.lock(c, List.of(request.workspace()));
                return CORRECT.on(c).set("workspace", request.workspace())
                        .set("name", LimitName.MODEL_TOKENS_PER_MINUTE.of(request.model()))
                        .set("micros", rate.micros(tokens) - rate.micros(request.tokens())).update();
            }));
        }
    }

    private Map<String, Rate> rates(UUID workspace, String model) {
        return known.get(new Key(workspace, model), _ -> {
            Map<String, Rate> read = new HashMap<>();
            Tenancy.allWorkspaces(() -> database.withConnection(c -> LIMITS.on(c).set("workspace", workspace)
                    .set("requests", LimitName.MODEL_PER_MINUTE.of(model))
                    .set("tokens", LimitName.MODEL_TOKENS_PER_MINUTE.of(model))
                    .all(row -> read.put(row.getString("name"), Rate.perMinute(row.getLong("most"))))));
            return read;
        });
    }
}
