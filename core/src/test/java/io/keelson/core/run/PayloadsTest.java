package io.keelson.core.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.EventType;
import io.keelson.core.money.Tokens;
import io.keelson.core.policy.CallGate;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PayloadsTest {
    /** To the letter. */
    private static final String SEED = """
            run_created goal config_summary autonomy_level
            run_planning_started coordinator_model
            run_plan_ready task_count estimated_cost strategy
            run_approved approved_by modifications
            run_rejected rejected_by reason
            run_started
            run_paused paused_by reason
            run_resumed resumed_by
            run_budget_warning current_cost soft_limit percent_used
            run_budget_exceeded current_cost hard_limit
            run_budget_increased old_limit new_limit increased_by
            run_completed total_cost total_tokens duration_ms tasks_completed tasks_failed
            run_failed reason failing_task_id total_cost
            run_cancelled cancelled_by tasks_remaining
            task_created task_type trigger_rule depends_on
            task_queued unblocked_by
            task_assigned agent_id agent_type model board_task_id
            task_started attempt_number
            task_continuing continuation_count tokens_this_turn
            task_resumed continuation_count
            task_output_submitted output_ref output_summary_length tokens_used
            task_verification_started verifier_agent_id verifier_model
            task_verification_passed score verifier_feedback
            task_verification_failed score verifier_feedback retries_remaining
            task_human_review_requested reason score
            task_human_approved approved_by
            task_human_rejected rejected_by reason retries_remaining
            task_retrying attempt_number backoff_seconds failure_type
            task_crashed error_type error_message duration_ms
            task_failed reason total_attempts total_cost
            task_skipped skipped_because failed_dependency_id
            task_cancelled cancelled_by
            stall_detected entity_type entity_id stalled_state stalled_since action_taken
            model_fallback task_id requested_model fallback_model reason
            cost_snapshot run_id total_cost total_tokens by_task
            """;

    static Stream<Payload> all() {
        return Payloads.all().stream();
    }

    @Test
    void everyTypeHasItsRecord() {
        assertThat(all().map(Payload::type)).containsExactly(EventType.values());
    }

    @Test
    void theSeedsMembersAreThere() {
        Map<EventType, Payload> records = new EnumMap<>(EventType.class);
        all().forEach(payload -> records.put(payload.type(), payload));
        SEED.lines().map(line -> List.of(line.split(" "))).forEach(line -> assertThat(
                Payloads.written(records.get(EventType.valueOf(line.getFirst().toUpperCase(Locale.ROOT)))).keySet())
                .as(line.getFirst()).containsAll(line.subList(1, line.size())));
    }

    /** A member is named as its component is, unless it belongs to a part, counts tokens, or is the reason of a question. */
    @ParameterizedTest
    @MethodSource("all")
    void aRecordWritesItsComponents(Payload payload) {
        List<String> named = Arrays.stream(payload.getClass().getRecordComponents())
                .filter(each -> !PayloadPart.class.isAssignableFrom(each.getType()) && each.getType() != Tokens.class
                        && each.getType() != CallGate.class)
                .map(RecordComponent::getName)
                .map(name -> name.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT)).toList();
        assertThat(Payloads.written(payload).keySet()).containsAll(named);
    }
}
