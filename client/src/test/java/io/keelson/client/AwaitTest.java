package io.keelson.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.keelson.api.run.Run;
import io.keelson.client.http.ScriptedServer;
import io.keelson.client.http.ScriptedServer.Answer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AwaitTest {

    private static final String RUNS = "POST /api/v1/runs";
    private static final String RUN = "GET /api/v1/runs/r1";
    private static final String EVENTS = "GET /api/v1/runs/r1/events";
    private static final Duration LONG = Duration.ofSeconds(30);

    private final ScriptedServer server = new ScriptedServer();
    private final Runs runs = server.client().runs();

    @AfterEach
    void close() {
        server.close();
    }

    @Test
    void pollsByTagUntilTheEnd() {
        server.on(RUN, run("running", "\"1\""), new Answer(304, "", java.util.Map.of()), run("completed", "\"2\""));

        Run ended = runs.awaitEnd("r1", LONG);

        assertThat(ended.completed()).isTrue();
        assertThat(server.requests(RUN)).extracting(request -> request.header("If-none-match"))
                .containsExactly("", "\"1\"", "\"1\"");
    }

    @Test
    void executesARunInOneCallWhereItEndsSoon() {
        server.on(RUNS, run("completed", "\"1\""));

        assertThat(runs.execute(RunRequest.of(Json.object().put("name", "n")), LONG).completed()).isTrue();
        assertThat(server.requests(RUNS)).extracting(ScriptedServer.Request::query).containsExactly("wait_ms=10000");
        assertThat(server.requests(RUN)).isEmpty();
    }

    @Test
    void executesARunThatEndsLaterThanTheCall() {
        server.on(RUNS, run("running", "\"1\""));
        server.on(RUN, run("running", "\"1\""), run("failed", "\"2\""));

        assertThat(runs.execute(RunRequest.of(Json.object().put("name", "n")), LONG).state()).isEqualTo("failed");
    }

    @Test
    void executesARequestWithAKeyInCallsThatMayBeRepeated() {
        server.on(RUNS, Answer.CUT, run("running", "\"1\""));
        server.on(RUN, run("completed", "\"2\""));

        assertThat(runs.execute(RunRequest.of(Json.object().put("name", "n")).idempotencyKey("k"), LONG).completed())
                .isTrue();
        assertThat(server.requests(RUNS)).extracting(ScriptedServer.Request::query).containsExactly("", "");
    }

    @Test
    void passesEveryEventOnceIncludingTheLast() {
        server.on(RUN, run("running", "\"1\""), run("failed", "\"2\""));
        server.on(EVENTS, request -> switch (request.query()) {
            case "after=0&limit=500" -> Answer.json(events("2", 1, 2));
            case "after=2&limit=500" -> Answer.json(events("", 3));
            case "after=3&limit=500" -> Answer.json(events("", 4, 5));
            default -> Answer.problem(400, "{}");
        });
        List<Long> received = new ArrayList<>();

        Run ended = runs.awaitEnd("r1", LONG, event -> received.add(event.seq()));

        assertThat(ended.state()).isEqualTo("failed");
        assertThat(received).containsExactly(1L, 2L, 3L, 4L, 5L);
    }

    @Test
    void goesOnWhenTheServerIsAwayForAWhile() {
        Answer away = Answer.problem(503, "{}");
        server.on(RUN, run("running", "\"1\""), away, away, away, away, Answer.CUT, away, away, away, away,
                run("completed", "\"2\""));

        assertThat(runs.awaitEnd("r1", LONG).completed()).isTrue();
    }

    @Test
    void waitsForAServerThatHasNotAnsweredYet() {
        server.on(RUN, Answer.CUT, Answer.CUT, Answer.CUT, Answer.CUT, Answer.CUT, run("completed", "\"1\""));

        assertThat(runs.awaitEnd("r1", LONG).completed()).isTrue();
    }

    @Test
    void saysAtTheEndOfTheTimeThatThereWasNoServer() {
        server.close();

        KeelsonException refusal = refusal(() -> runs.awaitEnd("r1", Duration.ofMillis(50)));

        assertThat(refusal.code()).isEqualTo("AWAIT_TIMEOUT");
        assertThat(refusal.getCause()).isInstanceOfSatisfying(KeelsonException.class,
                cause -> assertThat(cause.code()).isEqualTo("SERVER_UNREACHABLE"));
    }

    @Test
    void saysWhenTheTimeIsUp() {
        server.on(RUN, run("paused", "\"1\""));

        KeelsonException refusal = refusal(() -> runs.awaitEnd("r1", Duration.ofMillis(120)));

        assertThat(refusal.code()).isEqualTo("AWAIT_TIMEOUT");
        assertThat(refusal).hasMessageContaining("paused");
    }

    @Test
    void anInterruptEndsTheWaiting() {
        server.on(RUN, run("running", "\"1\""));
        Thread.currentThread().interrupt();

        assertThat(refusal(() -> runs.awaitEnd("r1", LONG)).code()).isEqualTo("INTERRUPTED");
        assertThat(Thread.interrupted()).isTrue();
    }

    private static Answer run(String state, String etag) {
        String type = state.equals("running") || state.equals("paused") ? state : "terminal";
        return Answer.json("{\"id\":\"r1\",\"state\":\"" + state + "\",\"state_type\":\"" + type + "\"}")
                .with("ETag", etag);
    }

    private static String events(String cursor, long... seqs) {
        List<String> items = new ArrayList<>();
        for (long seq : seqs) {
            items.add("{\"id\":" + (100 + seq) + ",\"seq\":" + seq + ",\"event_type\":\"x\"}");
        }
        String next = cursor.isEmpty() ? "null" : "\"" + cursor + "\"";
        return "{\"items\":[" + String.join(",", items) + "],\"next_cursor\":" + next + "}";
    }

    private static KeelsonException refusal(Runnable call) {
        return catchThrowableOfType(KeelsonException.class, call::run);
    }
}
