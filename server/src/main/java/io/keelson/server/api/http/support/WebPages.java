package io.keelson.server.api.http.support;

import io.javalin.http.Context;
import io.javalin.http.NotFoundResponse;
import io.keelson.server.api.web.Dashboard;
import io.keelson.server.api.web.WebFile;

/** Serves the dashboard's files, compressed if the client accepts it. */
public final class WebPages {

    private final Dashboard dashboard;

    public WebPages(Dashboard dashboard) {
        this.dashboard = dashboard;
    }

    /** @throws NotFoundResponse for an asset that is not there */
    public void serve(Context context) {
        WebFile file = dashboard.find(context.path());
        if (file == null) {
            throw new NotFoundResponse();
        }
        file.headers().forEach(context::header);
        context.header("X-Content-Type-Options", "nosniff");
        context.header("Vary", "Accept-Encoding");
        if (Compression.accepted(context.header("Accept-Encoding"))) {
            context.header("Content-Encoding", "gzip");
            context.result(file.gzip());
        } else {
            context.result(file.bytes());
        }
    }
}
