package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.core.lifecycle.Lifecycles;
import io.keelson.core.lifecycle.RunState;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every state of a run against every action: what the state forbids is refused by name and changes nothing. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Breadth.Spread
class TransitionsTest {

    private static final Set<RunState> ENDED =
            EnumSet.of(RunState.COMPLETED, RunState.FAILED, RunState.CANCELLED, RunState.SKIPPED);

    /** Action → states in which it is possible or already done; everywhere else it is refused. */
    private static final Map<String, Set<RunState>> POSSIBLE = Map.of(
            "start", EnumSet.complementOf(EnumSet.copyOf(ENDED)),
            "pause", EnumSet.of(RunState.PENDING, RunState.READY, RunState.RUNNING, RunState.RESUMING, RunState.PAUSED),
            "resume", EnumSet.of(RunState.PAUSED, RunState.RESUMING, RunState.RUNNING, RunState.BUDGET_EXCEEDED,
                    RunState.ESCALATED),
            "cancel", EnumSet.complementOf(EnumSet.of(RunState.COMPLETED, RunState.FAILED, RunState.SKIPPED)),
            "retry", EnumSet.of(RunState.FAILED),
            "fail", EnumSet.complementOf(EnumSet.of(RunState.CREATED, RunState.COMPLETED, RunState.CANCELLED,
                    RunState.SKIPPED)),
            "replan", EnumSet.of(RunState.PENDING, RunState.READY, RunState.RUNNING),
            "approve", EnumSet.complementOf(EnumSet.of(RunState.CANCELLED, RunState.FAILED)),
            "reject", EnumSet.of(RunState.AWAITING_APPROVAL),
            "undo", ENDED);

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    void stop() {
        api.close();
    }

    static Stream<Arguments> forbidden() {
        return POSSIBLE.entrySet().stream().flatMap(action -> EnumSet.complementOf(EnumSet.copyOf(action.getValue()))
                .stream().map(state -> Arguments.of(action.getKey(), state)));
    }

    static Stream<Arguments> alreadySo() {
        return Stream.of(Arguments.of("start", RunState.RUNNING), Arguments.of("start", RunState.PAUSED),
                Arguments.of("pause", RunState.PAUSED), Arguments.of("resume", RunState.RUNNING),
                Arguments.of("cancel", RunState.CANCELLED), Arguments.of("fail", RunState.FAILED));
    }

    @ParameterizedTest(name = "{0} when {1}")
    @MethodSource
    void forbidden(String action, RunState state) {
        String run = runIn(state);
        Map<String, Long> before = api.rowCounts();

        ApiServer.Answer answer = api.post("/api/v1/runs/" + run + "/" + action, "{}");

        assertThat(answer.status()).as(answer.text()).isEqualTo(409);
        assertThat(answer.json().get("code").stringValue()).isEqualTo("INVALID_STATE_TRANSITION");
        assertThat(answer.json().get("current_state").stringValue()).isEqualTo(state.wire());
        List<String> allowed = answer.json().get("allowed").valueStream().map(each -> each.stringValue()).toList();
        assertThat(allowed).doesNotContain(action)
                .allMatch(each -> each.equals("budget") || POSSIBLE.getOrDefault(each, Set.of()).contains(state));
        assertThat(allowed.stream().allMatch(each -> each.equals("undo"))).as("an undo changes no state of the run")
                .isEqualTo(Lifecycles.RUN.targets(state).isEmpty());
        assertThat(api.run(run).get("state").stringValue()).isEqualTo(state.wire());
        assertThat(api.rowCounts()).isEqualTo(before);
    }

    @ParameterizedTest(name = "{0} when {1}")
    @MethodSource
    void alreadySo(String action, RunState state) {
        String run = runIn(state);
        Map<String, Long> before = api.rowCounts();

        ApiServer.Answer answer = api.post("/api/v1/runs/" + run + "/" + action, "");

        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        assertThat(answer.json().get("state").stringValue()).isEqualTo(state.wire());
        assertThat(api.rowCounts()).isEqualTo(before);
    }

    /**
     * A run put into a state by hand, for some states last no moment of their own. It was updated in the future, as the
     * reconciler would complete a running run that has no tasks and is older than a minute.
     */
    private String runIn(RunState state) {
        String run = api.create(ApiServer.WAITS);
        api.sql("update orchestration_runs set state = '" + state.wire() + "', state_type = '" + state.type().wire()
                + "', updated_at = now() + interval '1 hour', completed_at = " + (state.terminal() ? "now()" : "null")
                + " where id = '" + run + "'");
        if (state == RunState.ESCALATED) {
            api.sql("insert into escalation_tickets (id, workspace_id, run_id, attempt, kind, severity, reason, message,"
                    + " opened_at) select gen_random_uuid(), workspace_id, id, 1, 'failure', 'high', 'x', 'x', now()"
                    + " from orchestration_runs where id = '" + run + "'");
        }
        api.sql("update run_heads set version_id = version_id + 1 where run_id = '" + run + "'");
        return run;
    }
}
