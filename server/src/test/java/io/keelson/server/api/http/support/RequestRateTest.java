package io.keelson.server.api.http.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.tenant.LimitName;
import io.keelson.server.tenant.auth.Caller;
import io.keelson.server.tenant.auth.Principal;
import io.keelson.server.tenant.workspace.Limits;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RequestRateTest {

    private final AtomicLong nanos = new AtomicLong();
    private final RequestRate rate = new RequestRate(nanos::get);

    @Test
    void aBucketIsRefilledEvenly() {
        Caller caller = caller(60L);
        for (int i = 59; i >= 0; i--) {
            assertThat(count(caller).rest()).startsWith("\"requests\";r=" + i + ";");
        }

        assertThat(count(caller).exhausted()).isTrue();
        assertThat(count(caller).retryAfter()).isEqualTo(1);
        nanos.addAndGet(Duration.ofMillis(999).toNanos());
        assertThat(count(caller).exhausted()).isTrue();
        nanos.addAndGet(Duration.ofMillis(2).toNanos());
        assertThat(count(caller).exhausted()).isFalse();
        nanos.addAndGet(Duration.ofHours(1).toNanos());
        assertThat(count(caller).rest()).isEqualTo("\"requests\";r=59;t=1");
    }

    @Test
    void keysHaveBucketsOfTheirOwn() {
        Caller one = caller(1L);
        assertThat(count(one).exhausted()).isFalse();
        assertThat(count(one).retryAfter()).isEqualTo(60);

        assertThat(count(caller(1L)).exhausted()).isFalse();
        assertThat(rate.count(caller(null))).isNull();
    }

    @Test
    void manyKeysInUseLeaveTheCountsOfTheOthers() {
        Caller first = caller(1L);
        assertThat(count(first).exhausted()).isFalse();

        for (int i = 0; i < 10_000; i++) {
            count(caller(1L));
        }

        assertThat(count(first).exhausted()).isTrue();
    }

    private MinuteBuckets.State count(Caller caller) {
        return Objects.requireNonNull(rate.count(caller));
    }

    private static Caller caller(Long perMinute) {
        return new Caller(UUID.randomUUID(), UUID.randomUUID(), new Principal(Principal.Kind.SERVICE, "x"), Set.of(),
                false, perMinute == null ? Limits.NONE
                        : new Limits(Map.of(LimitName.REQUESTS_PER_MINUTE.text(), BigDecimal.valueOf(perMinute))),
                null);
    }
}
