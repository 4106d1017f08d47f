package io.keelson.server.api.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.assertions.LocatorAssertions;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.ForcedColors;
import com.microsoft.playwright.options.ReducedMotion;
import io.keelson.server.api.http.ApiServer;
import io.keelson.server.base.json.Json;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** What people do in the dashboard besides looking at runs. */
class DashboardWorkTest extends DashboardChecks {

    private static final String HOSTILE = "<img src=x onerror=canary=1>\"'></script><svg onload=canary=1>"
            + "javascript:canary=1 \u05d0\ud83d\ude80";

    private static final LocatorAssertions.IsVisibleOptions LATE =
            new LocatorAssertions.IsVisibleOptions().setTimeout(20_000);
    private static final Pattern FAULTY = Pattern.compile(".*(/api/v1/|/readyz).*");

    private String recipe;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        use(new ApiServer(folder));
        recipe = seed.recipe("print-letter");
        seed.work(recipe);
    }

    private String task(String title) {
        return api.post("/api/v1/board/tasks", "{\"title\": \"%s\"}".formatted(title)).json().get("id").toString();
    }

    private static Locator column(Page page, String title) {
        return page.getByRole(AriaRole.REGION, new Page.GetByRoleOptions().setName(title).setExact(true));
    }

    private static Locator card(Page page, String column) {
        return column(page, column).getByRole(AriaRole.BUTTON,
                new Locator.GetByRoleOptions().setName("Water the plants").setExact(true));
    }

    @Test
    void taskIsMovedByKeyboardMenuAndMouse() {
        String id = task("Water the plants");
        Page page = browser.signedIn("/ui/board");
        Locator title = button(page, "Water the plants");
        title.focus();
        page.keyboard().press("Shift+ArrowRight");
        sees(card(page, "Assigned"));
        sees(page.getByText("Moved to Assigned"));
        PlaywrightAssertions.assertThat(title).isFocused();
        page.getByLabel("Move Water the plants to").selectOption("review");
        sees(card(page, "Review"));
        sees(page.getByText("Moved to Review"));
        page.locator(".ticket", new Page.LocatorOptions().setHasText("Water the plants"))
                .dragTo(column(page, "Done"), new Locator.DragToOptions().setTargetPosition(40, 40));
        sees(card(page, "Done"));
        sees(page.getByText("Moved to Done"));
        assertThat(api.get("/api/v1/board/tasks/" + id).json().get("status").stringValue()).isEqualTo("done");
    }

    /** The menu of a ticket that takes the place of a moved one begins where its own task is. */
    @Test
    void tasksOfAColumnAreMovedOneAfterAnother() {
        task("Sweep the yard");
        task("Sweep the stairs");
        Page page = browser.signedIn("/ui/board");
        Locator menus = column(page, "Inbox").locator("select");
        sees(button(page, "Sweep the yard"));
        int before = menus.count();
        menus.first().selectOption("review");
        sees(page.getByText("Moved to Review"));
        PlaywrightAssertions.assertThat(menus).hasCount(before - 1);
        PlaywrightAssertions.assertThat(menus.first()).hasValue("inbox");
    }

    @Test
    void ledgerThatDoesNotAddUpIsSaid() {
        Page page = browser.signedIn("/ui/money");
        button(page, "Verify").click();
        sees(page.getByText("All balances follow from the ledger."));
        page.route("**/api/v1/ledger/verify", route -> route.fulfill(new Route.FulfillOptions()
                .setContentType("application/json").setBody("""
                        {"ok": false, "entries": 9, "attempts": 1, "workspaces": 1, "discrepancy": {"kind": "balance_differs",
                         "message": "the balance 'spent' is 3 and not 2"}}""")));
        button(page, "Verify").click();
        sees(page.getByText("the balance 'spent' is 3 and not 2"));
    }

    @Test
    void keysOfTheInboxAnswerNothingOnAnotherPage() {
        seed.waiting("left-alone");
        Page page = browser.signedIn("/ui/inbox");
        sees(page.locator(".queue .item").first());
        page.keyboard().press("g");
        page.keyboard().press("r");
        sees(page.getByRole(AriaRole.HEADING, new Page.GetByRoleOptions().setName("Runs").setExact(true)));
        PlaywrightAssertions.assertThat(page.locator(".run-row").first()).isVisible();
        PlaywrightAssertions.assertThat(dialog(page)).hasCount(0);
    }

    @Test
    void eventsAreFollowedAgainAfterASecondSignIn() {
        Page page = browser.signedIn("/ui/board");
        sees(page.locator(".live").getByText("Live"));
        api.get("/api/v1/sessions").json().get("items")
                .forEach(each -> api.send("DELETE", "/api/v1/sessions/" + each.get("id").asString(), null));
        DashboardBrowser.go(page, "/ui/schedules");
        sees(page.getByText("Your session has ended"));
        browser.expect("401");
        browser.signIn(page);
        PlaywrightAssertions.assertThat(page.locator(".live").getByText("Live")).isVisible(LATE);
    }

    /** The browser then has cookies of both; the page uses the later one, also after it is loaded again. */
    @Test
    void secondWorkspaceIsSignedInToBesideTheFirst() {
        Page page = browser.signedInAnew("/ui/board");
        sees(page.getByText("Renew the certificate").first());
        page.evaluate("localStorage.clear()");
        page.reload();
        browser.signIn(page, api.stranger().substring("Bearer ".length()));
        sees(page.getByText("Nothing on the board"));
        page.reload();
        sees(page.getByText("Nothing on the board"));
    }

    /** Names that the list of a form's fields has for other things. */
    @Test
    void inputsMayHaveAnyName() {
        String made = api.post("/api/v1/recipes", """
                {"name": "names", "inputs": {"length": {"type": "integer"}, "item": {"type": "string"}},
                 "plan": {"tasks": [{"id": "a", "steps": [{"tool": "echo"}]}]}}""").json().get("id").stringValue();
        Page page = browser.signedIn("/ui/launch?recipe=" + made);
        page.locator("#length").fill("3");
        page.locator("#item").fill("pen");
        button(page, "Start the run").click();
        page.waitForURL(Pattern.compile(".*/ui/runs/.*"));
        String run = page.url().substring(page.url().lastIndexOf('/') + 1);
        assertThat(api.get("/api/v1/runs/" + run).json().get("inputs"))
                .isEqualTo(Json.read("{\"length\": 3, \"item\": \"pen\"}".getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void graphOfARunWithoutTasksSaysSo() {
        String run = api.create("{\"name\": \"nothing\", \"plan\": {\"tasks\": []}}");
        Page page = browser.signedIn("/ui/runs/" + run + "?view=graph");
        sees(page.getByText("There are no tasks yet."));
        button(page, "Fit").click();
        sees(page.getByText("There are no tasks yet."));
    }

    @Test
    void secondEditorOfATaskSeesBothVersionsAndDecides() {
        String id = task("Buy paper");
        Page page = browser.signedIn("/ui/board");
        button(page, "Buy paper").click();
        dialog(page).getByLabel("Title").fill("Buy blue paper");
        send("PATCH", "/api/v1/board/tasks/" + id, "{\"title\": \"Buy red paper\", \"assignee\": \"ben\"}");
        save(page, "Save").click();
        Locator both = dialog(page).filter(new Locator.FilterOptions().setHasText("It was changed while you edited"));
        PlaywrightAssertions.assertThat(both).containsText("Buy blue paper");
        PlaywrightAssertions.assertThat(both).containsText("Buy red paper");
        assertThat(api.get("/api/v1/board/tasks/" + id).json().get("title").stringValue()).isEqualTo("Buy red paper");
        browser.expect("412");
        both.getByText("Save mine over it").click();
        sees(page.getByText("Saved", new Page.GetByTextOptions().setExact(true)));
        assertThat(api.get("/api/v1/board/tasks/" + id).json().get("title").stringValue()).isEqualTo("Buy blue paper");
    }

    @Test
    void secondEditorOfAScheduleMayKeepTheOther() {
        JsonNode made = api.post("/api/v1/schedules", """
                {"name": "evening", "cron": "0 18 * * *", "recipe": "%s", "inputs": {"copies": 2}}""".formatted(recipe))
                .json();
        Page page = browser.signedIn("/ui/schedules");
        row(page, "evening")
                .getByText("Edit…").click();
        dialog(page).getByLabel("When").fill("0 19 * * *");
        send("PUT", "/api/v1/schedules/" + made.get("id").stringValue(), """
                {"name": "evening", "cron": "0 20 * * *", "recipe": "%s", "inputs": {"copies": 2}}"""
                .formatted(recipe));
        save(page, "Save").click();
        Locator both = dialog(page).filter(new Locator.FilterOptions().setHasText("It was changed while you edited"));
        PlaywrightAssertions.assertThat(both).containsText("0 19 * * *");
        PlaywrightAssertions.assertThat(both).containsText("0 20 * * *");
        browser.expect("412");
        both.getByText("Keep theirs").click();
        sees(page.getByText("0 20 * * *"));
        PlaywrightAssertions.assertThat(page.getByText("0 19 * * *")).hasCount(0);
    }

    @Test
    void scheduleIsCreatedWithItsNextTimesPausedAndStarted() {
        Page page = browser.signedIn("/ui/schedules");
        button(page, "New schedule").click();
        dialog(page).getByLabel("Name").fill("at-noon");
        dialog(page).getByLabel("Recipe").selectOption(recipe);
        dialog(page).getByLabel("When").fill("0 12 31 2 7 9");
        sees(dialog(page).locator(".note.bad"));
        dialog(page).getByLabel("When").fill("0 12 1 1 *");
        PlaywrightAssertions.assertThat(dialog(page).locator(".times li").first()).containsText("1 Jan, 12:00");
        browser.expect("422");
        save(page, "Create").click();
        sees(dialog(page).locator(".field").filter(new Locator.FilterOptions().setHasText("copies"))
                .getByRole(AriaRole.ALERT));
        dialog(page).getByLabel("copies").fill("4");
        save(page, "Create").click();
        Locator row = row(page, "at-noon");
        sees(row);
        row.getByText("Pause").click();
        sees(row.getByText("paused"));
        JsonNode made = api.get("/api/v1/schedules?name=at-noon").json().at("/items/0");
        assertThat(made.at("/inputs/copies").asInt()).isEqualTo(4);
        assertThat(made.get("paused").asBoolean()).isTrue();
        row.getByText("Run now…").click();
        save(page, "Run now").click();
        sees(page.getByText("A run was asked for"));
        row.getByText("at-noon").click();
        sees(page.locator(".runs-made").getByRole(AriaRole.LINK).first());
    }

    @Test
    void reportsAndArtifactsRunNothingInTheBrowser() {
        String run = api.create("""
                {"name": %s, "goal": %s, "start": true, "plan": {"tasks": [{"id": "a", "steps": [
                  {"tool": "artifact.write", "input": {"name": "page.html", "content_type": "text/html", "content": %s}},
                  {"tool": "artifact.write", "input": {"name": "long.txt", "content": %s}}]}]}}""".formatted(
                Json.string(HOSTILE), Json.string(HOSTILE + " **bold** ![i](https://elsewhere.example/x.png)"),
                Json.string("<h1>Shown</h1><script>parent.canary=1</script>"), Json.string("line\n".repeat(40_000))));
        api.awaitState(run, "completed");
        Page page = browser.signedIn("/ui/reports?run=" + run);
        sees(page.frameLocator("iframe").getByText("bold"));
        PlaywrightAssertions.assertThat(page.frameLocator("iframe").locator("img")).hasCount(0);
        DashboardBrowser.go(page, "/ui/runs/" + run + "?view=artifacts");
        Locator html = row(page, "page.html");
        html.getByText("Preview").click();
        sees(page.frameLocator("dialog iframe").getByText("Shown"));
        browser.expect("Blocked script execution");
        save(page, "Source").click();
        PlaywrightAssertions.assertThat(dialog(page).locator("pre")).containsText("<script>");
        save(page, "Close").click();
        row(page, "long.txt").getByText("Preview")
                .click();
        PlaywrightAssertions.assertThat(dialog(page)).containsText("the first 64 KiB");
        PlaywrightAssertions.assertThat(dialog(page).locator("pre")).containsText("line");
        assertThat((Integer) page.evaluate("document.querySelector('dialog pre').textContent.length"))
                .isEqualTo(64 * 1024);
        assertThat(page.evaluate("window.canary")).isNull();
    }

    @Test
    void viewIsSavedAndOpensTheSameListAgain() {
        Page page = browser.signedIn("/ui/runs?view=failed&text=invoice");
        button(page, "Save view…").click();
        dialog(page).getByLabel("Name").fill("broken invoices");
        dialog(page).getByLabel("For all of the workspace").check();
        save(page, "Save").click();
        sees(page.getByText("Saved", new Page.GetByTextOptions().setExact(true)));
        Page other = browser.signedIn("/ui/runs");
        other.getByLabel("Saved views").selectOption("all broken invoices");
        other.waitForURL(Pattern.compile(".*view=failed.*text=invoice"));
        PlaywrightAssertions.assertThat(button(other, "Failed")).hasAttribute("aria-pressed", "true");
        button(other, "Delete the view broken invoices").click();
        save(other, "Delete").click();
        sees(other.getByText("Deleted"));
        assertThat(api.get("/api/v1/views").json().get("items")).isEmpty();
    }

    @Test
    void keyIsShownOnceAndRevoked() {
        Page page = browser.signedIn("/ui/settings?tab=access");
        button(page, "New key…").click();
        dialog(page).getByLabel("What is it for?").fill("the printer");
        save(page, "Create").click();
        String key = dialog(page).getByLabel("The secret").textContent();
        assertThat(api.get("/api/v1/runs", "Authorization", "Bearer " + key).status()).isEqualTo(200);
        save(page, "Done").click();
        assertThat(page.content()).doesNotContain(key);
        Locator row = row(page, "the printer");
        row.first().getByText("Revoke…").click();
        save(page, "Revoke").click();
        PlaywrightAssertions.assertThat(row.first()).containsText("revoked");
    }

    @Test
    void secretsAndAgentsAreKept() {
        Page page = browser.signedIn("/ui/settings?tab=secrets");
        button(page, "New secret…").click();
        dialog(page).getByLabel("Name").fill("SHOP_TOKEN");
        dialog(page).getByLabel("Value").fill("abc");
        save(page, "Save").click();
        sees(dialog(page).getByRole(AriaRole.ALERT));
        browser.expect("422");
        dialog(page).getByLabel("Value").fill("abcdefgh");
        save(page, "Save").click();
        sees(page.getByText("SHOP_TOKEN"));
        assertThat(page.content()).doesNotContain("abcdefgh");
        page.getByRole(AriaRole.TAB, new Page.GetByRoleOptions().setName("Agents")).click();
        button(page, "Edit…").first().click();
        dialog(page).getByLabel("Description, for people").fill("Finds books");
        save(page, "Save").click();
        sees(page.getByText("Finds books"));
        JsonNode agent = api.get("/api/v1/agents/librarian").json();
        assertThat(agent.get("tools").toString()).isEqualTo("[\"files.read\",\"files.search\"]");
    }

    @Test
    void twoRunsAreCompared() {
        String one = seed.failing();
        String other = api.create("""
                {"name": "invoice-import", "start": true, "plan": {"tasks": [
                  {"id": "read", "title": "Read the invoices", "steps": [{"name": "ask", "tool": "noop", "input": {"cost": 0.25}}]},
                  {"id": "book", "title": "Book them", "depends_on": ["read"], "steps": [{"tool": "echo"}]}]}}""");
        api.awaitState(other, "completed");
        Page page = browser.signedIn("/ui/compare?a=" + one + "&b=" + other);
        Locator tasks = page.getByRole(AriaRole.REGION, new Page.GetByRoleOptions().setName("Tasks").setExact(true));
        Locator read =
                tasks.getByRole(AriaRole.ROW).filter(new Locator.FilterOptions().setHasText("Read the invoices"));
        PlaywrightAssertions.assertThat(read).containsText("failed");
        PlaywrightAssertions.assertThat(read).containsText("completed");
        PlaywrightAssertions.assertThat(read).containsText("+0.25");
        PlaywrightAssertions.assertThat(tasks).containsText("not there");
        sees(page.locator(".plan-task.d-added").getByText("Book them"));
    }

    @Test
    void checkOfALaunchSaysWhatItWouldCostAndCreatesNothing() {
        String dear = api.post("/api/v1/recipes", """
                {"name": "dear", "inputs": {"n": {"type": "integer", "minimum": 1, "maximum": 9}}, "config": {"budget": {"hard_limit_usd": 7}},
                 "plan": {"total_estimated_cost": 1.5, "tasks": [{"id": "a", "steps": [{"tool": "echo"}]}]}}""").json()
                .get("id").stringValue();
        Page page = browser.signedIn("/ui/launch?recipe=" + dear);
        page.locator("#n").fill("10");
        button(page, "Check").click();
        sees(page.locator(".field").getByRole(AriaRole.ALERT));
        browser.expect("422");
        page.locator("#n").fill("3");
        button(page, "Check").click();
        sees(page.getByText("1 task, about 1.50 credits, at most 7.00 credits."));
        assertThat(api.get("/api/v1/runs?recipe_id=" + dear).json().get("items")).isEmpty();
    }

    @Test
    void reviewOfAnotherOutputThanTheOneSeenDecidesNothing() {
        String run = api
                .create("""
                {"name": "reviewed", "start": true, "plan": {"tasks": [
                  {"id": "a", "steps": [{"name": "say", "tool": "echo", "input": {"text": "hello"}}], "verify": [{"kind": "human"}]}]}}""");
        DashboardSeed.await(api, run);
        Page page = browser.signedIn("/ui/inbox?run=" + run);
        sees(page.getByText("Accept the output of task").first());
        page.route("**/api/v1/events/stream*", route -> route.abort());
        page.reload();
        sees(page.getByText("Accept the output of task").first());
        page.keyboard().press("a");
        sees(dialog(page));
        String item = item(run);
        api.post("/api/v1/inbox/" + item + "/reject", "{\"retry\": true, \"reason\": \"louder\", \"gate\": 1}");
        DashboardSeed.await(api, run);
        save(page, "Accept").click();
        sees(page.getByText("The output has changed since you looked. Nothing was decided."));
        assertThat(api.get("/api/v1/runs/" + run).json().get("state").stringValue()).isEqualTo("running");
        browser.expect("409");
        browser.expect("ERR_FAILED");
    }

    @Test
    void aNewPlanIsApprovedAfterItsChangesWereShown() {
        String run = api.create("""
                {"name": "again", "goal": "Get there", "start": true, "config": {"replan": {"approve": true}, "planner": {
                  "tool": "echo", "input": {"reasoning": "by sea", "tasks": [
                    {"id": "sail", "title": "Sail", "steps": [{"tool": "noop"}]},
                    {"id": "drive", "title": "Drive", "depends_on": ["sail"], "steps": [{"tool": "noop", "input": {"cost": 0.25}}]}]}}},
                 "plan": {"tasks": [{"id": "pack", "steps": [{"tool": "noop"}]},
                   {"id": "drive", "depends_on": ["pack"], "title": "Drive",
                    "steps": [{"tool": "fail", "input": {"class": "permanent", "message": "no road"}}]},
                   {"id": "unpack", "depends_on": ["drive"], "steps": [{"tool": "noop"}]}]}}""");
        DashboardSeed.await(api, run);
        Page page = browser.signedIn("/ui/inbox?run=" + run);
        Locator changes = page.locator(".plan");
        PlaywrightAssertions.assertThat(changes.locator(".d-added")).containsText("Sail");
        PlaywrightAssertions.assertThat(changes.locator(".d-removed")).containsText("unpack");
        Locator steps = changes.locator(".d-changed .change").filter(new Locator.FilterOptions().setHasText("steps"));
        PlaywrightAssertions.assertThat(steps.locator("del")).containsText("fail {");
        PlaywrightAssertions.assertThat(steps.locator("ins")).hasText("noop {\"cost\":0.25}");
        PlaywrightAssertions.assertThat(changes.locator(".d-changed .change")).hasCount(2);
        PlaywrightAssertions.assertThat(changes.locator(".d-changed .calls")).hasCount(0);
        Locator detail = page.locator(".detail");
        PlaywrightAssertions.assertThat(detail).containsText("Task Drive failed: no road");
        PlaywrightAssertions.assertThat(detail)
                .containsText("Tasks: 1 new, 1 done again, 1 dropped, 1 completed and kept.");
        PlaywrightAssertions.assertThat(detail).not().containsText("replan_approval");
        page.keyboard().press("a");
        PlaywrightAssertions.assertThat(dialog(page))
                .containsText("The new plan takes the place of all tasks that are not completed");
        save(page, "Accept").click();
        api.awaitState(run, "completed");
    }

    /** With what was refused before, its artifacts and lists as lists; the answer is at hand on a phone, too. */
    @Test
    void resultIsAcceptedAfterItsChecksAndArtifactsWereSeen() {
        String mission = """
                {"name": "%s", "start": true, "config": {"acceptance": "human", "retry": {"backoff_base_seconds": 0}}, "output": "${ .tasks.a.output }",
                 "plan": {"tasks": [{"id": "file", "steps": [{"tool": "artifact.write", "input": {"name": "notes.txt", "content": "kept"}}]},
                  {"id": "a", "title": "Find", "success_criteria": "Two findings", "steps": [
                   {"tool": "echo", "input": {"n": "${ .task.attempt }", "findings": ["the first finding", "the second finding"]}}],
                   "verify": [{"kind": "jq", "expression": "if .n > 1 then true else \\"look again\\" end"}]}]}}""";
        String run = api.create(mission.formatted("found"));
        DashboardSeed.await(api, run);
        Page page = browser.signedIn("/ui/inbox?run=" + run);
        Locator detail = page.locator(".detail");
        PlaywrightAssertions.assertThat(detail.locator(".value").first().locator(".bullets li")).hasText(
                new String[] {"the first finding", "the second finding"});
        PlaywrightAssertions.assertThat(detail).containsText("Expression: refused");
        PlaywrightAssertions.assertThat(detail).containsText("look again");
        detail.getByText("The output that was refused").click();
        sees(detail.locator("details[open]").getByText("the first finding"));
        detail.getByText("Preview").click();
        PlaywrightAssertions.assertThat(dialog(page).locator("pre")).containsText("kept");
        save(page, "Close").click();
        assertThat(browser.violations(page)).isEmpty();
        for (int width : new int[] {390, 800, 1440}) {
            page.setViewportSize(width, 844);
            assertThat(page.evaluate(
                    """
                    () => { const buttons = [...document.querySelectorAll('.answers .btn')].map(each => each.getBoundingClientRect());
                      return buttons.length === 2 && buttons.every(({left, right, top, bottom}) => left >= 0 && right <= innerWidth && bottom <= innerHeight
                        && document.elementFromPoint((left + right) / 2, (top + bottom) / 2)?.closest('.answers')); }"""))
                    .as("both answers are seen at " + width).isEqualTo(true);
        }
        page.keyboard().press("a");
        dialog(page).getByLabel("Comment").fill("well found");
        save(page, "Accept").click();
        sees(page.getByText("Nothing of this run waits any more"));
        api.awaitState(run, "completed");
    }

    /** Questions that are due earlier come before it, and the number beside the page's name is that of the list. */
    @Test
    void chosenQuestionStaysWhenEarlierOnesArrive() {
        seed.waiting("first-of-all");
        Page page = browser.signedIn("/ui/inbox");
        Locator chosen = page.locator(".detail .question");
        sees(chosen);
        String question = page.locator("[aria-current] strong").textContent();
        String other = item(seed.waiting("due-before"));
        api.post("/api/v1/inbox/" + other + "/assign", "{\"due_at\": \"2020-01-01T00:00:00Z\"}");
        DashboardBrowser.go(page, "/ui/inbox?again=1");
        PlaywrightAssertions.assertThat(page.locator(".queue .item").first()).containsText("due-before");
        PlaywrightAssertions.assertThat(page.locator(".queue [aria-current] strong")).hasText(question);
        page.waitForCondition(() -> page.locator(".nav .pill").textContent()
                .startsWith(page.locator(".queue .item").count() + " "));
    }

    @Test
    void menuOfARunIsAsWideAsItsActions() {
        String run = seed.waiting("with-a-menu");
        Page page = browser.signedIn("/ui/runs/" + run);
        button(page, "More actions").click();
        sees(page.locator(".menu").getByText("Fork from a task…"));
        assertThat(page.evaluate(
                """
                () => { const menu = document.querySelector('.menu').getBoundingClientRect();
                  const button = document.querySelector('[popovertarget=more]').getBoundingClientRect();
                  return menu.width < 300 && menu.top >= button.bottom && Math.abs(menu.right - button.right) < 2; }"""))
                .isEqualTo(true);
    }

    @Test
    void budgetIsRaisedAndATicketSkippedWithTheKeyboard() {
        String run = api
                .create("""
                {"name": "spent", "start": true, "config": {"budget": {"hard_limit_usd": 1}}, "plan": {"tasks": [
                  {"id": "a", "steps": [{"name": "say", "tool": "noop", "input": {"cost": 1}}]},
                  {"id": "b", "depends_on": ["a"], "steps": [{"name": "say", "tool": "noop", "input": {"cost": 1}}]}]}}""");
        api.awaitState(run, "budget_exceeded");
        Page page = browser.signedIn("/ui/inbox?run=" + run);
        sees(page.getByText("has reached its hard limit").first());
        sees(button(page, "Finish what runs…"));
        Locator amount = page.locator(".detail").getByLabel("New limit of the run");
        PlaywrightAssertions.assertThat(amount).hasValue("2");
        page.keyboard().press("a");
        PlaywrightAssertions.assertThat(amount).isFocused();
        page.keyboard().type("9");
        page.keyboard().press("Enter");
        sees(page.getByText("The run continues", new Page.GetByTextOptions().setExact(true)));
        sees(page.getByText("Nothing of this run waits any more"));
        assertThat(api.get("/api/v1/runs/" + run).json().get("hard_limit_usd").decimalValue())
                .isEqualByComparingTo("9");
        api.awaitState(run, "completed");
        String ticket = api
                .create("""
                {"name": "ticket", "start": true, "config": {"escalation": {"on_exhausted": true}}, "plan": {"tasks": [
                  {"id": "a", "steps": [{"name": "try", "tool": "fail", "input": {"times": 9}, "retry": {"max_attempts": 1}}]}]}}""");
        api.awaitState(ticket, "escalated");
        DashboardBrowser.go(page, "/ui/inbox?run=" + ticket);
        button(page, "Skip…").click();
        PlaywrightAssertions.assertThat(dialog(page)).containsText("The run continues without the failed work");
        save(page, "Skip").click();
        api.awaitState(ticket, "skipped");
    }

    @Test
    void signalIsSentFromTheBannerAfterItWasChecked() {
        String run = api.create("""
                {"name": "paid-order", "start": true, "plan": {"tasks": [{"id": "order", "steps": [
                  {"name": "payment", "tool": "signal.wait", "input": {"name": "paid", "schema": {
                    "type": "object", "required": ["amount"], "properties": {"amount": {"type": "number"}}}}}]}]}}""");
        api.awaitStep(run, "waiting");
        Page page = browser.signedIn("/ui/runs/" + run);
        PlaywrightAssertions.assertThat(page.locator("h1 ~ .awaits")).hasText("waits for a signal");
        button(page, "Send signal…").click();
        PlaywrightAssertions.assertThat(dialog(page).getByLabel("Name")).hasValue("paid");
        Locator payload = dialog(page).getByLabel("Payload", new Locator.GetByLabelOptions().setExact(true));
        PlaywrightAssertions.assertThat(payload).hasValue(Pattern.compile("\"amount\": 0"));
        payload.fill("soon");
        save(page, "Send").click();
        PlaywrightAssertions.assertThat(dialog(page).getByRole(AriaRole.ALERT)).containsText("not JSON");
        payload.fill("{\"amount\": \"ten\"}");
        save(page, "Send").click();
        PlaywrightAssertions.assertThat(dialog(page).getByRole(AriaRole.ALERT))
                .containsText("amount: string found, number expected");
        browser.expect("422");
        payload.fill("{\"amount\": 10}");
        save(page, "Send").click();
        PlaywrightAssertions.assertThat(state(page)).containsText("completed");
        assertThat(api.get("/api/v1/runs/" + run + "/steps").text()).contains("\"amount\":10");
    }

    @Test
    void backoffNamesItsAttemptAndIsDrawnAsBackoff() {
        String run = api.create("""
                {"name": "price-watch", "start": true, "plan": {"tasks": [{"id": "watch", "steps": [{"name": "ask", "tool": "fail",
                  "input": {"code": "RATE_LIMITED", "message": "429 of the shop", "times": 5},
                  "retry": {"max_attempts": 5, "base_delay_seconds": 900, "max_delay_seconds": 900}}]}]}}""");
        api.awaitStep(run, "awaiting_retry");
        Page page = browser.signedIn("/ui/runs/" + run);
        PlaywrightAssertions.assertThat(page.locator(".headline strong"))
                .hasText(Pattern.compile(
                        "backoff before attempt 2 of 5: RATE_LIMITED: 429 of the shop .* next at \\d\\d:\\d\\d:\\d\\d"));
        PlaywrightAssertions.assertThat(page.locator("h1 ~ .awaits")).hasText("waits for a retry");
        PlaywrightAssertions.assertThat(page.locator(".tree-body .s-backoff")).isAttached();
        PlaywrightAssertions.assertThat(page.locator(".tree-body .s-failed")).isAttached();
        page.setViewportSize(390, 844);
        assertThat(page.locator(".tree-body").boundingBox().height).isLessThan(60);
    }

    @Test
    void overviewSaysHowManyOpenRunsItDoesNotShow() {
        for (int i = 0; i < 10; i++) {
            api.create("""
                    {"name": "not-begun", "plan": {"tasks": [{"id": "t", "steps": [{"tool": "noop"}]}]}}""");
        }
        Page page = browser.signedIn("/ui/");
        Locator now =
                page.locator("section").filter(new Locator.FilterOptions().setHasText(Pattern.compile("^\\s*Now")));
        PlaywrightAssertions.assertThat(now.locator("li")).hasCount(9);
        now.getByText(Pattern.compile("^and \\d+ more$")).click();
        page.waitForURL("**/ui/runs");
    }

    @Test
    void budgetIsRaisedInTheBannerAndOneNumberIsCharged() {
        String run = api
                .create("""
                {"name": "dear-import", "start": true, "config": {"budget": {"hard_limit_usd": 1}}, "plan": {"tasks": [
                  {"id": "a", "steps": [{"name": "say", "tool": "noop", "input": {"cost": 1.5}}]},
                  {"id": "b", "depends_on": ["a"], "steps": [{"name": "say", "tool": "noop", "input": {"cost": 0.25}}]}]}}""");
        api.awaitState(run, "budget_exceeded");
        Page page = browser.signedIn("/ui/runs?text=dear-import");
        PlaywrightAssertions.assertThat(row(page, "dear-import").locator(".c-cost")).containsText("1.00");
        DashboardBrowser.go(page, "/ui/runs/" + run + "?view=money");
        Locator charged = page.locator(".figures > div").nth(1);
        PlaywrightAssertions.assertThat(charged.locator("strong")).hasText("1.00 credits of 1.00");
        PlaywrightAssertions.assertThat(charged).containsText("0.50 credits used, not charged");
        DashboardBrowser.go(page, "/ui/runs/" + run);
        PlaywrightAssertions.assertThat(page.locator(".figures > div").nth(3)).containsText("waiting for a person");
        DashboardBrowser.go(page, "/ui/runs/" + run + "?view=money");
        PlaywrightAssertions.assertThat(page.getByLabel("Sums")).containsText(Pattern.compile("Charged\\s*1\\.00 "));
        PlaywrightAssertions.assertThat(page.locator(".headline")).not().containsText("keelson budget");
        Locator amount = page.getByLabel("New limit of the run");
        PlaywrightAssertions.assertThat(amount).hasValue("2");
        amount.fill("0.5");
        button(page, "Raise and go on").click();
        PlaywrightAssertions.assertThat(page.locator(".budget").getByRole(AriaRole.ALERT))
                .containsText("It must be 1.000001 or more.");
        amount.fill("3");
        button(page, "Raise and go on").click();
        PlaywrightAssertions.assertThat(state(page)).containsText("completed");
        assertThat(api.get("/api/v1/runs/" + run + "/events?limit=200").text()).contains("run_budget_approved");
    }

    @Test
    void selectedRunsArePausedByOneJob() {
        List<String> runs = List.of(seed.waiting("chosen-one"), seed.waiting("chosen-two"));
        Page page = browser.signedIn("/ui/runs?text=chosen-");
        page.getByLabel(Pattern.compile("Select chosen-one")).check();
        page.getByLabel(Pattern.compile("Select chosen-two")).check();
        button(page, "Pause…").first().click();
        PlaywrightAssertions.assertThat(dialog(page).locator("p strong")).hasText("2 runs");
        save(page, "Pause 2 runs").click();
        sees(dialog(page).getByText("The job is completed."));
        save(page, "Close").click();
        runs.forEach(run -> api.awaitState(run, "paused"));
        PlaywrightAssertions.assertThat(page.locator(".run-row .state").filter(new Locator.FilterOptions()
                .setHasText("paused"))).hasCount(2);
    }

    /** Each text that people or programs make, on the pages that show it. */
    @Test
    void textsOfStrangersAreShownAsTextOnAllPages() {
        String text = Json.string(HOSTILE).toString();
        String longest = Json.string("\u05d0".repeat(400) + "Donaudampfschiff".repeat(5)).toString();
        for (String name : List.of(text, longest)) {
            api.post("/api/v1/board/tasks", "{\"title\": %s, \"description\": %s, \"assignee\": %s, \"tags\": [%s]}"
                    .formatted(name, name, Json.string("\u05d0\u05d1 ann"), Json.string("<b>")));
        }
        api.post("/api/v1/schedules",
                "{\"name\": %s, \"cron\": \"0 0 1 1 *\", \"mission\": {\"name\": %s, \"plan\": {\"tasks\": []}}}"
                        .formatted(Json.string(HOSTILE.substring(0, 80)), text));
        api.post("/api/v1/triggers",
                "{\"name\": %s, \"source\": {\"kind\": \"event\", \"event\": %s}, \"mission\": {\"name\": %s, \"plan\": {\"tasks\": []}}}"
                        .formatted(Json.string(HOSTILE.substring(0, 80)), Json.string(HOSTILE.substring(0, 80)), text));
        api.post("/api/v1/agents", "{\"slug\": \"hostile\", \"name\": %s, \"description\": %s, \"instructions\": %s}"
                .formatted(Json.string(HOSTILE.substring(0, 80)), text, text));
        api.post("/api/v1/webhooks",
                "{\"url\": \"http://127.0.0.1:9/?<img>\", \"description\": %s, \"enabled\": false}".formatted(text));
        api.post("/api/v1/api-keys",
                "{\"name\": %s, \"principal\": \"stranger\", \"scopes\": [\"runs:read\"]}".formatted(text));
        api.post("/api/v1/dispatch/claim", "{\"worker_id\": %s, \"tools\": [%s], \"version\": %s}".formatted(
                Json.string(HOSTILE.substring(0, 60)), Json.string("x.<img src=x onerror=canary=1>"), text));
        seed.absurd();
        String result = api
                .create("""
                {"name": "strange", "goal": %1$s, "start": true, "config": {"acceptance": "human"}, "output": "${ .tasks.a.output }",
                 "plan": {"tasks": [{"id": "a", "title": %1$s, "success_criteria": %1$s, "steps": [{"tool": "artifact.write",
                   "input": {"name": %2$s, "content": "x"}}, {"tool": "echo", "input": {"text": %1$s, "list": [%1$s]}}]}]}}"""
                        .formatted(Json.string(HOSTILE + "Donaudampfschiff".repeat(20)),
                                Json.string("<img src=x onerror=canary=1>"
                                        + "Donaudampfschiff".repeat(9))));
        DashboardSeed.await(api, result);
        String asked = api.create("""
                {"name": "asks", "start": true, "plan": {"tasks": [{"id": "a", "steps": [{"name": "s", "kind": "approval", "input": {
                  "question": "Named as the server names its own?", "checks": "x", "plan": 5, "changes": [1], "goal": {"a": [{}]},
                  "output": null, "differences": {"b": 1}, "verified": "y", "marks": %s}}]}]}}"""
                .formatted(Json.string(HOSTILE)));
        DashboardSeed.await(api, asked);
        Page page = browser.signedIn("/ui/", 1280, 800, ColorScheme.LIGHT, api.key());
        List<String> wide = new ArrayList<>();
        for (String path : List.of("/ui/", "/ui/runs", "/ui/inbox", "/ui/inbox?run=" + result, "/ui/inbox?run=" + asked,
                "/ui/launch",
                "/ui/money", "/ui/board",
                "/ui/schedules", "/ui/triggers",
                "/ui/reports", "/ui/workers", "/ui/events", "/ui/settings?tab=audit", "/ui/settings?tab=commands",
                "/ui/settings", "/ui/settings?tab=access", "/ui/settings?tab=agents",
                "/ui/settings?tab=webhooks")) {
            for (int width : Boolean.getBoolean("keelson.long") ? List.of(390, 1280) : List.of(390)) {
                page.setViewportSize(width, 800);
                DashboardBrowser.go(page, path);
                page.locator(".page h1").first().waitFor();
                PlaywrightAssertions.assertThat(page.locator(".skeleton")).hasCount(0);
                if (path.contains("?run=")) {
                    sees(path.endsWith(result) ? page.locator(".files").getByText("Preview")
                            : page.locator(".question").getByText("Named as the server names its own?"));
                }
                if ((Boolean) page.evaluate("document.documentElement.scrollWidth > innerWidth")) {
                    wide.add(path + " at " + width);
                }
                assertThat(page.evaluate("window.canary")).as(path).isNull();
            }
        }
        assertThat(wide).as("wider than the window").isEmpty();
    }

    @Test
    void forcedColoursKeepStatesApartAndReducedMotionStopsAnimation() {
        seed.failing();
        Page page = browser.signedIn("/ui/runs");
        page.emulateMedia(new Page.EmulateMediaOptions().setForcedColors(ForcedColors.ACTIVE)
                .setReducedMotion(ReducedMotion.REDUCE));
        sees(page.locator(".state.f-failed .icon").first());
        PlaywrightAssertions.assertThat(page.locator(".state.f-failed").first()).hasCSS("border-top-style", "solid");
        api.create(
                """
                {"name": "still-at-work", "start": true, "plan": {"tasks": [{"id": "order", "steps": [{"tool": "shop.order"}]}]}}""");
        api.post("/api/v1/dispatch/claim",
                "{\"worker_id\": \"worker-7.example\", \"tools\": [\"shop.order\"], \"wait_ms\": 20000, \"lease_ms\": 600000}");
        Locator works = page.locator(".state.f-works .icon").first();
        PlaywrightAssertions.assertThat(works).hasCSS("animation-name", "none");
        page.emulateMedia(new Page.EmulateMediaOptions().setReducedMotion(ReducedMotion.NO_PREFERENCE));
        PlaywrightAssertions.assertThat(works).hasCSS("animation-name", "turn");
    }

    /** The server's 503 is shown as what it is, once a second at most, and the page keeps what it shows. */
    @Test
    void databaseThatDoesNotAnswerIsSaidWithoutAStormOfRequests() {
        Page page = browser.signedIn("/ui/workers");
        sees(page.getByText("worker-7.example").first());
        List<String> asked = new ArrayList<>();
        page.route(FAULTY, route -> {
            asked.add(route.request().url());
            route.fulfill(new Route.FulfillOptions().setStatus(503)
                    .setContentType("application/problem+json").setBody("""
                            {"type": "urn:keelson:error:DATABASE_UNAVAILABLE", "title": "Database unavailable", "status": 503,
                             "detail": "the database does not respond", "code": "DATABASE_UNAVAILABLE"}"""));
        });
        browser.expect("503");
        DashboardBrowser.go(page, "/ui/workers?again=1");
        PlaywrightAssertions.assertThat(page.getByText("cannot reach its database").first()).isVisible(LATE);
        PlaywrightAssertions.assertThat(page.getByText("The server has not answered since")).isVisible(LATE);
        sees(page.getByText("worker-7.example").first());
        page.unroute(FAULTY);
        DashboardBrowser.go(page, "/ui/workers");
        PlaywrightAssertions.assertThat(page.getByText("cannot reach its database")).hasCount(0,
                new LocatorAssertions.HasCountOptions().setTimeout(20_000));
        assertThat(asked.size()).isLessThan(20);
    }
}
