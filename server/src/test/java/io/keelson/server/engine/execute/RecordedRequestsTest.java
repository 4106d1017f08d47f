package io.keelson.server.engine.execute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.core.run.LostAnswer;
import io.keelson.server.engine.tool.SentRequests.Kept;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What the executions of one step know of each other's requests to models. */
class RecordedRequestsTest {
    private static final Clock CLOCK = Clock.fixed(Instant.EPOCH, ZoneOffset.UTC);
    private final List<String> cancelled = new ArrayList<>();
    private @Nullable String details;
    private boolean leased = true;

    private RecordedRequests execution() {
        return new RecordedRequests(new RecordedRequests.Details() {
            @Override
            public boolean write(String text) {
                if (leased) {
                    details = text;
                }
                return leased;
            }

            @Override
            public @Nullable String read() {
                return details;
            }
        }, true, CLOCK);
    }

    private RecordedRequests begun(String request, String id) throws InterruptedException {
        RecordedRequests execution = execution();
        execution.sending("m", request, 10, 10);
        execution.begun(id, () -> cancelled.add(id));
        return execution;
    }

    private static List<String> shown(List<LostAnswer> answers) {
        return answers.stream().map(each -> each.requestSha256() + " " + each.responseId()).toList();
    }

    @Test
    void theNextExecutionFetchesTheAnswerToAnEqualRequest() throws Exception {
        begun("a", "r1");
        RecordedRequests next = execution();
        assertThat(next.resume("a")).isEqualTo("r1");
        assertThat(next.resume("a")).isNull();
        next.ended(null);
        assertThat(next.unused()).isEmpty();
    }

    @Test
    void anAnswerToAnotherRequestIsNamedByTheNextExecutionAndItsProviderIsAskedToStop() throws Exception {
        begun("a", "r1");
        RecordedRequests next = execution();
        assertThat(next.resume("b")).isNull();
        assertThat(next.sending("m", "b", 10, 10)).containsExactly(new Kept("m", "r1"));
        assertThat(shown(RecordedRequests.in(details))).as("if it is killed now").containsExactly("a null", "b null");
        next.begun("r2", () -> {});
        next.ended(null);
        assertThat(shown(next.unused())).containsExactly("a null");
        assertThat(shown(next.unreported())).containsExactly("a null", "b r2");
    }

    @Test
    void anExecutionThatSendsNothingKeepsTheIdAndPassesItOn() throws Exception {
        begun("a", "r1");
        assertThat(shown(execution().open())).containsExactly("a r1");
        assertThat(execution().resume("a")).isEqualTo("r1");
    }

    @Test
    void theIdsOfFurtherRequestsStayWhileTheFirstOneIsFetched() throws Exception {
        RecordedRequests first = begun("a", "r1");
        first.ended(null);
        first.sending("m", "b", 10, 10);
        first.begun("r2", () -> {});
        RecordedRequests next = execution();
        assertThat(next.resume("a")).isEqualTo("r1");
        next.gone();
        assertThat(shown(RecordedRequests.in(details))).containsExactly("b r2", "a null");
        assertThat(execution().resume("b")).isEqualTo("r2");
    }

    @Test
    void aFailureThatIsNotRecordedLeavesTheRequestsToBeNamed() throws Exception {
        RecordedRequests execution = begun("a", "r1");
        assertThat(shown(execution.abandon())).containsExactly("a null");
        assertThat(shown(RecordedRequests.in(details))).containsExactly("a null");
        assertThat(cancelled).containsExactly("r1");
    }

    @Test
    void anAnswerThatTheNextExecutionFetchesIsNotCancelledByAnEarlierOne() throws Exception {
        RecordedRequests stopped = begun("a", "r1");
        RecordedRequests late = begun("b", "r2");
        leased = false;
        stopped.abandon();
        late.reported();
        assertThat(cancelled).isEmpty();
        assertThatThrownBy(() -> late.sending("m", "c", 10, 10)).isInstanceOf(InterruptedException.class);
        assertThat(shown(RecordedRequests.in(details))).contains("b r2");
    }
}
