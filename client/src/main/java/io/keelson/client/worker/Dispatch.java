package io.keelson.client.worker;

import io.keelson.api.worker.AnnouncedTool;
import io.keelson.api.worker.Claim;
import io.keelson.api.worker.Completion;
import io.keelson.api.worker.Failure;
import io.keelson.api.worker.FurtherClaim;
import io.keelson.api.worker.Heartbeat;
import io.keelson.api.worker.Release;
import io.keelson.api.worker.Report;
import io.keelson.api.worker.ReportAnswer;
import io.keelson.api.worker.UploadedArtifact;
import io.keelson.api.worker.WorkItem;
import io.keelson.client.Api;
import io.keelson.client.Json;
import java.lang.System.Logger.Level;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The worker's calls to {@code /dispatch}. Each throws {@link io.keelson.client.KeelsonException}; none repeats. */
final class Dispatch {

    private static final System.Logger LOG = System.getLogger(Dispatch.class.getName());

    /** How long an answer may take beyond the time that the server was asked to hold the call open. */
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(15);

    /** The lease is kept meanwhile; who loses it is interrupted. */
    private static final Duration UPLOAD_LIMIT = Duration.ofHours(12);

    private final Api api;
    private final String workerId;
    private final @Nullable String version;
    private final List<String> tools;
    private final List<AnnouncedTool> specs;
    /** Tools without effects. */
    private final List<String> chains;
    private final Duration lease;
    private volatile boolean announced;

    /**
     * @param tools names of the served tools
     * @param specs the announced tools, sent with claims until a claim is answered
     * @param lease of every step that the worker gets
     * @param chains whether a claim asks for the steps that follow one without effects
     */
    Dispatch(Api api, String workerId, @Nullable String version, Set<String> tools, List<AnnouncedTool> specs,
            Duration lease, boolean chains) {
        this.api = api;
        this.workerId = workerId;
        this.version = version;
        this.tools = List.copyOf(tools);
        this.specs = specs;
        this.chains = specs.stream().filter(spec -> chains && "read".equals(spec.effects())).map(AnnouncedTool::name)
                .toList();
        this.lease = lease;
    }

    /** Makes the tools known, so that missions may have them before the first claim. */
    void register() {
        api.post("/dispatch/register", Json.request(
                new AnnouncedTool.Registration(workerId, tools.stream().map(this::described).toList())));
    }

    private AnnouncedTool described(String tool) {
        return specs.stream().filter(each -> each.name().equals(tool)).findFirst()
                .orElseGet(() -> new AnnouncedTool(tool, null, null, null, null));
    }

    /** Steps under new leases: at once when there are any, else as soon as one is ready, else none. */
    List<WorkItem> claim(int max, Duration wait) {
        return claim(max, wait, List.of());
    }

    /** The given items that are ready now, under new leases. */
    List<WorkItem> claim(List<Claim.Item> items) {
        return claim(items.size(), Duration.ZERO, items);
    }

    private List<WorkItem> claim(int max, Duration wait, List<Claim.Item> only) {
        Claim claim = new Claim(workerId, tools, max, wait.toMillis(), lease.toMillis(), version,
                announced ? List.of() : specs, !wait.isZero(), chains, only);
        JsonNode answer = api.post("/dispatch/claim", Json.request(claim), wait.plus(ANSWER_TIMEOUT));
        announced = true;
        return answer.path("items").valueStream().map(item -> Json.document(item, WorkItem.class)).toList();
    }

    /**
     * The server's answers in the order of the items; null where it gave none.
     *
     * @param limit for the answer: a call that hangs must not cost the leases
     */
    List<@Nullable ReportAnswer> heartbeat(List<Heartbeat> items, Duration limit) {
        return matchAnswers(post("heartbeat", new Heartbeat.Batch(workerId, items),
                limit.compareTo(ANSWER_TIMEOUT) < 0 ? limit : ANSWER_TIMEOUT), items);
    }

