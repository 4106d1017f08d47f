package io.keelson.core.policy;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** An agent's rule for the calls of one of its tools: whether a person approves each of them before it is made. */
public enum CallApproval {
    /** No call is asked about. */
    NEVER,
    /** Each call waits for a person. */
    ALWAYS;

    /**
     * Whether a person approves a call: the agent's rule for the tool decides, otherwise the tool's effects. The only
     * place of this rule, for built-in tools, tools of workers and any others.
     *
     * @param said the agent's rule for the tool; null for none
     * @param effects of the tool; null for a tool of workers that announce none
     */
    public static boolean needed(@Nullable CallApproval said, @Nullable Effects effects) {
        return said == null ? effects == Effects.DESTRUCTIVE : said == ALWAYS;
    }

    /** The name in JSON, for example {@code always}. */
    public String wire() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The rule of that name; {@link IllegalArgumentException} when there is none. */
    public static CallApproval of(String wire) {
        return valueOf(wire.toUpperCase(Locale.ROOT));
    }
}
