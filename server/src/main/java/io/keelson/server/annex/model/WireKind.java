package io.keelson.server.annex.model;

import java.util.Arrays;
import java.util.Locale;

/** A protocol of model providers. */
public enum WireKind {
    /** {@code POST /responses} of OpenAI. */
    OPENAI_RESPONSES,
    /** {@code POST /chat/completions} of OpenAI, which most other providers offer too. */
    OPENAI_CHAT,
    /** {@code POST /v1/messages} of Anthropic. */
    ANTHROPIC_MESSAGES;

    /** As configuration and answers have it: {@code openai-responses}. */
    public String wire() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** @throws IllegalArgumentException when no protocol is called so */
    public static WireKind of(String wire) {
        return Arrays.stream(values()).filter(kind -> kind.wire().equals(wire)).findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no protocol " + wire));
    }
}
