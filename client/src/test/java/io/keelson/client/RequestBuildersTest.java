package io.keelson.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.definition.AgentDefinition;
import io.keelson.api.outlet.BoardTask;
import io.keelson.api.outlet.Webhook;
import io.keelson.api.schedule.ScheduleDefinition;
import io.keelson.client.plan.Mission;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/** Each builder of a request writes members of the request's record, and has a method for every one. */
class RequestBuildersTest {

    private static final JsonMapper STRICT = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

    static Stream<Arguments> fullRequests() {
        return Stream.of(Arguments.of(ScheduleDefinition.class,
                ScheduleRequest.of("nightly", "@daily").recipe("report").mission(Mission.of(Json.object()))
                        .input("day", 1).timeZone("UTC").overlap("skip").catchUp("all")
                        .catchUpWindow(Duration.ofHours(1)).jitter(Duration.ofSeconds(1)).endAt(Instant.EPOCH)
                        .maxRuns(1)
                        .paused(true).body()),
                Arguments.of(Webhook.Change.class,
                        WebhookRequest.to("https://example.org").format("slack").events(List.of("*")).channel("c")
                                .description("d").recipient("ann").quietHours("22:00", "07:00", "UTC").digestMinutes(5)
                                .enabled(true).body()),
                Arguments.of(BoardTask.New.class,
                        BoardTaskRequest.titled("t").description("d").status("inbox").priority("low").assignee("ann")
                                .parent(1).tags("a").body()),
                Arguments.of(BoardTask.Change.class,
                        BoardTaskRequest.titled("t").description("d").status("inbox").priority("low").assignee("ann")
                                .tags("a").result("r").body()),
                Arguments.of(AgentDefinition.class,
                        AgentRequest.of("writer").name("Writer").description("Writes").model("m").instructions("Write.")
                                .tools(List.of("files.read")).capabilities(List.of("writing")).maxTurns(1)
                                .approval("*", "never").runsOn("server").body()));
    }

    @ParameterizedTest
    @MethodSource("fullRequests")
    void builderWritesEveryMemberOfTheRecord(Class<?> record, JsonNode body) {
        Map<String, Object> members = STRICT.convertValue(STRICT.treeToValue(body, record), STRICT.getTypeFactory()
                .constructMapType(Map.class, String.class, Object.class));

        assertThat(members).hasSize(Arrays.asList(record.getRecordComponents()).size()).doesNotContainValue(null);
        assertThat(List.copyOf(body.propertyNames())).containsExactlyInAnyOrderElementsOf(members.keySet());
    }
}
