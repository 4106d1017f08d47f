package io.keelson.server.http.workers;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.core.policy.ErrorClass;
import io.keelson.server.auth.Scope;
import io.keelson.server.engine.dispatch.RemoteWork;
import io.keelson.server.http.support.ApiRequest;
import io.keelson.server.http.support.ApiResponse;
import io.keelson.server.http.support.Fields;
import io.keelson.server.http.support.IdKind;
import io.keelson.server.http.support.Json;
import io.keelson.server.http.support.Lists;
import io.keelson.server.http.support.LongPoll;
import io.keelson.server.http.support.Route;
import io.keelson.server.tool.Proposed;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/** The routes of workers: each takes a batch and answers every item of it, in order. */
public final class DispatchActions {

    static final int MAX_BATCH = 1_000;
    private static final int MAX_NAME = 200;
    private static final int MAX_CODE = 100;
    private static final int MAX_TOOLS = 500;
    private static final int MAX_EPOCH = Integer.MAX_VALUE;
    private static final int MAX_LOG_LINES = 1_000;
    private static final int MAX_ARTIFACTS = 100;
    private static final int MAX_PROPOSALS = 20;
    private static final int MAX_ARTIFACT_BYTES = 1 << 20;
    private static final long MIN_LEASE_MILLIS = 1_000;
    private static final long MAX_LEASE_MILLIS = 3_600_000;
    private static final long MAX_RETRY_MILLIS = 7L * 24 * 3_600_000;
    private static final long MAX_TOKENS = 100_000_000L;
    private static final BigDecimal MAX_COST = new BigDecimal("1000000");
    private static final int COST_SCALE = 6;
    private static final List<String> ERROR_CLASSES = Arrays.stream(ErrorClass.values()).map(ErrorClass::wire).toList();

    private final RemoteWork work;
    private final LongPoll poll;

    public DispatchActions(RemoteWork work, LongPoll poll) {
        this.work = work;
        this.poll = poll;
    }

    public void addTo(Route.Table table) {
        table.post(Scope.WORK, "/dispatch/claim", this::claim);
        table.post(Scope.WORK, "/dispatch/heartbeat",
                request -> batch(request, DispatchActions::beat, work::heartbeat));
        table.post(Scope.WORK, "/dispatch/complete", this::complete);
        table.post(Scope.WORK, "/dispatch/continue", call -> batch(call, DispatchActions::completion, work::another));
        table.post(Scope.WORK, "/dispatch/fail", apiRequest -> batch(apiRequest, DispatchActions::failure, work::fail));
        table.post(Scope.WORK, "/dispatch/release", call -> batch(call, DispatchActions::handback, work::release));
    }

    private ApiResponse claim(ApiRequest request) throws IOException, InterruptedException {
        request.query().done();
        Fields fields = request.fields();
        String worker = fields.text("worker_id", MAX_NAME);
        List<String> tools = fields.texts("tools", MAX_TOOLS, MAX_NAME);
        int max = (int) fields.integer("max", 1, MAX_BATCH, 1);
        long wait = fields.integer("wait_ms", 0, poll.longestMillis(), 0);
        Duration lease = lease(fields);
        String version = fields.optionalText("version", MAX_NAME);
        fields.done();
        List<RemoteWork.Item> items = poll.take(request, Duration.ofMillis(wait), patience -> work.claim(
                new RemoteWork.Claim(request.workspace(), worker, tools, max, patience, lease, version,
                        request::clientGone)));
        if (!items.isEmpty() && request.clientGone()) {
            work.release(request.workspace(), worker, items.stream()
                    .map(item -> new RemoteWork.Handback(item.stepId(), item.leaseEpoch())).toList());
            return Lists.whole(List.of());
        }
        return Lists.whole(items.stream().map(DispatchActions::document).toList());
    }

    private ApiResponse complete(ApiRequest request) throws IOException {
        request.query().done();
        Fields fields = request.fields();
        String worker = fields.text("worker_id", MAX_NAME);
        List<RemoteWork.Completion> items = fields.objects("items", 1, MAX_BATCH).stream()
                .map(DispatchActions::completion).toList();
        Fields next = fields.object("next");
        RemoteWork.GoOn goOn = next == null ? null
                : new RemoteWork.GoOn(next.texts("tools", MAX_TOOLS, MAX_NAME), lease(next));
        fields.done();
        return Lists.whole(work.complete(request.workspace(), worker, items, goOn).stream()
                .map(DispatchActions::document).toList());
    }

    private static @Nullable Duration lease(Fields fields) {
        return millis(fields.optionalInteger("lease_ms", MIN_LEASE_MILLIS, MAX_LEASE_MILLIS));
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
        return document;
    }

    private interface ItemReader<T> {
        T read(Fields item);
    }

    private interface Report<T> {
        List<RemoteWork.Answer> send(UUID workspace, String worker, List<T> items);
    }

