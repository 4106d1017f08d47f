package io.keelson.server.api.http.workers;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.core.money.Tokens;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.LongPoll;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.dispatch.RemoteWork;
import io.keelson.server.engine.tool.Proposed;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/** The routes of workers: each takes a batch and answers each item, in order. */
public final class DispatchActions {

    private static final int MAX_LOG_LINES = 1_000;
    private static final int BASE64_UNIT = 4;

    private final RemoteWork work;
    private final LongPoll poll;

    public DispatchActions(RemoteWork work, LongPoll poll) {
        this.work = work;
        this.poll = poll;
    }

    public void addTo(Route.Table table) {
        table.post(Scope.WORK, "/dispatch/claim", Claim.class, this::claim);
        table.post(Scope.WORK, "/dispatch/register", Registration.class, this::register);
        table.post(Scope.WORK, "/dispatch/heartbeat", Heartbeats.class, (request, batch) -> answers(
                work.heartbeat(request.workspace(), batch.workerId, numbered(batch.items, Heartbeat::beat))));
        table.post(Scope.WORK, "/dispatch/complete", Completions.class, this::complete);
        table.post(Scope.WORK, "/dispatch/continue", Continuations.class, (request, batch) -> completed(batch.items,
                readable -> work.another(request.workspace(), batch.workerId, readable)));
        table.post(Scope.WORK, "/dispatch/fail", Failures.class, (request, batch) -> answers(
                work.fail(request.workspace(), batch.workerId, numbered(batch.items, Failure::failure))));
        table.post(Scope.WORK, "/dispatch/release", Releases.class, (request, batch) -> answers(
                work.release(request.workspace(), batch.workerId, map(batch.items, Release::handback))));
    }

    /** Refuses tools that only servers of the Model Context Protocol have. */
    private static void requireOwn(List<String> tools, String at) {
        for (int i = 0; i < tools.size(); i++) {
            requireOwn(tools.get(i), at + "/" + i);
        }
    }

    private static void requireOwn(String tool, String at) {
        if (tool.startsWith(ToolSpec.MCP)) {
            throw ApiProblem.of("INVALID_VALUE", at, "begins with '" + ToolSpec.MCP
                    + "': such a tool is one of an MCP server, which no worker serves");
        }
    }

    record Claim(String workerId, List<String> tools, int max, long waitMs, @Nullable Long leaseMs,
            @Nullable String version, List<AnnouncedTool> toolSpecs, boolean again) {

        /** JSON text; null when nothing is announced. */
        @Nullable String specs() {
            for (int i = 0; i < toolSpecs.size(); i++) {
                if (!tools.contains(toolSpecs.get(i).name)) {
                    throw ApiProblem.of("INVALID_VALUE", "/tool_specs/" + i + "/name", "is none of tools");
                }
            }
            return toolSpecs.isEmpty() ? null : Json.array().addAll(map(toolSpecs, AnnouncedTool::document)).toString();
        }
    }

    record Registration(String workerId, List<AnnouncedTool> toolSpecs) {}

    private ApiResponse register(ApiRequest request, Registration registration) {
        List<String> tools = map(registration.toolSpecs, AnnouncedTool::name);
        for (int i = 0; i < tools.size(); i++) {
            requireOwn(tools.get(i), "/tool_specs/" + i + "/name");
        }
        work.register(request.workspace(), registration.workerId, tools,
                Json.array().addAll(map(registration.toolSpecs, AnnouncedTool::document)).toString());
        return ApiResponse.empty(204);
    }

    record AnnouncedTool(String name, @Nullable String description, @Nullable ObjectNode inputSchema,
            @Nullable String effects) {

        ObjectNode document() {
            ObjectNode document = Json.object().put("name", name).put("description", description)
                    .put("effects", effects);
            document.set("input_schema", orNull(inputSchema));
            return document;
        }
    }

    record Deferral(long retryAfterMs, @Nullable String busy, @Nullable String errorCode, String message) {}

    record Release(UUID stepId, int leaseEpoch, @Nullable Deferral deferral) {
        RemoteWork.Handback handback() {
            return new RemoteWork.Handback(stepId, leaseEpoch, deferral == null ? null
                    : new RemoteWork.Postponement(Duration.ofMillis(deferral.retryAfterMs), deferral.busy,
                            Objects.requireNonNullElse(deferral.errorCode, "UPSTREAM_UNAVAILABLE"), deferral.message));
        }
    }

    record Releases(String workerId, List<Release> items) {}

    record Progress(@Nullable Double fraction, String message) {}

