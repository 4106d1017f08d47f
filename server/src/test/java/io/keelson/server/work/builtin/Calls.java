package io.keelson.server.work.builtin;

import io.keelson.server.base.artifact.ArtifactOwner;
import io.keelson.server.base.artifact.ArtifactSink;
import io.keelson.server.base.artifact.LocalArtifactStore;
import io.keelson.server.base.expr.Expressions;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.engine.tool.CallDeadline;
import io.keelson.server.engine.tool.Execution;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolPolicy;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.tenant.secret.Redaction;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.assertj.core.api.Assertions;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Calls tools as an executor does: by name through the catalogue, in a folder of the test's own. */
final class Calls {

    final LocalArtifactStore store;
    final ToolCatalog catalog;
    final List<String> log = new CopyOnWriteArrayList<>();
    private final ArtifactOwner owner =
            new ArtifactOwner(UUID.randomUUID(), UUID.randomUUID(), UUID.randomUUID(), 1, 1);

    Calls(ToolPolicy policy, Path artifacts) {
        try {
            store = new LocalArtifactStore(artifacts);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        catalog = new ToolCatalog(BuiltinTools.all(policy, new Expressions(),
                new OutboundClient(policy.allowPrivateAddresses()), Clock.systemUTC()));
    }

    ToolCall call(JsonNode input, int attempt, Duration timeout) {
        ArtifactSink sink = (name, type, content) -> store.put(owner, name, type, content);
        return new ToolCall(owner.workspaceId(), owner.runId(), UUID.randomUUID(), owner.stepId(), "test", input,
                attempt, Duration.ZERO, 1, "effect-key", CallDeadline.after(timeout), null, log::add,
                Redaction.NONE, sink, Execution.NONE);
    }

    ToolResult execute(String tool, String input) throws ToolFailure, InterruptedException {
        return execute(tool, json(input), 1);
    }

    ToolResult execute(String tool, JsonNode input, int attempt) throws ToolFailure, InterruptedException {
        return catalog.execute(tool, call(input, attempt, Duration.ofSeconds(30)));
    }

    /** The output of a call that must succeed, checked against the tool's own output schema. */
    JsonNode output(String tool, String input) {
        try {
            ToolResult result = execute(tool, input);
            Assertions.assertThat(catalog.validateOutput(catalog.find(tool).orElseThrow(), result.output())).isEmpty();
            return result.output();
        } catch (ToolFailure e) {
            throw new AssertionError(e.code() + ": " + e.getMessage(), e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** The failure of a call that must fail. */
    ToolFailure failure(String tool, String input) {
        try {
            JsonNode output = execute(tool, input).output();
            throw new AssertionError("succeeded with " + output);
        } catch (ToolFailure e) {
            return e;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static JsonNode json(String text) {
        return JsonMapper.shared().readTree(text);
    }
}
