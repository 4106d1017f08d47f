package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.json.Json;
import java.nio.charset.StandardCharsets;
import tools.jackson.databind.JsonNode;

/** Examples as written in the documents, to be compared with what the server says. */
final class Quoted {

    /** A time of the API: RFC 3339 UTC with milliseconds. */
    static final String TIME = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z";

    private Quoted() {}

    /** The document with these in the places of its own: what to replace, and by what, in turn. */
    static JsonNode json(String document, String... places) {
        String text = document;
        for (int i = 0; i < places.length; i += 2) {
            assertThat(text).contains(places[i]);
            text = text.replace(places[i], places[i + 1]);
        }
        return Json.read(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Member for member, and in the document's order. */
    static void assertSame(JsonNode answer, JsonNode document) {
        assertThat(answer.toPrettyString()).isEqualTo(document.toPrettyString());
    }

    /** Returns a member that has a time, to replace the document's own. */
    static String time(JsonNode answer, String member) {
        String time = answer.get(member).stringValue();
        assertThat(time).matches(TIME);
        return time;
    }

    /**
     * Asserts that the answer has every member of the document with the same value; it may have more. Lists have the same
     * length.
     */
    static void assertHolds(JsonNode answer, JsonNode document) {
        assertHolds("", answer, document);
    }

    private static void assertHolds(String at, JsonNode answer, JsonNode document) {
        if (document.isObject()) {
            for (String name : document.propertyNames()) {
                assertThat(answer.has(name)).as("%s/%s of %s", at, name, answer).isTrue();
                assertHolds(at + "/" + name, answer.get(name), document.get(name));
            }
        } else if (document.isArray()) {
            assertThat(answer.size()).as("length of %s", at).isEqualTo(document.size());
            for (int i = 0; i < document.size(); i++) {
                assertHolds(at + "/" + i, answer.get(i), document.get(i));
            }
        } else if (document.isNumber()) {
            assertThat(answer.decimalValue()).as(at).isEqualByComparingTo(document.decimalValue());
        } else {
            assertThat(answer).as(at).isEqualTo(document);
        }
    }
}
