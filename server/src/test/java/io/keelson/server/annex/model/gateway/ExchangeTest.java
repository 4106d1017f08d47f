package io.keelson.server.annex.model.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.annex.model.gateway.Exchange.Follower;
import io.keelson.server.api.http.gateway.GatewayError;
import io.keelson.server.base.json.DocumentMemory;
import io.keelson.server.base.json.Json;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class ExchangeTest {
    private static final Duration NOW = Duration.ofMillis(1);

    private static final int MEMORY = 1 << 20;

    private final DocumentMemory memory = new DocumentMemory(MEMORY);
    private final Exchange exchange = exchange();

    private Exchange exchange() {
        return exchange(Duration.ZERO);
    }

    private Exchange exchange(Duration patience) {
        return new Exchange(UUID.randomUUID(), true, memory.share(UUID.randomUUID(), Duration.ZERO), patience);
    }

    private static byte[] event(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private Follower follow() {
        return Objects.requireNonNull(exchange.follow());
    }

    private List<String> news(Follower follower) throws Exception {
        return exchange.after(follower, NOW).events().stream().map(each -> new String(each, StandardCharsets.UTF_8))
                .toList();
    }

    @Test
    void eachLiveFollowerGetsTheEventsThatPass() throws Exception {
        Follower one = follow();
        Follower two = follow();
        exchange.add(event("a"), false);
        assertThat(news(one)).containsExactly("a");
        exchange.add(event("b"), false);
        exchange.add(event("held"), true);
        assertThat(news(one)).containsExactly("b");
        assertThat(news(two)).containsExactly("a", "b");
        exchange.record(Json.object());
        assertThat(news(one)).containsExactly("held");
        assertThat(exchange.after(two, NOW).ended()).isTrue();
    }

    /** Events that all have read stay in no memory, so the answer comes as a whole. */
    @Test
    void aLaterFollowerWaitsForTheAnswer() throws Exception {
        Follower first = follow();
        exchange.add(event("a"), false);
        news(first);
        exchange.leave(first);
        Follower later = follow();
        assertThat(first.live()).isTrue();
        assertThat(later.live()).isFalse();
        assertThat(exchange.await(NOW)).isNull();
        exchange.record(Json.object().put("a", 1));
        assertThat(exchange.await(NOW)).isEqualTo(Json.object().put("a", 1));
        exchange.leave(later);
        assertThat(exchange.follow()).as("the record has the answer").isNull();
    }

    @Test
    void anAnswerWithoutFollowersIsInTheRecordOnly() {
        exchange.leave(follow());
        exchange.add(event("a"), false);
        exchange.record(Json.object());
        assertThat(exchange.follow()).isNull();
    }

    @Test
    void followersGetTheReasonOfAFailure() {
        Follower follower = follow();
        exchange.fail(new GatewayError(502, "answer_lost", "broke off"));
        assertThatThrownBy(() -> exchange.after(follower, NOW)).isInstanceOf(GatewayError.class);
        assertThatThrownBy(() -> exchange.await(NOW)).isInstanceOf(GatewayError.class);
    }

    /** A client that does not read takes no more than its workspace's part of the memory; the answer is recorded nevertheless. */
    @Test
    void aClientThatDoesNotReadGetsNoMoreOfTheAnswer() throws Exception {
        byte[] event = new byte[Exchange.UNCOUNTED];
        Follower reading = follow();
        Follower silent = follow();
        for (int bytes = 0; bytes < MEMORY; bytes += event.length) {
            exchange.add(event, false);
            assertThat(exchange.after(reading, NOW).events()).hasSize(1);
        }
        assertThatThrownBy(() -> exchange.after(silent, NOW)).isInstanceOfSatisfying(GatewayError.class,
                refused -> assertThat(refused.code()).isEqualTo("answer_unread"));
        exchange.leave(silent);
        try (DocumentMemory.Share other = memory.share(null, Duration.ZERO)) {
            other.take(MEMORY / 2);
            exchange.add(event, false);
            exchange.record(Json.object());
            assertThat(exchange.after(reading, NOW).ended()).as("events that are read take no memory").isTrue();
        }
    }

    /** An answer that comes faster than its client reads is read as fast as the client. */
    @Test
    void anAnswerWaitsForAClientThatReadsSlowly() throws Exception {
        Exchange waiting = exchange(Duration.ofMinutes(1));
        Follower slow = Objects.requireNonNull(waiting.follow());
        int events = 2 * MEMORY / Exchange.UNCOUNTED;
        Thread provider = Thread.startVirtualThread(() -> {
            for (int i = 0; i < events; i++) {
                waiting.add(new byte[Exchange.UNCOUNTED], false);
            }
            waiting.record(Json.object());
        });
        Awaitility.await().until(() -> provider.getState() == Thread.State.TIMED_WAITING);
        int got = 0;
        boolean ended = false;
        while (!ended) {
            Exchange.News news = waiting.after(slow, Duration.ofMinutes(1));
            got += news.events().size();
            ended = news.ended();
        }
        assertThat(got).isEqualTo(events);
        try (DocumentMemory.Share other = memory.share(null, Duration.ZERO)) {
            other.take(MEMORY / 2);
        }
    }

    @Test
    void aClientThatDoesNotReadLeavesMemoryToOtherWorkspaces() throws Exception {
        follow();
        for (int bytes = 0; bytes < MEMORY / 2; bytes += Exchange.UNCOUNTED) {
            exchange.add(new byte[Exchange.UNCOUNTED], false);
        }
        Exchange other = exchange();
        Follower slow = Objects.requireNonNull(other.follow());
        for (int bytes = 0; bytes < MEMORY / 8; bytes += Exchange.UNCOUNTED) {
            other.add(new byte[Exchange.UNCOUNTED], false);
        }
        other.record(Json.object());
        int got = 0;
        boolean ended = false;
        while (!ended) {
            Exchange.News news = other.after(slow, NOW);
            got += news.events().size();
            ended = news.ended();
        }
        assertThat(got).isEqualTo(MEMORY / 8 / Exchange.UNCOUNTED);
    }
}
