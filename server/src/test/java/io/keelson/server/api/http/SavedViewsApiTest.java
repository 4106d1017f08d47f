package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.auth.Scope;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Saved views: each principal's own ones, and those of the workspace. */
@Breadth.Spread
class SavedViewsApiTest {

    @TempDir
    private static Path folder;

    private static ApiServer api;
    private static String ann;
    private static String ben;
    private static String reader;

    @BeforeAll
    static void start() throws Exception {
        api = new ApiServer(folder);
        ann = person("ann");
        ben = person("ben");
        reader = api.bearer(Bootstrap.DEFAULT_WORKSPACE, Set.of(Scope.RUNS_READ));
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    private static String person(String name) {
        ApiServer.Answer made = api.post("/api/v1/api-keys", """
                {"name": "%s", "principal_kind": "person", "scopes": ["runs:read", "runs:write"]}""".formatted(name));
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        return "Bearer " + made.json().get("key").stringValue();
    }

    private static ApiServer.Answer save(String who, String name, String query, boolean shared) {
        return api.send("PUT", "/api/v1/views/" + name, """
                {"page": "runs", "query": "%s", "shared": %s}""".formatted(query, shared)
                .getBytes(StandardCharsets.UTF_8), "Authorization", who, "Content-Type", "application/json");
    }

    private static List<String> names(String who) {
        return api.get("/api/v1/views?page=runs", "Authorization", who).json().get("items").valueStream()
                .map(each -> each.get("name").stringValue() + " " + each.get("query").stringValue()
                        + (each.get("shared").asBoolean() ? " of all" : ""))
                .toList();
    }

    private static JsonNode show(String who, String path) {
        return api.get("/api/v1/views/" + path, "Authorization", who).json();
    }

    @Test
    void ownViewsAreTheirOwnersAndSharedOnesEverybodys() {
        save(ann, "mine", "view=failed", false);
        save(ben, "mine", "view=dear", false);
        JsonNode shared = save(ann, "night", "tag=nightly", true).json();

        assertThat(shared.get("saved_by").stringValue()).isEqualTo("ann");
        assertThat(names(ann)).containsExactly("mine view=failed", "night tag=nightly of all");
        assertThat(names(ben)).containsExactly("mine view=dear", "night tag=nightly of all");
        assertThat(show(ben, "night").get("shared").asBoolean()).isTrue();
        save(ben, "night", "tag=late", false);
        assertThat(show(ben, "night").get("query").stringValue()).isEqualTo("tag=late");
        assertThat(show(ben, "night?shared=true").get("query").stringValue()).isEqualTo("tag=nightly");
        save(ben, "night", "tag=later", false);
        assertThat(names(ben)).containsExactly("mine view=dear", "night tag=later", "night tag=nightly of all");
        assertThat(api.send("DELETE", "/api/v1/views/night", null, "Authorization", ben).status()).isEqualTo(204);
        assertThat(api.send("DELETE", "/api/v1/views/night", null, "Authorization", ben).json().get("code")
                .stringValue()).isEqualTo("VIEW_NOT_FOUND");
        assertThat(names(ann)).containsExactly("mine view=failed", "night tag=nightly of all");
        assertThat(api.get("/api/v1/views?page=board", "Authorization", ann).json().get("items")).isEmpty();
    }

    @Test
    void aReaderSavesOwnViewsAndNoSharedOnes() {
        assertThat(save(reader, "own", "view=all", false).status()).isEqualTo(200);
        ApiServer.Answer refused = save(reader, "everyone", "view=all", true);
        assertThat(refused.status()).isEqualTo(403);
        assertThat(refused.json().get("scope").stringValue()).isEqualTo("runs:write");
        assertThat(api.send("DELETE", "/api/v1/views/night?shared=true", null, "Authorization", reader).status())
                .isEqualTo(403);
    }

    @Test
    void numberOfViewsIsBounded() {
        String many = person("many");
        IntStream.range(0, 200).forEach(i -> assertThat(save(many, "v" + i, "", false).status()).isEqualTo(200));

        assertThat(save(many, "v200", "", false).json().get("code").stringValue()).isEqualTo("VIEWS_LIMIT_REACHED");
        assertThat(save(many, "v7", "again", false).status()).isEqualTo(200);
        assertThat(save(many, "%20", "x", false).json().get("code").stringValue()).isEqualTo("INVALID_ID");
    }
}
