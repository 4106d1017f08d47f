package io.keelson.server.api.http.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.api.http.ApiServer;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.auth.Scope;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AuthenticatorTest {

    private static final String RUNS = "/api/v1/runs";

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    void stop() {
        api.close();
    }

    private void assertRefused(ApiServer.Answer answer, int status, String code) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(status);
        assertThat(answer.json().get("code").stringValue()).isEqualTo(code);
        assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
    }

    @Test
    void noKey() {
        ApiServer.Answer answer = api.get(RUNS, "Authorization", "");

        assertRefused(answer, 401, "UNAUTHENTICATED");
        assertThat(answer.header("WWW-Authenticate")).startsWith("Bearer");
        assertRefused(api.get(RUNS, "Authorization", "Basic a2w6"), 401, "UNAUTHENTICATED");
        assertRefused(api.get(RUNS, "Authorization", "Bearer"), 401, "UNAUTHENTICATED");
    }

    @Test
    void wrongKey() {
        ApiServer.Answer answer = api.get(RUNS, "Authorization", "Bearer " + api.key() + "x");

        assertRefused(answer, 401, "INVALID_API_KEY");
        assertThat(answer.header("WWW-Authenticate")).contains("invalid_token");
        assertThat(answer.text()).doesNotContain(api.key());
    }

    @Test
    void theWorkspaceMayBeRepeatedButNotChanged() {
        assertThat(api.get(RUNS, "X-Workspace-ID", Bootstrap.DEFAULT_WORKSPACE.toString()).status()).isEqualTo(200);
        assertRefused(api.get(RUNS, "X-Workspace-ID", UUID.randomUUID().toString()), 403, "WORKSPACE_MISMATCH");
        assertRefused(api.get(RUNS, "X-Workspace-ID", "default"), 403, "WORKSPACE_MISMATCH");
        assertRefused(api.get(RUNS, "X-Workspace", UUID.randomUUID().toString()), 403, "WORKSPACE_MISMATCH");
        String query = RUNS + "?limit=1&workspace_id=";
        assertThat(api.get(query + Bootstrap.DEFAULT_WORKSPACE).status()).isEqualTo(200);
        assertThat(api.get(query + Bootstrap.DEFAULT_WORKSPACE.toString().toUpperCase(Locale.ROOT)).status())
                .isEqualTo(200);
        assertRefused(api.get(query + UUID.randomUUID()), 403, "WORKSPACE_MISMATCH");
        assertRefused(api.get(query), 403, "WORKSPACE_MISMATCH");
        assertRefused(api.get(query + Bootstrap.DEFAULT_WORKSPACE + "&workspace_id=" + UUID.randomUUID()), 403,
                "WORKSPACE_MISMATCH");
    }

    /** The audit log filters by its own parameter of that name. */
    @Test
    void aDeclaredParameterKeepsItsMeaning() {
        assertThat(api.get("/api/v1/audit?workspace_id=" + UUID.randomUUID()).json().get("items")).isEmpty();
    }

    @Test
    void revokedKeyEndsWaitingRequests() {
        String run = "/api/v1/runs/" + api.create(ApiServer.WAITS);
        String key = api.bearer(Bootstrap.DEFAULT_WORKSPACE, EnumSet.of(Scope.RUNS_READ, Scope.WORK));
        assertThat(api.get(run, "Authorization", key).status()).isEqualTo(200);
        List<CompletableFuture<ApiServer.Answer>> waiting = Stream.of("?wait_ms=20000", "/events?after=1&wait_ms=20000")
                .map(path -> CompletableFuture.supplyAsync(() -> api.get(run + path, "Authorization", key)))
                .collect(Collectors.toCollection(ArrayList::new));
        waiting.add(CompletableFuture.supplyAsync(() -> api.post("/api/v1/dispatch/claim", """
                {"worker_id": "patient", "tools": ["late.tool"], "wait_ms": 20000}""", "Authorization", key)));
        CompletableFuture<ApiServer.Answer> keyStillValid =
                CompletableFuture.supplyAsync(() -> api.get(run + "?wait_ms=20000"));
        Awaitility.await().until(() -> api.get("/api/v1/workers").text().contains("patient"));

        api.sql("update api_keys set revoked_at = now() where name = 'test'");

        waiting.forEach(call -> assertRefused(call.join(), 401, "INVALID_API_KEY"));
        assertThat(keyStillValid).as("the wait itself").isNotDone();
        assertThat(api.post(run + "/cancel", "{}").status()).isEqualTo(200);
        assertThat(keyStillValid.join().status()).isEqualTo(200);
    }

    @Test
    void theSchemeIsNotCaseSensitive() {
        assertThat(api.get(RUNS, "Authorization", "bearer " + api.key()).status()).isEqualTo(200);
    }
}
