package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.keelson.api.run.Run;
import io.keelson.api.tenant.ApiKey;
import io.keelson.api.tenant.NewApiKey;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.RunQuery;
import io.keelson.client.ScheduleRequest;
import io.keelson.client.plan.Mission;
import io.keelson.test.KeelsonTest;
import io.keelson.test.ScriptedTool;
import io.keelson.test.TestKeelson;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Times of other parts than a mission's waits. */
@KeelsonTest
class ClockTest {

    @Test
    void scheduleCreatesARunEachDay(TestKeelson keelson) {
        Mission mission = Mission.named("daily").task("greet", t -> t.step("say", "echo", Map.of("text", "hello")));
        keelson.client().schedules().create(ScheduleRequest.of("each-day", "0 6 * * *").mission(mission));

        keelson.clock().advance(Duration.ofDays(1));
        keelson.until("the run of the first day has not completed", () -> completed(keelson) == 1);
        keelson.clock().advance(Duration.ofDays(1));
        keelson.until("the run of the second day has not completed", () -> completed(keelson) == 2);
    }

    /** The schedule creates no run while its former one is open. */
    private static long completed(TestKeelson keelson) {
        return keelson.client().runs().list(RunQuery.all()).items().stream().filter(Run::completed).count();
    }

    @Test
    void runThatHangsMeetsItsTimeout(TestKeelson keelson) {
        CountDownLatch hangs = new CountDownLatch(1);
        ScriptedTool tool = keelson.tool("test.hang").answers(step -> {
            hangs.await();
            return null;
        });
        Run run = keelson.start(Mission.named("hanging").task("hang", t -> t.step("hang", "test.hang", Map.of())));
        keelson.awaitCalls(tool, 1);

        keelson.clock().advance(Duration.ofDays(1));

        keelson.assertEnd(run).failed("RUN_TIMEOUT");
        hangs.countDown();
    }

    @Test
    void keyExpires(TestKeelson keelson) {
        ApiKey key = keelson.client().apiKeys().create(null,
                new NewApiKey("guest", null, null, List.of("runs:read"), 3_600L));
        Keelson guest = Keelson.builder().url(keelson.url()).apiKey(key.key()).build();
        assertEquals(0, guest.runs().list(RunQuery.all()).items().size());

        keelson.clock().advance(Duration.ofHours(2));

        assertThrows(KeelsonException.class, () -> guest.runs().list(RunQuery.all()));
    }
}
