package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Changes under the condition {@code If-Match}: of several editors of one version, one succeeds. */
class ChangedVersionsTest {

    @TempDir
    private static Path folder;

    private static ApiServer api;

    @BeforeAll
    static void start() throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    /** What two people may edit at the same time; of the bodies, {@code %s} is the name and the second one the change. */
    enum Edited {
        RECIPE("PUT", "/api/v1/recipes", """
                {"name": "%s", "goal": "%s", "plan": {"tasks": [{"id": "a", "steps": [{"tool": "echo"}]}]}}"""),
        SCHEDULE("PUT", "/api/v1/schedules", """
                {"name": "%s", "cron": "%s 3 1 1 *", "mission": {"name": "tick", "plan": {"tasks": [
                  {"id": "a", "steps": [{"tool": "echo"}]}]}}}"""),
        AGENT("PUT", "/api/v1/agents", """
                {"slug": "%s", "name": "Number %s", "tools": [], "capabilities": []}"""),
        BOARD_TASK("PATCH", "/api/v1/board/tasks", """
                {"title": "%s", "description": "%s"}"""),
        WEBHOOK("PATCH", "/api/v1/webhooks", """
                {"url": "http://127.0.0.1:9/%s", "description": "%s"}"""),
        PRICES("PUT", "/api/v1/prices", """
                {"items": [{"kind": "tool", "name": "%s", "usd_per_call": %s}]}""");

        private final String method;
        private final String list;
        private final String body;

        Edited(String method, String list, String body) {
            this.method = method;
            this.list = list;
            this.body = body;
        }

        private String body(String name, int change) {
            return body.formatted(name, change);
        }

        /** The path of a new one. */
        private String made(String name) {
            if (this == PRICES) {
                return list;
            }
            ApiServer.Answer made = api.post(list, body(name, 1));
            assertThat(made.status()).as(made.text()).isEqualTo(201);
            return made.header("Location");
        }

        private ApiServer.Answer change(String path, String name, int change, String... headers) {
            String[] all = Stream.concat(Stream.of("Content-Type", "application/json"), Stream.of(headers))
                    .toArray(String[]::new);
            return api.send(method, path, body(name, change).getBytes(StandardCharsets.UTF_8), all);
        }
    }

    private static String name() {
        return "n" + UUID.randomUUID().toString().substring(0, 8);
    }

    @ParameterizedTest
    @EnumSource
    void secondEditorOfAVersionIsRefusedWithTheCurrentOne(Edited kind) {
        String name = name();
        String path = kind.made(name);
        String read = api.get(path).header("ETag");

        ApiServer.Answer first = kind.change(path, name, 2, "If-Match", read);
        assertThat(first.status()).as(first.text()).isEqualTo(200);
        ApiServer.Answer second = kind.change(path, name, 3, "If-Match", read);

        assertThat(second.status()).as(second.text()).isEqualTo(412);
        assertThat(second.json().get("code").stringValue()).isEqualTo("VERSION_CHANGED");
        assertThat(second.json().get("current")).isEqualTo(first.json());
        assertThat(second.header("ETag")).isEqualTo(first.header("ETag"));
        assertThat(api.get(path).header("ETag")).isEqualTo(first.header("ETag"));
        assertThat(kind.change(path, name, 3, "If-Match", "\"other\", " + second.header("ETag")).status())
                .isEqualTo(200);
        assertThat(kind.change(path, name, 4, "If-Match", "*").status()).isEqualTo(200);
        assertThat(kind.change(path, name, 5).status()).isEqualTo(200);
    }

    @ParameterizedTest
    @EnumSource
    void ofEditorsAtTheSameTimeOneSucceeds(Edited kind) throws Exception {
        String name = name();
        String path = kind.made(name);
        String read = api.get(path).header("ETag");
        List<Callable<Integer>> editors = IntStream.range(0, 6)
                .<Callable<Integer>>mapToObj(i -> () -> kind.change(path, name, 10 + i, "If-Match", read).status())
                .toList();
        try (var threads = Executors.newFixedThreadPool(editors.size())) {
            List<Integer> answers = threads.invokeAll(editors).stream().map(Future::resultNow)
                    .sorted().toList();
            assertThat(answers).containsExactly(200, 412, 412, 412, 412, 412);
        }
    }

    @Test
    void runsOfAScheduleDoNotStopItsEditor() {
        String name = name();
        String path = Edited.SCHEDULE.made(name);
        String read = api.get(path).header("ETag");
        api.sql("update schedules set runs_made = runs_made + 1 where name = '" + name + "'");

        assertThat(api.get(path).header("ETag")).isNotEqualTo(read);
        assertThat(api.get(path, "If-None-Match", read).status()).isEqualTo(200);
        assertThat(Edited.SCHEDULE.change(path, name, 2, "If-Match", read).status()).isEqualTo(200);
        assertThat(Edited.SCHEDULE.change(path, name, 3, "If-Match", read).status()).isEqualTo(412);
    }
}
