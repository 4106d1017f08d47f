package io.keelson.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Text;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A refusal or failure (RFC 9457). Some codes have further members.
 *
 * @param type page that describes the error
 * @param title title of the error
 * @param status HTTP status
 * @param detail message for people
 * @param code stable code
 * @param pointer JSON pointer to the place in the body
 * @param parameter the query parameter
 * @param problems problems of the request's document
 * @param allowed values or actions that are allowed
 * @param scope the scope that the key lacks
 * @param limit the limit that was reached
 * @param currentState current state of the resource
 * @param readAfter {@code DATABASE_WENT_BACK}: the id of the event after which readers of the feed begin again
 * @param current {@code VERSION_CHANGED}: the resource as it is now
 * @param runId run that is in conflict
 * @param commandId the command that this is about
 * @param workspaceId the workspace that has the name
 * @param account the account that would leave its range
 * @param available credits available to the workspace
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Problem(@Text(format = "uri") String type, String title, int status, String detail, String code,
        @Nullable String pointer, @Nullable String parameter, @Nullable List<Fault> problems,
        @Nullable List<String> allowed, @Nullable String scope, @Nullable String limit, @Nullable String currentState,
        @Nullable String readAfter, @Nullable ObjectNode current, @Nullable @Text(format = "uuid") String runId,
        @Nullable String commandId,
        @Nullable @Text(format = "uuid") String workspaceId, @Nullable String account, @Nullable String available) {

    /**
     * A problem without the members of single codes.
     *
     * @param faults faults of the request's document; null if it is not about a document
     */
    public static Problem of(String type, String title, int status, String detail, String code,
            @Nullable List<Fault> faults) {
        return new Problem(type, title, status, detail, code, faults == null ? null : faults.get(0).pointer(), null,
                faults, null, null, null, null, null, null, null, null, null, null, null);
    }

    /**
     * A problem at one place of a request's document.
     *
     * @param code stable code
     * @param pointer JSON pointer (RFC 6901) to the value
     * @param message the problem and its fix, as text for people
     */
    public record Fault(@Ref("ProblemCode") String code, String pointer, String message) {}
}
