package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.tenant.NewApiKey;
import io.keelson.cli.CliProcess.Result;
import io.keelson.core.Breadth;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** What people are asked and what they answer, beside one server. */
@Breadth.Spread
class DecisionCommandsTest {

    @TempDir
    static Path folder;

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
    void approvalIsInEveryViewAndReachesItsStep() throws Exception {
        Result run = inProcessCli.run("run", inProcessCli.mission(CliProcess.ASKS), "--json");
        assertThat(run.code()).as(run.err()).isEqualTo(4);
        String id = run.json().at("/run/id").asString();
        assertThat(run.json().at("/waiting/0/input/question").asString()).isEqualTo("Publish it?");
        assertThat(inProcessCli.run("states", id, "--json").json().at("/contracts/steps/run").asString())
                .isEqualTo("WAITING_APPROVAL");
        assertThat(inProcessCli.run("states", "latest").out().lines().map(line -> line.replaceAll(" +", " "))).contains(
                "CONTRACT RUN TASKS STEPS", "canonical running 1 running 1 pending, 1 waiting_approval",
                "handoff RUNNING", "gate4 awaiting_user_confirmation 1 awaiting_user_confirmation");
        Result plain = inProcessCli.run("watch", id);
        assertThat(plain.code()).isEqualTo(4);
        assertThat(plain.out()).contains("Publish it?", "keelson approve " + id + " --watch");
        Result wrong = inProcessCli.run("approve", id, "--step", "other");
        assertThat(wrong.code()).isEqualTo(1);
        assertThat(wrong.err()).contains("[STEP_NOT_FOUND]").contains("sign-off");
        assertThat(inProcessCli.run("approve", id, "--step", "sign-off", "--watch").code()).isZero();
    }

    @Test
    void planAndApprovalDataAreShownBeforeApproval() throws Exception {
        String mission = inProcessCli.mission("""
                config: {autonomy: {level: approve}}
                plan:
                  reasoning: First look, then ask
                  tasks:
                    - {id: look, title: Look around, estimated_cost: 0.25, tools_needed: [files.read], steps: [{tool: noop}]}
                    - id: ask
                      depends_on: [look]
                      estimated_cost: 0.5
                      steps: [{name: ok, kind: approval, input: {question: "Pay?", amount: 12, to: {name: Ada}}}]
                """);
        Result run = inProcessCli.run("run", mission);
        String[] plan = {"First look, then ask", "estimated cost: 0.75 credits", "files.read, noop", "Look around"};
        assertThat(run.out()).contains(plan);
        Result approved = inProcessCli.run("approve", "latest", "--watch");
        assertThat(approved.out()).contains(plan).contains("Pay?", "amount: 12", "Ada");
        assertThat(approved.code()).as(approved.err()).isEqualTo(4);
        assertThat(inProcessCli.run("approve", "latest", "--watch").out()).contains("Pay?", "amount: 12");
    }

    @Test
    void aRunThatHasAskedForNothingIsNotApproved() throws Exception {
        inProcessCli.lines("run", inProcessCli.mission("plan: {tasks: [{id: a, steps: [{tool: echo}]}]}"));
        Result refused = inProcessCli.run("approve", "latest");
        assertThat(refused.code()).isEqualTo(1);
        assertThat(refused.err()).contains("[NOTHING_TO_APPROVE]");
    }

    @Test
    void aReviewNamesTheThresholdThatTheScoreIsBelow() throws Exception {
        Result run = inProcessCli.run("run", inProcessCli.mission("""
                plan:
                  tasks:
                    - id: t
                      steps: [{tool: echo}]
                      verify: [{kind: tool, tool: echo, threshold: 0.8,
                                input: {verdict: passed, score: 0.4, feedback: too short}}]
                """));
        String doubt = "the score 0.4 is below 0.8: too short";
        assertThat(run.out()).contains("t waits for a person: " + doubt);
        assertThat(inProcessCli.run("inbox", "--run", "latest", "--details").out())
                .contains("reason: the score 0.4 is below 0.8", "too short");
    }

