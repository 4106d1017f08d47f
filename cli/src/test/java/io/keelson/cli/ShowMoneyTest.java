package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The money of a run, as a shell shows it. */
class ShowMoneyTest {

    @TempDir
    private static Path folder;

    private static InProcessCli inProcessCli;

    @BeforeAll
    static void start() throws Exception {
        inProcessCli = new InProcessCli(folder);
    }

    @AfterAll
    static void stop() {
        inProcessCli.close();
    }

    @Test
    void blockedRunNamesTheReason() throws Exception {
        Path mission = Files.writeString(folder.resolve("dear.yaml"), """
                name: dear
                config: {budget: {hard_limit_usd: 0.05}}
                plan:
                  tasks:
                    - id: a
                      steps:
                        - {name: one, tool: text.template, input: {template: a}}
                        - {name: two, tool: text.template, input: {template: b}}
                """);
        inProcessCli.lines("prices", "set", "tool", "text.template", "0.03");
        assertThat(inProcessCli.run("run", mission.toString()).out()).contains(
                "it has cost 0.03 credits of the 0.05 that its limit allows, and the next step may cost 0.03");
        assertThat(inProcessCli.lines("budget", "latest")).anyMatch(line -> line.matches("the run +0.05 +0.03 +0.02"))
                .anyMatch(line -> line.contains("the next step may cost 0.03, 0.01 more than is left"));
        assertThat(inProcessCli.run("budget", "latest", "--json").json().at("/hard_limit_usd").asString())
                .isEqualTo("0.05");
        assertThat(inProcessCli.run("budget", "latest", "--watch").err()).contains("[USAGE]");
        String question = inProcessCli.run("inbox", "--run", "latest", "--json").json().at("/items/0/id").asString();
        Result tooSmall = inProcessCli.run("budget", "latest", "--hard-limit", "0.055");
        assertThat(tooSmall.out()).contains(" is budget_exceeded");
        assertThat(tooSmall.err())
                .contains("it is still stopped: it has cost 0.03 credits of the 0.055 that its limit allows, "
                        + "and the next step may cost 0.03, 0.005 more than is left; raise its limit to 0.06 or more");
        assertThat(inProcessCli.run("approve", question).err()).contains("raised the run's limit to 0.055 at ");
        String next = inProcessCli.run("inbox", "--run", "latest", "--json").json().at("/items/0/id").asString();
        assertThat(inProcessCli.run("approve", next, "--hard-limit", "0.056").err())
                .contains("it is still stopped: ", "0.004 more than is left");
        assertThat(inProcessCli.run("budget", "latest", "--hard-limit", "0.06", "--watch").code()).isZero();
    }

    @Test
    void budgetLeavesWhatIsNotCharged() throws Exception {
        Path mission = Files.writeString(folder.resolve("above.yaml"), """
                name: above
                config: {budget: {hard_limit_usd: 0.1}}
                plan:
                  tasks:
                    - id: a
                      steps:
                        - {name: one, tool: noop, input: {cost: 0.5}}
                        - {name: two, tool: noop}
                """);
        assertThat(inProcessCli.run("run", mission.toString()).out()).contains("it has cost 0.1 credits of the 0.1");
        assertThat(inProcessCli.lines("budget", "latest").stream().map(line -> line.replaceAll(" +", " ")))
                .contains("BUDGET OF LIMIT CHARGED UNCOLLECTED LEFT", "the run 0.1 0.1 0.4 0");
        assertThat(inProcessCli.run("budget", "latest", "--hard-limit", "0.3", "--watch").code()).isZero();
        assertThat(inProcessCli.lines("budget", "latest")).anyMatch(
                line -> line.matches("the run +0.3 +0.1 +0.4 +0.2"));
    }

    @Test
    void taskAboveItsBudgetIsNamedAndRaised() throws Exception {
        Path mission = Files.writeString(folder.resolve("research.yaml"), """
                name: research
                plan:
                  tasks:
                    - id: research
                      budget_usd: 3
                      steps:
                        - {name: one, tool: noop, input: {cost: 5}}
                        - {name: two, tool: noop}
                """);
        String id = inProcessCli.run("run", mission.toString(), "--detach").out().strip();
        inProcessCli.run("watch", "latest");
        assertThat(inProcessCli.run("watch", "latest").out()).contains("task research used 5 of 3 credits")
                .contains("--task research=5.000001 --watch");
        assertThat(inProcessCli.lines("budget", "latest")).anyMatch(line -> line.matches("task research +3 +5 +0"));
        assertThat(inProcessCli.lines("show", "latest")).anyMatch(
                line -> line.contains("credits:") && line.endsWith("; task research used 5 of 3 credits"));
        assertThat(inProcessCli.run("explain", "latest").out()).contains("task research used 5 of 3 credits");
        assertThat(inProcessCli.run("resume", "latest").err()).contains("task research used 5 of 3 credits")
                .contains("--task research=5.000001");
        assertThat(inProcessCli.run("budget", "latest", "--task", "research=5.5", "--watch").code()).as(id).isZero();
        assertThat(inProcessCli.lines("show", "latest")).anyMatch(
                line -> line.endsWith("; task research used 5 of 5.5 credits"));
    }

    @Test
    void aRunOfSeveralAttemptsShowsTheMoneyOfEach() throws Exception {
        Path mission = Files.writeString(folder.resolve("twice.yaml"), """
                name: twice
                config: {budget: {hard_limit_usd: 3}}
                plan:
                  total_estimated_cost: 2
                  tasks:
                    - id: a
                      steps:
                        - {name: keep, tool: artifact.write, input: {name: kept.txt, content: a}}
                        - {name: try, tool: fail, input: {times: 9}, retry: {max_attempts: 1}}
                """);
        inProcessCli.lines("prices", "set", "tool", "artifact.write", "0.25");
        assertThat(inProcessCli.run("run", mission.toString()).code()).isEqualTo(1);
        assertThat(inProcessCli.lines("show", "latest")).noneMatch(line -> line.contains("attempt 1:"));
        inProcessCli.run("retry", "latest", "--watch");

        assertThat(inProcessCli.lines("show", "latest").stream().map(line -> line.replaceAll(" +", " "))).contains(
                " attempt 1: 2 reserved, 0.25 charged, 1.75 refunded failed FAILED_ON_PURPOSE",
                " attempt 2: 2 reserved, 0.25 charged, 1.75 refunded failed FAILED_ON_PURPOSE");
        assertThat(inProcessCli.run("show", "latest", "--json").json().at("/attempts/0/credits_charged").decimalValue())
                .isEqualByComparingTo("0.25");
        assertThat(inProcessCli.lines("events", "latest")).anyMatch(line -> line.contains("step_completed")
                && line.endsWith("cost=0.25 charged=0.25"));

        inProcessCli.lines("artifacts", "latest", "--remove", "kept.txt");
        assertThat(inProcessCli.lines("show", "latest", "--out", folder.resolve("out").toString()))
                .anyMatch(line -> line.startsWith("kept.txt") && line.endsWith("no longer kept"));
    }
}
