package io.keelson.core.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The table of run-lifecycle. */
class LifecycleErrorTest {

    @ParameterizedTest(name = "{0}, turn {1}, retried {2}: {3} {4}")
    @CsvSource(textBlock = """
            MODEL_UNAVAILABLE,        true,  true,  NLM_UNAVAILABLE,      502
            HTTP_CONNECT_FAILED,      true,  true,  NLM_UNAVAILABLE,      502
            NLM_UNAVAILABLE,          false, false, NLM_UNAVAILABLE,      502
            ARTIFACT_STORE_FAILED,    false, true,  UPSTREAM_UNAVAILABLE, 502
            WORKER_HEARTBEAT_TIMEOUT, false, true,  UPSTREAM_UNAVAILABLE, 502
            HTTP_CONNECT_FAILED,      false, true,  UPSTREAM_UNAVAILABLE, 502
            HTTP_STATUS_503,          false, true,  UPSTREAM_UNAVAILABLE, 502
            RUN_TIMEOUT,              false, false, AGENT_TIMEOUT,        504
            STEP_TIMEOUT,             true,  true,  AGENT_TIMEOUT,        504
            RUN_NOT_STARTED,          false, false, AGENT_TIMEOUT,        504
            AGENT_TIMEOUT,            false, false, AGENT_TIMEOUT,        504
            VERIFICATION_REJECTED,    false, true,  INTERNAL_ERROR,       500
            HTTP_STATUS_500,          false, true,  INTERNAL_ERROR,       500
            TURN_UNREADABLE,          true,  true,  INTERNAL_ERROR,       500
            """)
    void anErrorInTheContractsWords(String code, boolean turn, boolean retried, LifecycleError error, int status) {
        assertThat(LifecycleError.of(code, turn, retried)).contains(error);
        assertThat(error.httpStatus()).isEqualTo(status);
    }

    @ParameterizedTest
    @CsvSource({"RUN_CANCELLED", "PLAN_REJECTED", "HTTP_STATUS_404", "INSUFFICIENT_CREDITS"})
    void anErrorThatIsNeverRetriedKeepsItsCode(String code) {
        assertThat(LifecycleError.of(code, false, false)).isEmpty();
    }

    @Test
    void noCodeIsCoveredTwice() {
        List<String> codes = Arrays.stream(LifecycleError.values()).flatMap(each -> each.codes().stream()).toList();
        assertThat(codes).doesNotHaveDuplicates()
                .doesNotContainAnyElementsOf(Arrays.stream(LifecycleError.values()).map(Enum::name).toList());
    }
}