    private static <T> ApiResponse batch(ApiRequest request, ItemReader<T> reader, Report<T> report)
            throws IOException {
        request.query().done();
        Fields fields = request.fields();
        String worker = fields.text("worker_id", MAX_NAME);
        List<T> items = fields.objects("items", 1, MAX_BATCH).stream().map(reader::read).toList();
        fields.done();
        return Lists.whole(report.send(request.workspace(), worker, items).stream().map(DispatchActions::document)
                .toList());
    }

    private static ObjectNode document(RemoteWork.Answer answer) {
        ObjectNode document = Json.object();
        document.put("step_id", answer.stepId().toString());
        document.put("status", answer.status());
        if (answer.leaseExpiresAt() != null) {
            document.put("lease_expires_at", Json.time(answer.leaseExpiresAt()));
        }
        if (answer.code() != null) {
            document.put("code", answer.code());
            document.put("detail", answer.message());
        }
        if (answer.next() != null) {
            document.set("next", document(answer.next()));
        }
        if (answer.result() != null) {
            document.set("result", io.keelson.server.json.Json.read(answer.result()));
        }
        return document;
    }

    private static RemoteWork.Beat beat(Fields item) {
        Fields progress = item.object("progress");
        Double fraction = progress == null ? null : progress.fraction("fraction");
        String message = progress == null ? null : progress.lenientText("message");
        return new RemoteWork.Beat(item.id("step_id", IdKind.STEP), epoch(item), fraction, message,
                item.any("details"), item.lenientTexts("logs", MAX_LOG_LINES));
    }

    private static RemoteWork.Completion completion(Fields item) {
        JsonNode output = item.any("output");
        return new RemoteWork.Completion(item.id("step_id", IdKind.STEP), epoch(item), orNull(output), tokens(item),
                cost(item), model(item),
                item.objects("artifacts", 0, MAX_ARTIFACTS).stream().map(DispatchActions::artifact).toList(),
                item.objects("uploads", 0, MAX_ARTIFACTS).stream()
                        .map(upload -> upload.id("upload_id", IdKind.ARTIFACT)).toList(),
                item.objects("proposals", 0, MAX_PROPOSALS).stream().map(DispatchActions::proposal).toList());
    }

    private static Proposed proposal(Fields item) {
        Long seconds = item.optionalInteger("expires_in_seconds", 1, Proposed.MAX_SECONDS);
        JsonNode data = item.any("data");
        if (data != null && data.toString().length() > Proposed.MAX_DATA) {
            item.problem("TOO_LONG", "data", "at most " + Proposed.MAX_DATA + " characters of JSON");
        }
        return new Proposed(UuidCreator.getTimeOrderedEpoch(), item.text("title", Proposed.MAX_TITLE),
                item.optionalText("body", Proposed.MAX_BODY), data == null || data.isNull() ? null : data,
                seconds == null ? null : Duration.ofSeconds(seconds));
    }

    private static RemoteWork.InlineArtifact artifact(Fields item) {
        return new RemoteWork.InlineArtifact(item.text("name", MAX_NAME), item.text("content_type", MAX_NAME),
                item.bytes("content_base64", MAX_ARTIFACT_BYTES));
    }

    private static RemoteWork.Failure failure(Fields item) {
        String errorClass = item.optionalText("error_class", MAX_NAME);
        if (errorClass != null && !ERROR_CLASSES.contains(errorClass)) {
            item.problem("INVALID_VALUE", "error_class", "must be one of " + String.join(", ", ERROR_CLASSES));
        }
        return new RemoteWork.Failure(item.id("step_id", IdKind.STEP), epoch(item), item.text("error_code", MAX_CODE),
                errorClass, item.lenientText("message"),
                millis(item.optionalInteger("retry_after_ms", 0, MAX_RETRY_MILLIS)), tokens(item), cost(item),
                model(item));
    }

    private static RemoteWork.Handback handback(Fields item) {
        return new RemoteWork.Handback(item.id("step_id", IdKind.STEP), epoch(item));
    }

    private static int epoch(Fields item) {
        return (int) item.requiredInteger("lease_epoch", 1, MAX_EPOCH);
    }

    private static long tokens(Fields item) {
        return item.integer("tokens", 0, MAX_TOKENS, 0);
    }

    private static @Nullable BigDecimal cost(Fields item) {
        return item.optionalAmount("cost", COST_SCALE, MAX_COST);
    }

    private static @Nullable String model(Fields item) {
        return item.optionalText("model", MAX_NAME);
    }

    private static @Nullable Duration millis(@Nullable Long millis) {
        return millis == null ? null : Duration.ofMillis(millis);
    }

    private static JsonNode orNull(@Nullable JsonNode node) {
        return node == null ? NullNode.getInstance() : node;
    }
}
