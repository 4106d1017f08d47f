package io.keelson.server.api.http;

import io.keelson.server.api.http.ApiServer.Answer;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.util.DefaultIndenter;
import tools.jackson.core.util.DefaultPrettyPrinter;
import tools.jackson.core.util.Separators;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The examples of operations, and what is wrong with them. */
final class ExampleFiles {

    private static final Path FOLDER = Path.of("src", "main", "resources", "openapi", "examples");
    private static final JsonNode DOCUMENT = DescribedAnswers.DOCUMENT;
    /** The notation of the files: two spaces, "name": value, an array's items on lines of their own. */
    private static final ObjectWriter WRITER = JsonMapper.shared().writer().with(new DefaultPrettyPrinter(
            Separators.createDefaultInstance().withObjectNameValueSpacing(Separators.Spacing.AFTER))
            .withArrayIndenter(DefaultIndenter.SYSTEM_LINEFEED_INSTANCE));

    private ExampleFiles() {}

    /**
     * What is wrong with the example of an operation, by the document's schemas; empty for nothing.
     *
     * @param operation pointer to the operation
     */
    static List<String> problems(String operation) {
        JsonNode example = Examples.of(DOCUMENT.at(operation + "/operationId").stringValue());
        List<String> problems = new ArrayList<>();
        String body = operation + "/requestBody/content/application~1json/schema";
        if (hasMembers(DOCUMENT.at(operation + "/requestBody"))) {
            problems.addAll(example == null || !example.has("request") ? List.of("has no request")
                    : DescribedAnswers.problems(body, example.get("request")));
        }
        if (hasJsonAnswer(DOCUMENT.at(operation + "/responses"))) {
            problems.addAll(example == null || !example.has("response") ? List.of("has no response")
                    : DescribedAnswers.problems(operation + "/responses/" + example.get("status").asString()
                            + "/content/application~1json/schema", example.get("response")));
        }
        return problems;
    }

    /** With {@code -Dupdate.docs=true} writes a real request and its answer where the operation's example is not usable. */
    static void offer(String operation, byte @Nullable [] body, Answer answer) {
        if (!Boolean.getBoolean("update.docs") || problems(operation).isEmpty()) {
            return;
        }
        ObjectNode example = Json.object();
        if (hasMembers(DOCUMENT.at(operation + "/requestBody")) && body != null) {
            example.set("request", Json.read(body));
        }
        example.put("status", answer.status()).set("response", answer.json());
        try {
            Files.writeString(FOLDER.resolve(DOCUMENT.at(operation + "/operationId").stringValue() + ".json"),
                    WRITER.writeValueAsString(example) + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean hasMembers(JsonNode requestBody) {
        JsonNode resolved = requestBody.has("$ref") ? DOCUMENT.at(requestBody.get("$ref").stringValue().substring(1))
                : requestBody;
        JsonNode schema = resolved.at("/content/application~1json/schema");
        return schema.has("$ref") || schema.has("properties") || schema.has("allOf");
    }

    private static boolean hasJsonAnswer(JsonNode responses) {
        return responses.propertyStream().filter(each -> each.getKey().startsWith("2"))
                .map(each -> each.getValue().has("$ref")
                        ? DOCUMENT.at(each.getValue().get("$ref").stringValue().substring(1))
                        : each.getValue())
                .anyMatch(response -> response.path("content").has("application/json"));
    }
}
