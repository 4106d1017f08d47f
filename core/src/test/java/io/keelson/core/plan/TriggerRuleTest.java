package io.keelson.core.plan;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TriggerRuleTest {

    /** What is neither completed nor failed was skipped or cancelled. */
    @ParameterizedTest(name = "{0} of {1} upstreams, {2} completed, {3} failed: {4}")
    @CsvSource(textBlock = """
            # rule,      upstreams, completed, failed, holds
            ALL_SUCCESS, 0, 0, 0, true
            ALL_SUCCESS, 2, 2, 0, true
            ALL_SUCCESS, 2, 1, 1, false
            ALL_SUCCESS, 2, 1, 0, false
            ALL_SUCCESS, 2, 0, 2, false
            ALL_DONE,    0, 0, 0, true
            ALL_DONE,    2, 2, 0, true
            ALL_DONE,    2, 1, 1, true
            ALL_DONE,    2, 0, 2, true
            ALL_DONE,    2, 0, 0, true
            NONE_FAILED, 0, 0, 0, true
            NONE_FAILED, 2, 2, 0, true
            NONE_FAILED, 2, 1, 0, true
            NONE_FAILED, 2, 0, 0, true
            NONE_FAILED, 2, 1, 1, false
            ALWAYS,      0, 0, 0, true
            ALWAYS,      2, 2, 0, true
            ALWAYS,      2, 0, 2, true
            """)
    void holds(TriggerRule rule, int upstreams, int completed, int failed, boolean holds) {
        assertThat(rule.holds(upstreams, completed, failed)).isEqualTo(holds);
    }
}
