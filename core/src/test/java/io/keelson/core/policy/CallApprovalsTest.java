package io.keelson.core.policy;

import static io.keelson.core.policy.CallApproval.ALWAYS;
import static io.keelson.core.policy.CallApproval.EFFECTS;
import static io.keelson.core.policy.CallApproval.NEVER;
import static io.keelson.core.policy.CallApproval.TAINTED;
import static io.keelson.core.policy.CallApproval.when;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which calls of agents wait for a person. */
class CallApprovalsTest {

    @ParameterizedTest
    @CsvSource(nullValues = "-", value = {
            // rule, effects, outside, why it waits
            "-, READ, fetch, -", "-, IDEMPOTENT, -, -", "-, ONCE, fetch, -", "-, DESTRUCTIVE, -, destructive",
            "-, -, -, -",
            "NEVER, DESTRUCTIVE, fetch, -", "ALWAYS, READ, -, always", "ALWAYS, -, -, always",
            "EFFECTS, DESTRUCTIVE, -, destructive", "EFFECTS, ONCE, fetch, -",
            "TAINTED, ONCE, fetch, tainted", "TAINTED, IDEMPOTENT, fetch, tainted", "TAINTED, -, fetch, tainted",
            "TAINTED, READ, fetch, -", "TAINTED, DESTRUCTIVE, -, -", "TAINTED, DESTRUCTIVE, fetch, tainted"})
    void aToolsRule(CallApproval.@Nullable Kind rule, @Nullable Effects effects, @Nullable String outside,
            @Nullable String reason) {
        CallApprovals rules = rule == null ? CallApprovals.NONE
                : CallApprovals.of("t", new CallApproval(rule, null));
        assertThat(reason(rules, effects, outside)).isEqualTo(reason);
    }

    private static @Nullable String reason(CallApprovals rules, @Nullable Effects effects, @Nullable String outside) {
        CallGate gate = rules.gate("t", effects, outside);
        return gate == null ? null : gate.reason().wire();
    }

    @Test
    void rulesForAnyToolAreBesideTheEffectsAndGiveWayToAToolsOwn() {
        CallApprovals any = CallApprovals.of(CallApprovals.ANY, TAINTED);
        assertThat(reason(any, Effects.DESTRUCTIVE, null)).isEqualTo("destructive");
        assertThat(reason(any, Effects.ONCE, "fetch")).isEqualTo("tainted");
        CallApprovals own = new CallApprovals(Map.of(CallApprovals.ANY, List.of(ALWAYS), "t", List.of(NEVER)));
        assertThat(reason(own, Effects.DESTRUCTIVE, "fetch")).isNull();
        assertThat(own.gate("other", Effects.READ, null)).isNotNull();
    }

    @Test
    void furtherRulesOnlyAdd() {
        CallApprovals lax = new CallApprovals(Map.of("t", List.of(NEVER), "u", List.of(when(".a"))));
        CallApprovals both = lax.and(new CallApprovals(Map.of("t", List.of(ALWAYS), "u", List.of(NEVER, when(".b")),
                "v", List.of(NEVER))));
        assertThat(both.of("t")).containsExactly(NEVER, ALWAYS);
        assertThat(both.gate("u", null, null)).isEqualTo(new CallGate(CallGate.Reason.CONDITION, "(.a\n), (.b\n)"));
        assertThat(both.gate("v", Effects.DESTRUCTIVE, null)).as("a further NEVER removes no rule").isNotNull();
        assertThat(lax.and(CallApprovals.of(CallApprovals.ANY, ALWAYS)).of("t")).containsExactly(NEVER, ALWAYS);
        assertThat(lax.and(CallApprovals.NONE)).isEqualTo(lax);
        assertThat(both.and(both)).isEqualTo(both);
    }

    @Test
    void aCertainReasonGoesBeforeACondition() {
        CallApprovals rules = new CallApprovals(Map.of("t", List.of(when(".a"), EFFECTS, TAINTED)));
        assertThat(reason(rules, Effects.DESTRUCTIVE, "fetch")).isEqualTo("destructive");
        assertThat(reason(rules, Effects.ONCE, "fetch")).isEqualTo("tainted");
        assertThat(reason(rules, Effects.ONCE, null)).isEqualTo("condition");
    }

    @Test
    void aGateIsStoredAsText() {
        for (CallGate gate : List.of(CallGate.question("{\"question\": \"Which of them?\"}"),
                new CallGate(CallGate.Reason.CONDITION, ".a > 1 and .b"),
                new CallGate(CallGate.Reason.CONDITION, ".a").failed("no number"))) {
            assertThat(CallGate.of(gate.text())).isEqualTo(gate);
        }
    }
}