    @Test
    void lateDecisionGetsTheEarlierOne() throws Exception {
        inProcessCli.run("run", inProcessCli.mission(CliProcess.ASKS));
        JsonNode item = inProcessCli.run("inbox", "--run", "latest", "--json").json().at("/items/0");
        inProcessCli.lines("approve", item.path("id").asString(), "--reason", "figures checked");
        Result late = inProcessCli.run("reject", item.path("id").asString());
        assertThat(late.code()).isEqualTo(1);
        assertThat(late.err()).contains("was already approved; local approved it at 20", "Z: figures checked",
                "[APPROVAL_ALREADY_DECIDED]");
        assertThat(inProcessCli.run("reject", "latest").err()).contains("; local approved it at 20");
        inProcessCli.run("run",
                inProcessCli.mission("plan: {tasks: [{id: t, steps: [{tool: echo}], verify: [{kind: human}]}]}"));
        inProcessCli.lines("task", "approve", "latest/t");
        assertThat(inProcessCli.run("task", "reject", "latest/t").err()).contains("; local approved the output at 20");
        inProcessCli.run("run", inProcessCli.mission("""
                config: {escalation: {enabled: true, on_exhausted: true}}
                plan: {tasks: [{id: t, steps: [{tool: fail, input: {times: 9}, retry: {max_attempts: 1}}]}]}
                """));
        String ticket = inProcessCli.run("escalations", "--json").json().at("/items/0/id").asString();
        inProcessCli.lines("resolve", ticket, "cancel", "--reason", "no use");
        assertThat(inProcessCli.run("resolve", ticket, "resume").err())
                .contains("; local answered the ticket with cancel at 20", "Z: no use", "[TICKET_NOT_OPEN]");
    }

    @Test
    void latestIsTheNewestRunThatTheCallerHasSubmitted() throws Exception {
        String mission = inProcessCli.mission("plan: {tasks: [{id: a, steps: [{tool: echo}]}]}");
        String own = inProcessCli.run("run", mission, "--json").json().at("/run/id").asString();
        String key = inProcessCli.client().apiKeys().create(null, new NewApiKey("other", "other", "service",
                List.of("runs:read", "runs:write"), null)).key();
        assertThat(InProcessCli
                .run(Map.of("KEELSON_DATA_DIR", inProcessCli.folder().toString(), "KEELSON_API_KEY", key), "run",
                        mission)
                .code()).isZero();
        assertThat(inProcessCli.run("show", "latest", "--json").json().at("/run/id").asString()).isEqualTo(own);
    }

    @Test
    void inboxItemShowsTheOutputToJudge() throws Exception {
        String mission = inProcessCli.mission("""
                config: {acceptance: human}
                plan:
                  tasks:
                    - {id: report, steps: [{tool: echo, input: {text: all is well}}], verify: [{kind: human}]}
                """);
        Result review = inProcessCli.run("run", mission);
        assertThat(review.code()).as(review.err()).isEqualTo(4);
        assertThat(review.out()).contains("the output of report is to be approved", "all is well");
        assertThat(inProcessCli.run("runs").out()).contains("running, waits for a person");
        assertThat(inProcessCli.run("show", "latest").out()).contains("all is well");
        Result accept = inProcessCli.run("task", "approve", "latest/report", "--watch");
        assertThat(accept.code()).as(accept.err()).isEqualTo(4);
        assertThat(accept.out()).contains("its result waits for acceptance", "all is well");
        assertThat(inProcessCli.run("approve", "latest", "--watch").code()).isZero();
        assertThat(inProcessCli.run("runs", "--limit", "1").out()).doesNotContain("waits for a person");
    }

