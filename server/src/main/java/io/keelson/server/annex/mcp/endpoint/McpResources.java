package io.keelson.server.annex.mcp.endpoint;

import io.keelson.server.annex.mcp.wire.Mcp;
import io.keelson.server.api.http.inbox.ReportActions;
import io.keelson.server.api.http.runs.ArtifactActions;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ListCursor;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.engine.store.read.RunSelection;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Runs, their reports and artifacts as resources. */
final class McpResources {
    private static final String UUID_FORM = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
    private static final Pattern URI = Pattern.compile(
            "keelson://runs/(?<run>" + UUID_FORM + ")(?<report>/report)?(?:/artifacts/(?<artifact>" + UUID_FORM
                    + "))?");
    private static final Pattern TEXT = Pattern.compile("text/.*|application/(json|yaml|xml)|.*\\+(json|xml)");
    private static final int PAGE = 50;
    /** Bytes of an artifact that a result has. */
    private static final int MAX_ARTIFACT = 8 << 20;
    /** Not found, in revisions with a handshake. */
    private static final int NOT_FOUND = -32_002;
    private static final int OK = 200;

    private final Reads reads;
    private final ReportActions reports;
    private final ArtifactActions artifacts;

    public McpResources(Reads reads, ReportActions reports, ArtifactActions artifacts) {
        this.reads = reads;
        this.reports = reports;
        this.artifacts = artifacts;
    }

    /** Runs, the newest first. */
    ObjectNode list(Incoming incoming) {
        incoming.require(Scope.RUNS_READ);
        RunReader.RunPage page;
        try {
            page = reads
                    .read((runs, c) -> runs.runs(c, incoming.workspace(), RunSelection.ALL, incoming.cursor(), PAGE));
        } catch (RunReader.BadCursorException e) {
            throw ListCursor.invalid();
        }
        ObjectNode result = Json.object();
        ArrayNode resources = result.putArray("resources");
        page.items().forEach(run -> {
            ObjectNode resource = resources.addObject().put("uri", "keelson://runs/" + run.get("id").stringValue());
            resource.set("name", run.get("name"));
            resource.put("description", "Run, " + run.get("state").stringValue()).put("mimeType", "application/json");
            resource.putObject("annotations").set("lastModified", run.get("updated_at"));
        });
        if (page.nextCursor() != null) {
            result.put("nextCursor", page.nextCursor());
        }
        return Caching.hint(result, Caching.NONE);
    }

    ObjectNode templates(Incoming incoming) {
        incoming.require(Scope.RUNS_READ);
        ObjectNode result = Json.object();
        ArrayNode templates = result.putArray("resourceTemplates");
        template(templates, "keelson://runs/{run_id}", "run", "A run as JSON", "application/json");
        template(templates, "keelson://runs/{run_id}/report", "report", "The report on a run that has ended",
                "text/markdown");
        templates.addObject().put("uriTemplate", "keelson://runs/{run_id}/artifacts/{artifact_id}")
                .put("name", "artifact").put("description", "An artifact of a run");
        return Caching.hint(result, Caching.MINUTE);
    }

    private static void template(ArrayNode templates, String uri, String name, String description, String type) {
        templates.addObject().put("uriTemplate", uri).put("name", name).put("description", description)
                .put("mimeType", type);
    }

    ObjectNode read(Incoming incoming) throws IOException {
        incoming.require(Scope.RUNS_READ);
        String uri = incoming.text("uri");
        Matcher parts = URI.matcher(uri);
        if (!parts.matches()) {
            throw notFound(incoming, uri, "no resource '" + Excerpt.piece(uri) + "'");
        }
        ObjectNode result = Json.object();
        ObjectNode content = result.putArray("contents").addObject().put("uri", uri);
        try {
            read(incoming.workspace(), parts, content);
        } catch (ApiProblem problem) {
            throw notFound(incoming, uri, problem.document().path("detail").asString(""));
        }
        return Caching.hint(result, Caching.NONE);
    }

    private void read(UUID workspace, Matcher parts, ObjectNode content) throws IOException {
        UUID run = UUID.fromString(parts.group("run"));
        String artifact = parts.group("artifact");
        if (artifact != null) {
            artifact(artifacts.file(workspace, run, UUID.fromString(artifact)), content);
        } else if (parts.group("report") != null) {
            content.put("mimeType", "text/markdown").put("text", reports.ofRun(workspace, run)
                    .orElseThrow(() -> RpcError.invalid("the run has no report: it has not ended, or is not here")));
        } else {
            content.put("mimeType", "application/json").put("text", reads.run(workspace, run).toString());
        }
    }

    private void artifact(RunReader.ArtifactFile file, ObjectNode content) throws IOException {
        if (file.sizeBytes() > MAX_ARTIFACT) {
            throw RpcError.invalid("the artifact has " + file.sizeBytes() + " bytes, and a resource at most "
                    + MAX_ARTIFACT + ": get it from the HTTP API");
        }
        String type = ArtifactActions.type(file);
        byte[] bytes;
        try (InputStream in = artifacts.open(file, 0)) {
            bytes = in.readAllBytes();
        }
        content.put("mimeType", type);
        if (TEXT.matcher(type.replaceAll(";.*", "")).matches()) {
            content.put("text", new String(bytes, StandardCharsets.UTF_8));
        } else {
            content.put("blob", Base64.getEncoder().encodeToString(bytes));
        }
    }

    private static RpcError notFound(Incoming incoming, String uri, String message) {
        return new RpcError(OK, incoming.modern() ? Mcp.INVALID_PARAMS : NOT_FOUND, message,
                Json.object().put("uri", uri));
    }
}