    /**
     * The answer to reports.
     *
     * @param answers in the order of the items; null where it gave none
     * @param claimed steps under new leases, for the slots that the reports have freed
     */
    record Reported(List<@Nullable ReportAnswer> answers, List<WorkItem> claimed) {}

    /**
     * Sends reports to the route of their kind.
     *
     * @param slots that the reports free, for which the request also claims steps; 0 to claim none
     */
    Reported report(ExecutionResult.Kind kind, List<Report> items, int slots) {
        FurtherClaim further = slots > 0 ? new FurtherClaim(tools, slots, lease.toMillis(), chains) : null;
        Record body = switch (kind) {
            case COMPLETE -> new Completion.Batch(workerId, all(Completion.class, items), null, further);
            case CONTINUE -> new Completion.Turns(workerId, all(Completion.class, items), further);
            case FAIL -> new Failure.Batch(workerId, all(Failure.class, items), further);
            case RELEASE -> new Release.Batch(workerId, all(Release.class, items), further);
        };
        JsonNode answer = post(kind.route(), body, ANSWER_TIMEOUT);
        return new Reported(matchAnswers(answer, items), answer.path("claimed").valueStream().map(Dispatch::readStep)
                .filter(Objects::nonNull).<WorkItem>map(Objects::requireNonNull).toList());
    }

    /** Null if the step is malformed; its lease ends by itself. */
    private static @Nullable WorkItem readStep(JsonNode item) {
        try {
            return Json.document(item, WorkItem.class);
        } catch (JacksonException e) {
            LOG.log(Level.WARNING, "cannot parse a step that was claimed with a report: {0}", e.getMessage());
            return null;
        }
    }

    private static <T> List<T> all(Class<T> type, List<Report> items) {
        return items.stream().map(type::cast).toList();
    }

    /** Sends a file for a step that the worker holds. Returns the id by which the step's result names the file. */
    UUID upload(WorkItem item, String name, String contentType, Path file) {
        String path = "/dispatch/artifacts?worker_id=" + encoded(workerId) + "&step_id=" + item.stepId()
                + "&lease_epoch=" + item.leaseEpoch() + "&name=" + encoded(name);
        return UUID.fromString(
                Json.document(api.upload(path, contentType, file, UPLOAD_LIMIT), UploadedArtifact.class).uploadId());
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private JsonNode post(String route, Record body, Duration limit) {
        return api.post("/dispatch/" + route, Json.request(body), limit);
    }

    private static List<@Nullable ReportAnswer> matchAnswers(JsonNode page, List<? extends Report> items) {
        List<ReportAnswer> answers = new ArrayList<>();
        for (JsonNode answer : page.path("items")) {
            ReportAnswer read = read(answer);
            if (read != null) {
                answers.add(read);
            }
        }
        List<@Nullable ReportAnswer> matched = new ArrayList<>();
        items.forEach(item -> matched.add(takeFor(item.stepId(), answers)));
        return matched;
    }

    /** An answer without its next step, if that step is malformed; null if the answer is. */
    private static @Nullable ReportAnswer read(JsonNode answer) {
        try {
            return Json.document(answer, ReportAnswer.class);
        } catch (JacksonException e) {
            LOG.log(Level.WARNING, "cannot parse the answer to a report: {0}", e.getMessage());
            return answer instanceof ObjectNode object && object.has("next") ? read(object.deepCopy().without("next"))
                    : null;
        }
    }

    /** A step may stand in one batch twice, under two leases; its answers come in the order of its items. */
    private static @Nullable ReportAnswer takeFor(UUID stepId, List<ReportAnswer> answers) {
        for (Iterator<ReportAnswer> i = answers.iterator(); i.hasNext();) {
            ReportAnswer answer = i.next();
            if (stepId.equals(answer.stepId())) {
                i.remove();
                return answer;
            }
        }
        return null;
    }
}
