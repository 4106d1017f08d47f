package io.keelson.core.policy;

import org.jspecify.annotations.Nullable;

/** Bounds equal calls of an agent in a row that end alike: the agent is notified of them, and its task fails at last. */
public enum Repetition {
    /** In the same error code. */
    ERROR("error", 3, 5),
    /** In the same result. */
    RESULT("result", 5, 8);

    private final String end;
    private final int noticed;
    private final int most;

    Repetition(String end, int noticed, int most) {
        this.end = end;
        this.noticed = noticed;
        this.most = most;
    }

    /** The notice to the agent about that many calls in a row; null while they are few. */
    public @Nullable String notice(int calls) {
        return !notices(calls) ? null
                : "this call has had this " + end + " " + calls + " times in a row; the task fails at " + most;
    }

    /** True when the agent is notified of that many calls in a row. */
    boolean notices(int calls) {
        return calls >= noticed;
    }

    /** Number of calls in a row that ends their task. */
    int most() {
        return most;
    }

    /** True when that many calls in a row end their task. */
    public boolean ends(int calls) {
        return calls >= most;
    }

    /** Tool and input of a call: equal for equal calls of a task. Empty where they are unknown. */
    public static String content(@Nullable String callEffect) {
        return callEffect == null ? "" : callEffect.substring(0, callEffect.lastIndexOf('/'));
    }
}
