package example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.keelson.api.run.Run;
import io.keelson.test.Fault;
import io.keelson.test.KeelsonTest;
import io.keelson.test.ScriptedTool;
import io.keelson.test.TestKeelson;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests of reminder.yaml: a week passes at once, and no model and no mail server is needed. */
@KeelsonTest
class ReminderTest {
    private static final Path MISSION = Path.of("reminder.yaml");
    private static final Map<String, String> ADA = Map.of("customer", "Ada");

    @Test
    void customerIsRemindedAfterAWeek(TestKeelson keelson) {
        keelson.model().says("Dear Ada, please pay.");
        ScriptedTool mail = keelson.tool("mail.send").returns("sent");
        Run run = keelson.start(MISSION, ADA);
        keelson.step(run, "paid", "waiting");

        keelson.clock().advance(Duration.ofDays(6));
        keelson.assertThat(run).state("running");
        keelson.clock().advance(Duration.ofDays(1));

        keelson.assertEnd(run).completed().costAtMost("0.001")
                .events("run_created", "task_completed", "run_completed");
        mail.assertCalls(1);
        assertEquals("Dear Ada, please pay.", mail.calls().getFirst().input().path("text").asString());
    }

    @Test
    void customerWhoHasPaidGetsNoMail(TestKeelson keelson) {
        ScriptedTool mail = keelson.tool("mail.send");
        Run run = keelson.start(MISSION, ADA);
        keelson.step(run, "paid", "waiting");

        keelson.client().runs().signal(run.id(), "paid", Map.of("amount", 12));

        keelson.assertEnd(run).completed().output(Map.of("amount", 12)).cost("0");
        mail.assertCalls(0);
    }

    @Test
    void mailIsSentAgainWhenItsServerWasAway(TestKeelson keelson) {
        keelson.model().says("Please pay.");
        ScriptedTool mail = keelson.tool("mail.send").fails("MAIL_SERVER_AWAY").returns("sent");
        Run run = keelson.start(MISSION, ADA);
        keelson.step(run, "paid", "waiting");
        keelson.clock().advance(Duration.ofDays(7));
        keelson.awaitEvent(run, "step_retrying");

        keelson.clock().advance(Duration.ofMinutes(5));

        keelson.assertEnd(run).completed();
        mail.assertCalls(2).assertEffects(1);
    }

    @Test
    void mailHasOneEffectWhenItsWorkerCrashes(TestKeelson keelson) {
        keelson.model().says("Please pay.");
        ScriptedTool mail = keelson.tool("mail.send").returns("sent", "sent");
        keelson.fault(Fault.CRASH_BEFORE_REPORT, "mail.send");
        Run run = keelson.start(MISSION, ADA);
        keelson.step(run, "paid", "waiting");
        keelson.clock().advance(Duration.ofDays(7));
        keelson.awaitCalls(mail, 1);

        keelson.clock().advance(Duration.ofMinutes(1));

        keelson.assertEnd(run).completed();
        mail.assertCalls(2).assertEffects(1);
    }

    @Test
    void mailIsSentOnceWhenItsReportIsLost(TestKeelson keelson) {
        keelson.model().says("Please pay.");
        ScriptedTool mail = keelson.tool("mail.send").returns("sent");
        keelson.fault(Fault.REPORT_LOST, "mail.send");
        Run run = keelson.start(MISSION, ADA);
        keelson.step(run, "paid", "waiting");

        keelson.clock().advance(Duration.ofDays(7));

        keelson.assertEnd(run).completed();
        mail.assertCalls(1);
    }

    @Test
    void reminderSurvivesAFailureOfTheProvider(TestKeelson keelson) {
        keelson.model().says("Please pay.");
        keelson.fault(Fault.PROVIDER_500);
        ScriptedTool mail = keelson.tool("mail.send").returns("sent");
        Run run = keelson.start(MISSION, ADA);
        keelson.step(run, "paid", "waiting");
        keelson.clock().advance(Duration.ofDays(7));

        keelson.awaitEvent(run, "step_deferred");
        keelson.clock().advance(Duration.ofMinutes(1));

        keelson.assertEnd(run).completed();
        mail.assertCalls(1);
        assertEquals(2, keelson.model().questions().size());
    }
}