    @Test
    void anOutputIsJudged() throws Exception {
        Result run = inProcessCli.run("run", inProcessCli.mission("""
                plan:
                  tasks:
                    - id: draft
                      retry: {base_delay_seconds: 0}
                      verify: [{kind: human}]
                      steps: [{tool: noop, input: {output: a text}}]
                """));
        assertThat(run.code()).as(run.err()).isEqualTo(4);
        assertThat(run.out()).contains("draft waits for a person", "the output of draft is to be approved",
                "keelson task approve|reject ");
        Result other = inProcessCli.run("task", "approve", "latest/drift");
        assertThat(other.err()).contains("[TASK_NOT_FOUND]", "it has draft");
        assertThat(inProcessCli.run("task", "approve", "latest/draft", "--attempt", "7").err())
                .contains("[GATE_CHANGED]");
        Result again = inProcessCli.run("task", "reject", "latest/draft", "--again", "--reason", "longer", "--watch");
        assertThat(again.code()).as(again.err()).isEqualTo(4);
        assertThat(inProcessCli.run("show", "latest").out()).containsPattern("draft +awaiting_human +2 ");
        Result approved = inProcessCli.run("task", "approve", "latest/draft", "--watch");
        assertThat(approved.code()).as(approved.err()).isZero();
        assertThat(approved.err()).contains("draft is completed");
    }

    @Test
    void aTicketIsListedAndAnswered() throws Exception {
        Result run = inProcessCli.run("run", inProcessCli.mission("""
                config: {escalation: {on_exhausted: true}}
                plan:
                  tasks:
                    - id: bad
                      steps: [{name: try, tool: fail, input: {message: no luck}, retry: {max_attempts: 1}}]
                    - {id: next, depends_on: [bad], trigger_rule: all_done, steps: [{tool: noop}]}
                """), "--json");
        assertThat(run.code()).as(run.err()).isEqualTo(4);
        String ticket = run.json().at("/waiting/0/id").asString();
        String id = run.json().at("/run/id").asString();
        Result shown = inProcessCli.run("show", id);
        assertThat(shown.out()).contains("escalated", "ticket " + ticket, "no luck",
                "keelson resolve " + ticket + " resume|skip|fail|cancel");
        Result listed = inProcessCli.run("escalations");
        assertThat(listed.out()).contains(ticket, "high", "attempt_budget_exhausted", "no luck");
        assertThat(listed.err()).contains("keelson resolve TICKET");
        assertThat(inProcessCli.run("resolve", ticket, "forget").code()).isEqualTo(2);
        Result resolved = inProcessCli.run("resolve", "latest", "skip", "--reason", "known", "--watch", "--json");
        assertThat(resolved.code()).as(resolved.err()).isZero();
        assertThat(resolved.json().at("/tasks/1/state").asString()).isEqualTo("completed");
        assertThat(inProcessCli.run("escalations", "--run", id).out()).contains("no tickets");
        assertThat(
                inProcessCli.run("escalations", "--all", "--json").json().at("/items/0/resolution_reason").asString())
                .isEqualTo("known");
        Result fork = inProcessCli.run("fork", id, "--from", "next", "--name", "again", "--watch", "--json");
        assertThat(fork.code()).isEqualTo(4);
        assertThat(fork.json().at("/run/forked_from").asString()).isEqualTo(id);
        assertThat(inProcessCli.run("fail", "latest", "--reason", "enough").out()).contains("is failed");
    }

    @Test
    void theInboxIsWorkedOff() throws Exception {
        String first = inProcessCli.run("run", inProcessCli.mission(CliProcess.ASKS), "--json").json().at("/run/id")
                .asString();
        JsonNode waits = inProcessCli.run("inbox", "--run", first, "--json").json().at("/items/0");
        String item = waits.get("id").asString();
        assertThat(item).startsWith("step_");
        JsonNode inbox = inProcessCli.client().api().get("/inbox?run_id=" + first);
        assertThat(waits.get("links")).as(inbox.toString()).isEqualTo(inbox.at("/items/0/links"));
        assertThat(inProcessCli.run("inbox", "assign", item, "@me", "--due", "2h").out()).contains(item);
        assertThat(inProcessCli.run("inbox", "assign", item, "unknown").err()).contains("UNKNOWN_PRINCIPAL",
                "keelson keys");
        assertThat(inProcessCli.lines("inbox", "assign", item, "--due", "5h")).containsExactly(item + " is local's");
        Result listed = inProcessCli.run("inbox", "--mine", "--kind", "approval_step");
        assertThat(listed.out()).contains(item, "Publish it?", "in 4h");
        assertThat(listed.err()).contains("keelson inbox --review");
        Result approved = inProcessCli.run("approve", item, "--reason", "yes", "--watch");
        assertThat(approved.out()).startsWith("  Publish it?");
        assertThat(approved.code()).as(approved.err()).isZero();
        assertThat(inProcessCli.run("inbox", "--run", first).out()).contains("nothing waits for you");
    }

