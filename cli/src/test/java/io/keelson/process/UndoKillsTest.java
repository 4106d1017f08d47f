package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.inbox.Escalation;
import io.keelson.api.run.Run;
import io.keelson.api.run.RunUndo;
import io.keelson.api.run.Step;
import io.keelson.client.EscalationQuery;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.Resolution;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import io.keelson.client.plan.TaskBuilder;
import io.keelson.core.Breadth;
import io.keelson.core.plan.UndoPlan;
import io.keelson.process.KilledNode.Point;
import io.keelson.process.SagaEffects.Saga;
import io.keelson.server.Invariants;
import io.keelson.server.base.db.CountingProxy.Write;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A saga of five effects fails at the last one, whose outcome is unknown, and is undone. A child run does the first. The third effect and the undo of the fourth
 * must not be repeated, so a kill leaves their outcomes unknown. The undo of the second is refused once. The server is killed at each
 * commit of saga and undo, before and after it: each effect is done at most once, and each done effect is undone once. A person is
 * asked about the others, and the answers come from a look at the system with the effects.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class UndoKillsTest {
    private static final Write ANY = new Write("run_heads", "");
    private static final Duration LOOK = Duration.ofMillis(50);
    private static final Duration LIMIT = Duration.ofMinutes(2);
    /** More commits than a saga and its undo have. */
    private static final int MANY = 200;

    /** Over all sagas. */
    private static final class Sums {
        private int sagas;
        private int kills;
        private int done;
        private int undone;
        private int questions;
        private int tickets;

        private void add(Saga saga, Person person, int more) {
            kills += more;
            for (int effect = 1; effect <= SagaEffects.COUNT; effect++) {
                done += saga.done(effect);
                undone += saga.undone(effect);
            }
            questions += person.questions.size();
            tickets += person.tickets.size();
        }
    }

    @Test
    @Breadth.InPart(6)
    void eachEffectIsUndoneOnceOrAskedAbout(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (SagaEffects effects = new SagaEffects();
                Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2));
                KilledNode node = new KilledNode(folder, url,
                        Map.of("KEELSON_LEASE_SECONDS", "2", "KEELSON_ALLOW_PRIVATE_ADDRESSES", "true"))) {
            node.awaitReady();
            node.client().mcpServers().set("other",
                    Json.read(
                            """
                    {"url": "%s", "timeout_seconds": 60, "tools": ["add", "note"], "effects": {"add": "once", "note": "once"}}"""
                                    .formatted(effects.other.url())));
            Sums sums = new Sums();
            if (Breadth.all()) {
                for (Point point : List.of(Point.BEFORE_COMMIT, Point.AFTER_COMMIT)) {
                    boolean killed = true;
                    for (int commit = 0; killed && commit < MANY; commit++) {
                        killed = execute(node, effects, sums, point, commit, MANY) > 0;
                    }
                }
            }
            execute(node, effects, sums, Point.AFTER_COMMIT, Breadth.of(2, 0), Breadth.of(4, 2));
            System.out.printf("undo kills: %d sagas, %d kills, %d effects, %d undone, %d questions, %d tickets%n",
                    sums.sagas, sums.kills, sums.done, sums.undone, sums.questions, sums.tickets);
            assertThat(sums.kills).isGreaterThanOrEqualTo(Breadth.of(3, 40));
            Invariants.hold(database);
        }
    }

    /**
     * Executes a saga and kills the server at its commits.
     *
     * @param first how many commits precede the first kill
     * @param next how many commits are between two kills
     * @return the number of kills
     */
    private static int execute(KilledNode node, SagaEffects effects, Sums sums, Point point, int first, int next)
            throws Exception {
        int number = ++sums.sagas;
        Saga saga = effects.begin(number);
        String run = node.client().runs().create(RunRequest.of(mission(effects, number).toJson())).id();
        node.doom(point, ANY, first);
        Person person = new Person(node, run, saga);
        Future<?> settled = person.begin();
        int kills = 0;
        Instant limit = Instant.now().plus(LIMIT);
        while (!settled.isDone()) {
            assertThat(Instant.now()).as("saga %s after %s kills: %s", number, kills, saga).isBefore(limit);
            if (node.diesWithin(LOOK)) {
                kills++;
                limit = Instant.now().plus(LIMIT);
                node.doom(point, ANY, next);
                node.restart();
            }
        }
        node.spare();
        node.awaitReady();
        settled.get();
        check(node.client().runs().get(run), saga, number);
        sums.add(saga, person, kills);
        return kills;
    }

    private static void check(Run run, Saga saga, int number) {
        RunUndo undo = Objects.requireNonNull(run.undo());
        assertThat(undo.state()).as("saga %s: %s", number, undo).isEqualTo("undone");
        for (int effect = 1; effect <= SagaEffects.COUNT; effect++) {
            assertThat(saga.done(effect)).as("saga %s did effect %s", number, effect).isLessThanOrEqualTo(1);
            assertThat(saga.undone(effect)).as("saga %s undid effect %s: %s", number, effect, saga)
                    .isEqualTo(saga.done(effect));
        }
        assertThat(undo.tasks()).isEqualTo(undo.undone() + undo.byHand() + undo.notDone());
        List<Integer> order = saga.order();
        assertThat(order).as("effects in the order of their undos").isSortedAccordingTo(
                (one, other) -> Set.of(one, other).equals(Set.of(2, 3)) ? 0 : Integer.compare(other, one));
    }

    /** The second and the third effect are done side by side. */
    private static Mission mission(SagaEffects effects, int number) {
        Map<String, Object> call = Map.of("n", number);
        return Mission.named("saga " + number).config("on_failure", "undo")
                .task("t1", t -> t.step("child", "run.start", Map.of("plan", Map.of("tasks", List.of(Map.of("id", "t1",
                        "steps", List.of(Map.of("tool", "http.request", "input", effects.request(number, "do", 1))),
                        "undo", Map.of("tool", "http.request", "input", effects.request(number, "undo", 1))))))))
                .task("t2", t -> http(t, effects, number, 2).dependsOn("t1"))
                .task("t3", t -> t.step("do", "mcp.other.add", call)
                        .undo("http.request", effects.request(number, "undo", 3)).dependsOn("t1"))
                .task("t4", t -> t.step("do", "http.request", effects.request(number, "do", 4))
                        .undo("mcp.other.note", call).dependsOn("t2", "t3"))
                .task("t5",
                        t -> t.step("do", "http.request", effects.request(number, "do", 5), step -> step.with("retry",
                                Map.of("max_attempts", 1))).undo("http.request", effects.request(number, "undo", 5))
                                .dependsOn("t4"));
    }

    private static TaskBuilder http(TaskBuilder task, SagaEffects effects, int saga, int effect) {
        return task.step("do", "http.request", effects.request(saga, "do", effect))
                .undo("http.request", effects.request(saga, "undo", effect));
    }

    /** Starts a saga and answers the questions and tickets of its undo, by a look at the effects. */
    private static final class Person {
        private final KilledNode node;
        private final String run;
        private final Saga saga;
        private final Set<String> questions = new HashSet<>();
        private final Set<String> tickets = new HashSet<>();

        Person(KilledNode node, String run, Saga saga) {
            this.node = node;
            this.run = run;
            this.saga = saga;
        }

        Future<?> begin() {
            FutureTask<?> settled = new FutureTask<>(() -> {
                Awaitility.await().pollInterval(LOOK).forever().until(this::look);
                return null;
            });
            Thread.ofVirtual().start(settled);
            return settled;
        }

        /** True once the undo has ended. A call may find the server dead, or the state changed. */
        private boolean look() throws IOException {
            try {
                Keelson client = node.client();
                Run now = client.runs().get(run);
                if (now.state().equals("created")) {
                    client.runs().start(run);
                }
                RunUndo undo = now.undo();
                if (undo == null || !undo.state().equals("running")) {
                    return undo != null && !undo.state().equals("requested");
                }
                for (Step step : client.runs().steps(undo.runId())) {
                    if (step.name().equals(UndoPlan.QUESTION) && step.state().equals("waiting_approval")) {
                        answer(client, step);
                    }
                }
                if (client.runs().get(undo.runId()).state().equals("escalated")) {
                    for (Escalation ticket : client.escalations().list(EscalationQuery.open().run(undo.runId()))
                            .items()) {
                        answer(client, ticket);
                    }
                }
            } catch (KeelsonException e) {
                assertThat(e.status()).as("%s", e.getMessage()).isIn(0, 409, 503);
            }
            return false;
        }

        private void answer(Keelson client, Step question) {
            questions.add(question.id());
            if (saga.done(SagaEffects.number(question.taskKey())) == 1) {
                client.steps().approve(question.id(), "it was done");
            } else {
                client.steps().reject(question.id(), "it was not done");
            }
        }

        private void answer(Keelson client, Escalation ticket) {
            int effect = SagaEffects.number(ticket.taskKey());
            tickets.add(ticket.id());
            if (saga.undone(effect) == 1) {
                client.escalations().resolve(ticket.id(), Resolution.DONE, "it is undone");
                return;
            }
            if (effect == SagaEffects.REFUSED) {
                assertThat(saga.undone(3)).as("the others continue beside the ticket").isEqualTo(saga.done(3));
                saga.accept();
            }
            client.escalations().resolve(ticket.id(), Resolution.RESUME, "once more");
        }
    }
}
