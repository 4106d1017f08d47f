package io.keelson.server.api.http.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.engine.store.KeyUse;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class KeysInUseTest {

    private static final KeyUse.Id ID = new KeyUse.Id(UUID.randomUUID(), "POST /runs", "key");
    private static final KeyUse KEY = new KeyUse(ID, "hash", null);

    @Test
    void aRepeatedRequestWaitsUntilTheFirstIsAnswered() throws Exception {
        KeysInUse keys = new KeysInUse(Duration.ofMinutes(1));
        CompletableFuture<Boolean> second = new CompletableFuture<>();
        Thread waiting = Thread.ofPlatform().unstarted(() -> {
            try (KeysInUse.Use use = keys.begin(KEY)) {
                second.complete(use != null);
            } catch (InterruptedException e) {
                second.completeExceptionally(e);
            }
        });
        try (KeysInUse.Use first = keys.begin(KEY)) {
            assertThat(first).isNotNull();
            waiting.start();
            Awaitility.await().until(() -> waiting.getState() == Thread.State.TIMED_WAITING);
            assertThat(second).isNotDone();
            KeyUse.Id other = new KeyUse.Id(UUID.randomUUID(), ID.endpoint(), ID.key());
            keys.begin(new KeyUse(other, "hash", null)).close();
        }
        assertThat(second.get()).isTrue();
        keys.begin(KEY).close();
    }

    @Test
    void theWaitIsBounded() throws Exception {
        KeysInUse keys = new KeysInUse(Duration.ofMillis(20));
        try (KeysInUse.Use first = keys.begin(KEY)) {
            assertThat(first).isNotNull();
            assertThatThrownBy(() -> keys.begin(KEY)).isInstanceOfSatisfying(ApiProblem.class, problem -> {
                assertThat(problem.answer().status()).isEqualTo(503);
                assertThat(problem.code()).isEqualTo("IDEMPOTENCY_IN_FLIGHT");
                assertThat(problem.answer().headers()).containsEntry("Retry-After", "1");
            });
        }
    }

    @Test
    void anotherRequestIsRefusedAtOnceAndMayUseTheKeyLater() throws Exception {
        KeysInUse keys = new KeysInUse(Duration.ofDays(1));
        KeyUse other = new KeyUse(ID, "other", null);
        try (KeysInUse.Use first = keys.begin(KEY)) {
            assertThat(first).isNotNull();
            assertThatThrownBy(() -> keys.begin(other)).isInstanceOfSatisfying(ApiProblem.class,
                    problem -> assertThat(problem.code()).isEqualTo("IDEMPOTENCY_KEY_CONFLICT"));
        }
        keys.begin(other).close();
    }
}
