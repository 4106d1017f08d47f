package io.keelson.server.http;

import io.keelson.server.auth.Scope;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** The metrics page, where Prometheus looks for it. */
final class MetricsActions {

    private static final String PLAIN = "text/plain; version=0.0.4; charset=utf-8";

    private final Observed observed;
    private final Door door;

    MetricsActions(Observed observed, Door door) {
        this.observed = observed;
        this.door = door;
    }

    void addTo(Route.Table table) {
        table.getOpen("/metrics", this::metrics);
    }

    private Answer metrics(Call call) {
        boolean open = switch (observed.door()) {
            case OPEN -> true;
            case LOOPBACK -> call.fromThisMachine();
            case KEY -> false;
        };
        if (!open) {
            door.requireHolder(call, Scope.OPERATOR);
        }
        String accept = Objects.requireNonNullElse(call.header("Accept"), "");
        Observed.Page page = observed.page().apply(new Observed.Page(accept.isEmpty() ? PLAIN : accept, ""));
        byte[] bytes = page.text().getBytes(StandardCharsets.UTF_8);
        return Answer.stream(page.type(), bytes.length, new ByteArrayInputStream(bytes))
                .header("Cache-Control", "no-store");
    }
}