    @Test
    void runWaitingForASignalNamesItAndTheCommand() throws Exception {
        String mission = inProcessCli.mission("""
                plan:
                  tasks:
                    - {id: pay, steps: [{tool: signal.wait, input: {name: "${ \\"paid\\" }", timeout_seconds: 900}}]}
                    - {id: also, steps: [{tool: signal.wait, input: {name: paid}}]}
                    - {id: nap, steps: [{tool: wait, input: {seconds: 900}}]}
                """);
        String run = inProcessCli.run("run", mission, "--detach").out().strip();
        String send = "keelson signal " + run + " paid --payload JSON";
        Awaitility.await().untilAsserted(() -> assertThat(inProcessCli.run("show", run).out())
                .contains("waits for the signal 'paid' until 2", "waits for the signal 'paid'\n", send)
                .containsOnlyOnce("send it with"));
        Result explained = inProcessCli.run("explain", run);
        assertThat(explained.out()).contains("SIGNAL", "'paid'", "TIMER");
        assertThat(explained.err()).containsOnlyOnce(send);
        Result sent = inProcessCli.run("signal", run, "paid");
        assertThat(sent.code()).as(sent.err()).isZero();
        Result cancelled = inProcessCli.run("cancel", run);
        assertThat(cancelled.code()).as(cancelled.err()).isZero();
        assertThat(inProcessCli.run("show", run).out()).doesNotContain("send it with", "waits for");
    }

    @Test
    void latestRunIsNotAChildRun() throws Exception {
        Result parent = inProcessCli.run("run", inProcessCli.mission("""
                plan:
                  tasks:
                    - id: a
                      steps: [{tool: run.start, input: {plan: {tasks: [{id: b, steps: [{tool: noop}]}]}}}]
                """), "--json");
        assertThat(parent.code()).as(parent.out() + parent.err()).isZero();
        assertThat(inProcessCli.run("show", "latest").out()).contains("child runs: 1",
                parent.json().at("/run/id").asString()).doesNotContain("child of run");
    }

    @Test
    void oneCommandAnswersSeveralTickets() throws Exception {
        Result stopped = inProcessCli.run("run", inProcessCli.mission("""
                config: {escalation: {on_exhausted: true}}
                plan:
                  tasks:
                    - {id: a, steps: [{tool: fail, input: {times: 1}, retry: {max_attempts: 1}}]}
                    - {id: b, steps: [{tool: fail, input: {times: 1}, retry: {max_attempts: 1}}]}
                """));
        assertThat(stopped.code()).as(stopped.err()).isEqualTo(4);
        String run = inProcessCli.run("show", "latest", "--json").json().at("/run/id").asString();
        Awaitility.await().until(() -> inProcessCli.run("escalations", "--run", run, "--json").json().at("/items/1/id")
                .isString());
        String resume = "answer all 2 with: keelson resume " + run + " --watch";
        assertThat(inProcessCli.run("explain", run).err()).containsSubsequence(resume, " resolve ", " resolve ");
        assertThat(inProcessCli.run("watch", run).out()).containsSubsequence(resume, " resolve ", " resolve ");
        assertThat(inProcessCli.run("resume", run, "--watch").code()).isZero();
    }

