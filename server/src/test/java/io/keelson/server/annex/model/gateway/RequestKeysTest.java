package io.keelson.server.annex.model.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.json.Json;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

/** The keys of requests that programs were seen to send again in another form. */
class RequestKeysTest {
    private static final String CODEX = "codex_exec/0.171.0 (Linux)";
    private static final String CLAUDE = "claude-cli/2.1.332 (external)";

    private static RequestKeys keys(GatewayPath path, String body, String version, String agent) {
        return RequestKeys.of(path, (ObjectNode) Json.read(body), version, agent);
    }

    private static RequestKeys chat(String body) {
        return keys(GatewayPath.CHAT, body, "", "");
    }

    @ParameterizedTest
    @ValueSource(strings = {
            "{\"messages\": [{\"content\": \"hi\", \"role\": \"user\"}], \"model\": \"m\"}",
            "{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"hi\"}], \"stream\": true, \"stream_options\": {}}",
            "{\"model\": \"m\", \"user\": \"u\", \"metadata\": {\"a\": 1}, \"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]}",
            "{\"model\": \"m\", \"prompt_cache_key\": \"k\", \"messages\": [{\"role\": \"user\", \"content\": \"hi\", \"cache_control\": {}}]}"})
    void membersThatDoNotChangeAnAnswerCountForNothing(String body) {
        assertThat(chat(body))
                .isEqualTo(chat("{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]}"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"m | bye", "other | hi"})
    void allElseCounts(String model, String text) {
        assertThat(chat(
                "{\"model\": \"" + model + "\", \"messages\": [{\"role\": \"user\", \"content\": \"" + text + "\"}]}")
                .k2())
                .isNotEqualTo(
                        chat("{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]}").k2());
    }

    @Test
    void theVersionOfTheApiAndThePathCount() {
        String body = "{\"model\": \"m\", \"messages\": []}";
        assertThat(keys(GatewayPath.MESSAGES, body, "2023-06-01", "").k1())
                .isNotEqualTo(keys(GatewayPath.MESSAGES, body, "2026-10-21", "").k1())
                .isNotEqualTo(keys(GatewayPath.CHAT, body, "2023-06-01", "").k1());
    }

    private static String codex(String item, String output) {
        return "{\"model\": \"m\", \"input\": [{\"type\": \"message\", \"id\": \"msg_" + item
                + "\", \"role\": \"user\", "
                + "\"content\": \"go\"}, {\"type\": \"function_call\", \"id\": \"fc_" + item
                + "\", \"call_id\": \"c1\", "
                + "\"name\": \"exec\", \"arguments\": \"{}\"}, {\"type\": \"function_call_output\", \"call_id\": \"c1\", "
                + "\"output\": \"" + output + "\"}], \"client_metadata\": {\"thread\": \"" + item + "\"}}";
    }

    @Test
    void codexMakesIdsAndTimesOfItsOwn() {
        RequestKeys one = keys(GatewayPath.RESPONSES,
                codex("1", "Chunk ID: 199c10\\nWall time: 0.18 seconds\\nOutput:\\none\\n"), "", CODEX);
        RequestKeys two = keys(GatewayPath.RESPONSES,
                codex("2", "Chunk ID: 77ffab\\nWall time: 1.2 seconds\\nOutput:\\none"), "", CODEX);
        assertThat(one.k1()).isNotEqualTo(two.k1());
        assertThat(one.k2()).isEqualTo(two.k2());
        assertThat(keys(GatewayPath.RESPONSES, codex("2", "Chunk ID: 77ffab\\nOutput:\\ntwo"), "", CODEX).k2())
                .as("another result").isNotEqualTo(one.k2());
        assertThat(keys(GatewayPath.RESPONSES, codex("2", "Wall time: 1.2 seconds"), "", "other").k2())
                .as("the profile is the client's")
                .isNotEqualTo(keys(GatewayPath.RESPONSES, codex("2", "Wall time: 1.3 seconds"), "", "other").k2());
    }

    @Test
    void referencesToStoredItemsCount() {
        String body = "{\"model\": \"m\", \"input\": [{\"type\": \"item_reference\", \"id\": \"%s\"}]}";
        assertThat(keys(GatewayPath.RESPONSES, body.formatted("rs_1"), "", "").k2())
                .isNotEqualTo(keys(GatewayPath.RESPONSES, body.formatted("rs_2"), "", "").k2());
    }

    private static String claude(String first, String second, String reminder) {
        String result = "{\"type\": \"tool_result\", \"tool_use_id\": \"%s\", \"content\": \"%s\"}";
        return "{\"model\": \"m\", \"messages\": [{\"role\": \"assistant\", \"content\": ["
                + "{\"type\": \"tool_use\", \"id\": \"t1\", \"name\": \"a\", \"input\": {}}, "
                + "{\"type\": \"tool_use\", \"id\": \"t2\", \"name\": \"b\", \"input\": {}}]}, {\"role\": \"user\", \"content\": ["
                + result.formatted(first, first + "\\n") + ", " + result.formatted(second, second) + ", "
                + "{\"type\": \"text\", \"text\": \"<system-reminder><total_tokens>" + reminder
                + " left</total_tokens></system-reminder>\"}]}], \"metadata\": {\"user_id\": \"" + reminder + "\"}}";
    }

    @Test
    void claudePutsResultsInTheOrderOfTheirCompletion() {
        RequestKeys one = keys(GatewayPath.MESSAGES, claude("t1", "t2", "1000"), "", CLAUDE);
        RequestKeys two = keys(GatewayPath.MESSAGES, claude("t2", "t1", "1100").replace("t1\\\\n", "t1"), "", CLAUDE);
        assertThat(one.k1()).isNotEqualTo(two.k1());
        assertThat(one.k2()).isEqualTo(two.k2());
    }

    @Test
    void resultsOfChatCompletionsAreInTheOrderOfTheirCalls() {
        String calls =
                "{\"role\": \"assistant\", \"tool_calls\": [{\"type\": \"function\", \"id\": \"z\"}, {\"type\": \"function\", \"id\": \"a\"}]}";
        String z = "{\"role\": \"tool\", \"tool_call_id\": \"z\", \"content\": \"1\"}";
        String a = "{\"role\": \"tool\", \"tool_call_id\": \"a\", \"content\": \"2 \"}";
        String body = "{\"model\": \"m\", \"messages\": [%s, %s, %s]}";
        assertThat(chat(body.formatted(calls, z, a)).k2()).isEqualTo(chat(body.formatted(calls, a, z)).k2());
        assertThat(chat(body.formatted(calls, z, a)).k1()).isNotEqualTo(chat(body.formatted(calls, a, z)).k1());
    }
}
