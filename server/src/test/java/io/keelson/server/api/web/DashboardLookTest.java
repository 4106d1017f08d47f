package io.keelson.server.api.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.AriaRole;
import io.keelson.server.api.http.ApiServer;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a reader finds on the pages: units, columns, choices, words. */
class DashboardLookTest extends DashboardChecks {

    /** Places with an exact amount in their title that name no unit, neither themselves nor in the title of their column. */
    private static final String WITHOUT_UNIT = """
            () => [...document.querySelectorAll('[title]')].filter(each => /^-?\\d+\\.\\d{6}/.test(each.title) && !each.matches('.bar')).filter(each => {
              const cell = each.closest('td, [role=cell]');
              const at = cell ? [...cell.parentElement.children].indexOf(cell) : -1;
              const table = cell?.closest('table, [role=table]');
              const head = table ? [...table.querySelectorAll('thead tr > *, [role=columnheader]')][at]?.textContent ?? '' : '';
              return !/credits/i.test(each.textContent) && !/credits/i.test(head);
            }).map(each => location.pathname + ': ' + each.outerHTML.slice(0, 200))""";

    private String train;
    private String agents;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        use(new ApiServer(folder));
        train = seed.releaseTrain();
        agents = seed.agent();
        seed.failing();
        seed.day();
    }

    @Test
    void moneyHasItsUnit() {
        Page page = browser.signedIn("/ui/");
        for (String path : List.of("/ui/", "/ui/runs", "/ui/runs/" + train + "?task=build", "/ui/runs/" + train
                + "?view=steps", "/ui/runs/" + train + "?view=money", "/ui/runs/" + train + "?view=agents",
                "/ui/money")) {
            DashboardBrowser.go(page, path);
            page.waitForCondition(() -> page.url().endsWith(path));
            page.locator(".page [title*='.']").first().waitFor();
            PlaywrightAssertions.assertThat(page.locator(".skeleton")).hasCount(0);
            page.waitForCondition(
                    () -> (Boolean) page.evaluate(
                            "[...document.querySelectorAll('[title]')].some(each => /^-?\\d+\\.\\d{6}/.test(each.title))"));
            assertThat((List<?>) page.evaluate(WITHOUT_UNIT)).isEmpty();
        }
    }

    @Test
    void listHasDurationAndAgentsAndNoJson() {
        String run = api.create("""
                {"name": "rows-out", "start": true, "output": "${ .tasks.a.output }", "plan": {"tasks": [
                  {"id": "a", "steps": [{"tool": "echo", "input": {"rows": [1, 2, 3]}}]}]}}""");
        api.awaitState(run, "completed");
        Page page = browser.signedIn("/ui/runs?text=rows-out");
        Locator row = row(page, "rows-out");
        PlaywrightAssertions.assertThat(row.locator(".c-took")).containsText("s");
        PlaywrightAssertions.assertThat(row.locator(".c-now")).isEmpty();
        DashboardBrowser.go(page, "/ui/runs?text=licence");
        PlaywrightAssertions.assertThat(row(page, "licence-review").locator(".c-agents")).hasText("librarian");
        assertThat(api.get("/api/v1/runs/" + agents).json().get("agent_names").toString())
                .isEqualTo("[\"librarian\"]");
    }

    @Test
    void recipeOfARunLeadsToItsRuns() {
        String recipe = seed.recipe("print-invoice");
        api.post("/api/v1/recipes/" + recipe + "/run", "{\"inputs\": {\"copies\": 1}}");
        Page page = browser.signedIn("/ui/runs?text=print-invoice");
        Locator link = row(page, "print-invoice").locator(".c-recipe a");
        PlaywrightAssertions.assertThat(link).hasText("print-invoice");
        link.click();
        PlaywrightAssertions.assertThat(page.locator("button.chip")).containsText("recipe: print-invoice");
    }

    @Test
    void filtersOfferWhatThereIs() {
        Page page = browser.signedIn("/ui/runs");
        sees(row(page, "invoice-import").first());
        button(page, "Filter…").click();
        dialog(page).getByLabel("Error").selectOption("SOURCE_DOWN");
        save(page, "Filter").click();
        page.waitForURL("**error_code=SOURCE_DOWN");
        sees(row(page, "invoice-import").first());
        PlaywrightAssertions
                .assertThat(
                        page.locator(".run-row").filter(new Locator.FilterOptions().setHasNotText("invoice-import")))
                .hasCount(0);
    }

    /** A run that failed though all of its tasks are done is not shown as a full bar. */
    @Test
    void barOfAFailedRunIsNotFull() {
        String run = api.create("""
                {"name": "refused-result", "start": true, "config": {"acceptance": "human"}, "plan": {"tasks": [
                  {"id": "a", "steps": [{"tool": "noop"}]}]}}""");
        DashboardSeed.await(api, run);
        api.post("/api/v1/inbox/" + item(run) + "/reject", "{}");
        api.awaitState(run, "failed");
        Page page = browser.signedIn("/ui/runs?text=refused-result");
        sees(row(page, "refused-result").locator(".bar .end-mark"));
    }

    @Test
    void paletteShowsWhatARunWaitsFor() {
        Page page = browser.signedIn("/ui/runs");
        sees(row(page, "release-train").first());
        page.keyboard().press("Control+k");
        page.getByRole(AriaRole.COMBOBOX, new Page.GetByRoleOptions().setName("Search or jump")).fill("release-train");
        PlaywrightAssertions.assertThat(page.locator(".palette li").first()).containsText("waits for a person");
    }

    @Test
    void transcriptHasThePromptAndTheCalls() {
        String task = api.get("/api/v1/runs/" + agents + "/tasks").json().at("/items/0/id").asString();
        Page page = browser.signedIn("/ui/runs/" + agents + "/tasks/" + task);
        Locator prompt = page.locator(".attempt").first().locator(".prompt");
        PlaywrightAssertions.assertThat(prompt).containsText("Name the source.");
        PlaywrightAssertions.assertThat(prompt).containsText("Research the licences");
        PlaywrightAssertions.assertThat(prompt).containsText("Which licences are in this repository?");
        prompt.getByText("echo", new Locator.GetByTextOptions().setExact(true)).click();
        sees(prompt.getByText("Schema of its input").first());
        PlaywrightAssertions.assertThat(prompt).containsText("no source named");
        sees(page.locator(".call pre").filter(new Locator.FilterOptions().setHasText("LICENSE")).first());
        assertThat(browser.violations(page)).isEmpty();
    }

    @Test
    void headlineOfAFailedRunLeadsToItsTask() {
        Page page = browser.signedIn("/ui/runs/" + seed.failing());
        button(page, "Show the task").click();
        sees(page.getByRole(AriaRole.COMPLEMENTARY).getByText("SOURCE_DOWN").first());
    }

    @Test
    void planIsShownWithChecksModelAndToolsAndIsApprovedAsItWasChanged() {
        api.post("/api/v1/agents", """
                {"slug": "reader", "name": "Reader", "tools": ["files.read"], "instructions": "Read."}""");
        String run = api.create("""
                {"name": "changed-plan", "start": true, "config": {"autonomy": {"level": "approve"}}, "plan": {"tasks": [
                  {"id": "look", "title": "Look", "steps": [{"tool": "echo"}]},
                  {"id": "read", "title": "Read it", "depends_on": ["look"], "suggested_agent": {"agent_name": "reader"},
                   "verify": [{"kind": "length", "min": 20}]}]}}""");
        Page page = browser.signedIn("/ui/inbox?item=" + item(run));
        Locator plan = page.locator(".plan");
        PlaywrightAssertions.assertThat(plan).containsText("length: min 20");
        PlaywrightAssertions.assertThat(plan).containsText("agent reader, model of the worker, tools files.read");
        button(page, "Edit the plan…").click();
        Locator text = dialog(page).getByLabel("Plan, as JSON");
        String given = text.inputValue();
        text.fill("{");
        save(page, "Approve this plan").click();
        sees(dialog(page).getByText("This is not JSON"));
        text.fill(given.replace("\"Look\"", "\"Look twice\""));
        save(page, "Approve this plan").click();
        sees(page.getByText("Approved"));
        assertThat(api.get("/api/v1/runs/" + run + "?fields=plan").text()).contains("Look twice");
    }

    @Test
    void missionIsCheckedRunKeptChangedAndDeleted() {
        Page page = browser.signedIn("/ui/launch");
        page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("New mission…")).click();
        Locator text = page.getByLabel("Mission, in YAML or JSON");
        String mission = text.inputValue();
        text.fill(mission.replace("echo", "ecko"));
        button(page, "Check").click();
        sees(page.getByText("ecko").last());
        browser.expect("422");
        text.fill(mission);
        button(page, "Check").click();
        sees(page.getByText("This run can start."));
        button(page, "Save as a recipe").click();
        sees(page.getByRole(AriaRole.HEADING, new Page.GetByRoleOptions().setName("first-mission")));
        page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("Edit…")).click();
        Locator kept = page.getByLabel("Mission, in YAML or JSON");
        kept.fill(kept.inputValue().replace("Say hello", "Say hello twice"));
        button(page, "Save as version 2").click();
        page.getByLabel("Version").selectOption("1");
        sees(page.getByText("Say hello", new Page.GetByTextOptions().setExact(true)));
        button(page, "Start the run").click();
        PlaywrightAssertions.assertThat(state(page)).containsText("completed");
        assertThat(api.get("/api/v1/runs?name=first-mission").json().at("/items/0/recipe_version").asInt())
                .isEqualTo(1);
        page.goBack();
        button(page, "Delete first-mission").click();
        save(page, "Delete").click();
        sees(page.getByText("Deleted"));
        assertThat(api.get("/api/v1/recipes?name=first-mission").json().get("items").size()).isZero();
    }

    @Test
    void missionIsRunOnce() {
        Page page = browser.signedIn("/ui/launch?mission=new");
        button(page, "Run it once").click();
        PlaywrightAssertions.assertThat(state(page)).containsText("completed");
        sees(page.getByText("hello world").first());
    }

    @Test
    void phoneShowsTheListAndThenTheQuestion() {
        seed.waiting("phone-one");
        seed.waiting("phone-two");
        Page page = browser.signedIn("/ui/inbox");
        page.setViewportSize(390, 844);
        Locator question = page.getByRole(AriaRole.ARTICLE);
        sees(page.locator(".queue .item").first());
        PlaywrightAssertions.assertThat(question).isHidden();
        page.locator(".queue .item", new Page.LocatorOptions().setHasText("phone-two")).click();
        sees(question.getByText("phone-two").first());
        PlaywrightAssertions.assertThat(page.locator(".queue")).isHidden();
        button(page, "All questions").click();
        sees(page.locator(".queue .item").first());
        PlaywrightAssertions.assertThat(question).isHidden();
    }

    @Test
    void scheduleIsSaidInWordsAndListedOnce() {
        String recipe = seed.recipe("print-hourly");
        api.post("/api/v1/schedules",
                """
                {"name": "office-hours", "cron": "*/20 9-17 * * 1-5", "time_zone": "UTC", "recipe": "%s", "inputs": {"copies": 2}}"""
                        .formatted(recipe));
        Page page = browser.signedIn("/ui/schedules");
        PlaywrightAssertions.assertThat(row(page, "office-hours"))
                .containsText("every 20 minutes from 09:00 to 17:59 Monday to Friday");
        PlaywrightAssertions.assertThat(page.locator(".coming > li").filter(new Locator.FilterOptions()
                .setHasText("office-hours"))).hasCount(1);
        page.setViewportSize(390, 844);
        assertThat(page.evaluate(
                "document.querySelector('.scroll-x').scrollWidth - document.querySelector('.scroll-x').clientWidth"))
                .isEqualTo(0);
        assertThat(browser.violations(page)).isEmpty();
    }

    @Test
    void outputsOfTwoRunsStandSideBySide() {
        List<String> runs = List.of("left", "right").stream().map(side -> api.create("""
                {"name": "side-%1$s", "start": true, "output": "${ .tasks.a.output.text }", "plan": {"tasks": [
                  {"id": "a", "steps": [{"tool": "echo", "input": {"text": "came out %1$s"}}]}]}}""".formatted(side)))
                .toList();
        runs.forEach(run -> api.awaitState(run, "completed"));
        Page page = browser.signedIn("/ui/compare?a=" + runs.getFirst() + "&b=" + runs.getLast());
        sees(page.locator(".sides .value").first().getByText("came out left"));
        sees(page.locator(".sides .value").nth(1).getByText("came out right"));
    }

    @Test
    void mcpServerIsAddedAndItsFailureIsSaid() {
        Page page = browser.signedIn("/ui/settings?tab=mcp");
        button(page, "New MCP server…").click();
        dialog(page).getByLabel("Name").fill("office");
        dialog(page).getByLabel("Address").fill("http://127.0.0.1:9/mcp");
        save(page, "Add").click();
        sees(page.getByText("It cannot be used:"));
        button(page, "Check").click();
        sees(page.getByText("Checked"));
        assertThat(browser.violations(page)).isEmpty();
        button(page, "Delete office").click();
        save(page, "Delete").click();
        sees(page.getByText("No MCP servers"));
    }
}
