package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.OpenApiDocument;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Operations declare the codes of their errors. {@link DescribedAnswers} holds each answer of a test to that. */
class ErrorCodesTest {

    /** Errors that come before an operation is found, of {@code /hooks}, of {@code /auth} and of {@code /answer}. */
    private static final Set<ErrorCode> WITHOUT_OPERATION =
            EnumSet.of(ErrorCode.ROUTE_NOT_FOUND, ErrorCode.METHOD_NOT_ALLOWED, ErrorCode.SIGNATURE_INVALID,
                    ErrorCode.TRIGGER_SECRET_MISSING, ErrorCode.SIGN_IN_STATE_INVALID, ErrorCode.SIGN_IN_STATE_REPLAYED,
                    ErrorCode.SIGN_IN_REFUSED, ErrorCode.SIGN_IN_NOT_CONFIGURED, ErrorCode.ANSWER_LINK_INVALID,
                    ErrorCode.ANSWER_LINK_EXPIRED, ErrorCode.ANSWER_LINK_REVOKED, ErrorCode.ANSWER_LINK_OTHER_PERSON,
                    ErrorCode.SIGN_IN_REQUIRED, ErrorCode.ANSWER_ALREADY_GIVEN, ErrorCode.QUESTION_CLOSED,
                    ErrorCode.QUESTION_CHANGED);

    @Test
    void everyErrorCodeBelongsToAnOperationOrToAll() {
        Set<String> declared = new TreeSet<>();
        OpenApiDocument.forEachOperation(DescribedAnswers.DOCUMENT, (_, _, _, operation) -> operation
                .path(ErrorResponses.CODES).forEach(code -> declared.add(code.stringValue())));
        DescribedAnswers.DOCUMENT.at("/components/responses/Problem").path(ErrorResponses.CODES)
                .forEach(code -> declared.add(code.stringValue()));

        assertThat(declared).containsExactlyInAnyOrderElementsOf(Arrays.stream(ErrorCode.values())
                .filter(code -> !WITHOUT_OPERATION.contains(code)).map(ErrorCode::name).toList());
    }

    @Test
    void codesOfAllOperationsAreNotRepeated() {
        Set<String> common = new TreeSet<>();
        DescribedAnswers.DOCUMENT.at("/components/responses/Problem").path(ErrorResponses.CODES)
                .forEach(code -> common.add(code.stringValue()));

        OpenApiDocument.forEachOperation(OpenApi.document(), (_, _, _, operation) -> assertThat(
                operation.path(ErrorResponses.CODES).valueStream().map(JsonNode::stringValue))
                .as(operation.get("operationId").stringValue()).doesNotHaveDuplicates().doesNotContainAnyElementsOf(
                        common));
    }

    @Test
    void problemsOfBodiesEqualTheReference() throws IOException {
        String reference = Files.readString(Path.of("..", "docs", "reference", "errors.md"));
        DescribedAnswers.DOCUMENT.at("/components/schemas/ProblemCode/enum")
                .forEach(code -> assertThat(reference).contains("| `" + code.stringValue() + "` |"));
    }
}
