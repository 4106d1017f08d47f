package example;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Run;
import io.keelson.test.Fault;
import io.keelson.test.TestKeelson;
import io.keelson.test.spring.AutoConfigureTestKeelson;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

/** The whole application with a server of the test. */
@SpringBootTest
@AutoConfigureTestKeelson
class ShipmentTest {
    @Autowired
    private Orders orders;
    @Autowired
    private TestKeelson keelson;

    @Test
    void orderIsShipped() {
        Run run = ship("7", List.of("lamp", "bulb"));

        keelson.assertEnd(run).completed();
        assertThat(keelson.end(run).output().asString()).startsWith("P-7-");
    }

    @Test
    void equalRequestsAreOneRun() {
        assertThat(ship("8", List.of("lamp")).id()).isEqualTo(ship("8", List.of("lamp")).id());
    }

    @Test
    void parcelIsSentWhenItsWorkerCrashes() {
        keelson.fault(Fault.CRASH_BEFORE_REPORT, "parcel.send");
        Run run = ship("9", List.of("lamp"));
        keelson.step(run, "send", "running");

        keelson.clock().advance(Duration.ofMinutes(1));

        keelson.assertEnd(run).completed();
    }

    private Run ship(String order, List<String> items) {
        return keelson.client().runs().get(orders.ship(order, items).get("run"));
    }
}
