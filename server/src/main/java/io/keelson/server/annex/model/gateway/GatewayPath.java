package io.keelson.server.annex.model.gateway;

import io.keelson.server.annex.model.WireKind;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A path at which models are requested. */
enum GatewayPath {
    CHAT(Dialect.OPENAI, WireKind.OPENAI_CHAT, "/v1/chat/completions"),
    RESPONSES(Dialect.OPENAI, WireKind.OPENAI_RESPONSES, "/v1/responses"),
    MESSAGES(Dialect.ANTHROPIC, WireKind.ANTHROPIC_MESSAGES, "/v1/messages");

    private final Dialect dialect;
    private final WireKind wire;
    private final String path;

    GatewayPath(Dialect dialect, WireKind wire, String path) {
        this.dialect = dialect;
        this.wire = wire;
        this.path = path;
    }

    /** The path below the dialect's; null if the dialect has no such path. */
    static @Nullable GatewayPath of(Dialect dialect, String path) {
        for (GatewayPath each : values()) {
            if (each.dialect == dialect && (each.path.equals(path) || each.isWithoutVersion(path))) {
                return each;
            }
        }
        return null;
    }

    /** Some libraries of Anthropic's API append no version to their address. */
    private boolean isWithoutVersion(String other) {
        return this == MESSAGES && other.equals("/messages");
    }

    WireKind wire() {
        return wire;
    }

    /** The members of a body that bound its output, the newest one first. */
    List<String> bounds() {
        return switch (this) {
            case CHAT -> List.of("max_completion_tokens", "max_tokens");
            case RESPONSES -> List.of("max_output_tokens");
            case MESSAGES -> List.of("max_tokens");
        };
    }

    /** The name in keys of requests. */
    String path() {
        return path;
    }
}
