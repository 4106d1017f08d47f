package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.GeneratedDocs;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.auth.Scope;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * Every route with every scope: accepted with the required scope alone, refused with all scopes but that one. Some routes
 * accept every key.
 */
class ScopesTest {

    private static final String UNKNOWN = "00000000-0000-7000-8000-00000000dead";

    private static final String API = "/api/v1";

    /** @param scope null where any key will do */
    private record Operation(String method, String path, @Nullable Scope scope) {

        Scope needed() {
            return Objects.requireNonNull(scope);
        }
    }

    @Test
    void eachRouteOpensToItsScopeOnly(@TempDir Path folder) throws Exception {
        try (ApiServer api = new ApiServer(folder)) {
            Map<Scope, String> only = new EnumMap<>(Scope.class);
            Map<Scope, String> others = new EnumMap<>(Scope.class);
            for (Scope scope : Scope.values()) {
                only.put(scope, api.bearer(Bootstrap.DEFAULT_WORKSPACE, EnumSet.of(scope)));
                others.put(scope, api.bearer(Bootstrap.DEFAULT_WORKSPACE, EnumSet.complementOf(EnumSet.of(scope))));
            }
            List<Operation> operations = operations(api.get("/openapi.json").json());
            assertThat(operations).hasSizeGreaterThan(60);
            assertThat(operations.stream().filter(each -> each.scope == null).map(Operation::path))
                    .containsExactlyInAnyOrder(API + "/whoami", API + "/sessions", API + "/sessions",
                            API + "/sessions/links",
                            "/mcp",
                            API + "/sessions/{id}");
            for (Scope scope : Scope.values()) {
                assertThat(api.get(API + "/whoami", "Authorization", only.get(scope)).json().at("/key/scopes/0"))
                        .hasToString("\"" + scope.wire() + "\"");
            }
            for (Operation operation : operations.stream().filter(each -> each.scope != null).toList()) {
                ApiServer.Answer without = call(api, operation, others.get(operation.needed()));
                ApiServer.Answer with = call(api, operation, only.get(operation.needed()));

                assertThat(without.status()).as(operation + without.text()).isEqualTo(403);
                assertThat(without.json().get("code").stringValue()).isEqualTo("SCOPE_MISSING");
                assertThat(without.json().get("scope").stringValue()).isEqualTo(operation.needed().wire());
                assertThat(with.text()).as(operation.toString()).doesNotContain("SCOPE_MISSING");
                assertThat(with.status()).as(operation + with.text()).isLessThan(500).isNotEqualTo(401);
            }
        }
    }

    @Test
    void documentationListsTheScopes(@TempDir Path folder) throws Exception {
        try (ApiServer api = new ApiServer(folder)) {
            List<Operation> operations = operations(api.get("/openapi.json").json());
            StringBuilder table = new StringBuilder("| scope | to | routes |\n|---|---|---|\n");
            for (Scope scope : Scope.values()) {
                table.append("| `").append(scope.wire()).append("` | ").append(scope.meaning()).append(" | ")
                        .append(operations.stream().filter(each -> each.scope == scope && each.path.startsWith(API))
                                .map(each -> "`" + each.method + " " + each.path.substring(API.length()) + "`")
                                .collect(Collectors.joining(", ")))
                        .append(" |\n");
            }

            GeneratedDocs.check("docs/concepts/tenants.md", "scopes", table.toString());
        }
    }

    private static ApiServer.Answer call(ApiServer api, Operation operation, String key) {
        String target = operation.path.replaceAll("\\{\\w+}", UNKNOWN)
                + (operation.path.endsWith("/stream") ? "?wait_ms=0" : "");
        byte[] body = operation.method.equals("GET") ? null : new byte[] {'{', '"', 'x', '"', ':', '1', '}'};
        return api.send(operation.method, target, body, "Authorization", key, "Content-Type",
                body == null ? "" : "application/json");
    }

    private static List<Operation> operations(JsonNode document) {
        List<Operation> operations = new ArrayList<>();
        document.get("paths").properties().forEach(path -> {
            JsonNode reference = path.getValue().get("$ref");
            JsonNode item = reference == null ? path.getValue() : document.at(reference.stringValue().substring(1));
            item.properties().forEach(member -> {
                if (!member.getValue().path("security").isEmpty()) {
                    String scope = member.getValue().path("security").path(0).path("apiKey").path(0).asString("");
                    operations.add(new Operation(member.getKey().toUpperCase(Locale.ROOT), path.getKey(),
                            Scope.of(scope).orElse(null)));
                }
            });
        });
        return operations;
    }
}
