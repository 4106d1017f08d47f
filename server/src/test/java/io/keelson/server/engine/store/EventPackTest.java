package io.keelson.server.engine.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.run.Actor;
import io.keelson.core.run.Event;
import io.keelson.core.run.RunPayload;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The packs that events are written in, and what the views read from them. */
class EventPackTest {
    private static final UUID RUN = new UUID(7, 1);
    private static final UUID OTHER = new UUID(7, 2);
    private static final UUID AGENT = new UUID(8, 1);
    private static final UUID TASK = new UUID(9, 1);
    private static final UUID STEP = new UUID(10, 1);
    private static final Instant AT = Instant.parse("2026-07-01T12:00:00.123456Z");

    private static Event event(UUID run, long seq) {
        return event(run, seq, 1, AT);
    }

    private static Event event(UUID run, long seq, int attempt, Instant at) {
        return new Event(run, seq, attempt, null, null, null, new RunPayload.Paused("ann", "why"), null, null,
                Actor.SYSTEM, at);
    }

    private static Event event(long seq, @Nullable UUID agent, @Nullable UUID task, @Nullable UUID step,
            String reason, Actor actor) {
        return new Event(RUN, seq, 1, agent, task, step, new RunPayload.Paused("ann", reason), "running", "paused",
                actor, AT);
    }

    private static List<String> query(Database database, String sql) {
        return database.withConnection(c -> RunFixtures.query(c, sql));
    }

    private static List<String> packs(List<Event> events) {
        return EventPack.of(events).stream()
                .map(pack -> pack.runId().getLeastSignificantBits() + ":" + pack.firstSeq() + "+"
                        + Json.MAPPER.readTree(pack.body()).size())
                .toList();
    }

    @Test
    void eventsOfARunShareAPack() {
        assertThat(packs(List.of(event(RUN, 5), event(OTHER, 1), event(RUN, 6), event(OTHER, 2), event(RUN, 7))))
                .containsExactly("1:5+3", "2:1+2");
    }

    @Test
    void anotherAttemptOrTimeBeginsAPack() {
        assertThat(packs(List.of(event(RUN, 1), event(RUN, 2, 2, AT), event(RUN, 3, 2, AT.plusMillis(1)))))
                .containsExactly("1:1+1", "1:2+1", "1:3+1");
    }

    @Test
    void aPackHasAtMost100Events() {
        List<Event> many = new ArrayList<>();
        for (int seq = 1; seq <= 2 * EventPack.MAX_EVENTS + 1; seq++) {
            many.add(event(RUN, seq));
        }
        assertThat(packs(many)).containsExactly("1:1+100", "1:101+100", "1:201+1");
    }

    @Test
    void theViewsReadTheEventsThatWereWritten() {
        List<Event> written = List.of(
                event(1, null, null, null, "a \"quoted\"\nreason \u0000", Actor.human("ann \ud83d\ude00")),
                event(2, AGENT, TASK, STEP, "b", Actor.agent("worker")), event(3, AGENT, null, null, "c", Actor.SYSTEM),
                event(4, null, null, null, "d", Actor.human("ann \ud83d\ude00")),
                event(5, null, TASK, null, "e", Actor.human("x".repeat(300))));
        try (Database database = TestDatabase.create()) {
            database.runInTransaction(c -> EventPacksTable.INSERT.execute(c, EventPack.of(written), null));
            for (String view : List.of("orchestration_events", "orchestration_events_kept")) {
                assertThat(query(database, """
                        select concat_ws(' ', seq, id - min(id) over (), attempt, right(agent_id::text, 1),
                                right(task_id::text, 1), right(step_id::text, 1), event_type, payload ->> 'from',
                                payload ->> 'to', payload ->> 'reason', actor_type, left(actor_id, 7), length(actor_id))
                          from %s where run_id = '%s' and created_at = '%s' order by seq""".formatted(view, RUN, AT)))
                        .containsExactly(
                                "1 0 1 run_paused running paused a \"quoted\"\nreason \ufffd human ann \ud83d\ude00 5",
                                "2 1 1 1 1 1 run_paused running paused b agent worker 6",
                                "3 2 1 1 run_paused running paused c system",
                                "4 3 1 run_paused running paused d human ann \ud83d\ude00 5",
                                "5 4 1 1 run_paused running paused e human xxxxxxx 255");
            }
        }
    }