    private static RemoteWork.Notes notes(@Nullable Progress progress, List<String> logs) {
        return new RemoteWork.Notes(progress == null ? null : progress.fraction,
                progress == null ? null : progress.message, logs.stream().limit(MAX_LOG_LINES).toList());
    }

    record Heartbeat(UUID stepId, int leaseEpoch, @Nullable Progress progress, @Nullable JsonNode details,
            List<String> logs, long tokens, @Nullable NewUsage usage, @Nullable BigDecimal cost,
            @Nullable String model) {

        RemoteWork.Beat beat(String at) {
            boolean says = tokens > 0 || usage != null || cost != null;
            return new RemoteWork.Beat(stepId, leaseEpoch, notes(progress, logs), details,
                    says ? new RemoteWork.Used(NewUsage.tokens(at, tokens, usage), cost, model) : null);
        }
    }

    record Heartbeats(String workerId, List<Heartbeat> items) {}

    record InlineArtifact(String name, String contentType, String contentBase64) {

        /** @throws IllegalArgumentException when it is not Base64 */
        byte[] content() {
            return Base64.getDecoder().decode(contentBase64);
        }

        boolean readable() {
            try {
                var _ = content();
                return contentBase64.length() % BASE64_UNIT == 0;
            } catch (IllegalArgumentException e) {
                return false;
            }
        }
    }

    record Upload(UUID uploadId) {}

    record NewProposal(String title, @Nullable String body, @Nullable JsonNode data, @Nullable Long expiresInSeconds) {

        Proposed proposed() {
            return new Proposed(UuidCreator.getTimeOrderedEpoch(), title, body, data,
                    expiresInSeconds == null ? null : Duration.ofSeconds(expiresInSeconds));
        }
    }

    record NewUsage(long input, long cacheRead, long cacheWrite, long output, long reasoning) {

        /** @param total 0 where the parts say it */
        static Tokens tokens(String at, long total, @Nullable NewUsage usage) {
            if (usage == null) {
                return Tokens.undivided(total);
            }
            if (usage.reasoning > usage.output) {
                throw ApiProblem.of("INVALID_VALUE", at + "/usage/reasoning", "is a part of output, which is less");
            }
            Tokens tokens = new Tokens(usage.input, usage.cacheRead, usage.cacheWrite, usage.output, usage.reasoning);
            if (total != 0 && total != tokens.total()) {
                throw ApiProblem.of("INVALID_VALUE", at + "/tokens",
                        "is not the sum of usage's input, cache_read, cache_write and output, " + tokens.total());
            }
            return tokens;
        }
    }

    record Completion(UUID stepId, int leaseEpoch, @Nullable JsonNode output, long tokens, @Nullable NewUsage usage,
            @Nullable BigDecimal cost, @Nullable String model, List<InlineArtifact> artifacts, List<Upload> uploads,
            List<NewProposal> proposals, @Nullable Progress progress, List<String> logs) {

        RemoteWork.Completion completion(String at) {
            return new RemoteWork.Completion(stepId, leaseEpoch, orNull(output), NewUsage.tokens(at, tokens, usage),
                    cost, model,
                    map(artifacts, each -> new RemoteWork.InlineArtifact(each.name, each.contentType,
                            each.content())),
                    map(uploads, Upload::uploadId), map(proposals, NewProposal::proposed), notes(progress, logs));
        }

        /** The index of the first artifact with unreadable content; -1 if absent. */
        int unreadable() {
            return IntStream.range(0, artifacts.size()).filter(i -> !artifacts.get(i).readable()).findFirst()
                    .orElse(-1);
        }
    }

    record Continuations(String workerId, List<Completion> items) {}

    record Next(List<String> tools, @Nullable Long leaseMs) {}

    record Completions(String workerId, List<Completion> items, @Nullable Next next) {}

    record Failure(UUID stepId, int leaseEpoch, String errorCode, @Nullable String errorClass, String message,
            @Nullable Long retryAfterMs, long tokens, @Nullable NewUsage usage, @Nullable BigDecimal cost,
            @Nullable String model, @Nullable Progress progress, List<String> logs) {

        RemoteWork.Failure failure(String at) {
            return new RemoteWork.Failure(stepId, leaseEpoch, errorCode, errorClass, message, millis(retryAfterMs),
                    NewUsage.tokens(at, tokens, usage), cost, model, notes(progress, logs));
        }
    }

    record Failures(String workerId, List<Failure> items) {}

