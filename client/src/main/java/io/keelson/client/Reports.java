package io.keelson.client;

import io.keelson.api.outlet.Report;
import tools.jackson.databind.JsonNode;

/** Reports on ended tasks and runs, in Markdown. Every method throws {@link KeelsonException} as {@link Api} says. */
public final class Reports {

    private final Api api;

    Reports(Api api) {
        this.api = api;
    }

    /** Without their contents. */
    public Page<Report> list(ReportQuery query) {
        return Page.of(document(query), Report.class);
    }

    /** Lists reports as the API's document. */
    public JsonNode document(ReportQuery query) {
        RequestPath route = RequestPath.of("/reports").with("run_id", query.runId()).with("type", query.type())
                .with("agent", query.agent()).with("from", query.from()).with("to", query.to())
                .with("cursor", query.cursor()).with("limit", query.limit());
        return api.get(route.toString());
    }

    /** Reads a report with its Markdown. */
    public Report get(String id) {
        return Json.document(document(id), Report.class);
    }

    /** Reads a report as the API's document. */
    public JsonNode document(String id) {
        return api.get(RequestPath.of("/reports/", id).toString());
    }
}
