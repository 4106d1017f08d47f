package io.keelson.server.api.http.support;

import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Kinds of ids in requests: a UUID, optionally with the kind's prefix ({@code run_…}). */
public enum IdKind {
    RUN("run_", ErrorCode.RUN_NOT_FOUND, "run"), TASK("task_", ErrorCode.TASK_NOT_FOUND, "task"),
    STEP("step_", ErrorCode.STEP_NOT_FOUND, "step"), ESCALATION("esc_", ErrorCode.ESCALATION_NOT_FOUND, "escalation"),
    PROPOSAL("prop_", ErrorCode.PROPOSAL_NOT_FOUND, "proposal"), RECIPE("rec_", ErrorCode.RECIPE_NOT_FOUND, "recipe"),
    SCHEDULE("sch_", ErrorCode.SCHEDULE_NOT_FOUND, "schedule"), BULK("bulk_", ErrorCode.BULK_NOT_FOUND, "bulk job"),
    TRIGGER("trg_", ErrorCode.TRIGGER_NOT_FOUND, "trigger"),
    TRIGGER_DELIVERY("dlv_", ErrorCode.TRIGGER_DELIVERY_NOT_FOUND, "delivery of a trigger"),
    WEBHOOK("wh_", ErrorCode.WEBHOOK_NOT_FOUND, "webhook"),
    DELIVERY("msg_", ErrorCode.WEBHOOK_DELIVERY_NOT_FOUND, "delivery"),
    COMMAND("cmd_", ErrorCode.COMMAND_NOT_FOUND, "command"),
    DEPLOYMENT("dep_", ErrorCode.DEPLOYMENT_NOT_FOUND, "deployment"), ORDER("ord_", ErrorCode.ORDER_NOT_FOUND, "order"),
    ARTIFACT("art_", ErrorCode.ARTIFACT_NOT_FOUND, "artifact"), REPORT("rep_", ErrorCode.REPORT_NOT_FOUND, "report"),
    WORKSPACE("ws_", ErrorCode.WORKSPACE_NOT_FOUND, "workspace"),
    SESSION("ses_", ErrorCode.SESSION_NOT_FOUND, "session"), API_KEY("key_", ErrorCode.API_KEY_NOT_FOUND, "API key");

    private static final Pattern UUID_FORM = Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

    private final String prefix;
    private final ErrorCode notFound;
    private final String word;

    IdKind(String prefix, ErrorCode notFound, String word) {
        this.prefix = prefix;
        this.notFound = notFound;
        this.word = word;
    }

    /** Null when the text is no id. */
    @Nullable public UUID parse(String text) {
        return uuid(text.startsWith(prefix) ? text.substring(prefix.length()) : text);
    }

    /** Null when the text is no UUID. */
    public static @Nullable UUID uuid(String bare) {
        return UUID_FORM.matcher(bare).matches() ? UUID.fromString(bare) : null;
    }

    /** The form with the prefix. */
    public String prefixed(UUID id) {
        return prefix + id;
    }

    /** The 404 response, equal for an id that never existed and an id of another workspace. */
    public ApiProblem notFound(UUID id) {
        return ApiProblem.of(notFound, "no " + word + " " + id);
    }
}