    private ApiResponse claim(ApiRequest request, Claim claim) throws IOException, InterruptedException {
        requireOwn(claim.tools, "/tools");
        Duration wait = Duration.ofMillis(Math.min(claim.waitMs, poll.longestMillis()));
        List<RemoteWork.Item> items = work.claim(
                new RemoteWork.Claim(request.workspace(), claim.workerId, claim.tools, claim.max, wait,
                        millis(claim.leaseMs), claim.version, claim.specs(), claim.again,
                        request::clientGone, () -> poll.isOver(request)));
        if (!items.isEmpty() && request.clientGone()) {
            var _ = work.release(request.workspace(), claim.workerId,
                    map(items, item -> new RemoteWork.Handback(item.stepId(), item.leaseEpoch(), null)));
            return Lists.whole(List.of());
        }
        return Lists.whole(map(items, DispatchActions::document));
    }

    private ApiResponse complete(ApiRequest request, Completions batch) {
        if (batch.next != null) {
            requireOwn(batch.next.tools, "/next/tools");
        }
        RemoteWork.Continuation next = batch.next == null ? null
                : new RemoteWork.Continuation(batch.next.tools, millis(batch.next.leaseMs));
        return completed(batch.items,
                readable -> work.complete(request.workspace(), batch.workerId, readable, next));
    }

    /** Reports the items whose artifacts can be read, and rejects each other one by itself. */
    private static ApiResponse completed(List<Completion> items,
            Function<List<RemoteWork.Completion>, List<RemoteWork.Answer>> report) {
        List<RemoteWork.Completion> readable = new ArrayList<>();
        Map<Integer, ObjectNode> rejected = new HashMap<>();
        for (int i = 0; i < items.size(); i++) {
            Completion item = items.get(i);
            int artifact = item.unreadable();
            if (artifact < 0) {
                readable.add(item.completion("/items/" + i));
            } else {
                rejected.put(i, document(new RemoteWork.Answer(item.stepId, "rejected", null, "INVALID_VALUE",
                        "the content of an artifact is not Base64", null, null, null))
                        .put("pointer", "/items/" + i + "/artifacts/" + artifact + "/content_base64"));
            }
        }
        Iterator<RemoteWork.Answer> answers = report.apply(readable).iterator();
        return Lists.whole(IntStream.range(0, items.size()).mapToObj(
                i -> rejected.containsKey(i) ? rejected.get(i) : document(answers.next())).toList());
    }

    private static ApiResponse answers(List<RemoteWork.Answer> answers) {
        return Lists.whole(map(answers, DispatchActions::document));
    }

    private static ObjectNode document(RemoteWork.Item item) {
        ObjectNode document = Json.object();
        document.put("step_id", item.stepId().toString());
        document.put("run_id", item.runId().toString());
        document.put("task_id", item.taskId().toString());
        document.put("tool", item.tool());
        document.set("input", item.input());
        document.put("attempt", item.attempt());
        document.put("lease_epoch", item.leaseEpoch());
        document.put("lease_expires_at", Json.time(item.leaseExpiresAt()));
        document.put("deadline", Json.time(item.deadline()));
        document.put("effect_key", item.effectKey());
        document.set("failure_context", orNull(item.failureContext()));
        document.set("details", orNull(item.details()));
        document.put("traceparent", item.traceparent());
        document.put("max_output_tokens", item.maxOutputTokens());
        return document;
    }

    private static ObjectNode document(RemoteWork.Answer answer) {
        ObjectNode document = Json.object();
        document.put("step_id", answer.stepId().toString());
        document.put("status", answer.status());
        if (answer.leaseExpiresAt() != null) {
            document.put("lease_expires_at", Json.time(answer.leaseExpiresAt()));
        }
        if (answer.stop() != null) {
            document.put("reason", answer.stop().name().toLowerCase(Locale.ROOT));
        }
        if (answer.code() != null) {
            document.put("code", answer.code());
            document.put("detail", answer.message());
        }
        if (answer.next() != null) {
            document.set("next", document(answer.next()));
        }
        if (answer.result() != null) {
            document.set("result", Json.read(answer.result()));
        }
        return document;
    }

    /** @param function of an item and its pointer */
    private static <T, R> List<R> numbered(List<T> items, BiFunction<T, String, R> function) {
        return IntStream.range(0, items.size()).mapToObj(i -> function.apply(items.get(i), "/items/" + i)).toList();
    }

    private static <T, R> List<R> map(List<T> items, Function<T, R> function) {
        return items.stream().map(function).toList();
    }

    private static @Nullable Duration millis(@Nullable Long millis) {
        return millis == null ? null : Duration.ofMillis(millis);
    }

    private static JsonNode orNull(@Nullable JsonNode node) {
        return node == null ? NullNode.getInstance() : node;
    }
}
