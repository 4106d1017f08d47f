package io.keelson.server.annex.model.gateway;

import io.keelson.server.annex.model.WireKind;
import io.keelson.server.annex.model.wire.PassedKind;
import io.keelson.server.api.http.gateway.GatewayError;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** A path at which models are requested. */
enum GatewayPath {
    CHAT(Dialect.OPENAI, "/v1/chat/completions"),
    RESPONSES(Dialect.OPENAI, "/v1/responses"),
    EMBEDDINGS(Dialect.OPENAI, "/v1/embeddings"),
    MESSAGES(Dialect.ANTHROPIC, "/v1/messages"),
    COUNT_TOKENS(Dialect.ANTHROPIC, "/v1/messages/count_tokens");

    private final Dialect dialect;
    private final String path;

    GatewayPath(Dialect dialect, String path) {
        this.dialect = dialect;
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
        return dialect == Dialect.ANTHROPIC && path.equals("/v1" + other);
    }

    /** The wires of the models that can be requested here. */
    Set<WireKind> wires() {
        return switch (this) {
            case CHAT -> Set.of(WireKind.OPENAI_CHAT);
            case RESPONSES -> Set.of(WireKind.OPENAI_RESPONSES);
            case EMBEDDINGS -> Set.of(WireKind.OPENAI_CHAT, WireKind.OPENAI_RESPONSES);
            case MESSAGES, COUNT_TOKENS -> Set.of(WireKind.ANTHROPIC_MESSAGES);
        };
    }

    /**
     * The wire of its requests, which are lowered for models with another one.
     *
     * @throws IllegalStateException for a path whose requests are not lowered
     */
    WireKind form() {
        if (!isLowered()) {
            throw new IllegalStateException(path + " is not lowered");
        }
        return wires().iterator().next();
    }

    /** Whether models with other wires can be requested here, too. */
    boolean isLowered() {
        return kind() == PassedKind.ANSWER;
    }

    /** The kind of the requests to a provider. */
    PassedKind kind() {
        return switch (this) {
            case CHAT, RESPONSES, MESSAGES -> PassedKind.ANSWER;
            case EMBEDDINGS -> PassedKind.EMBEDDINGS;
            case COUNT_TOKENS -> PassedKind.TOKEN_COUNT;
        };
    }

    /** The member of a body that has the input. */
    String input() {
        return this == RESPONSES || this == EMBEDDINGS ? "input" : "messages";
    }

    /** The members of a body that bound its output, the newest one first; empty for paths without output. */
    List<String> bounds() {
        return switch (this) {
            case CHAT -> List.of("max_completion_tokens", "max_tokens");
            case RESPONSES -> List.of("max_output_tokens");
            case MESSAGES -> List.of("max_tokens");
            case EMBEDDINGS, COUNT_TOKENS -> List.of();
        };
    }

    /** An error in the form of the path's API. */
    ObjectNode error(GatewayError error) {
        return dialect.error(error);
    }

    /** The name in keys of requests. */
    String path() {
        return path;
    }
}
