package io.keelson.server.api.http.admin;

import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.Authenticator;
import io.keelson.server.api.http.support.Observed;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.tenant.auth.Scope;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** The metrics page, where Prometheus looks for it. */
public final class MetricsActions {

    private static final String PLAIN = "text/plain; version=0.0.4; charset=utf-8";

    private final Observed observed;
    private final Authenticator authenticator;

    public MetricsActions(Observed observed, Authenticator authenticator) {
        this.observed = observed;
        this.authenticator = authenticator;
    }

    public void addTo(Route.Table table) {
        table.getOpen("/metrics", this::metrics);
    }

    private ApiResponse metrics(ApiRequest request) {
        boolean open = switch (observed.access()) {
            case OPEN -> true;
            case LOOPBACK -> request.fromThisMachine();
            case KEY -> false;
        };
        if (!open) {
            authenticator.requireHolder(request, Scope.OPERATOR);
        }
        String accept = Objects.requireNonNullElse(request.header("Accept"), "");
        Observed.Page page = observed.page().apply(new Observed.Page(accept.isEmpty() ? PLAIN : accept, ""));
        byte[] bytes = page.text().getBytes(StandardCharsets.UTF_8);
        return ApiResponse.stream(page.type(), bytes.length, new ByteArrayInputStream(bytes))
                .header("Cache-Control", "no-store");
    }
}
