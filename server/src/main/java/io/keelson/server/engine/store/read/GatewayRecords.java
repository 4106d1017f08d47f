package io.keelson.server.engine.store.read;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.OutsideJson;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Reads {@code gateway_requests}: requests of programs to models, and their answers. Commits write them. */
public final class GatewayRecords {

    /** By the indexes of both keys. */
    private static final Sql FIND = Sql.of("""
            select w.number, r.id, r.k1, r.state, r.node
              from unnest(:numbers::bigint[], :steps::uuid[], :k1s::text[], :k2s::text[]) w (number, step_id, k1, k2)
             cross join lateral (
                select g.id, g.k1, g.state, g.facts ->> 'node' as node, g.sent_at from gateway_requests g
                 where g.step_id = w.step_id and g.k1 = w.k1::bpchar and g.state in ('open', 'answered')
                union
                select g.id, g.k1, g.state, g.facts ->> 'node', g.sent_at from gateway_requests g
                 where g.step_id = w.step_id and g.k2 = w.k2::bpchar and g.state in ('open', 'answered')) r
             order by r.sent_at, r.id""");

    private static final Sql STATE = Sql.of("select state from gateway_requests where id = :id");

    private static final Sql ANSWER = Sql.of("""
            select answer::text as answer from gateway_requests where id = :id and state = 'answered'""");

    private static final Sql SIZE = Sql.of("""
            select octet_length(answer::text) as bytes from gateway_requests where id = :id and state = 'answered'""");

    private static final Sql RESPONSE = Sql.of("""
            select facts ->> 'provider' as provider, answer::text as answer from gateway_requests
             where id = :id and state = 'answered'""");

    private static final Sql RESPONSE_IDS =
            Sql.of("""
            select g.id, array_remove((answer #>> '{document,id}') || array(
                    select o.value ->> 'id' from json_array_elements(case
                        when json_typeof(answer #> '{document,output}') = 'array' then answer #> '{document,output}' end) o), null) as ids
              from gateway_requests g
             where step_id = any (:steps) and state = 'answered' and facts ->> 'path' = '/v1/responses' order by sent_at, id""");

    private static final Sql BYTES =
            Sql.of("""
            select coalesce(sum(octet_length(answer::text)), 0) as bytes from gateway_requests where step_id = :step""");

    /** Open requests of the caller, and those whose servers are gone; of one step or of all. */
    private static final Sql ORPHANS = Sql.of("""
            select g.id, g.run_id, g.step_id from gateway_requests g
             where g.state = 'open' and (:step::uuid is null or g.step_id = :step)
               and (g.facts ->> 'node' = :own
                or not exists (select from engine_nodes n where n.id = g.facts ->> 'node' and n.left_at is null
                    and n.last_seen_at >= {now} - :silence * interval '1 millisecond'))
             order by g.facts ->> 'node' = :own, g.sent_at
             limit 1000""");

    private static final Sql EXACT =
            Sql.of("select config #>> '{budget,output}' as output from orchestration_runs where id = :run");

    /** Changes when a limit of the run or its workspace may pay more than before. */
    private static final Sql LIMITS = Sql.of("""
            select concat_ws('/', h.version_id, (select sum(c.available) from credit_slots c
                    where c.workspace_id = r.workspace_id)) as limits
              from run_heads h join orchestration_runs r on r.id = h.run_id where h.run_id = :run""");

    /** The answered request that has the most messages of the list at its beginning, and further ones; of the oldest 1,000. */
    private static final Sql CLOSEST =
            Sql.of("""
            select e.equal, (r.messages -> e.equal)::text as message
              from (select g.facts -> 'messages' as messages, g.sent_at, g.id from gateway_requests g
                     where g.step_id = any (:steps) and g.state = 'answered' order by g.sent_at, g.id limit 1000) r
             cross join lateral (select coalesce(min(m.place) - 1, jsonb_array_length(r.messages))::int as equal
                      from jsonb_array_elements(r.messages) with ordinality m(value, place)
                     where m.value ->> 'sha256' is distinct from (:digests::text[])[m.place]) e
             where e.equal < jsonb_array_length(r.messages)
             order by e.equal desc, r.sent_at, r.id limit 1""");

    /** Steps of earlier attempts of the task, if its plan has {@code replay: keep}. */
    private static final Sql EARLIER = Sql.of("""
            select o.id
              from task_steps s
              join orchestration_tasks t on t.id = s.task_id
              join orchestration_runs r on r.id = t.run_id
              left join orchestration_tasks g on g.id = t.group_id
              join task_steps o on o.task_id = s.task_id and o.task_attempt < s.task_attempt and o.kind = s.kind
                    and o.position = s.position
             where s.id = :step and s.kind = 'tool' and 'keep' = (
                    select task.value ->> 'replay' from jsonb_array_elements(r.plan -> 'tasks') task
                     where task.value ->> 'temp_id' = coalesce(g.key, t.key) limit 1)""");

    private final Database database;
    private final DbClock clock;

    public GatewayRecords(Database database, DbClock clock) {
        this.database = database;
        this.clock = clock;
    }

    /** The steps of a request, and its keys. */
    public record Keys(List<UUID> steps, String k1, String k2) {}

    /**
     * A request that is not refused or lost.
     *
     * @param answered whether its answer is recorded
     * @param node the server that has sent it
     */
    public record Found(UUID id, String k1, boolean answered, @Nullable String node) {}

