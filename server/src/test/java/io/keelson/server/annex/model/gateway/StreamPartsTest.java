package io.keelson.server.annex.model.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.json.Json;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class StreamPartsTest {
    private static final String DELTA = "{\"type\": \"content_block_delta\", \"delta\": {\"text\": \"a\"}}";
    private static final String STOP = "{\"type\": \"content_block_stop\", \"index\": 0}";
    private static final String PING = "{\"type\": \"ping\"}";
    private static final String DONE = "{\"type\": \"response.output_item.done\", \"item\": {\"type\": \"%s\"}}";
    private static final String ADDED = "{\"type\": \"response.output_item.added\", \"item\": {\"type\": \"%s\"}}";

    private static String block(String type) {
        return "{\"type\": \"content_block_start\", \"index\": 0, \"content_block\": {\"type\": \"" + type + "\"}}";
    }

    private static List<Boolean> held(GatewayPath path, String... events) {
        StreamParts parts = new StreamParts(path, false);
        return Stream.of(events).map(event -> parts.holds(Json.read(event))).toList();
    }

    @Test
    void theEndOfATextWaitsForTheNextBlock() {
        assertThat(held(GatewayPath.MESSAGES, block("text"), DELTA, STOP, PING, block("tool_use"), DELTA))
                .containsExactly(false, false, true, true, true, true);
        assertThat(held(GatewayPath.MESSAGES, block("text"), DELTA, STOP, block("text"), DELTA, STOP))
                .containsExactly(false, false, true, false, false, true);
        assertThat(held(GatewayPath.MESSAGES, block("thinking"), DELTA, STOP, block("text"), STOP,
                "{\"type\": \"message_delta\"}", PING)).containsExactly(false, false, false, false, true, true, true);
    }

    @Test
    void theEndOfAMessageWaitsForTheNextItem() {
        assertThat(held(GatewayPath.RESPONSES, ADDED.formatted("message"), DONE.formatted("message"),
                ADDED.formatted("function_call"), PING)).containsExactly(false, true, true, true);
        assertThat(held(GatewayPath.RESPONSES, DONE.formatted("reasoning"), DONE.formatted("message"),
                ADDED.formatted("message"), ADDED.formatted("function_call")))
                .containsExactly(false, true, false, false);
    }
}
