package io.keelson.server.annex.notice;

import io.keelson.server.api.http.inbox.InboxKind;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.secret.SecretStore;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;

/**
 * A link for an answer, bound to its question, recipient and receiver. Its text has the fields and their signature by the key of the installation's secrets.
 *
 * @param endpoint to which it was sent
 * @param recipient name of the principal that may use it
 * @param item id of the question
 * @param gate the attempt of a task whose output is reviewed; null for other questions
 * @param choices possible answers
 * @param issued when it was made
 * @param expires when it ends
 */
record AnswerLink(UUID workspace, UUID endpoint, String recipient, UUID run, String item, @Nullable Integer gate,
        List<Choice> choices, Instant issued, Instant expires) {

    private static final String CONTEXT = "answer link 1";
    private static final int MAX_TEXT = 1_000;
    private static final int FIELDS = 9;
    private static final Base64.Encoder ENCODER = Base64.getUrlEncoder().withoutPadding();

    /** Answers that take one click. */
    enum Choice {
        ACCEPT("Accept"), REJECT("Reject"), FINISH("End the run with what runs now");

        private final String title;

        Choice(String title) {
            this.title = title;
        }

        String title() {
            return title;
        }

        /** The choices for a kind of question; empty if each answer takes more than a click. */
        static List<Choice> of(InboxKind kind) {
            return switch (kind) {
                case PLAN_APPROVAL, RESULT_ACCEPTANCE, APPROVAL_STEP, CALL_APPROVAL, TASK_REVIEW, ESCALATION,
                        PROPOSAL ->
                    List.of(ACCEPT, REJECT);
                case BUDGET -> List.of(FINISH, REJECT);
                case QUESTION, ELICITATION, TOOL_CHANGE, DEAD_LETTER -> List.of();
            };
        }

        static @Nullable Choice parse(@Nullable String text) {
            for (Choice choice : values()) {
                if (choice.name().equals(text)) {
                    return choice;
                }
            }
            return null;
        }
    }

    /** Its text, of characters that URLs have. */
    String text(SecretStore keys) {
        ArrayNode fields = Json.MAPPER.createArrayNode();
        fields.add(workspace.toString()).add(endpoint.toString()).add(recipient).add(run.toString()).add(item)
                .add(gate).add(String.join(" ", choices.stream().map(Enum::name).toList()))
                .add(issued.getEpochSecond()).add(expires.getEpochSecond());
        String content = ENCODER.encodeToString(fields.toString().getBytes(StandardCharsets.UTF_8));
        return content + "." + ENCODER.encodeToString(keys.sign(content, CONTEXT));
    }

    /** The link of a text; null if this installation did not sign it, or not as this text. */
    static @Nullable AnswerLink of(String text, SecretStore keys) {
        int dot = text.indexOf('.');
        if (dot < 0 || text.length() > MAX_TEXT) {
            return null;
        }
        String content = text.substring(0, dot);
        try {
            byte[] signature = Base64.getUrlDecoder().decode(text.substring(dot + 1));
            if (!ENCODER.encodeToString(signature).equals(text.substring(dot + 1))
                    || !keys.signed(content, signature, CONTEXT)) {
                return null;
            }
            JsonNode fields = Json.read(Base64.getUrlDecoder().decode(content));
            return fields.size() == FIELDS ? read(fields) : null;
        } catch (IllegalArgumentException | JacksonException e) {
            return null;
        }
    }

    private static AnswerLink read(JsonNode fields) {
        List<Choice> choices = new ArrayList<>();
        for (String each : fields.get(6).stringValue().split(" ")) {
            choices.add(Choice.valueOf(each));
        }
        return new AnswerLink(UUID.fromString(fields.get(0).stringValue()),
                UUID.fromString(fields.get(1).stringValue()), fields.get(2).stringValue(),
                UUID.fromString(fields.get(3).stringValue()), fields.get(4).stringValue(),
                fields.get(5).isNull() ? null : (Integer) fields.get(5).intValue(), List.copyOf(choices),
                Instant.ofEpochSecond(fields.get(7).longValue()), Instant.ofEpochSecond(fields.get(8).longValue()));
    }
}