    @Test
    void equalMembersAreWrittenOnce() {
        UUID next = new UUID(10, 2);
        Actor worker = Actor.agent("worker");
        List<Event> steps = List.of(event(1, null, null, null, "begin", Actor.SYSTEM),
                event(2, AGENT, TASK, STEP, "start", worker), event(3, AGENT, TASK, STEP, "end", worker),
                event(4, AGENT, TASK, next, "start", worker), event(5, AGENT, TASK, next, "end", worker));
        EventPack pack = EventPack.of(steps).getFirst();
        assertThat(pack.body()).isEqualTo("""
                [{"e":"run_paused","agent":"","task":"","actor_type":"system","p":%s},\
                {"e":"run_paused","s":"%s","p":%s},{"e":"run_paused","s":"","p":%s},\
                {"r":1,"s":"%s"},{"r":2,"s":""}]""".formatted(payload("begin"), STEP, payload("start"), payload("end"),
                next));
        assertThat(List.of(String.valueOf(pack.agentId()), String.valueOf(pack.taskId()), pack.actorType()))
                .containsExactly(AGENT.toString(), TASK.toString(), "agent");
    }

    private static String payload(String reason) {
        return "{\"from\":\"running\",\"to\":\"paused\",\"paused_by\":\"ann\",\"reason\":\"" + reason + "\"}";
    }

    /** Events of few values, so that many of them repeat others. */
    @Test
    void everyEventIsReadAsItWasWritten() {
        Random random = new Random(42);
        List<Event> written = new ArrayList<>();
        for (int seq = 1; seq <= 400; seq++) {
            written.add(event(seq, random.nextBoolean() ? AGENT : null, random.nextBoolean() ? TASK : null,
                    random.nextInt(3) == 0 ? null : new UUID(10, random.nextInt(2)), random.nextBoolean() ? "a" : "b",
                    random.nextBoolean() ? Actor.SYSTEM : Actor.agent("worker")));
        }
        assertReadAs(written, EventPack.of(written));
    }

    private static void assertReadAs(List<Event> written, List<EventPack> packs) {
        try (Database database = TestDatabase.create()) {
            database.runInTransaction(c -> EventPacksTable.INSERT.execute(c, packs, null));
            assertThat(query(database, """
                    select concat_ws(' ', seq, coalesce(agent_id::text, '-'), coalesce(task_id::text, '-'),
                            coalesce(step_id::text, '-'), event_type, payload ->> 'reason', actor_type,
                            coalesce(actor_id, '-'))
                      from orchestration_events_kept order by seq"""))
                    .isEqualTo(written.stream().map(each -> Stream.of(each.seq(), each.agentId(), each.taskId(),
                            each.stepId(), each.type().wire(), each.members().get("reason"), each.actor().type().wire(),
                            each.actor().id()).map(member -> member == null ? "-" : member.toString())
                            .collect(Collectors.joining(" "))).toList());
        }
    }

    /** Servers of before wrote each event out. */
    @Test
    void packsOfBeforeAreReadable() {
        try (Database database = TestDatabase.create()) {
            database.runInTransaction(c -> RunFixtures.execute(c,
                    """
                    insert into run_event_packs (run_id, first_seq, agent_id, actor_type, actor_id, body)
                    values ('%1$s', 1, '%2$s', 'human', 'ann', '[{"e": "run_paused", "p": {"reason": "a"}},
                        {"e": "run_paused", "agent": "", "task": "%3$s", "s": "%4$s", "actor_type": "system", "p": {}}]')"""
                            .formatted(RUN, AGENT, TASK, STEP)));
            assertThat(query(database, """
                    select concat_ws(' ', seq, agent_id, task_id, step_id, event_type, payload, actor_type, actor_id)
                      from orchestration_events order by seq"""))
                    .containsExactly("1 " + AGENT + " run_paused {\"reason\": \"a\"} human ann",
                            "2 " + TASK + " " + STEP + " run_paused {} system");
        }
    }

    @Test
    void idsOfAPackEndBeforeTheNextPack() {
        try (Database database = TestDatabase.create()) {
            database.runInTransaction(c -> EventPacksTable.INSERT.execute(c,
                    EventPack.of(List.of(event(RUN, 1), event(RUN, 2), event(OTHER, 1))), null));
            database.runInTransaction(
                    c -> EventPacksTable.INSERT.execute(c, EventPack.of(List.of(event(RUN, 3))), null));
            assertThat(query(database,
                    "select right(run_id::text, 1) || ' ' || seq || ' ' || id from orchestration_events order by id"))
                    .containsExactly("1 1 1", "1 2 2", "2 1 1001", "1 3 2001");
        }
    }
}
