package io.keelson.server.annex.model.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.annex.model.gateway.Exchange.Follower;
import io.keelson.server.api.http.gateway.GatewayError;
import io.keelson.server.base.json.Json;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ExchangeTest {
    private static final Duration NOW = Duration.ofMillis(1);

    private final Exchange exchange = new Exchange(UUID.randomUUID(), true);

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
}
