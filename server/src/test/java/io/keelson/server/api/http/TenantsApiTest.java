package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.money.LedgerEntry;
import io.keelson.api.tenant.ApiKey;
import io.keelson.api.tenant.AuditEntry;
import io.keelson.api.tenant.LimitsAndUse;
import io.keelson.api.tenant.NewApiKey;
import io.keelson.api.tenant.Workspace;
import io.keelson.client.Account;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.RunQuery;
import io.keelson.client.plan.Mission;
import io.keelson.core.Breadth;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.auth.Scope;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.ObjectNode;

@Breadth.Spread
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TenantsApiTest {

    private static final List<String> ALL =
            List.of("runs:read", "runs:write", "approve", "work", "credits:read", "credits:grant", "admin");

    private ApiServer api;
    private Keelson operator;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
        operator = client(api.key());
    }

    @AfterAll
    void stop() {
        api.close();
    }

    @Test
    void decisionNamesItsPrincipal() {
        Keelson ann = client(key(null, "phone", "ann", "person", ALL));
        Keelson robot = client(key(null, "robot", null, null, ALL));
        String first = api.create(started());
        String second = api.create(started());
        api.awaitStep(first, "waiting_approval");
        api.awaitStep(second, "waiting_approval");

        ann.runs().approve(first, "fine");
        robot.runs().cancel(second, "not needed");

        assertThat(api.get("/api/v1/runs/" + first + "/events?limit=500").text())
                .contains("\"actor_type\":\"human\",\"actor_id\":\"ann\"");
        assertThat(api.get("/api/v1/runs/" + second + "/events?limit=500").text())
                .contains("\"actor_type\":\"service\",\"actor_id\":\"robot\"");
        assertThat(api.run(first).get("created_by").stringValue()).isEqualTo("local");
    }

    @Test
    void aKeyIsRotatedAndRevoked() {
        ApiKey old = operator.apiKeys().create(null, request("ci", "ci", null, List.of("runs:read")));
        ApiKey fresh = operator.apiKeys().rotate(old.id(), Duration.ofHours(1));

        assertThat(client(old).runs().list(RunQuery.all())).isNotNull();
        assertThat(client(fresh).runs().list(RunQuery.all())).isNotNull();
        assertThat(fresh.principal()).isEqualTo("ci");
        assertThat(operator.apiKeys().list(null)).filteredOn(key -> key.id().equals(old.id()))
                .singleElement().satisfies(key -> {
                    assertThat(key.replacedBy()).isEqualTo(fresh.id());
                    assertThat(key.key()).isNull();
                });

        assertThat(operator.apiKeys().revoke(fresh.id()).state()).isEqualTo("revoked");
        Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(100))
                .untilAsserted(() -> assertThat(code(() -> client(fresh).tools())).isEqualTo("INVALID_API_KEY"));
        assertThat(code(() -> operator.apiKeys().rotate(fresh.id(), Duration.ZERO))).isEqualTo("KEY_NOT_ACTIVE");
    }

    @Test
    void newKeyHasNoMoreScopesThanItsCreator() {
        Keelson admin = client(key(null, "admin", null, null, List.of("admin", "runs:read")));
        ApiKey mighty = operator.apiKeys().create(null, request("mighty", null, null, ALL));

        assertThat(code(() -> admin.apiKeys().create(null, request("x", null, null, List.of("runs:write")))))
                .isEqualTo("SCOPE_MISSING");
        assertThat(code(() -> admin.apiKeys().rotate(mighty.id(), Duration.ZERO))).isEqualTo("SCOPE_MISSING");
        assertThat(admin.apiKeys().create(null, request("x", null, null, List.of("runs:read"))).key()).isNotNull();
    }

    @Test
    void onlyTheFirstWorkspaceHasOperators() {
        Workspace acme = operator.workspaces().create("no-operators", Map.of());

        assertThat(code(() -> operator.apiKeys().create(acme.id(), request("x", null, null, List.of("operator")))))
                .isEqualTo("INVALID_VALUE");
        Keelson tenant = client(key(acme.id(), "admin", null, null, ALL));
        assertThat(code(() -> tenant.workspaces().list())).isEqualTo("SCOPE_MISSING");
    }

    @Test
    void aMonthsLimitNamesItselfInTheRefusal() {
        Workspace month = operator.workspaces().create("month", Map.of("usd_per_month", new BigDecimal("2.5")));
        operator.workspaces().grant(month.id(), BigDecimal.TEN, null, "credits");
        Keelson tenant = client(key(month.id(), "first", null, null, ALL));
        tenant.runs().create(waits(null));
        tenant.runs().create(waits(null));
        assertThat(tenant.limits().limits().usdPerMonth()).isEqualByComparingTo("2.5");
        assertThat(tenant.limits().use().usdThisMonth()).isEqualByComparingTo("2");
        tenant.runs().create(waits("0.5"));
        KeelsonException refused = refusal(() -> tenant.runs().create(waits("0.5")));
        assertThat(refused.code()).isEqualTo("MONTHLY_LIMIT_REACHED");
        assertThat(refused.status()).isEqualTo(402);
        assertThat(refused.getMessage()).contains("usd_per_month");

        Map<String, @Nullable Number> none = new HashMap<>();
        none.put("usd_per_month", null);
        assertThat(operator.workspaces().limit(month.id(), none).limits().usdPerMonth()).isNull();
        assertThat(tenant.limits().use().usdThisMonth()).isNull();
        tenant.runs().create(waits(null));
        operator.workspaces().close(month.id());
    }

    @Test
    void aWorkspaceHasABoundedNumberOfLimitsWithNames() {
        Workspace many = operator.workspaces().create("many-limits", Map.of("open_runs", 7L));
        for (String kind : List.of("tool", "model", "tool_per_minute", "model_per_minute", "model_tokens_per_minute",
                "agent_per_minute")) {
            for (String name : List.of("", " ")) {
                assertThat(code(() -> operator.workspaces().limit(many.id(), Map.of(kind + ":" + name, 1L))))
                        .as(kind).isEqualTo("INVALID_VALUE");
            }
        }
        assertThat(operator.workspaces().limit(many.id(), limits("tool:t", 500)).limits().tools()).hasSize(500);
        KeelsonException refused = refusal(() -> operator.workspaces().limit(many.id(), limits("model:m", 500)));
        assertThat(refused.code()).isEqualTo("TOO_MANY_LIMITS");
        assertThat(refused.status()).isEqualTo(409);
        Workspace full = operator.workspaces().limit(many.id(), limits("model:m", 499));
        assertThat(full.limits().models()).hasSize(499);
        assertThat(operator.workspaces().limit(many.id(), Map.of("open_runs", 8L)).limits().openRuns()).isEqualTo(8);
        assertThat(code(() -> operator.workspaces().limit(many.id(), Map.of("steps", 1L))))
                .isEqualTo("TOO_MANY_LIMITS");
        Map<String, @Nullable Number> exchange = new HashMap<>();
        exchange.put("tool:t0", null);
        exchange.put("steps", 1L);
        assertThat(operator.workspaces().limit(many.id(), exchange).limits().steps()).isEqualTo(1);
        operator.workspaces().close(many.id());
    }

    private static Map<String, Long> limits(String name, int number) {
        return IntStream.range(0, number).boxed().collect(Collectors.toMap(i -> name + i, i -> 9L));
    }

    @Test
    void aWorkspaceIsMadeLimitedAndClosed() {
        Workspace acme =
                operator.workspaces().create("acme", Map.of("open_runs", 2L, "tool:echo", 3L, "model:large", 4L));
        operator.workspaces().grant(acme.id(), BigDecimal.TEN, null, "credits");
        Keelson tenant = client(key(acme.id(), "first", null, null, ALL));
        tenant.runs().create(noop());
        String open = tenant.runs().create(noop()).id();

        KeelsonException refused = refusal(() -> tenant.runs().create(noop()));
        assertThat(refused.code()).isEqualTo("OPEN_RUNS_LIMIT_REACHED");
        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.retryAfter()).isPositive();

        Map<String, @Nullable Long> change = new HashMap<>();
        change.put("open_runs", 5L);
        change.put("tool:echo", null);
        change.put("steps_per_minute", 600L);
        change.put("tool_per_minute:echo", 60L);
        change.put("model_per_minute:large", 30L);
        change.put("agent_per_minute:writer", 10L);
        Workspace changed = operator.workspaces().limit(acme.id(), change);
        assertThat(changed.limits().openRuns()).isEqualTo(5);
        assertThat(changed.limits().tools()).isEmpty();
        assertThat(changed.limits().models()).containsExactly(Map.entry("large", 4L));
        assertThat(changed.limits().stepsPerMinute()).isEqualTo(600);
        assertThat(changed.limits().toolsPerMinute()).containsExactly(Map.entry("echo", 60L));
        assertThat(changed.limits().modelsPerMinute()).containsExactly(Map.entry("large", 30L));
        assertThat(changed.limits().agentsPerMinute()).containsExactly(Map.entry("writer", 10L));
        assertThat(tenant.whoAmI().workspace().id()).isEqualTo(acme.id());
        assertThat(tenant.whoAmI().key().scopes()).contains("runs:read");
        LimitsAndUse own = tenant.limits();
        assertThat(own.limits()).isEqualTo(changed.limits());
        assertThat(own.use().openRuns()).isEqualTo(2);

        assertThat(operator.workspaces().close(acme.id()).state()).isEqualTo("closed");
        Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(100))
                .untilAsserted(() -> assertThat(code(() -> tenant.runs().get(open))).isEqualTo("WORKSPACE_CLOSED"));
        assertThat(operator.workspaces().get(acme.id()).use().openRuns()).isZero();
        assertThat(code(() -> operator.workspaces().rename(acme.id(), "x"))).isEqualTo("WORKSPACE_NOT_OPEN");
        assertThat(code(() -> operator.apiKeys().create(acme.id(), request("x", null, null, ALL))))
                .isEqualTo("WORKSPACE_NOT_FOUND");
        assertThat(code(() -> operator.workspaces().close(Bootstrap.DEFAULT_WORKSPACE.toString())))
                .isEqualTo("WORKSPACE_NOT_OPEN");
        assertThat(operator.audit(acme.id(), null, 50).items()).extracting(AuditEntry::action)
                .containsExactly("workspace_closed", "workspace_changed", "key_created", "credits_granted",
                        "workspace_created");
        assertThat(operator.audit(acme.id(), null, 50).items()).allSatisfy(entry -> {
            assertThat(entry.actorId()).isEqualTo("local");
            assertThat(entry.fromAddress()).isEqualTo("127.0.0.1");
        });
    }

    @Test
    void anOperatorLooksAfterOtherWorkspaces() {
        String acme = operator.workspaces().create("looked-after", Map.of()).id();
        ApiKey key = key(acme, "k", null, null, ALL);

        LedgerEntry granted = operator.workspaces().grant(acme, new BigDecimal("12.5"), "May", "may");
        assertThat(operator.workspaces().grant(acme, new BigDecimal("12.5"), "May", "may").id())
                .isEqualTo(granted.id());
        assertThat(client(key).credits().balance().available()).isEqualByComparingTo("12.5");
        client(key).credits().adjust(Account.AVAILABLE, Account.SPENT, BigDecimal.ONE, "lost", "lost");
        ApiKey fresh = operator.apiKeys().rotate(acme, key.id(), Duration.ofHours(1));
        assertThat(client(fresh).tools()).isNotNull();
        assertThat(operator.apiKeys().revoke(acme, fresh.id()).state()).isEqualTo("revoked");

        assertThat(code(() -> operator.apiKeys().revoke(key.id()))).isEqualTo("API_KEY_NOT_FOUND");
        assertThat(code(() -> operator.apiKeys().revoke(Bootstrap.DEFAULT_WORKSPACE.toString(), key.id())))
                .isEqualTo("API_KEY_NOT_FOUND");
        String none = UUID.randomUUID().toString();
        assertThat(code(() -> operator.workspaces().grant(none, BigDecimal.ONE, null, "k")))
                .isEqualTo("WORKSPACE_NOT_FOUND");
        operator.workspaces().close(acme);
        assertThat(code(() -> operator.workspaces().grant(acme, BigDecimal.ONE, null, "late")))
                .isEqualTo("WORKSPACE_NOT_OPEN");
        List<AuditEntry> audit = operator.audit(acme, null, 50).items();
        assertThat(audit).extracting(AuditEntry::action).containsExactly("workspace_closed", "key_revoked",
                "key_rotated", "ledger_corrected", "credits_granted", "key_created", "workspace_created");
        assertThat(audit.get(4).detail().toString()).isEqualTo("{\"amount\":12.5,\"reason\":\"May\"}");
        assertThat(audit.get(4).subject()).isEqualTo(Long.toString(granted.id()));
        assertThat(audit.get(3).actorId()).isEqualTo("k");
    }

    @Test
    void changesOfPricesAreInTheAuditLog() {
        String change = "{\"items\": [{\"kind\": \"tool\", \"name\": \"dear\", \"usd_per_call\": 0.5}]}";
        for (int i = 0; i < 2; i++) {
            api.send("PUT", "/api/v1/prices", change.getBytes(StandardCharsets.UTF_8), "Content-Type",
                    "application/json");
        }

        assertThat(operator.audit(Bootstrap.DEFAULT_WORKSPACE.toString(), null, 50).items())
                .filteredOn(entry -> entry.action().equals("prices_changed")).singleElement()
                .satisfies(entry -> assertThat(entry.detail().toString()).isEqualTo("{\"tool dear\":0.5}"));
    }

    @Test
    void openWorkspacesHaveNamesOfTheirOwn() {
        String first = operator.workspaces().create("twin", Map.of()).id();
        String other = operator.workspaces().create("other", Map.of()).id();

        assertThat(code(() -> operator.workspaces().create("twin", Map.of()))).isEqualTo("WORKSPACE_NAME_TAKEN");
        assertThat(code(() -> operator.workspaces().rename(other, "twin"))).isEqualTo("WORKSPACE_NAME_TAKEN");
        assertThat(operator.workspaces().rename(first, "twin").name()).isEqualTo("twin");
        operator.workspaces().close(first);
        assertThat(operator.workspaces().rename(other, "twin").name()).isEqualTo("twin");
    }

    @Test
    void rateOfNewRunsIsLimited() {
        Workspace slow = operator.workspaces().create("slow", Map.of("runs_per_minute", 3L));
        operator.workspaces().grant(slow.id(), BigDecimal.TEN, null, "credits");
        Keelson tenant = client(key(slow.id(), "k", null, null, ALL));
        IntStream.range(0, 3)
                .forEach(i -> tenant.runs().create(noop()));

        KeelsonException refused = refusal(() -> tenant.api().post("/runs", noop().toJson()));

        assertThat(refused.code()).isEqualTo("RUN_RATE_LIMIT_REACHED");
        assertThat(refused.retryAfter()).isBetween(Duration.ofSeconds(30), Duration.ofSeconds(60));
        api.sql("update orchestration_runs set created_at = created_at - interval '61 seconds' where workspace_id = '"
                + slow.id() + "'");
        assertThat(tenant.runs().create(noop()).id()).isNotNull();
    }

    @Test
    void aKeyIsUsedNoOftenerThanItMay() {
        Workspace calm = operator.workspaces().create("calm", Map.of("requests_per_minute", 2L));
        String key = "Bearer " + key(calm.id(), "k", null, null, List.of("runs:read")).key();

        ApiServer.Answer first = api.get("/api/v1/runs", "Authorization", key);
        ApiServer.Answer second = api.get("/api/v1/runs", "Authorization", key);
        ApiServer.Answer third = api.get("/api/v1/runs", "Authorization", key);

        assertThat(first.header("RateLimit-Policy")).isEqualTo("\"requests\";q=2;w=60");
        assertThat(first.header("RateLimit")).isEqualTo("\"requests\";r=1;t=30");
        assertThat(second.header("RateLimit")).startsWith("\"requests\";r=0;t=");
        assertThat(third.status()).isEqualTo(429);
        assertThat(third.json().get("code").stringValue()).isEqualTo("REQUEST_LIMIT_REACHED");
        assertThat(third.json().get("limit").stringValue()).isEqualTo("requests_per_minute");
        assertThat(Integer.parseInt(third.header("Retry-After"))).isBetween(1, 30);
        assertThat(api.get("/api/v1/runs").header("RateLimit")).isEmpty();
    }

    @Test
    void missingScopeIsNamed() {
        String key = api.bearer(Bootstrap.DEFAULT_WORKSPACE, EnumSet.of(Scope.RUNS_READ));

        ApiServer.Answer answer = api.post("/api/v1/runs", ApiServer.WAITS, "Authorization", key);

        assertThat(answer.status()).isEqualTo(403);
        assertThat(answer.json().get("scope").stringValue()).isEqualTo("runs:write");
    }

    private static Mission noop() {
        return Mission.named("noop").task("t", t -> t.step("s", "noop", Map.of()));
    }

    private static Mission waits(@Nullable String cost) {
        ObjectNode mission = (ObjectNode) Json.MAPPER.readTree(started());
        if (cost != null) {
            ((ObjectNode) mission.get("plan")).put("total_estimated_cost", new BigDecimal(cost));
        }
        return Mission.of(mission);
    }

    private static String started() {
        return ApiServer.WAITS.replaceFirst("\\{", "{\"start\": true, ");
    }

    private ApiKey key(@Nullable String workspace, String name, @Nullable String principal, @Nullable String kind,
            List<String> scopes) {
        return operator.apiKeys().create(workspace, request(name, principal, kind, scopes));
    }

    private static NewApiKey request(String name, @Nullable String principal, @Nullable String kind,
            List<String> scopes) {
        return new NewApiKey(name, principal, kind, scopes, null);
    }

    private Keelson client(ApiKey key) {
        return client(String.valueOf(key.key()));
    }

    private Keelson client(String key) {
        return Keelson.builder().url(api.url().toString()).apiKey(key).build();
    }

    private static String code(Runnable call) {
        return refusal(call).code();
    }

    private static KeelsonException refusal(Runnable call) {
        try {
            call.run();
        } catch (KeelsonException e) {
            return e;
        }
        throw new AssertionError("not refused");
    }
}
