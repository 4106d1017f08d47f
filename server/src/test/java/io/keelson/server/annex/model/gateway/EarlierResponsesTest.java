package io.keelson.server.annex.model.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.api.http.gateway.GatewayError;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.GatewayRecords.Recorded;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Requests that only refer to earlier responses and items, with the records of their step. */
class EarlierResponsesTest {
    private static final String OWN = "own";
    private static final String REASONING = "{'type': 'reasoning', 'id': 'rs_%1$s', 'summary': []}";
    private static final String CALL =
            "{'type': 'function_call', 'id': 'fc_%1$s', 'call_id': 'c%1$s', 'name': 'f', 'arguments': '{}'}";

    private static Recorded record(String name, String provider, boolean store, String more) {
        return new Recorded(provider, read("""
                {'document': {'id': 'resp_%1$s', 'store': %2$b, 'output': [%3$s, %4$s],
                  'usage': {'output_tokens': 90, 'output_tokens_details': {'reasoning_tokens': 70}}}%5$s}"""
                .formatted(name, store, REASONING.formatted(name), CALL.formatted(name), more)));
    }

    private static JsonNode read(String text) {
        return Json.read(text.replace('\'', '"'));
    }

    private static ProgramRequest request(String members) {
        ObjectNode body = (ObjectNode) read("{'model': 'm', " + members + "}");
        return new ProgramRequest(GatewayPath.RESPONSES, body, 100, "m", false,
                RequestKeys.of(GatewayPath.RESPONSES, body, "", ""), "", Map.of(), false, 0);
    }

    private static ProgramRequest resolved(String members, Recorded... records) throws GatewayError {
        return EarlierResponses.resolve(request(members), OWN, lookup(new ArrayList<>(), records));
    }

    /** @param read is given the ids of the responses that are read */
    private static EarlierResponses.Lookup lookup(List<String> read, Recorded... records) {
        Map<String, Recorded> byId = new HashMap<>();
        for (Recorded record : records) {
            JsonNode document = record.answer().get("document");
            byId.put(document.get("id").stringValue(), record);
            document.get("output").forEach(item -> byId.put(item.path("id").asString(""), record));
        }
        return id -> {
            Recorded found = byId.get(id);
            read.add(found == null ? "none" : found.answer().at("/document/id").stringValue());
            return found;
        };
    }

    private static List<String> ids(ProgramRequest request) {
        return request.body().get("input").valueStream().map(item -> item.path("id").asString(item.path("call_id")
                .asString(item.path("content").asString("")))).toList();
    }

    @Test
    void aConversationIsPutTogetherFromItsResponses() throws Exception {
        ProgramRequest whole = resolved("'previous_response_id': 'resp_b', 'input': 'three'",
                record("a", OWN, true, ", 'input': 'one'"),
                record("b", OWN, true, ", 'input': [{'role': 'user', 'content': 'two'}], 'previous': 'resp_a'"));
        assertThat(ids(whole)).containsExactly("one", "rs_a", "fc_a", "two", "rs_b", "fc_b", "three");
        assertThat(whole.body().has("previous_response_id")).isFalse();
        assertThat(whole.hidden()).as("the reasoning of two responses").isEqualTo(140);
        assertThat(whole.bytes()).isGreaterThan(300);
    }

    @Test
    void anUnknownReferenceStays() throws Exception {
        ProgramRequest whole =
                resolved("'previous_response_id': 'resp_b', 'input': [{'type': 'item_reference', 'id': 'x'}]",
                        record("b", OWN, true, ""));
        assertThat(whole.body().get("previous_response_id").stringValue()).isEqualTo("resp_b");
        assertThat(ids(whole)).containsExactly("x");
        assertThat(whole.hidden()).isEqualTo(ProgramRequest.UNKNOWN);
    }

    @Test
    void anotherProviderGetsNoIdsAndNoHiddenReasoning() throws Exception {
        String input = "'input': [{'type': 'item_reference', 'id': 'rs_a'}, {'type': 'item_reference', 'id': 'fc_a'}]";
        for (Recorded record : List.of(record("a", "other", true, ""), record("a", OWN, false, ""))) {
            ProgramRequest whole = resolved(input, record);
            assertThat(ids(whole)).containsExactly("ca");
            assertThat(whole.body().toString()).doesNotContain("fc_a");
            assertThat(whole.hidden()).isZero();
        }
        assertThat(ids(resolved(input, record("a", OWN, true, "")))).containsExactly("rs_a", "fc_a");
    }

