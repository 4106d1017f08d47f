package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.api.http.TestProvider.Mood;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Path;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** A step that is stopped while a provider is at its command: what the provider says is noted nevertheless. */
class StoppedCommandTest {

    @Test
    void sentCommandIsFollowedToItsEnd(@TempDir Path folder) throws Exception {
        try (TestProvider provider = new TestProvider();
                ApiServer api = new ApiServer(folder, TestDatabase.createUrl(), Map.of(
                        "KEELSON_PROVIDER_TIMEOUT_SECONDS", "60", "KEELSON_ALLOW_PRIVATE_ADDRESSES", "true",
                        "KEELSON_COMMAND_TYPES", "mail.send=" + provider.url() + "/mails"))) {
            provider.next(Mood.HOLDS);
            String run = api.create("""
                    {"name": "mail", "start": true, "plan": {"tasks": [{"id": "t", "steps": [
                      {"name": "send", "tool": "mail.send", "input": {"n": 1}}]}]}}""");
            Awaitility.await().until(() -> provider.asked().size() == 1);
            assertThat(api.post("/api/v1/runs/" + run + "/cancel", "{}").status()).isEqualTo(200);
            api.awaitState(run, "cancelled");
            provider.letGo();
            Awaitility.await().until(() -> !state(api, run).equals("executing"));
            assertThat(state(api, run)).isEqualTo("completed");
        }
    }

    private static String state(ApiServer api, String run) {
        JsonNode commands = api.get("/api/v1/commands?run_id=" + run).json().get("items");
        return commands.get(0).get("state").stringValue();
    }
}
