package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.base.db.TestDatabase;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** More comes than can be committed: what waits is bounded, the rest is refused, nothing that was accepted is lost. */
@Breadth.Spread
class OverloadTest {
    private static final int MISSION_CHARS = 512 << 10;
    /** What may wait for a commit at most: 32 Mi characters. */
    private static final int MAX_WAITING = (32 << 20) / MISSION_CHARS;
    private static final int CLIENTS = 100;
    private static final int ROUNDS = Breadth.of(1, 20);

    /**
     * The database is held at the moment at which a run's first row is written, so no commit ends before the test lets it:
     * then every mission that found room must become a run and complete, and none of the others.
     */
    @Test
    @Timeout(value = 20, unit = TimeUnit.MINUTES)
    @Breadth.InPart({1, 5})
    void overloadRefusesNewRequestsAndKeepsAccepted(@TempDir Path folder) throws Exception {
        var url = TestDatabase.createUrl();
        try (ApiServer api = new ApiServer(folder, url); Connection holder = url.connect();
                ExecutorService clients = Executors.newFixedThreadPool(CLIENTS)) {
            holder.setAutoCommit(false);
            List<String> accepted = new ArrayList<>();
            for (int round = 0; round < ROUNDS; round++) {
                int before = accepted.size();
                Duration recovery = overload(api, holder, clients, "mission-" + round + "-", accepted);
                assertThat(accepted.size() - before).isBetween(1, MAX_WAITING + 1);
                assertThat(made(api)).containsExactlyInAnyOrderElementsOf(accepted);
                System.out.printf("overload: %d of %d accepted, the next one after %d ms%n", accepted.size() - before,
                        CLIENTS, recovery.toMillis());
            }
        }
    }

    /** Returns the time from the end of the overload to the next run that is accepted. */
    private static Duration overload(ApiServer api, Connection holder, ExecutorService clients, String prefix,
            List<String> accepted) throws Exception {
        execute(holder, "lock table orchestration_runs in share mode");
        AtomicInteger refused = new AtomicInteger();
        Map<String, CompletableFuture<ApiServer.Answer>> calls = new HashMap<>();
        for (int i = 0; i < CLIENTS; i++) {
            String id = prefix + i;
            calls.put(id, CompletableFuture.supplyAsync(() -> {
                ApiServer.Answer answer = api.post("/api/v1/runs", mission(id));
                if (answer.status() == 503) {
                    refused.incrementAndGet();
                }
                return answer;
            }, clients));
        }
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> refused.get() >= CLIENTS - MAX_WAITING);
        holder.commit();
        long end = System.nanoTime();
        String next = prefix + "afterwards";
        Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(20))
                .until(() -> api.post("/api/v1/runs", mission(next)).status() == 201);
        Duration recovery = Duration.ofNanos(System.nanoTime() - end);
        for (var call : calls.entrySet()) {
            ApiServer.Answer answer = call.getValue().get();
            while (answer.status() == 503 && answer.json().get("code").stringValue().equals("DATABASE_UNAVAILABLE")) {
                // its outcome is unknown on a machine so busy that the database is held for longer than a request waits
                answer = api.post("/api/v1/runs", mission(call.getKey()));
            }
            if (answer.status() == 200 || answer.status() == 201) {
                accepted.add(call.getKey());
                api.awaitState(answer.json().get("id").stringValue(), "completed");
            } else {
                assertThat(answer.status()).as(answer.text()).isEqualTo(503);
                assertThat(answer.json().get("code").stringValue()).isEqualTo("OVERLOADED");
                assertThat(answer.header("Retry-After")).isEqualTo("1");
            }
        }
        accepted.add(next);
        return recovery;
    }

    /**
     * Half-sent bodies fill the room that there is for bodies; it is free again when their senders are gone. None of them
     * comes too late meanwhile.
     */
    @Test
    void bodiesUnderWayAreBounded(@TempDir Path folder) throws Exception {
        try (ApiServer api = new ApiServer(folder, TestDatabase.createUrl(),
                Map.of("KEELSON_REQUEST_TIMEOUT_SECONDS", "300"))) {
            List<Socket> senders = new ArrayList<>();
            String malformed = "{".repeat((16 << 20) - 1_000);
            // Bodies fit until less than one of the largest is left. Of two that grow at the same time both may be refused,
            // and their connections closed: then one more is sent.
            Awaitility.await().atMost(Duration.ofSeconds(60)).ignoreExceptionsInstanceOf(IOException.class)
                    .untilAsserted(() -> {
                        Socket sender = new Socket(api.url().getHost(), api.url().getPort());
                        senders.add(sender);
                        OutputStream out = sender.getOutputStream();
                        out.write(("POST /api/v1/runs HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer " + api.key()
                                + "\r\nContent-Type: application/json\r\nContent-Length: " + (16 << 20) + "\r\n\r\n")
                                .getBytes(StandardCharsets.US_ASCII));
                        out.write(new byte[(16 << 20) - 1_000]);
                        out.flush();
                        assertThat(codeOf(api, malformed)).isEqualTo("OVERLOADED");
                    });
            assertThat(api.get("/api/v1/runs").status()).isEqualTo(200);
            for (Socket sender : senders) {
                sender.close();
            }
            Awaitility.await().atMost(Duration.ofSeconds(60))
                    .untilAsserted(() -> assertThat(codeOf(api, malformed)).isEqualTo("MALFORMED_JSON"));
        }
    }

    private static String codeOf(ApiServer api, String body) {
        return api.post("/api/v1/runs/" + new UUID(1, 1) + "/start", body).json().get("code").stringValue();
    }

    private static List<String> made(ApiServer api) {
        return api.database().withConnection(c -> {
            List<String> ids = new ArrayList<>();
            try (var statement = c.createStatement();
                    var row = statement.executeQuery("select external_id from orchestration_runs")) {
                while (row.next()) {
                    ids.add(row.getString(1));
                }
            }
            return ids;
        });
    }

    private static void execute(Connection c, String sql) throws Exception {
        try (var statement = c.createStatement()) {
            statement.execute(sql);
        }
    }

    private static String mission(String id) {
        return """
                {"name": "large", "external_id": "%s", "start": true, "plan": {"tasks": [{"id": "a", "title": "A",
                  "steps": [{"name": "s", "tool": "echo", "input": {"value": "%s"}}]}]}}"""
                .formatted(id, "x".repeat(MISSION_CHARS));
    }
}
