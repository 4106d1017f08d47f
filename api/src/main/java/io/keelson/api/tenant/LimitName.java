package io.keelson.api.tenant;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The limits of a workspace by name. Some are of one tool, model or agent each: their name is followed by a colon and the name of the
 * tool, model or agent, {@code tool:NAME}.
 */
public enum LimitName {
    /** Runs that have not ended. */
    OPEN_RUNS,
    /** Tasks at work, each with a step of its own or several where they are parallel. */
    STEPS,
    /** Runs created within any minute. */
    RUNS_PER_MINUTE,
    /** Bytes of artifacts. */
    STORAGE_BYTES,
    /** Requests with any one key. */
    REQUESTS_PER_MINUTE,
    /** Credits that runs may reserve and spend in a calendar month of UTC. */
    USD_PER_MONTH,
    /** Steps that begin within any minute, retries included. */
    STEPS_PER_MINUTE,
    /** Steps of one tool at a time. */
    TOOL("tools"),
    /** Steps at a time that name one model. */
    MODEL("models"),
    /** Steps of one tool that begin within any minute. */
    TOOL_PER_MINUTE("tools_per_minute"),
    /** Steps that name one model and begin within any minute, and requests of programs to the model. */
    MODEL_PER_MINUTE("models_per_minute"),
    /** Tokens of requests to one model that begin within any minute. */
    MODEL_TOKENS_PER_MINUTE("model_tokens_per_minute"),
    /** Steps of one agent of the roster that begin within any minute. */
    AGENT_PER_MINUTE("agents_per_minute");

    private final @Nullable String members;

    LimitName() {
        this(null);
    }

    LimitName(@Nullable String members) {
        this.members = members;
    }

    /** The name, of limits of one tool, model or agent without theirs. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The member of {@link WorkspaceLimits} that has these limits by tool, model or agent; null for a limit of the workspace. */
    public @Nullable String members() {
        return members;
    }

    /** The whole name of a limit of one tool, model or agent. */
    public String of(String one) {
        return text() + ":" + one;
    }

    /** Whether it is a limit of steps at a time. */
    public boolean atATime() {
        return switch (this) {
            case STEPS, TOOL, MODEL -> true;
            case OPEN_RUNS, RUNS_PER_MINUTE, STORAGE_BYTES, REQUESTS_PER_MINUTE, USD_PER_MONTH, STEPS_PER_MINUTE,
                    TOOL_PER_MINUTE, MODEL_PER_MINUTE, MODEL_TOKENS_PER_MINUTE, AGENT_PER_MINUTE ->
                false;
        };
    }

    /** Whether it is a limit of the steps, or their tokens, that begin within any minute. */
    public boolean rate() {
        return switch (this) {
            case STEPS_PER_MINUTE, TOOL_PER_MINUTE, MODEL_PER_MINUTE, MODEL_TOKENS_PER_MINUTE, AGENT_PER_MINUTE -> true;
            case OPEN_RUNS, STEPS, RUNS_PER_MINUTE, STORAGE_BYTES, REQUESTS_PER_MINUTE, USD_PER_MONTH, TOOL, MODEL ->
                false;
        };
    }

    /** The limit of a whole name such as {@code tool:NAME}, by the text before the colon; empty if unknown. */
    public static Optional<LimitName> find(String text) {
        return Arrays.stream(values()).filter(each -> each.text().equals(text)).findFirst();
    }

    /** All of them, as a list names them: {@code tool:NAME}. */
    public static Stream<String> all() {
        return Arrays.stream(values()).map(each -> each.members == null ? each.text() : each.of("NAME"));
    }
}