    /**
     * A recorded answer.
     *
     * @param provider names the provider and its account; null if absent
     */
    public record Recorded(@Nullable String provider, JsonNode answer) {}

    private record Text(@Nullable String provider, String answer) {}

    /**
     * The ids that a recorded response has.
     *
     * @param record id of its request
     * @param ids of the response and of its items
     */
    public record Ids(UUID record, List<String> ids) {}

    /**
     * A recorded request beside another one.
     *
     * @param equal messages at the beginning that both have
     * @param message the next one of the recorded request
     */
    public record Closest(int equal, JsonNode message) {}

    /** An open request whose server may not read its answer. */
    public record Orphan(UUID id, UUID runId, UUID stepId) {}

    /** The step and the steps of earlier attempts with answers for its program. */
    public List<UUID> sources(UUID step) {
        return Stream.concat(Stream.of(step), database.withConnection(c -> EARLIER.on(c).set("step", step)
                .all(row -> row.getObject("id", UUID.class))).stream()).toList();
    }

    /** For each of the keys, the requests with one of them, in the order in which they were sent. */
    public List<List<Found>> find(List<Keys> all) {
        return database.withConnection(c -> find(c, all));
    }

    /** {@link #find(List)} on a connection. */
    public static List<List<Found>> find(Connection c, List<Keys> all) throws SQLException {
        List<Long> numbers = new ArrayList<>();
        List<UUID> steps = new ArrayList<>();
        List<String> k1s = new ArrayList<>();
        List<String> k2s = new ArrayList<>();
        List<List<Found>> found = new ArrayList<>();
        for (Keys each : all) {
            for (UUID step : each.steps) {
                numbers.add((long) found.size());
                steps.add(step);
                k1s.add(each.k1);
                k2s.add(each.k2);
            }
            found.add(new ArrayList<>());
        }
        FIND.on(c).setLongs("numbers", numbers).setUuids("steps", steps).setTexts("k1s", k1s).setTexts("k2s", k2s)
                .all(row -> found.get((int) row.getLong("number")).add(new Found(row.getObject("id", UUID.class),
                        row.getString("k1"), row.getString("state").equals("answered"), row.getString("node"))));
        return found;
    }

    /** Whether the request is still open. */
    public boolean open(UUID id) {
        return database.withConnection(c -> STATE.on(c).set("id", id).first(row -> row.getString("state")))
                .filter(state -> state.equals("open")).isPresent();
    }

    /** The recorded answer; empty if absent. */
    public Optional<JsonNode> answer(UUID id) {
        return database.withConnection(c -> ANSWER.on(c).set("id", id).first(row -> row.getString("answer")))
                .map(Json::read);
    }

    /** Bytes of the recorded answer; 0 if absent. */
    public long size(UUID id) {
        return database.withConnection(c -> SIZE.on(c).set("id", id).first(row -> row.getLong("bytes"))).orElse(0L);
    }

    /** The recorded response of a request, read within the memory of this thread's work; empty if absent. */
    public Optional<Recorded> response(UUID id) {
        return database.withConnection(c -> RESPONSE.on(c).set("id", id)
                .first(row -> new Text(row.getString("provider"), row.getString("answer"))))
                .map(text -> new Recorded(text.provider,
                        OutsideJson.read(text.answer.getBytes(StandardCharsets.UTF_8))));
    }

    /** The ids of the recorded responses of steps (of OpenAI's API), in the order in which they were sent. */
    public List<Ids> responseIds(List<UUID> steps) {
        return database.withConnection(c -> RESPONSE_IDS.on(c).setUuids("steps", steps)
                .all(row -> new Ids(row.getObject("id", UUID.class),
                        List.of((String[]) row.getArray("ids").getArray()))));
    }

    /** Bytes of the recorded answers of a step. */
    public long bytes(UUID step) {
        return database.withConnection(c -> BYTES.on(c).set("step", step).<Long>one(row -> row.getLong("bytes")));
    }

    /** Whether the config of the run refuses requests whose bound of output its limits do not pay, instead of a lower bound. */
    public boolean exactOutput(UUID run) {
        return database.withConnection(c -> EXACT.on(c).set("run", run)
                .<Boolean>one(row -> "exact".equals(row.getString("output"))));
    }

    /** A text that stays equal until the limits of the run or the credits of its workspace may pay more. */
    public String limits(UUID run) {
        return database.withConnection(c -> LIMITS.on(c).set("run", run).first(row -> row.getString("limits")))
                .orElse("");
    }

    /**
     * The answered request of steps that has the most messages of another one at its beginning, and further messages.
     *
     * @param digests of the other one's messages
     */
    public Optional<Closest> closest(List<UUID> steps, List<String> digests) {
        return database.withConnection(c -> CLOSEST.on(c).setUuids("steps", steps).setTexts("digests", digests)
                .first(row -> new Closest(row.getInt("equal"), Json.read(row.getString("message")))));
    }

    /**
     * Open requests whose servers are gone, and all of the calling server, which knows the answers that it still reads.
     *
     * @param step null for all steps
     * @param own the calling server
     * @param silence the age of a server's last sign of life after which it counts as gone
     */
    public List<Orphan> orphans(@Nullable UUID step, String own, Duration silence) {
        return database.withConnection(c -> ORPHANS.on(c).at(clock).set("step", step).set("own", own)
                .set("silence", silence.toMillis()).all(row -> new Orphan(row.getObject("id", UUID.class),
                        row.getObject("run_id", UUID.class), row.getObject("step_id", UUID.class))));
    }
}
