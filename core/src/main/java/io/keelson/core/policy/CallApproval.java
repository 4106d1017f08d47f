package io.keelson.core.policy;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A rule about an agent's calls of a tool: which of them wait for a person.
 *
 * @param condition of {@link Kind#WHEN}: a jq expression over the call's input; null for any other
 */
public record CallApproval(Kind kind, @Nullable String condition) {

    /** Kinds of rules. */
    public enum Kind {
        /** None. */
        NEVER,
        /** Calls of a tool whose effects are destructive. */
        EFFECTS,
        /** Calls that change something, once the agent has seen data from outside. */
        TAINTED,
        /** Calls for whose input a condition holds, or cannot be evaluated. */
        WHEN,
        /** All. */
        ALWAYS;

        /** The name in JSON, for example {@code always}. */
        public String wire() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public static final CallApproval NEVER = new CallApproval(Kind.NEVER, null);
    public static final CallApproval EFFECTS = new CallApproval(Kind.EFFECTS, null);
    public static final CallApproval TAINTED = new CallApproval(Kind.TAINTED, null);
    public static final CallApproval ALWAYS = new CallApproval(Kind.ALWAYS, null);

    /** The rule with that condition. */
    public static CallApproval when(String condition) {
        return new CallApproval(Kind.WHEN, condition);
    }

    /**
     * Why a call waits for a person by this rule; null when it does not.
     *
     * @param effects of the tool; null for a tool of workers that announce none, which changes something and destroys nothing
     * @param outside the source of data from outside that the agent has seen; null if absent
     */
    @Nullable CallGate gate(@Nullable Effects effects, @Nullable String outside) {
        return switch (kind) {
            case NEVER -> null;
            case EFFECTS -> effects == Effects.DESTRUCTIVE ? new CallGate(CallGate.Reason.DESTRUCTIVE, null) : null;
            case TAINTED -> outside == null || effects == Effects.READ ? null
                    : new CallGate(CallGate.Reason.TAINTED, outside);
            case WHEN -> new CallGate(CallGate.Reason.CONDITION, condition);
            case ALWAYS -> new CallGate(CallGate.Reason.ALWAYS, null);
        };
    }
}
