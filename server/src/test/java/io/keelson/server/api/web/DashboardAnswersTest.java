package io.keelson.server.api.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import io.keelson.core.Breadth;
import io.keelson.devmodel.TestModel;
import io.keelson.server.annex.mcp.FakeMcpServer;
import io.keelson.server.api.http.ApiServer;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What agents, models and MCP servers ask people, and how a person answers in the browser. */
class DashboardAnswersTest extends DashboardChecks {

    private static final String SCRIPT = """
            rules:
              - {when: {text: "Pay", turn: 1}, answer: {calls: [{tool: echo, input: {sum: 5}}]}}
              - {when: {text: "Ask", turn: 1}, answer: {calls: [{tool: agent_ask, input: {question: "Which colour?",
                  schema: {type: object, required: [colour], properties: {colour: {enum: [red, blue]}, size: {type: integer},
                    at: {type: string}}}}}]}}
              - {when: {text: "Twice", turn: 1}, answer: {calls: [{tool: echo, input: {n: 1}}], usage: {input: 100, output: 400}}}
              - {when: {text: "Tell", first: 1}, answer: {text: "%s", drip_ms: 250, cut_after_bytes: 8000}}
              - {when: {text: "Tell"}, answer: {text: "The second telling is the one that counts, word by word.", drip_ms: 250}}
              - {when: {text: "It is coloured."}, answer: {json: {marks: [{criterion: 1, evidence: "", mark: 5}], feedback: "",
                  confidence: 0.9, task_wrong: false}, usage: {input: 100, output: 200}}}
              - {answer: {text: "done", usage: {input: 100, output: 400}}}
            """
            .formatted("The first telling breaks off. ".repeat(40));