    @Test
    void itemThatCannotBeApprovedNamesTheCommandToUse() throws Exception {
        String run = inProcessCli.run("run", inProcessCli.mission("""
                config: {escalation: {on_exhausted: true}}
                plan: {tasks: [{id: a, steps: [{tool: fail, retry: {max_attempts: 1}}]}]}
                """), "--json").json().at("/run/id").asString();
        assertThat(inProcessCli.run("approve", run).err()).contains("[INVALID_STATE_TRANSITION]",
                "possible: resume, fail, cancel",
                "`keelson show RUN` shows what it waits for");
        assertThat(inProcessCli.run("explain", run).err()).contains("answer with: keelson resolve ",
                " resume|skip|fail|cancel --watch");
        assertThat(inProcessCli.run("cancel", run).code()).isZero();
        Result later = inProcessCli.run("run", inProcessCli.mission("""
                start_at: 2199-01-01T00:00:00Z
                plan: {tasks: [{id: a, steps: [{tool: noop}]}]}
                """), "--timeout", "0");
        assertThat(later.err()).contains("it starts at 2199-01-01T00:00:00Z");
        assertThat(inProcessCli.run("show", "latest").out()).contains("no tasks yet").doesNotContain("REMARK");
        assertThat(inProcessCli.run("cancel", "latest").code()).isZero();
    }

    @Test
    void runAtItsBudgetNamesTheCommandThatRaisesTheBudget() throws Exception {
        Result run = inProcessCli.run("run", inProcessCli.mission("""
                config: {budget: {hard_limit_usd: 0.5}}
                plan:
                  tasks:
                    - id: dear
                      steps: [{tool: noop, input: {cost: 0.5}}, {tool: noop, input: {cost: 0.1}}]
                """));
        assertThat(run.code()).as(run.err()).isEqualTo(4);
        assertThat(run.out()).contains("its limit", "keelson budget ", "--hard-limit 0.500001 --watch")
                .doesNotContain("keelson resume", "keelson credits grant");
        Result raised = inProcessCli.run("budget", "latest", "--hard-limit", "1", "--watch");
        assertThat(raised.code()).as(raised.err()).isZero();
        Result example = inProcessCli.run("run", Path.of("../examples/budget.yaml").toRealPath().toString(), "--input",
                "drafts=50", "--external-id", "b-1");
        assertThat(example.code()).as(example.err()).isEqualTo(4);
        assertThat(inProcessCli.run("show", "latest").out()).contains(", external id b-1");
        assertThat(inProcessCli.run("budget", "latest", "--hard-limit", "5", "--watch").code()).isZero();
    }

    @Test
    void anAnswerToABudgetDecidesNoLaterQuestion() throws Exception {
        Result started = inProcessCli.run("run", inProcessCli.mission("""
                config: {budget: {hard_limit_usd: 0.02}}
                plan:
                  tasks:
                    - id: dear
                      steps: [{tool: noop, input: {cost: 0.02}}, {tool: noop, input: {cost: 0.02}}, {tool: noop}]
                """));
        assertThat(started.code()).as(started.err()).isEqualTo(4);
        String run = inProcessCli.run("show", "latest", "--json").json().at("/run/id").asString();
        String first = question(run);
        assertThat(first).startsWith("budget_" + run + "_");
        Result raised = inProcessCli.run("approve", first, "--hard-limit", "0.04", "--watch");
        assertThat(raised.code()).as(raised.err()).isEqualTo(4);
        String second = question(run);
        assertThat(second).isNotEqualTo(first).startsWith("budget_" + run + "_");

        for (List<String> late : List.of(List.of("approve", first, "--hard-limit", "0.04"), List.of("approve", first),
                List.of("reject", first))) {
            Result refused = inProcessCli.run(late.toArray(String[]::new));
            assertThat(refused.code()).isNotZero();
            assertThat(refused.err()).contains("GATE_CHANGED", second, "raised the run's limit to 0.04 at ");
        }
        Result unnamed = inProcessCli.run("approve", "budget_" + run, "--hard-limit", "5");
        assertThat(unnamed.code()).isNotZero();
        assertThat(unnamed.err()).contains("INBOX_ITEM_NOT_FOUND", "that waits is " + second);
        assertThat(question(run)).isEqualTo(second);

        assertThat(inProcessCli.run("reject", second, "--reason", "too dear").err()).doesNotContain("GATE_CHANGED");
        assertThat(inProcessCli.run("show", run).out()).contains("FAILED_BY_HUMAN");
        assertThat(inProcessCli.run("reject", second).err()).as("the same again").doesNotContain("[");
        Result later = inProcessCli.run("budget", run, "--hard-limit", "5");
        assertThat(later.code()).isZero();
        assertThat(later.err()).contains("its hard limit is 5; continue it with keelson retry " + run);
        assertThat(inProcessCli.run("approve", second).err()).contains("INVALID_STATE_TRANSITION",
                "local ended the run as failed at ").doesNotContain("raised");
    }

