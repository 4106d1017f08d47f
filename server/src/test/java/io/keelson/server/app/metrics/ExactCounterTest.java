package io.keelson.server.app.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import org.junit.jupiter.api.Test;

class ExactCounterTest {

    @Test
    void sumsOfAmountsAreServedAsTheirDecimals() {
        Meters meters = new Meters();
        ExactCounter cost = new ExactCounter(meters, Metric.MODEL_COST, "small");
        for (int i = 0; i < 3; i++) {
            cost.add(new BigDecimal("0.1"));
        }

        assertThat(meters.page("text/plain; version=0.0.4; charset=utf-8"))
                .contains(Metric.MODEL_COST.samples().iterator().next() + "{model=\"small\"} 0.3\n");
    }
}
