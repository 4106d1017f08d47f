package io.keelson.server.annex.model.gateway;

import io.keelson.server.annex.model.WireKind;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A path at which models are requested. */
enum GatewayPath {
    CHAT(Dialect.OPENAI, WireKind.OPENAI_CHAT, List.of("max_completion_tokens", "max_tokens"), "/v1/chat/completions"),
    RESPONSES(Dialect.OPENAI, WireKind.OPENAI_RESPONSES, List.of("max_output_tokens"), "/v1/responses"),
    /** Some libraries append no version to their address. */
    MESSAGES(Dialect.ANTHROPIC, WireKind.ANTHROPIC_MESSAGES, List.of("max_tokens"), "/v1/messages", "/messages");

    private final Dialect dialect;
    private final WireKind wire;
    private final List<String> bounds;
    private final List<String> paths;

    GatewayPath(Dialect dialect, WireKind wire, List<String> bounds, String... paths) {
        this.dialect = dialect;
        this.wire = wire;
        this.bounds = bounds;
        this.paths = List.of(paths);
    }

    /** The path below the dialect's; null if the dialect has no such path. */
    static @Nullable GatewayPath of(Dialect dialect, String path) {
        for (GatewayPath each : values()) {
            if (each.dialect == dialect && each.paths.contains(path)) {
                return each;
            }
        }
        return null;
    }

    WireKind wire() {
        return wire;
    }

    /** The members of a body that bound its output, the newest one first. */
    List<String> bounds() {
        return bounds;
    }

    /** The name in keys of requests. */
    String path() {
        return paths.getFirst();
    }
}
