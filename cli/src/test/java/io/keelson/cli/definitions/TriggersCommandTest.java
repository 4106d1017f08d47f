package io.keelson.cli.definitions;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.trigger.Trigger;
import io.keelson.cli.CliProcess.Result;
import io.keelson.cli.InProcessCli;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Triggers as a shell uses them. */
class TriggersCommandTest {

    private static final String DEFINITION = """
            name: sales
            source: {kind: event, event: sold}
            mission:
              name: sale
              inputs: {n: {type: integer, default: 1}}
              plan: {tasks: [{id: one, steps: [{tool: noop}]}]}
            """;

    private static final String RULES = """
            filter: ${ .body.n > 0 }
            key: ${ .body.n }
            priority: ${ .body.n }
            inputs: {n: "${ .body.n }"}
            flow: {singleton: {over: skip}}
            example: {body: {n: 7}}
            """;

    @TempDir
    private Path folder;

    @Test
    void fileWithoutRulesRemovesRules() throws Exception {
        Path file = folder.resolve("sales.yaml");
        try (InProcessCli cli = new InProcessCli(folder, TestDatabase.createUrl(), Map.of())) {
            Files.writeString(file, DEFINITION + RULES);
            Result created = cli.run("triggers", "create", file.toString());
            assertThat(created.code()).as(created.err()).isZero();
            Trigger before = cli.client().triggers().byName("sales").orElseThrow();
            assertThat(before.filter()).isEqualTo("${ .body.n > 0 }");

            Files.writeString(file, DEFINITION);
            Result changed = cli.run("triggers", "create", file.toString());
            assertThat(changed.code()).as(changed.err()).isZero();

            Trigger after = cli.client().triggers().byName("sales").orElseThrow();
            assertThat(after.id()).isEqualTo(before.id());
            assertThat(after.key()).isNull();
            assertThat(after.filter()).isNull();
            assertThat(after.priority()).isNull();
            assertThat(after.flow()).isNull();
            assertThat(after.inputs()).isEmpty();

            assertThat(cli.run("triggers", "send", "sold", "--id", "1").out()).matches("sales \\S+ pending\\s+");
            String writer = cli.client().api().post("/api-keys",
                    Json.read("{\"name\": \"writer\", \"scopes\": [\"runs:write\"]}")).path("key").stringValue();
            assertThat(InProcessCli.run(Map.of("KEELSON_DATA_DIR", folder.toString(), "KEELSON_API_KEY", writer),
                    "triggers", "send", "sold", "--id", "1").out())
                    .as("by a key that reads nothing").startsWith(after.id() + " ").contains("was received before");
        }
    }
}