    @Test
    void undoIsToldInTermsOfTheRunThatIsUndone() throws Exception {
        assertThat(inProcessCli.run("run", inProcessCli.mission("""
                plan: {tasks: [{id: a, steps: [{tool: noop}], undo: {tool: fail, input: {class: permanent}}}]}
                """)).code()).isZero();
        String run = inProcessCli.run("show", "latest", "--json").json().at("/run/id").asString();
        assertThat(inProcessCli.run("undo", run, "--watch").code()).isEqualTo(4);
        String undoing = inProcessCli.run("show", run, "--json").json().at("/run/undo/run_id").asString();
        assertThat(inProcessCli.run("undo", run).out().strip())
                .isEqualTo("undo of run " + run + " by run " + undoing + ": running, waits for a person");
        inProcessCli.run("fail", undoing);
        assertThat(inProcessCli.run("undo", run).out().strip()).startsWith("undo of run " + run + " by run " + undoing
                + ": failed (1 not undone); continue it with `keelson retry " + undoing + "`");
    }

    @Test
    void anAnswerToAResultDecidesNoLaterQuestion() throws Exception {
        Result started = inProcessCli.run("run", inProcessCli.mission("""
                config: {acceptance: human}
                plan: {tasks: [{id: a, steps: [{tool: echo, input: {text: hi}}], verify: [{kind: length, min: 1}]}]}
                """));
        assertThat(started.code()).as(started.err()).isEqualTo(4);
        assertThat(inProcessCli.run("inbox", "--details").out())
                .contains("a, attempt 1: verify.length passed, score 1\n");
        String run = inProcessCli.run("show", "latest", "--json").json().at("/run/id").asString();
        String first = question(run);
        assertThat(first).startsWith("result_" + run + "_");
        assertThat(inProcessCli.run("reject", first, "--reason", "too short").err()).doesNotContain("GATE_CHANGED");
        assertThat(inProcessCli.run("retry", run, "--from", "start", "--watch").code()).isEqualTo(4);
        String second = question(run);
        assertThat(inProcessCli.run("inbox", "--details").out())
                .contains("attempt 1 of the run: the result was rejected: too short");

        Result late = inProcessCli.run("approve", first);
        assertThat(late.code()).isNotZero();
        assertThat(late.err()).contains("GATE_CHANGED", second, "ended the run as failed at ");
        assertThat(question(run)).isEqualTo(second);
        assertThat(inProcessCli.run("approve", second, "--watch").code()).isZero();
        assertThat(inProcessCli.run("reject", second).err()).contains("accepted the result at ");
    }

    private static String question(String run) {
        return inProcessCli.run("inbox", "--run", run, "--json").json().at("/items/0/id").asString();
    }

    @Test
    void aNewPlanIsShownBeforeItIsAnswered() throws Exception {
        Result run = inProcessCli.run("run", inProcessCli.mission("""
                config:
                  replan: {approve: true}
                  planner:
                    tool: echo
                    input:
                      reasoning: by sea
                      tasks: [{id: sail, estimated_cost: 1.5, suggested_agent: {agent_name: crew}, steps: [{tool: noop}]}]
                plan:
                  tasks: [{id: drive, steps: [{tool: fail, input: {class: permanent, message: no road}}]}]
                """));
        assertThat(run.code()).as(run.err()).isEqualTo(4);
        String[] shown = {"failed: drive: no road", "by sea", "estimated cost: 1.5 credits", "crew", "added: sail",
                "dropped: drive"};
        assertThat(run.out()).contains(shown).contains("  sail  ");
        assertThat(inProcessCli.run("inbox", "--kind", "escalation", "--details").out()).contains(shown)
                .contains("accept: the new plan takes the place of all tasks that are not completed");
        String item = inProcessCli.run("inbox", "--kind", "escalation", "--json").json().at("/items/0/id").asString();
        assertThat(inProcessCli.run("approve", item, "--watch").code()).isZero();
    }
}
