package io.keelson.server.api.http.workers;

import io.keelson.api.Absent;
import io.keelson.api.worker.AnnouncedTool;
import io.keelson.api.worker.Claim;
import io.keelson.api.worker.Completion;
import io.keelson.api.worker.Failure;
import io.keelson.api.worker.FurtherClaim;
import io.keelson.api.worker.Heartbeat;
import io.keelson.api.worker.Release;
import io.keelson.api.worker.Report;
import io.keelson.api.worker.ReportAnswer;
import io.keelson.api.worker.ReportedUsage;
import io.keelson.api.worker.WorkItem;
import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.LongPoll;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.dispatch.RemoteDispatch;
import io.keelson.server.engine.dispatch.WorkerClaim;
import io.keelson.server.engine.store.queue.GatewayGrant;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The routes of workers: each takes a batch and answers every item of it, in order. */
public final class DispatchActions {

    private static final int BASE64_UNIT = 4;

    private final RemoteDispatch work;
    private final LongPoll poll;

    public DispatchActions(RemoteDispatch work, LongPoll poll) {
        this.work = work;
        this.poll = poll;
    }

    public void addTo(Route.Table table) {
        table.post(Scope.WORK, "/dispatch/claim", Claim.class, this::claim);
        table.post(Scope.WORK, "/dispatch/register", AnnouncedTool.Registration.class, this::register);
        table.post(Scope.WORK, "/dispatch/heartbeat", Heartbeat.Batch.class, (request, batch) -> answers(
                work.heartbeat(request.workspace(), batch.workerId(), withValidUse(batch.items()))));
        table.post(Scope.WORK, "/dispatch/complete", Completion.Batch.class, this::complete);
        table.post(Scope.WORK, "/dispatch/continue", Completion.Turns.class,
                (request, batch) -> answerReports(request, batch.workerId(), batch.claim(),
                        () -> completed(batch.items(),
                                readable -> work.reports().another(request.workspace(), batch.workerId(), readable))));
        table.post(Scope.WORK, "/dispatch/fail", Failure.Batch.class,
                (request, batch) -> answerReports(request, batch.workerId(), batch.claim(), () -> work.reports()
                        .fail(request.workspace(), batch.workerId(), withValidUse(batch.items()))));
        table.post(Scope.WORK, "/dispatch/release", Release.Batch.class,
                (request, batch) -> answerReports(request, batch.workerId(), batch.claim(), () -> work.reports()
                        .release(request.workspace(), batch.workerId(), batch.items())));
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

    private static void requireServed(List<String> chains, List<String> tools, String at) {
        for (int i = 0; i < chains.size(); i++) {
            if (!tools.contains(chains.get(i))) {
                throw ApiProblem.of("INVALID_VALUE", at + "/" + i, "is not in tools");
            }
        }
    }

    private static void requireReadableGateway(AnnouncedTool tool, int index) {
        try {
            var _ = GatewayGrant.of(Absent.asNull(tool.gateway()));
        } catch (IllegalArgumentException e) {
            throw ApiProblem.of("INVALID_VALUE", "/tool_specs/" + index + "/gateway", String.valueOf(e.getMessage()));
        }
    }

    private ApiResponse register(ApiRequest request, AnnouncedTool.Registration registration) {
        List<String> tools = registration.toolSpecs().stream().map(AnnouncedTool::name).toList();
        for (int i = 0; i < tools.size(); i++) {
            requireOwn(tools.get(i), "/tool_specs/" + i + "/name");
            requireReadableGateway(registration.toolSpecs().get(i), i);
        }
        work.register(request.workspace(), registration.workerId(), tools, text(registration.toolSpecs()));
        return ApiResponse.empty(204);
    }

    private static String text(List<AnnouncedTool> tools) {
        ArrayNode text = Json.array();
        tools.forEach(tool -> text.add(Json.document(tool)));
        return text.toString();
    }

    /** The announced tools as JSON text; null if the worker announces none. */
    private static @Nullable String specs(Claim claim) {
        for (int i = 0; i < claim.toolSpecs().size(); i++) {
            if (!claim.tools().contains(claim.toolSpecs().get(i).name())) {
                throw ApiProblem.of("INVALID_VALUE", "/tool_specs/" + i + "/name", "is not in tools");
            }
            requireReadableGateway(claim.toolSpecs().get(i), i);
        }
        return claim.toolSpecs().isEmpty() ? null : text(claim.toolSpecs());
    }

    private ApiResponse claim(ApiRequest request, Claim claim) throws IOException, InterruptedException {
        requireOwn(claim.tools(), "/tools");
        requireServed(claim.chains(), claim.tools(), "/chains");
        Duration wait = Duration.ofMillis(Math.min(claim.waitMs(), poll.longestMillis()));
        Long lease = claim.leaseMs();
        WorkerClaim ofWorker = new WorkerClaim(request.workspace(), claim.workerId(), claim.tools(), claim.max(), wait,
                lease == null ? null : Duration.ofMillis(lease), claim.version(), specs(claim), claim.again(),
                Set.copyOf(claim.chains()), request::clientGone, () -> poll.isOver(request));
        List<WorkItem> items = claim.items().isEmpty() ? work.claim(ofWorker)
                : work.claimItems(ofWorker,
                        claim.items().stream().map(item -> new Lane(item.taskId(), item.lane())).toList());
        return Lists.whole(documents(takeBackIfGone(request, claim.workerId(), items)));
    }

    /** The steps; none if the worker cannot be answered any more: it has given them back then. */
    private List<WorkItem> takeBackIfGone(ApiRequest request, String workerId, List<WorkItem> items) {
        if (items.isEmpty() || !request.clientGone()) {
            return items;
        }
        var _ = work.reports().release(request.workspace(), workerId,
                items.stream().map(item -> new Release(item.stepId(), item.leaseEpoch(), null)).toList());
        return List.of();
    }

    private static List<JsonNode> documents(List<? extends Record> items) {
        return items.stream().<JsonNode>map(Json::document).toList();
    }

    private ApiResponse complete(ApiRequest request, Completion.Batch batch) {
        FurtherClaim claim = batch.claim();
        Completion.Next next = batch.next();
        if (claim != null && next != null) {
            throw ApiProblem.of("INVALID_VALUE", "/next", "is part of claim");
        }
        if (next != null) {
            requireOwn(next.tools(), "/next/tools");
        }
        return answerReports(request, batch.workerId(), claim, () -> completed(batch.items(), readable -> claim == null
                ? work.complete(request.workspace(), batch.workerId(), readable, next)
                : work.results(request.workspace(), batch.workerId(), readable, claim)));
    }

    /** The answers to reports, and the steps that the worker has claimed with them. */
    private ApiResponse answerReports(ApiRequest request, String workerId, @Nullable FurtherClaim claim,
            Supplier<List<ReportAnswer>> reports) {
        if (claim == null) {
            return answers(reports.get());
        }
        requireOwn(claim.tools(), "/claim/tools");
        requireServed(claim.chains(), claim.tools(), "/claim/chains");
        List<ReportAnswer> answers = reports.get();
        Long lease = claim.leaseMs();
        List<WorkItem> items = work.further(new WorkerClaim(request.workspace(), workerId, claim.tools(), claim.max(),
                Duration.ZERO, lease == null ? null : Duration.ofMillis(lease), null, null, false,
                Set.copyOf(claim.chains()), () -> false, () -> false), answers);
        ObjectNode page = Lists.page(documents(answers), null);
        page.putArray("claimed").addAll(documents(takeBackIfGone(request, workerId, items)));
        return ApiResponse.ok(page);
    }

    /** Reports the items whose artifacts can be read, and rejects each other one by itself. */
    private static List<ReportAnswer> completed(List<Completion> items,
            Function<List<Completion>, List<ReportAnswer>> report) {
        List<Completion> readable = new ArrayList<>();
        Map<Integer, ReportAnswer> rejected = new HashMap<>();
        for (int i = 0; i < items.size(); i++) {
            Completion item = items.get(i);
            int artifact = unreadable(item);
            if (artifact < 0) {
                requireValidUse(item, "/items/" + i);
                readable.add(item);
            } else {
                rejected.put(i, ReportAnswer.refused(item.stepId(), "rejected", "INVALID_VALUE",
                        "the content of an artifact is not Base64")
                        .at("/items/" + i + "/artifacts/" + artifact + "/content_base64"));
            }
        }
        Iterator<ReportAnswer> answers = report.apply(readable).iterator();
        return IntStream.range(0, items.size())
                .mapToObj(i -> rejected.containsKey(i) ? rejected.get(i) : answers.next()).toList();
    }

    private static ApiResponse answers(List<ReportAnswer> answers) {
        return Lists.wholeOf(answers);
    }

    /** The place of the first artifact whose content cannot be read; -1 if all can be read. */
    private static int unreadable(Completion item) {
        return IntStream.range(0, item.artifacts().size())
                .filter(i -> !isBase64(item.artifacts().get(i).contentBase64())).findFirst().orElse(-1);
    }

    private static boolean isBase64(String text) {
        try {
            var _ = Base64.getDecoder().decode(text);
            return text.length() % BASE64_UNIT == 0;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static <T extends Report.WithUse> List<T> withValidUse(List<T> items) {
        for (int i = 0; i < items.size(); i++) {
            requireValidUse(items.get(i), "/items/" + i);
        }
        return items;
    }

    private static void requireValidUse(Report.WithUse report, String at) {
        ReportedUsage usage = report.usage();
        if (usage == null) {
            return;
        }
        if (usage.reasoning() > usage.output()) {
            throw ApiProblem.of("INVALID_VALUE", at + "/usage/reasoning", "is a part of output, which is less");
        }
        if (report.tokens() != 0 && report.tokens() != usage.total()) {
            throw ApiProblem.of("INVALID_VALUE", at + "/tokens",
                    "is not the sum of usage's input, cache_read, cache_write and output, " + usage.total());
        }
    }
}
