package io.keelson.server.annex.model.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.keelson.core.money.Tokens;
import io.keelson.core.money.WorstCase;
import io.keelson.core.policy.ErrorClass;
import io.keelson.server.annex.model.Finish;
import io.keelson.server.annex.model.Message;
import io.keelson.server.annex.model.ModelAnswer;
import io.keelson.server.annex.model.ModelClient;
import io.keelson.server.annex.model.ModelEndpoint;
import io.keelson.server.annex.model.ModelException;
import io.keelson.server.annex.model.ModelRequest;
import io.keelson.server.annex.model.TextListener;
import io.keelson.server.annex.model.WireKind;
import io.keelson.server.annex.model.registry.ConfiguredModel;
import io.keelson.server.annex.model.registry.Models;
import io.keelson.server.annex.model.registry.RecordRequests;
import io.keelson.server.annex.model.registry.WorkspaceModels;
import io.keelson.server.base.compute.Computation;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.ModelRates;
import io.keelson.server.engine.tool.BusySystems;
import io.keelson.server.engine.tool.CallDeadline;
import io.keelson.server.engine.tool.Execution;
import io.keelson.server.engine.tool.HandBackException;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolUsage;
import io.keelson.server.tenant.secret.Redaction;
import java.math.BigDecimal;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

class ModelGenerateTest {

    private static final UUID OURS = new UUID(0, 1);
    private static final UUID THEIRS = new UUID(0, 2);
    private static final Tokens TEN = new Tokens(4, 3, 2, 1, 0);
    private static final String WITH_SCHEMA = """
            {"model": "small", "prompt": "How many?", "output_schema": {"type": "object", "required": ["n"],
             "properties": {"n": {"type": "integer"}}, "additionalProperties": false}}""";

    /** Answers or failures, in order; a provider without a network. */
    private final Deque<Object> script = new ArrayDeque<>();
    private long held = Long.MAX_VALUE;
    private final List<ModelRequest> sent = new ArrayList<>();
    private final ToolCatalog tools = new ToolCatalog(List.of(new ModelGenerate(new ModelCalls(
            new WorkspaceModels(new Models(List.of(model("small"), model("unpriced")), List.of()),
                    workspace -> workspace.equals(OURS) ? Optional.empty() : Optional.of(List.of("large"))),
            Set.of("small", "large")::contains, client(), new BusySystems(System::nanoTime), ModelRates.NONE),
            Computation.direct())));

    private static ConfiguredModel model(String name) {
        return new ConfiguredModel(name, WireKind.OPENAI_CHAT, URI.create("http://127.0.0.1:1"), "m-1", "f", () -> "sk",
                Map.of(),
                1_000, 100, BigDecimal.ONE, null, List.of(), Duration.ofMinutes(1), RecordRequests.NONE, false);
    }

    private ModelClient client() {
        return new ModelClient() {
            @Override
            public CompletableFuture<ModelAnswer> send(ModelEndpoint endpoint, ModelRequest request, Duration timeout,
                    TextListener listener) {
                sent.add(request);
                return switch (script.remove()) {
                    case ModelAnswer answer -> CompletableFuture.completedFuture(answer);
                    case Throwable failure -> CompletableFuture.failedFuture(failure);
                    case Object other -> throw new AssertionError(other);
                };
            }
        };
    }

    private static ModelAnswer answer(String text, Finish finish) {
        return new ModelAnswer(text, List.of(), finish, TEN, "m-1-2026", "req-1", Json.object().put("raw", text), 1, 2);
    }

    private static ModelException failure(ModelException.Kind kind, @Nullable Tokens usage) {
        return new ModelException(kind, "the provider answered so", Duration.ofSeconds(7), usage, "req-9");
    }

    private ToolResult execute(UUID workspace, String input) throws ToolFailure, InterruptedException {
        return tools.execute(ModelGenerate.NAME, new ToolCall(workspace, new UUID(1, 1), new UUID(1, 2),
                new UUID(1, 3), "test", Json.read(input), 1, Duration.ZERO, 1, "key",
                CallDeadline.after(Duration.ofSeconds(30)),
                null, line -> {}, Redaction.NONE, (name, type, content) -> {
                    throw new AssertionError("no artifact is written");
                }, new Execution() {
                    @Override
                    public long hold(WorstCase most, boolean begun) {
                        return Math.min(held, most.maxOutput());
                    }
                }));
    }

    private ToolFailure refused(String input) {
        return catchThrowableOfType(ToolFailure.class, () -> execute(OURS, input));
    }