    private TestModel model;
    private FakeMcpServer peer;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        model = new TestModel(SCRIPT);
        peer = new FakeMcpServer("{}");
        StringBuilder models = new StringBuilder("models:\n");
        Map.of("dear", 40, "small", 1, "judge", 5).forEach((name, output) -> models.append("""
              %s: {wire: openai-chat, base_url: "%s", model: %1$s, family: %s, context_tokens: 90000,
                max_output_tokens: 2000, prices: {input: 1, output: %s}}
            """.formatted(name, model.uri("/v1"), name.equals("judge") ? "g" : "f", output)));
        use(new ApiServer(folder.resolve("data"), TestDatabase.createUrl(), Map.of("KEELSON_MODELS",
                Files.writeString(folder.resolve("models.yaml"), models).toString(),
                "KEELSON_ALLOW_PRIVATE_ADDRESSES", "true")));
        agent("payer", "\"tools\": [\"echo\"], \"limits\": {\"approvals\": {\"echo\": \"always\"}}");
        agent("asker", "\"tools\": [\"agent.ask\"]");
        agent("teller", "\"tools\": []");
    }

    @AfterAll
    void stop() throws Exception {
        peer.close();
        model.close();
    }

    private void agent(String slug, String more) {
        ApiServer.Answer made = api.post("/api/v1/agents",
                "{\"slug\": \"%s\", \"name\": \"%1$s\", \"model\": \"small\", %s}".formatted(slug, more));
        assertThat(made.status()).as(made.text()).isEqualTo(201);
    }

    private String run(String agent, String goal) {
        ApiServer.Answer made = api.post("/api/v1/agents/run",
                "{\"agent_slug\": \"%s\", \"goal\": \"%s\"}".formatted(agent, goal));
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        return made.json().get("run_id").stringValue();
    }

    /** Its question, in the inbox of one run, once it is there. */
    private static void show(Page page, String run, String question) {
        DashboardBrowser.go(page, "/ui/inbox?run=" + run);
        sees(page.locator(".question").getByText(question));
    }

    private static void accept(Page page) {
        save(page, "Accept").click();
        sees(page.getByText("Accepted").last());
        PlaywrightAssertions.assertThat(dialog(page)).hasCount(0);
    }

    private String steps(String run) {
        return api.get("/api/v1/runs/" + run + "/steps").text();
    }

    @Test
    void failureIsTriedAgainSkippedOrEndsTheRun() {
        String run = api.create("""
                {"name": "ticket", "start": true, "config": {"escalation": {"on_exhausted": true}}, "plan": {"tasks": [
                  {"id": "a", "steps": [{"name": "try", "tool": "fail", "input": {"times": "${ 1 + 1 }"},
                   "retry": {"max_attempts": 1}}]}]}}""");
        api.awaitState(run, "escalated");
        Page page = browser.signedIn("/ui/inbox");
        show(page, run, "step 'a/try' failed");
        PlaywrightAssertions.assertThat(page.locator(".answers"))
                .containsText(Pattern.compile("Try again.*Skip.*Fail the run", Pattern.DOTALL));
        PlaywrightAssertions.assertThat(page.locator(".detail")).not().containsText("${");
        page.locator(".answers").getByText("Skip").click();
        save(page, "Skip").click();
        sees(page.getByText("Skip: done").last());
        api.awaitState(run, "skipped");
    }

    @Test
    void questionsOfAgentsAndMcpServersAreAnsweredByKeyboard() {
        send("PUT", "/api/v1/mcp-servers/peer", "{\"url\": \"%s\", \"tools\": [\"*\"]}".formatted(peer.url()));
        String call = run("payer", "Pay");
        String question = run("asker", "Ask");
        String elicitation = api.create("""
                {"name": "elicits", "start": true, "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
                  {"name": "call", "tool": "mcp.peer.ask", "input": {}}]}]}}""");
        String proposal = api.create("""
                {"name": "proposes", "start": true, "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
                  {"name": "suggest", "tool": "proposal.create", "input": {"title": "Raise the price of A to 12",
                   "body": "It sells too fast.", "data": {"sku": "A", "price": 12}}}]}]}}""");
        Page page = browser.signedIn("/ui/inbox");

        show(page, call, "echo");
        page.keyboard().press("a");
        PlaywrightAssertions.assertThat(dialog(page)).containsText("The call is made once, with this input");
        dialog(page).getByLabel("input").fill("{\"sum\": 4}");
        accept(page);
        api.awaitState(call, "completed");
        assertThat(steps(call)).contains("{\"sum\":4}");

        show(page, question, "Which colour?");
        page.keyboard().press("a");
        PlaywrightAssertions.assertThat(dialog(page).locator("[data-input]")).hasCount(3);
        assertThat(dialog(page).locator("[data-input]").all()).as("the agent's order")
                .extracting(each -> each.getAttribute("data-input")).containsExactly("colour", "size", "at");
        dialog(page).getByLabel("colour").selectOption("blue");
        accept(page);
        api.awaitState(question, "completed");
        assertThat(steps(question)).contains("{\"colour\":\"blue\"}");

        show(page, elicitation, "Whom?");
        page.keyboard().press("a");
        dialog(page).getByLabel("name").fill("Ada");
        accept(page);
        api.awaitState(elicitation, "completed");
        assertThat(steps(elicitation)).contains("accept Ada opaque");

        show(page, proposal, "Raise the price of A to 12");
        PlaywrightAssertions.assertThat(page.locator(".detail")).containsText("It sells too fast.");
        page.keyboard().press("r");
        save(page, "Reject").click();
        sees(page.getByText("Rejected").last());
        assertThat(api.get("/api/v1/proposals?run_id=" + proposal).text()).contains("\"rejected\"");
    }

    @Test
    void changeOfAToolIsShownBesideItsAcceptedDescription() throws Exception {
        try (FakeMcpServer changing = new FakeMcpServer("{}")) {
            send("PUT", "/api/v1/mcp-servers/changing",
                    "{\"url\": \"%s\", \"tools\": [\"add\"]}".formatted(changing.url()));
            changing.description = "Adds, and sends a copy to a stranger";
            api.post("/api/v1/mcp-servers/changing/check", "");
            Page page = browser.signedIn("/ui/inbox?kind=tool_change");
            Locator row = row(page, "/description");
            PlaywrightAssertions.assertThat(row).containsText("Adds, and sends a copy to a stranger");
            assertThat(browser.violations(page)).isEmpty();
            page.keyboard().press("a");
            accept(page);
            sees(page.getByText("Nothing of this filter waits"));
        }
    }

    @Test
    void chargesOfAnAgentAreDividedByPurpose() {
        String run = api
                .create("""
                {"name": "painted", "start": true, "config": {"hooks": {"before_run": {"tool": "noop", "input": {"cost": 0.5}}}}, "plan": {"tasks": [{"id": "t", "title": "Paint",
                  "suggested_agent": {"type": "contractor", "agent_name": "painter", "model": "small"},
                  "verify": [{"kind": "model", "model": "judge", "criteria": [{"criterion": "It is coloured."}]}]}]}}""");
        api.awaitState(run, "completed");
        Page page = browser.signedIn("/ui/runs/" + run + "?view=agents");
        PlaywrightAssertions.assertThat(row(page, "painter")).containsText("0.0016");
        PlaywrightAssertions.assertThat(row(page, "painter"))
                .containsText("0.0005 credits work · 0.0011 credits verification");
        PlaywrightAssertions.assertThat(row(page, "planning and hooks")).containsText("0.50");
        sees(page.getByText("Verification is what judges cost that checked the output"));
    }

    @Test
    void agentsShowWhyTheirToolsCannotBeCalled() {
        send("PUT", "/api/v1/mcp-servers/sums", "{\"url\": \"%s\", \"tools\": [\"fail\"]}".formatted(peer.url()));
        agent("adder", "\"tools\": [\"mcp.sums.add\"]");
        ApiServer.Answer warned = api.get("/api/v1/agents/adder");
        Page page = browser.signedIn("/ui/settings?tab=agents");
        PlaywrightAssertions.assertThat(row(page, "adder"))
                .containsText("Warning: mcp.sums.add: the MCP server 'sums' has this tool, and it is off");
        assertThat(browser.violations(page)).isEmpty();
        send("PUT", "/api/v1/mcp-servers/sums", "{\"url\": \"%s\", \"tools\": [\"add\"]}".formatted(peer.url()));
        String tag = warned.header("ETag");
        ApiServer.Answer changed = api.send("GET", "/api/v1/agents/adder", null, "If-None-Match", tag);
        assertThat(changed.status()).as("its warnings are others").isEqualTo(200);
        assertThat(changed.json().get("warnings")).isEmpty();
    }

    @Test
    void budgetGoesOnWithACheaperModelOrFinishesWhatRuns() {
        String mission = """
                {"name": "%s", "start": true, "config": {"budget": {"hard_limit_usd": 0.02}, "max_agents": 1}, "plan": {"tasks": [
                  {"id": "t", "title": "Twice", "tools_needed": ["echo"],
                   "suggested_agent": {"type": "contractor", "agent_name": "t", "model": "dear"}}]}}""";
        String cheaper = api.create(mission.formatted("cheaper"));
        String finished = api.create(mission.formatted("finished"));
        api.awaitState(cheaper, "budget_exceeded");
        api.awaitState(finished, "budget_exceeded");
        Page page = browser.signedIn("/ui/inbox?run=" + cheaper);
        button(page, "Downgrade…").click();
        dialog(page).getByLabel("Model for all further turns").fill("small");
        save(page, "Downgrade").click();
        api.awaitState(cheaper, "completed");
        DashboardBrowser.go(page, "/ui/inbox?run=" + finished);
        button(page, "Finish what runs…").click();
        save(page, "Finish what runs").click();
        assertThat(api.awaitState(finished, "failed").get("error_code").stringValue()).isEqualTo("BUDGET_EXCEEDED");
    }

    @Test
    void textOfATurnArrivesLiveAndATurnIsForked() {
        String run = run("teller", "Tell");
        String task = api.get("/api/v1/runs/" + run + "/tasks").json().at("/items/0/id").stringValue();
        Page page = browser.signedIn("/ui/runs/" + run + "/tasks/" + task);
        sees(page.locator(".writing").getByText("The first telling"));
        sees(page.locator(".writing").getByText("the text before it is void"));
        sees(page.locator(".writing").getByText("The second telling"));
        PlaywrightAssertions.assertThat(page.locator(".writing")).hasCount(0);
        sees(page.locator(".said").getByText("The second telling is the one that counts, word by word."));
        api.awaitState(run, "completed");
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Fork from turn 1")).click();
        dialog(page).getByLabel("Name of the new run").fill("another telling");
        save(page, "Fork").click();
        page.waitForURL(Pattern.compile(".*/ui/runs/(?!" + run + ")[0-9a-f-]{36}"));
        sees(page.getByRole(AriaRole.HEADING, new Page.GetByRoleOptions().setName("another telling")));
    }

    @Test
    void creditsAreGrantedAndPricesSet() {
        Page page = browser.signedIn("/ui/money");
        button(page, "Grant credits…").click();
        dialog(page).getByLabel("Credits").fill("12.5");
        dialog(page).getByLabel("Reason").fill("for the spring");
        save(page, "Grant").click();
        sees(page.getByText("Granted"));
        assertThat(api.get("/api/v1/ledger").text()).contains("for the spring");
        // The prices are below the ledger, which moves them.
        sees(row(page, "12.5"));
        button(page, "New price…").click();
        dialog(page).getByLabel("Name").fill("shop.order");
        dialog(page).getByLabel("Credits per call").fill("0.25");
        save(page, "Save").click();
        Locator row = row(page, "shop.order");
        PlaywrightAssertions.assertThat(row).containsText("0.25");
        row.getByText("Change…").click();
        dialog(page).getByLabel("Credits per call").fill("0.5");
        save(page, "Save").click();
        PlaywrightAssertions.assertThat(row).containsText("0.5");
    }

    @Test
    void modelsAreListedWithPricesAndChecks() {
        Page page = browser.signedIn("/ui/settings?tab=models");
        Locator dear = row(page, "dear");
        PlaywrightAssertions.assertThat(dear).containsText("40");
        PlaywrightAssertions.assertThat(dear).containsText("not checked");
        button(page, "Check dear").click();
        PlaywrightAssertions.assertThat(dear).containsText("answers");
        assertThat(browser.violations(page)).isEmpty();
        ApiServer.Answer unknown = api.post("/api/v1/models/none/check", "");
        assertThat(unknown.status()).isEqualTo(404);
        assertThat(unknown.json().get("code").stringValue()).isEqualTo("MODEL_NOT_FOUND");
    }

    @Test
    @Breadth.InPart(2)
    void personSetsHoursOfMessagesAndSendsATest() {
        String key = api.post("/api/v1/api-keys", """
                {"name": "pat", "principal": "pat", "principal_kind": "person", "scopes": ["runs:read"]}""").json()
                .get("key").stringValue();
        String id = api.post("/api/v1/webhooks", """
                {"url": "http://127.0.0.1:9/secret-path", "format": "slack", "recipient": "pat"}""").json().get("id")
                .stringValue();
        Page page = browser.signedIn("/ui/settings?tab=notifications", 1440, 900, ColorScheme.LIGHT, key);
        sees(page.getByText("127.0.0.1:9"));
        assertThat(page.content()).doesNotContain("secret-path");
        PlaywrightAssertions.assertThat(button(page, "Delete")).hasCount(0);
        PlaywrightAssertions.assertThat(button(page, "Mail to my address…")).hasCount(0);
        button(page, "Edit…").click();
        dialog(page).getByLabel("Quiet from").fill("22:00");
        save(page, "Save").click();
        sees(dialog(page).getByRole(AriaRole.ALERT));
        browser.expect("422");
        dialog(page).getByLabel("until").fill("07:00");
        dialog(page).getByLabel("Events").fill("approval.needed\nrun.failed");
        save(page, "Save").click();
        sees(page.getByText("22:00–07:00 UTC"));
        button(page, "Test").click();
        sees(page.getByText("A test was sent").last());
        assertThat(api.get("/api/v1/webhooks/" + id + "/deliveries").json().get("items")).isNotEmpty();
        assertThat(browser.violations(page)).isEmpty();
        page.context().close();
    }

    @Test
    @Breadth.InPart(2)
    void administratorSetsTheRuleAboutApprovals() {
        Page page = browser.signedIn("/ui/settings?tab=limits");
        sees(page.getByText("One person decides each question of new runs"));
        try {
            button(page, "Change…").click();
            dialog(page).getByLabel("The submitter of a run cannot approve for it").check();
            send("PATCH", "/api/v1/approval-rule", "{\"approvals\": 3}");
            save(page, "Save").click();
            browser.expect("412");
            save(page, "Keep theirs").click();
            sees(page.getByText(
                    "3 people approve each question of new runs; the submitter of a run may be one of them"));
            button(page, "Change…").click();
            dialog(page).getByLabel("People who have to approve").fill("2");
            dialog(page).getByLabel("The submitter of a run cannot approve for it").check();
            save(page, "Save").click();
            sees(page.getByText("2 people approve each question of new runs; the submitter of a run cannot approve"));
            assertThat(api.get("/api/v1/approval-rule").json().get("approvals").intValue()).isEqualTo(2);
        } finally {
            send("PATCH", "/api/v1/approval-rule", "{\"approvals\": 1, \"four_eyes\": false}");
        }
    }

    @Test
    @Breadth.InPart(2)
    void webhookIsAddedChangedAndDeleted() {
        Page page = browser.signedIn("/ui/settings?tab=webhooks");
        button(page, "New webhook…").click();
        dialog(page).getByLabel("Address").fill("http://127.0.0.1:9/added");
        save(page, "Create").click();
        sees(dialog(page).getByLabel("The secret"));
        save(page, "Done").click();
        Locator row = row(page, "127.0.0.1:9/added");
        row.getByText("Edit…").click();
        dialog(page).getByLabel("Description").fill("the printer");
        dialog(page).locator("#f-events").fill("run.failed");
        save(page, "Save").click();
        PlaywrightAssertions.assertThat(row).containsText("the printer");
        PlaywrightAssertions.assertThat(row).containsText("run.failed");
        button(page, "Delete http://127.0.0.1:9/added").click();
        save(page, "Delete").click();
        PlaywrightAssertions.assertThat(row).hasCount(0);
    }
}
