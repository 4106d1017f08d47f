package io.keelson.server.api.http.inbox;

import io.keelson.api.outlet.Report;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.ListCursor;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.ReportTexts;
import io.keelson.server.outlet.board.AgentReport;
import io.keelson.server.outlet.board.AgentReports;
import io.keelson.server.tenant.auth.Scope;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Reports: in lists without their text, one as JSON, Markdown or HTML. */
public final class ReportActions {

    private static final String MARKDOWN = "text/markdown";
    private static final String HTML = "text/html";

    private final AgentReports reports;
    private final ReportTexts texts;

    public ReportActions(AgentReports reports, ReportTexts texts) {
        this.reports = reports;
        this.texts = texts;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/reports", this::list);
        table.get(Scope.RUNS_READ, "/reports/{id}", this::one);
    }

    private ApiResponse list(ApiRequest request) {
        Query query = request.query();
        AgentReports.Filter filter = new AgentReports.Filter(query.id("run_id"), query.text("type"),
                query.text("agent"), query.time("from"), query.time("to"));
        ListCursor cursor = new ListCursor("reports");
        AgentReports.Place after = cursor.read(query, ReportActions::place);
        int limit = query.limit();
        List<AgentReport> found = reports.list(request.workspace(), filter, after, limit + 1);
        List<AgentReport> shown = found.subList(0, Math.min(limit, found.size()));
        Map<UUID, Integer> failures = texts.failures(request.workspace(), shown.stream().map(AgentReport::id).toList());
        return ApiResponse
                .ok(Lists.page(shown.stream().map(each -> document(each, failures.get(each.id()), null)).toList(),
                        found.size() <= limit ? null : cursor.write(position(AgentReports.Place.of(shown.getLast())))));
    }

    private static AgentReports.Place place(String text) {
        String[] parts = text.split("/", 4);
        return new AgentReports.Place(Instant.parse(parts[0]), UUID.fromString(parts[1]), UUID.fromString(parts[2]),
                UUID.fromString(parts[3]));
    }

    private static String position(AgentReports.Place place) {
        return place.createdAt() + "/" + place.run() + "/" + place.subject() + "/" + place.id();
    }

    private ApiResponse one(ApiRequest request) {
        UUID id = request.id("id", IdKind.REPORT);
        AgentReport report = Reads.found(reports.find(request.workspace(), id), IdKind.REPORT, id);
        String content = texts.find(request.workspace(), id).orElse(report.content());
        if (accepts(request, MARKDOWN)) {
            return text(MARKDOWN, content.getBytes(StandardCharsets.UTF_8));
        }
        if (accepts(request, HTML)) {
            return text(HTML, ReportPage.of(report.title(), content))
                    .header("Content-Security-Policy", ReportPage.POLICY).header("Referrer-Policy", "no-referrer")
                    .header("Cross-Origin-Resource-Policy", "same-origin");
        }
        Integer failures = texts.failures(request.workspace(), List.of(id)).get(id);
        return ApiResponse.resource(document(report, failures, content)).header("Vary", "Accept");
    }

    /** The text of the newest report about a run itself, in Markdown; empty where it has none. */
    public Optional<String> ofRun(UUID workspace, UUID run) {
        return reports.list(workspace, new AgentReports.Filter(run, null, null, null, null), null, 1).stream()
                .filter(report -> report.subject().equals(run))
                .flatMap(report -> texts.find(workspace, report.id())
                        .or(() -> reports.find(workspace, report.id()).map(AgentReport::content)).stream())
                .findFirst();
    }

    private static ApiResponse text(String type, byte[] text) {
        return ApiResponse.stream(type + "; charset=utf-8", text.length, new ByteArrayInputStream(text))
                .header("Vary", "Accept").header("Cache-Control", "private, no-cache");
    }

    private static boolean accepts(ApiRequest request, String type) {
        String header = request.header("Accept");
        return header != null && header.toLowerCase(Locale.ROOT).strip().startsWith(type);
    }

    /**
     * @param failures number of failures in the run's attempt when it ended; null for a report that is not about a run
     * @param content null in lists
     */
    private static ObjectNode document(AgentReport report, @Nullable Integer failures, @Nullable String content) {
        return Json.document(new Report(report.id().toString(), report.type(), report.title(),
                Objects.toString(report.runId(), null), report.attempt(), Objects.toString(report.taskId(), null),
                report.agent(), report.state(), failures, report.tokens(), Json.plain(report.cost()),
                report.durationMs(), report.createdAt(), content));
    }
}