    @Test
    void textIsAnsweredAndChargedByTheModelAskedFor() throws Exception {
        script.add(answer("seven", Finish.STOP));

        ToolResult result = execute(OURS,
                """
                {"model": "small", "instructions": "Be short.", "max_output_tokens": 5000, "messages": [
                 {"role": "user", "text": "3 + 3?"}, {"role": "assistant", "text": "6"}, {"role": "user", "text": "+ 1?"}]}""");

        assertThat(result.output()).isEqualTo(Json.read("""
                {"text": "seven", "model": "small", "model_answered": "m-1-2026", "finish": "stop", "repairs": 0}"""));
        assertThat(tools.validateOutput(tools.find(ModelGenerate.NAME).orElseThrow(), result.output())).isEmpty();
        assertThat(result.usage().model()).isEqualTo("small");
        assertThat(result.usage().tokens()).isEqualTo(TEN);
        assertThat(sent.getFirst().instructions()).isEqualTo("Be short.");
        assertThat(sent.getFirst().messages()).containsExactly(new Message.User("3 + 3?"),
                new Message.Assistant("6", List.of(), null), new Message.User("+ 1?"));
        assertThat(sent.getFirst().maxOutputTokens()).as("at most the model's").isEqualTo(100);
    }

    @Test
    void allAnswersTogetherStayWithinTheHeldTokens() throws Exception {
        held = 30;
        script.addAll(List.of(answer("no JSON", Finish.STOP), answer("{\"n\": 7}", Finish.STOP)));

        execute(OURS, WITH_SCHEMA);

        assertThat(sent).extracting(ModelRequest::maxOutputTokens).containsExactly(30, 30 - (int) TEN.output());
    }

    @Test
    void aFencedAnswerIsNotRepaired() throws Exception {
        script.add(answer("Here it is:\n```json\n{\"n\": 7}\n```", Finish.STOP));

        JsonNode output = execute(OURS, WITH_SCHEMA).output();

        assertThat(output.at("/output/n").intValue()).isEqualTo(7);
        assertThat(output.get("repairs").intValue()).isZero();
    }

    @Test
    void anAnswerWithoutUsageIsChargedWithItsWorstCase() throws Exception {
        ModelAnswer answer = answer("seven", Finish.STOP);
        script.add(new ModelAnswer(answer.text(), List.of(), Finish.STOP, Tokens.NONE, null, null, answer.raw(), 1, 2,
                true));

        ToolUsage usage = execute(OURS, "{\"model\": \"small\", \"prompt\": \"3 + 4?\"}").usage();

        assertThat(usage.estimated()).isTrue();
        assertThat(usage.tokens().input()).isPositive();
        assertThat(usage.tokens().output()).as("all that it may have written").isEqualTo(100);
    }

    @Test
    void answersThatDoNotFitAreRepairedTwiceAndAllCharged() throws Exception {
        script.addAll(List.of(answer("about seven", Finish.STOP), answer("{\"n\": \"7\"}", Finish.STOP),
                answer("{\"n\": 7}", Finish.STOP)));

        ToolResult result = execute(OURS, WITH_SCHEMA);

        assertThat(result.output().at("/output/n").intValue()).isEqualTo(7);
        assertThat(result.output().get("repairs").intValue()).isEqualTo(2);
        assertThat(result.usage().tokens()).isEqualTo(TEN.plus(TEN).plus(TEN));
        assertThat(sent).allSatisfy(request -> assertThat(request.outputSchema()).isNotNull());
        assertThat(sent.get(1).messages().get(1)).isEqualTo(new Message.Assistant("about seven", List.of(),
                Json.object().put("raw", "about seven")));
        assertThat(((Message.User) sent.get(2).messages().get(4)).text()).contains("- /n: ", "\"type\":\"integer\"");
    }