    /** A library that keeps the conversation itself sends reasoning that only its provider can read. */
    @Test
    void hiddenReasoningIsCounted() throws Exception {
        String input = "'input': [{'type': 'reasoning', 'id': 'rs_a', 'summary': []}]";
        assertThat(resolved(input, record("a", OWN, true, "")).hidden()).isEqualTo(70);
        assertThat(resolved(input).hidden()).isEqualTo(ProgramRequest.UNKNOWN);
        assertThat(resolved(input.replace("[]", "[], 'encrypted_content': 'x'")).hidden()).isZero();
    }

    /** 20,000 references to an item of 100 kB are a request of half a megabyte. */
    @Test
    void itemsOfAllReferencesTogetherAreBounded() {
        String large = ", 'input': [{'role': 'user', 'content': '" + "x".repeat(100_000) + "'}]";
        List<Recorded> records = new ArrayList<>();
        for (int i = 0; i < 170; i++) {
            records.add(record("n" + i, OWN, true, large + (i == 0 ? "" : ", 'previous': 'resp_n" + (i - 1) + "'")));
        }
        Recorded[] all = records.toArray(Recorded[]::new);
        assertThatThrownBy(() -> resolved("'previous_response_id': 'resp_n169', 'input': 'x'", all))
                .isInstanceOf(GatewayError.class).hasMessageContaining("more than 16 MiB");
        String item = "{'type': 'message', 'id': 'msg_a', 'content': '" + "x".repeat(100_000) + "'}";
        Recorded one =
                new Recorded(OWN, read("{'document': {'id': 'resp_a', 'store': true, 'output': [" + item + "]}}"));
        String references = "'input': [" + "{'id': 'msg_a'}, ".repeat(19_999) + "{'id': 'msg_a'}]";
        assertThatThrownBy(() -> resolved(references, one)).isInstanceOf(GatewayError.class);
    }

    @Test
    void onlyRecordsOfReferencesAreReadAndEachOnce() throws Exception {
        List<String> read = new ArrayList<>();
        ProgramRequest whole = EarlierResponses.resolve(request("'previous_response_id': 'resp_b', 'input': ["
                + "{'id': 'fc_c'}, {'id': 'rs_c'}, {'id': 'fc_c'}]"), OWN,
                lookup(read, record("a", OWN, true, ", 'input': 'one'"), record("b", OWN, true, ", 'input': 'two'"),
                        record("c", OWN, true, ""), record("d", OWN, true, "")));
        assertThat(read).containsExactly("resp_b", "resp_c");
        assertThat(ids(whole)).containsExactly("two", "rs_b", "fc_b", "fc_c", "rs_c", "fc_c");
        assertThat(whole.hidden()).isEqualTo(140);
    }

    @Test
    void aLongConversationIsPutTogether() throws Exception {
        List<Recorded> records = new ArrayList<>();
        for (int i = 0; i < 6_000; i++) {
            records.add(record("n" + i, OWN, true,
                    ", 'input': 'x'" + (i == 0 ? "" : ", 'previous': 'resp_n" + (i - 1) + "'")));
        }
        ProgramRequest whole =
                resolved("'previous_response_id': 'resp_n5999', 'input': 'x'", records.toArray(Recorded[]::new));
        assertThat(whole.body().get("input")).hasSize(18_001);
    }

    @Test
    void onlyInputWithoutEarlierItemsIsKept() {
        assertThat(kept("'input': 'one'").path("input").stringValue()).isEqualTo("one");
        assertThat(kept("'input': [{'role': 'user', 'content': 'x'}], 'previous_response_id': 'r'").path("previous")
                .stringValue()).isEqualTo("r");
        assertThat(kept("'input': 'one', 'store': false")).isEmpty();
        assertThat(kept("'input': [{'type': 'item_reference', 'id': 'x'}]")).isEmpty();
    }

    private static ObjectNode kept(String members) {
        ObjectNode record = Json.object();
        EarlierResponses.keep(request(members), record);
        return record;
    }
}
