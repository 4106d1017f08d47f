package io.keelson.server.annex.model.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.money.Tokens;
import io.keelson.server.annex.model.Call;
import io.keelson.server.annex.model.Finish;
import io.keelson.server.annex.model.Message;
import io.keelson.server.annex.model.ModelAnswer;
import io.keelson.server.annex.model.ModelRequest;
import io.keelson.server.annex.model.ToolChoice;
import io.keelson.server.annex.model.ToolSchema;
import io.keelson.server.base.json.Json;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

class LoweredRequestTest {

    private static final String CLOSED =
            """
            {"type": "object", "additionalProperties": false, "required": ["n"], "properties": {"n": {"type": "integer"}}}""";
    private static final String OPTIONAL = "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}";

    private static ModelRequest request(@Nullable String schema, ToolChoice choice, String... tools) {
        return new ModelRequest("", List.of(new Message.User("x")),
                List.of(tools).stream().map(name -> new ToolSchema(name, "d", Json.object())).toList(), choice,
                schema == null ? null : Json.read(schema), 100);
    }

    private static ModelAnswer answer(Finish finish, Call... calls) {
        return new ModelAnswer("said", List.of(calls), finish, Tokens.NONE, null, null, Json.object(), 0, 0);
    }

    private static Call call(String name, String arguments) {
        return new Call("c-" + name, name, Json.read(arguments), arguments);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
            "{'type':'object','required':['n'],'properties':{'n':{'type':'string','minLength':2,'pattern':'^a'}}}"
                    + "|{'type':'object','required':['n'],'properties':{'n':{'type':'string'}},'additionalProperties':false}",
            "{'type':'object','title':'T','required':['l'],'properties':{'l':{'type':'array','minItems':1,"
                    + "'items':{'enum':[1,2]}}}}"
                    + "|{'type':'object','required':['l'],'properties':{'l':{'type':'array','items':{'enum':[1,2]}}},"
                    + "'additionalProperties':false}",
            "{'type':'object','required':['n'],'properties':{'n':{'type':['string','null']}},'additionalProperties':false}"
                    + "|{'type':'object','required':['n'],'properties':{'n':{'type':['string','null']}},"
                    + "'additionalProperties':false}"})
    void aClosedSchemaIsLoweredToWhatProvidersEnforce(String schema, String strict) {
        LoweredRequest lowered = LoweredRequest.of(request(schema.replace('\'', '"'), ToolChoice.AUTO, "look"));

        assertThat(lowered.request().outputSchema()).isEqualTo(Json.read(strict.replace('\'', '"')));
        assertThat(lowered.request().tools()).hasSize(1);
        assertThat(lowered.outputTool()).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {OPTIONAL, "{}", "{\"type\":\"string\"}", "{\"type\":\"object\"}",
            "{\"type\":\"object\",\"required\":[\"n\"],\"properties\":{\"n\":{}}}",
            "{\"type\":\"object\",\"required\":[\"n\"],\"properties\":{\"n\":true}}",
            "{\"type\":\"object\",\"required\":[\"n\"],\"properties\":{\"n\":{\"type\":\"array\"}}}",
            "{\"type\":\"object\",\"required\":[\"n\"],\"properties\":{\"n\":{\"oneOf\":[{\"type\":\"null\"}]}}}",
            "{\"type\":\"object\",\"required\":[\"n\"],\"properties\":{\"n\":{\"type\":\"null\"}},"
                    + "\"additionalProperties\":{\"type\":\"string\"}}",
            "{\"type\":\"object\",\"required\":[\"n\"],\"properties\":{\"n\":{\"type\":\"null\"}},\"not\":{\"const\":1}}"})
    void anotherSchemaIsTheInputOfATool(String schema) {
        LoweredRequest lowered = LoweredRequest.of(request(schema, ToolChoice.AUTO, "look"));

        assertThat(lowered.request().outputSchema()).isNull();
        assertThat(lowered.request().toolChoice()).isEqualTo(ToolChoice.REQUIRED);
        assertThat(lowered.request().tools()).extracting(ToolSchema::name).containsExactly("look", "final");
        JsonNode input = lowered.request().tools().getLast().inputSchema();
        assertThat(input.get("type").stringValue()).isEqualTo("object");
        assertThat(lowered.wrapped() ? input.at("/properties/value") : input).isEqualTo(Json.read(schema));
    }

    @Test
    void whereNoToolMayBeCalledTheOutputToolIsTheOnlyOne() {
        LoweredRequest lowered = LoweredRequest.of(request(OPTIONAL, ToolChoice.NONE, "look"));

        assertThat(lowered.request().tools()).extracting(ToolSchema::name).containsExactly("final");
    }

    @Test
    void theOutputToolHasANameOfItsOwn() {
        LoweredRequest lowered = LoweredRequest.of(request(OPTIONAL, ToolChoice.AUTO, "final"));

        ModelAnswer restored = lowered.restored(answer(Finish.CALLS, call("final", "{\"n\":1}")));

        assertThat(lowered.outputTool()).isEqualTo("final_");
        assertThat(restored.calls()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
            OPTIONAL + "|{\"n\":1}|{\"n\":1}", "{\"type\":\"string\"}|{\"value\":\"a\"}|\"a\"",
            "{\"type\":\"string\"}|{\"other\":1}|{\"other\":1}"})
    void theCallOfTheOutputToolIsTheText(String schema, String arguments, String text) {
        LoweredRequest lowered = LoweredRequest.of(request(schema, ToolChoice.AUTO));

        ModelAnswer restored = lowered.restored(answer(Finish.CALLS, call("final", arguments)));

        assertThat(restored.text()).isEqualTo(text);
        assertThat(restored.calls()).isEmpty();
        assertThat(restored.finish()).isEqualTo(Finish.STOP);
    }

    @Test
    void callsOfOtherToolsComeBeforeTheOutput() {
        LoweredRequest lowered = LoweredRequest.of(request(OPTIONAL, ToolChoice.AUTO, "look"));

        ModelAnswer restored = lowered.restored(answer(Finish.CALLS, call("final", "{}"), call("look", "{}")));

        assertThat(restored.calls()).extracting(Call::name).containsExactly("look");
        assertThat(restored.finish()).isEqualTo(Finish.CALLS);
        assertThat(restored.text()).isEqualTo("said");
    }

    @ParameterizedTest
    @EnumSource(names = {"LENGTH", "CONTENT_FILTER"})
    void callsOfACutAnswerHaveNoInput(Finish finish) {
        LoweredRequest lowered = LoweredRequest.of(request(null, ToolChoice.AUTO, "look"));

        ModelAnswer restored = lowered.restored(answer(finish, call("look", "{\"n\":1}")));

        assertThat(restored.calls()).containsExactly(new Call("c-look", "look", null, "{\"n\":1}"));
        assertThat(restored.finish()).isEqualTo(finish);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
            "{\"tool_calls\":[{\"id\":\"c\"}]}|c|{}|true",
            "{\"tool_calls\":[{\"id\":\"c\"},{\"id\":\"d\"}]}|c|{}|false",
            "[{\"type\":\"thinking\"},{\"type\":\"tool_use\",\"id\":\"c\"}]|c|{}|true",
            "[{\"type\":\"tool_use\",\"id\":\"c\",\"input\":\"{\"}]|c|null|false",
            "[{\"type\":\"reasoning\"},{\"type\":\"function_call\",\"call_id\":\"c\"}]|c|{}|true",
            "[{\"type\":\"function_call\",\"call_id\":\"d\"}]|c|{}|false", "{\"content\":\"x\"}|c|{}|false"})
    void aProvidersMessageIsSentOnlyWithTheCallsThatHaveResults(String own, String id, String input, boolean sent) {
        JsonNode raw = Json.object().put("wire", "w").set("message", Json.read(own));
        JsonNode arguments = Json.read(input);
        Message.Assistant message = new Message.Assistant("t",
                List.of(new Call(id, "look", arguments.isNull() ? null : arguments, input)), raw);
        ModelRequest request = new ModelRequest("", List.of(message), List.of(), ToolChoice.AUTO, null, 1);

        Message.Assistant lowered = (Message.Assistant) LoweredRequest.of(request).request().messages().getFirst();

        assertThat(lowered.raw()).isEqualTo(sent ? raw : null);
        assertThat(lowered.calls()).isEqualTo(message.calls());
    }

    @Test
    void theSameRequestIsLoweredToTheSameBytes() {
        String wanted = Json.MAPPER.writeValueAsString(LoweredRequest.of(request(CLOSED, ToolChoice.AUTO, "b", "a"))
                .request());

        assertThat(Json.MAPPER.writeValueAsString(
                LoweredRequest.of(request(CLOSED, ToolChoice.AUTO, "b", "a")).request())).isEqualTo(wanted);
    }
}
