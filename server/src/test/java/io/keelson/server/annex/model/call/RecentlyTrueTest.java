package io.keelson.server.annex.model.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RecentlyTrueTest {
    private final AtomicLong nanos = new AtomicLong();
    private final List<String> read = new ArrayList<>();
    private final RecentlyTrue<String> priced = new RecentlyTrue<>(model -> {
        read.add(model);
        return model.equals("small");
    }, nanos::get);

    @Test
    void trueConditionIsReadOnceASecond() {
        assertThat(priced.test("small")).isTrue();
        nanos.addAndGet(Duration.ofMillis(999).toNanos());
        assertThat(priced.test("small")).isTrue();
        assertThat(read).hasSize(1);
        nanos.addAndGet(Duration.ofMillis(1).toNanos());
        assertThat(priced.test("small")).isTrue();
        assertThat(read).hasSize(2);
    }

    @Test
    void falseConditionIsReadAgain() {
        assertThat(priced.test("large")).isFalse();
        assertThat(priced.test("large")).isFalse();
        assertThat(read).containsExactly("large", "large");
    }
}
