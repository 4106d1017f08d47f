package example;

import io.keelson.api.run.Run;
import io.keelson.client.plan.Mission;
import io.keelson.test.TestKeelson;
import io.keelson.test.spring.KeelsonToolTest;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;

/** The tools alone, without the web application. */
@KeelsonToolTest
@Import(Carrier.class)
class ParcelsTest {
    @Autowired
    private TestKeelson keelson;

    @Test
    void emptyOrderFailsForGood() {
        Run run = keelson.start(Mission.named("empty").task("pack",
                task -> task.step("pack", "parcel.pack", Map.of("order", "7", "items", List.of()))));

        keelson.assertEnd(run).failed("ORDER_EMPTY");
    }
}
