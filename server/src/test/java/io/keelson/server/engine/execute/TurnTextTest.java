package io.keelson.server.engine.execute;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.policy.Effects;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TurnAnswer;
import io.keelson.server.base.json.Json;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Answers of agents' turns as the core gets them. */
class TurnTextTest {
    private static final Function<String, TurnText.Terms> TERMS =
            tool -> new TurnText.Terms(Duration.ofSeconds(1), tool.equals("once") ? Effects.ONCE : null);

    @Test
    void equalCallsHaveOneDigestInAnyNotation() {
        List<String> digests = digests("{\"a\": 1.50, \"b\": [{\"x\": \"é\", \"y\": null}]}",
                "{\"b\": [{\"y\": null, \"x\": \"\\u00e9\"}], \"a\": 15e-1}");
        assertThat(digests.getFirst()).isEqualTo(digests.getLast()).hasSize(64);
    }

    @Test
    void otherCallsHaveOtherDigests() {
        assertThat(digests("{}", "{\"a\": null}", "{\"a\": 1}", "{\"a\": \"1\"}", "{\"a\": [1, 2]}", "{\"a\": [2, 1]}",
                "{\"a\": \"${ .x }\"}", "{\"a\": \"$${ .x }\"}")).doesNotHaveDuplicates();
    }

    @Test
    void aCallWithoutInputEqualsOneWithAnEmptyInput() {
        assertThat(digests("{}", "null")).containsOnly(digests("{}").getFirst());
    }

    @Test
    void callOfAToolWithEffectsIsExecutedAtMostOnce() {
        TurnAnswer.Calls calls = (TurnAnswer.Calls) TurnText.of(
                Json.read("{\"tool_calls\": [{\"name\": \"once\"}, {\"name\": \"t\"}]}"), TERMS);
        assertThat(calls.calls()).extracting(TurnAnswer.Call::retry).containsExactly(RetryPolicy.NONE,
                RetryPolicy.STEP);
    }

    @Test
    void aCallMayBeRefusedAndATurnRepeated() {
        assertThat(TurnText.of(Json.read("{\"text\": \"x\", \"again\": {\"code\": \"OUTPUT_INVALID\"}}"),
                TERMS)).isEqualTo(new TurnAnswer.Again());
        TurnAnswer.Calls calls = (TurnAnswer.Calls) TurnText.of(Json.read("""
                {"tool_calls": [{"name": "t", "input": {"arguments": "{"},
                  "refused": {"code": "TOOL_INPUT_INVALID", "message": "no JSON"}}]}"""), TERMS);
        assertThat(calls.calls().getFirst().refusal())
                .isEqualTo(new StepError("TOOL_INPUT_INVALID", ErrorClass.PERMANENT, "no JSON"));
    }

    private static List<String> digests(String... inputs) {
        String calls = String.join(", ",
                List.of(inputs).stream().map(each -> "{\"name\": \"t\", \"input\": " + each + "}").toList());
        TurnAnswer answer =
                TurnText.of(Json.read("{\"tool_calls\": [" + calls + "]}"), TERMS);
        return ((TurnAnswer.Calls) answer).calls().stream().map(TurnAnswer.Call::digest).toList();
    }
}