    @Test
    void thirdAnswerThatDoesNotFitFailsWithItsPlacesAndTheCostOfAll() {
        script.addAll(
                List.of(answer("{}", Finish.STOP), answer("[]", Finish.STOP), answer("{\"n\": 1.5}", Finish.STOP)));

        ToolFailure failure = refused(WITH_SCHEMA);

        assertThat(failure.code()).isEqualTo("OUTPUT_INVALID");
        assertThat(failure.errorClass()).isEqualTo(ErrorClass.QUALITY);
        assertThat(failure).hasMessageContaining("/n: ");
        assertThat(failure.spent().tokens()).isEqualTo(TEN.plus(TEN).plus(TEN));
        assertThat(script).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"LENGTH, OUTPUT_TRUNCATED, QUALITY", "REFUSAL, MODEL_REFUSED, QUALITY",
            "CONTENT_FILTER, MODEL_REFUSED, QUALITY", "CALLS, MODEL_ANSWER_UNREADABLE, INFRASTRUCTURE"})
    void unusableAnswerIsChargedAndNotRepaired(Finish finish, String code, ErrorClass errorClass) {
        script.add(answer("I would rather not", finish));

        ToolFailure failure = refused(WITH_SCHEMA);

        assertThat(failure.code()).isEqualTo(code);
        assertThat(failure.errorClass()).isEqualTo(errorClass);
        assertThat(failure.spent().tokens()).isEqualTo(TEN);
        assertThat(failure.spent().model()).isEqualTo("small");
        assertThat(sent).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"QUOTA, MODEL_QUOTA, BUDGET", "KEY_REFUSED, MODEL_KEY_REFUSED, PERMANENT",
            "BAD_REQUEST, MODEL_REQUEST_REFUSED, PERMANENT", "CONTEXT_OVERFLOW, CONTEXT_OVERFLOW, PERMANENT",
            "UNAVAILABLE, MODEL_UNAVAILABLE, INFRASTRUCTURE", "UNREADABLE, MODEL_ANSWER_UNREADABLE, INFRASTRUCTURE"})
    void failureOfTheProviderIsNamedAndChargedWithWhatWasReported(ModelException.Kind kind, String code,
            ErrorClass errorClass) {
        script.addAll(List.of(answer("no JSON", Finish.STOP), failure(kind, TEN)));

        ToolFailure failure = refused(WITH_SCHEMA);

        assertThat(failure.code()).isEqualTo(code);
        assertThat(failure.errorClass()).isEqualTo(errorClass);
        assertThat(failure).hasMessageContaining("req-9");
        assertThat(failure.spent().tokens()).isEqualTo(TEN.plus(TEN));
    }

    @Test
    void busyModelHandsTheStepBackAndKeepsOthersFromSending() {
        script.add(failure(ModelException.Kind.DEFERRED, null));

        HandBackException first = catchThrowableOfType(HandBackException.class, () -> execute(OURS, WITH_SCHEMA));

        assertThat(first.busy()).isNotNull().satisfies(busy -> {
            assertThat(busy.system()).isEqualTo("model:small");
            assertThat(busy.delay()).isEqualTo(Duration.ofSeconds(7));
        });
        assertThatThrownBy(() -> execute(OURS, WITH_SCHEMA)).isInstanceOf(HandBackException.class);
        assertThat(sent).hasSize(1);
    }

    @Test
    void busyModelBetweenRepairsFailsTheTrySoThatTheFirstAnswerIsCharged() {
        script.addAll(List.of(answer("no JSON", Finish.STOP), failure(ModelException.Kind.DEFERRED, null)));

        ToolFailure failure = refused(WITH_SCHEMA);

        assertThat(failure.code()).isEqualTo("MODEL_UNAVAILABLE");
        assertThat(failure.errorClass()).isEqualTo(ErrorClass.INFRASTRUCTURE);
        assertThat(failure.retryAfter()).isEqualTo(Duration.ofSeconds(7));
        assertThat(failure.spent().tokens()).isEqualTo(TEN);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "MODEL_NOT_CONFIGURED | {\"model\": \"none\", \"prompt\": \"p\"}",
            "NO_PRICE | {\"model\": \"unpriced\", \"prompt\": \"p\"}",
            "INVALID_SCHEMA | {\"model\": \"small\", \"prompt\": \"p\", \"output_schema\": {\"type\": \"number-ish\"}}",
            "INVALID_SCHEMA | {\"model\": \"small\", \"prompt\": \"p\", \"output_schema\": {\"$ref\": \"file:/x\"}}",
            "TOOL_INPUT_INVALID | {\"model\": \"small\"}",
            "TOOL_INPUT_INVALID | {\"model\": \"small\", \"prompt\": \"p\", \"messages\": [{\"role\": \"user\", \"text\": \"p\"}]}",
            "TOOL_INPUT_INVALID | {\"model\": \"small\", \"messages\": [{\"role\": \"system\", \"text\": \"p\"}]}"})
    void refusedBeforeAnythingIsSent(String code, String input) {
        assertThat(refused(input).code()).isEqualTo(code);
        assertThat(sent).isEmpty();
    }

    @Test
    void modelOutsideTheListOfTheWorkspaceIsRefusedBeforeAnythingIsSent() {
        assertThat(catchThrowableOfType(ToolFailure.class,
                () -> execute(THEIRS, "{\"model\": \"small\", \"prompt\": \"p\"}")).code())
                .isEqualTo("MODEL_NOT_ALLOWED");
        assertThat(sent).isEmpty();
    }
}
