package io.keelson.server.api.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Response;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.assertions.LocatorAssertions;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.Cookie;
import com.microsoft.playwright.options.SameSiteAttribute;
import io.keelson.core.Breadth;
import io.keelson.server.api.http.ApiServer;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.auth.Scope;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The dashboard as a person with a browser sees it, on a real server. */
class DashboardTest extends DashboardChecks {

    private String train;
    private String failed;
    private String wide;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        use(new ApiServer(folder));
        train = seed.releaseTrain();
        failed = seed.failing();
        wide = seed.wide(10_000);
        seed.absurd();
        seed.work(seed.recipe());
    }

    @Test
    void filesAreHashedCompressedAndKeptUnderAStrictPolicy() throws Exception {
        HttpClient http = HttpClient.newHttpClient();
        HttpResponse<String> page = http.send(HttpRequest.newBuilder(URI.create(api.url() + "/ui/runs")).build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(page.headers().firstValue("Content-Security-Policy").orElse("")).contains("default-src 'none'")
                .contains("require-trusted-types-for 'script'").doesNotContain("unsafe");
        String module = page.body().replaceAll("(?s).*src=\"(/ui/f/app[^\"]+)\".*", "$1");
        assertThat(module).matches("/ui/f/app\\.[0-9a-f]{12}\\.js");
        HttpResponse<byte[]> script = http.send(HttpRequest.newBuilder(URI.create(api.url() + module))
                .header("Accept-Encoding", "gzip").build(), HttpResponse.BodyHandlers.ofByteArray());
        assertThat(script.headers().firstValue("Cache-Control").orElse("")).contains("immutable");
        assertThat(script.headers().firstValue("Content-Encoding")).contains("gzip");
        HttpResponse<String> none = http.send(HttpRequest.newBuilder(URI.create(api.url() + "/ui/f/none.js")).build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(none.statusCode()).isEqualTo(404);
    }

    @Test
    void linkSignsInOnceAndLeavesTheAddress() {
        String code = api.post("/api/v1/sessions/links", "{}").json().get("code").asString();
        Page page = browser.open("/ui/runs#code=" + code, 1440, 900, ColorScheme.LIGHT);
        sees(page.getByRole(AriaRole.HEADING, new Page.GetByRoleOptions().setName("Runs")));
        assertThat(page.url()).endsWith("/ui/runs");
        page.reload();
        sees(page.getByRole(AriaRole.HEADING, new Page.GetByRoleOptions().setName("Runs")));
        Cookie cookie = page.context().cookies().getFirst();
        assertThat(cookie.httpOnly).isTrue();
        assertThat(cookie.sameSite).isEqualTo(SameSiteAttribute.STRICT);
        page.context().close();
        Page second = browser.open("/ui/#code=" + code, 1440, 900, ColorScheme.LIGHT);
        sees(second.getByText("This link was used already"));
        browser.expect("Failed to load resource");
        second.context().close();
    }

    @Test
    void endOfTheSessionAsksToSignInAndComesBack() {
        Page page = browser.signedIn("/ui/runs?text=release-train");
        sees(page.getByText("a person has to decide").first());
        try {
            api.get("/api/v1/sessions").json().get("items")
                    .forEach(each -> api.send("DELETE", "/api/v1/sessions/" + each.get("id").asString(), null));
            button(page, "Failed").click();
            sees(page.getByText("Your session has ended"));
            browser.signIn(page);
            PlaywrightAssertions.assertThat(button(page, "Failed")).hasAttribute("aria-pressed", "true");
            browser.expect("401");
        } finally {
            page.context().close();
        }
    }

    @Test
    void clockOfTheBrowserDoesNotMatter() {
        Page page = browser.open("/ui/runs?text=release-train", 1440, 900, ColorScheme.LIGHT);
        page.clock().setFixedTime(System.currentTimeMillis() - 86_400_000L);
        browser.signIn(page);
        PlaywrightAssertions.assertThat(page.locator(".run-row .c-age").first())
                .hasText(Pattern.compile("[0-9. ]+(s|m [0-9]+ s)"));
    }

    @Test
    void pastedKeySignsInAndIsKeptNowhere() {
        Page page = browser.signedInAnew("/ui/runs");
        assertThat(page.evaluate("document.cookie")).isEqualTo("");
        String stored =
                (String) page.evaluate("JSON.stringify({...localStorage}) + JSON.stringify({...sessionStorage})");
        assertThat(stored).doesNotContain("kl_");
        button(page, "Sign out").first().click();
        sees(page.getByLabel("API key"));
    }

    @Test
    void signOutAbortsWhatIsInFlight() {
        Page page = browser.signedInAnew("/ui/runs");
        List<Route> held = new ArrayList<>();
        page.route("**/api/v1/inbox/stats*", held::add);
        page.evaluate("document.dispatchEvent(new Event('keelson-answered'))");
        page.waitForCondition(() -> !held.isEmpty());
        Response ended = page.waitForResponse(each -> each.url().endsWith("/auth/logout"),
                () -> button(page, "Sign out").first().click());
        assertThat(ended.status()).isEqualTo(200);
        held.forEach(Route::resume);
        sees(page.getByLabel("API key"));
        assertThat(page.evaluate("fetch('/api/v1/whoami', {redirect: 'error'}).then(r => r.status)")).isEqualTo(401);
        browser.expect("/api/v1/whoami");
    }

    @Test
    void listSaysWhyARunIsNotFurther() {
        Page page = browser.signedIn("/ui/runs?text=release-train");
        Locator row = row(page, "release-train");
        PlaywrightAssertions.assertThat(row).containsText("a person has to decide: Ship version 4.2 to everyone?");
        PlaywrightAssertions.assertThat(row.locator(".c-state")).hasText("running waits for a person");
        row.locator(".c-state").click();
        page.waitForURL(Pattern.compile(".*/ui/runs/" + train));
        page.goBack();
        sees(row);
        page.keyboard().press("j");
        page.keyboard().press("x");
        sees(page.getByText("1 selected"));
        page.keyboard().press("Enter");
        page.waitForURL(Pattern.compile(".*/ui/runs/" + train));
    }

    @Test
    void aRunOfManyTasksHasAShortReasonInLists() {
        Awaitility.await().untilAsserted(() -> {
            JsonNode now = api.get("/api/v1/runs?name=crawl-sitemap&now=true").json().at("/items/0/now");
            assertThat(now.at("/code").asString("")).isEqualTo("TIMER");
            assertThat(now.at("/text").asString("")).matches("\\d+ steps wait for their times");
            assertThat(now.at("/until").asString("")).isNotEmpty();
        });
        assertThat(api.get("/api/v1/runs?waits_for=timer").json().at("/items").toString()).contains(wide);
    }

    @Test
    void filterAndSortAreInTheAddress() {
        Page page = browser.signedIn("/ui/runs?view=failed&sort=name");
        PlaywrightAssertions.assertThat(button(page, "Failed")).hasAttribute("aria-pressed", "true");
        PlaywrightAssertions.assertThat(page.getByRole(AriaRole.COLUMNHEADER,
                new Page.GetByRoleOptions().setName("Name"))).hasAttribute("aria-sort", "ascending");
        PlaywrightAssertions.assertThat(page.getByText("the source does not answer").first()).isVisible();
    }

    @Test
    void runsForPeopleHaveAPersonAsReason() {
        Page page = browser.signedIn("/ui/runs?view=people");
        sees(page.getByText("release-train").first());
        PlaywrightAssertions.assertThat(page.getByText("crawl-sitemap")).hasCount(0);
    }

    @Test
    void linesOfTheTimelineStandBelowTheirLabels() {
        Page page = browser.signedIn("/ui/runs/" + train);
        page.locator(".tree-body .rule").first().waitFor();
        assertThat(page.evaluate("""
                () => { const x = (within) => [...document.querySelector(within).querySelectorAll('.tick, .rule')]
                    .map(each => Math.round(each.getBoundingClientRect().left));
                  const labels = x('.tree-head'); const lines = x('.tree-body .tree-row');
                  return labels.length > 1 && labels.length === lines.length
                    && labels.every((each, i) => Math.abs(each - lines[i]) <= 1); }""")).isEqualTo(true);
    }

    @Test
    void aFoldedWaitIsWideEnoughToBeSeenAndCoversNoLabel() {
        Page page = browser.signedIn("/ui/runs/" + train);
        assertThat(page.evaluate("""
                async () => { const { scale, ticks } = await import('/ui/f/draw/timeline.js');
                  const idle = Array.from({ length: 3 }, (_, i) => ({ from_ms: 1000 + i * 601_000, to_ms: 600_000 + i * 601_000 }));
                  const of = (waits) => { const axis = scale(0, waits * 601_000, idle.slice(0, waits), true);
                    const clear = (most, room) => fold => ticks(0, waits * 601_000, axis, most)
                      .every(tick => tick.x <= fold.x - room || tick.x >= fold.x + 0.09);
                    return axis.folds.map(fold => axis.part(fold.to) - axis.part(fold.from) > 0.09
                      && clear(7, 0.1)(fold) && clear(3, 0.24)(fold)); };
                  return JSON.stringify([of(1), of(3)]); }""")).isEqualTo("[[true],[true,true,true]]");
    }

    @Test
    void attemptsBeforeTheLastAreDrawn() {
        String id = seed.failing();
        api.post("/api/v1/runs/" + id + "/retry", "{}");
        api.awaitState(id, "failed");
        Page page = browser.signedIn("/ui/runs/" + id);
        PlaywrightAssertions.assertThat(page.locator(".seg.s-failed").nth(1)).isAttached();
    }

    @Test
    void runShowsHeadlineTreeAndWhatATaskWaitsFor() {
        Page page = browser.signedIn("/ui/runs/" + train);
        sees(page.locator(".headline").getByText("a person has to decide"));
        Locator grid = page.getByRole(AriaRole.TREEGRID);
        grid.focus();
        page.keyboard().press("End");
        page.keyboard().press("Enter");
        Locator drawer = page.getByRole(AriaRole.COMPLEMENTARY);
        PlaywrightAssertions.assertThat(drawer).containsText("upstreams have not ended");
        page.navigate(page.url());
    }

    @Test
    void actionsReachTheRunAndItsEvents() {
        String id = seed.waiting("paused-by-hand");
        Page page = browser.signedIn("/ui/runs/" + id);
        button(page, "Pause").click();
        sees(button(page, "Resume"));
        api.awaitState(id, "paused");
        Locator grid = page.getByRole(AriaRole.TREEGRID);
        PlaywrightAssertions.assertThat(grid).containsText("paused, its own state is ");
        grid.focus();
        page.keyboard().press("Home");
        page.keyboard().press("Enter");
        Locator drawer = page.getByRole(AriaRole.COMPLEMENTARY);
        PlaywrightAssertions.assertThat(drawer).containsText("its own state is ");
        button(page, "Close").click();
        button(page, "Resume").click();
        sees(button(page, "Pause"));
        PlaywrightAssertions.assertThat(grid).not().containsText("paused");
        button(page, "Cancel…").click();
        page.getByLabel("Reason").fill("not needed");
        button(page, "Cancel the run").click();
        PlaywrightAssertions.assertThat(state(page)).containsText("cancelled");
        page.getByRole(AriaRole.TAB, new Page.GetByRoleOptions().setName("Events")).click();
        sees(page.getByText("run cancelled").first());
    }

    @Test
    void statesAppearWithoutReload() {
        String id = seed.waiting("live");
        Page page = browser.signedIn("/ui/runs/" + id);
        sees(page.getByText("Live", new Page.GetByTextOptions().setExact(true)).first());
        api.post("/api/v1/runs/" + id + "/cancel", "{}");
        PlaywrightAssertions.assertThat(state(page)).containsText("cancelled");
    }

    @Test
    void tenThousandTasksAreFewElements() {
        Page page = browser.signedIn("/ui/runs/" + wide);
        Locator grid = page.getByRole(AriaRole.TREEGRID);
        PlaywrightAssertions.assertThat(grid).containsText("×10,000",
                new LocatorAssertions.ContainsTextOptions().setTimeout(30_000));
        grid.focus();
        page.keyboard().press("Home");
        page.keyboard().press("ArrowRight");
        PlaywrightAssertions.assertThat(grid).containsText("[3]");
        page.keyboard().press("End");
        PlaywrightAssertions.assertThat(grid).containsText("[9999]");
        assertThat((Integer) page.evaluate("document.querySelectorAll('*').length")).isLessThan(3_000);
    }

    @Test
    void namesAreShownAsText() {
        Page page = browser.signedIn("/ui/runs?text=onerror");
        sees(page.getByText("<img src=x onerror").first());
        assertThat(page.evaluate("window.canary")).isNull();
        page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName(Pattern.compile("img src"))).first().click();
        sees(page.getByRole(AriaRole.HEADING, new Page.GetByRoleOptions().setName(Pattern.compile("img src"))));
        for (String tab : List.of("Steps", "Events", "Artifacts", "Money", "Agents", "Plan")) {
            page.getByRole(AriaRole.TAB, new Page.GetByRoleOptions().setName(tab)).click();
            page.locator("k-run-tab .card").waitFor();
        }
        assertThat(page.evaluate("window.canary")).isNull();
    }

    @Test
    void anIdThatIsNotThereSaysSo() {
        Page page = browser.signedIn("/ui/runs/00000000-0000-7000-8000-00000000dead");
        sees(page.getByText("There is nothing here, or it belongs to another workspace."));
        browser.expect("404");
    }

    @Test
    void overviewShowsWhatWaitsFailsRunsAndCosts() {
        Page page = browser.signedIn("/ui/");
        sees(page.getByRole(AriaRole.HEADING, new Page.GetByRoleOptions().setName("Needs you")));
        sees(page.getByText("SOURCE_DOWN").first());
        sees(page.getByText("Ship version 4.2 to everyone?").first());
        page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName(Pattern.compile("SOURCE_DOWN"))).click();
        sees(page.getByText("the source does not answer").first());
    }

    @Test
    void inboxIsAnsweredByKeyboardAfterItsConsequenceWasShown() {
        String id = seed.approvedPlan();
        Page page = browser.signedIn("/ui/runs/" + id);
        PlaywrightAssertions.assertThat(page.locator(".figures")).containsText("Elapsed");
        PlaywrightAssertions.assertThat(page.locator(".figures")).not().containsText("not started");
        PlaywrightAssertions.assertThat(page.locator(".tree-head")).isVisible();
        PlaywrightAssertions.assertThat(page.locator(".legend")).hasText("waits for a person");
        page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("Answer")).click();
        sees(page.getByText("Translate the notes").first());
        page.keyboard().press("a");
        PlaywrightAssertions.assertThat(page.getByRole(AriaRole.DIALOG))
                .containsText("The run starts to execute its plan");
        page.getByRole(AriaRole.DIALOG).getByLabel("Comment").fill("read it");
        page.keyboard().press("Tab");
        page.keyboard().press("Tab");
        page.keyboard().press("Enter");
        sees(page.getByText("Nothing of this run waits any more"));
        button(page, "All questions").click();
        sees(page.getByText("Ship version 4.2 to everyone?").first());
        PlaywrightAssertions.assertThat(page.getByText("of one run")).hasCount(0);
        api.awaitState(id, "completed");
    }

    @Test
    void anAnswerOfAnotherPersonIsNoError() {
        String id = api.create("""
                {"name": "answered-elsewhere", "start": true, "plan": {"tasks": [{"id": "ask", "steps": [
                  {"name": "sign-off", "kind": "approval", "input": {"question": "Go on?"}},
                  {"name": "nap", "tool": "wait", "input": {"seconds": 90000}}]}]}}""");
        DashboardSeed.await(api, id);
        Page page = browser.signedIn("/ui/inbox?run=" + id);
        sees(page.getByText("Go on?").first());
        page.keyboard().press("r");
        sees(page.getByRole(AriaRole.DIALOG));
        String item = item(id);
        api.post("/api/v1/inbox/" + item + "/accept", "{\"reason\": \"looks fine\"}");
        api.post("/api/v1/runs/" + id + "/pause", "{}");
        button(page, "Reject").last().click();
        sees(page.getByText("Another person has answered it"));
        PlaywrightAssertions.assertThat(page.locator("k-inbox .note"))
                .containsText(Pattern.compile("accepted, .*: looks fine"));
        browser.expect("404");
        browser.expect("409");
    }

    @Test
    void recipeIsAFormThatNamesWrongValuesAndStartsOnce() {
        String recipe = seed.recipe();
        Page page = browser.signedIn("/ui/launch?recipe=" + recipe);
        page.getByLabel("copies").fill("1000");
        page.getByLabel("to", new Page.GetByLabelOptions().setExact(true)).fill("ben");
        button(page, "Start the run").click();
        sees(page.locator(".field").filter(new Locator.FilterOptions().setHasText("copies")).getByRole(AriaRole.ALERT));
        browser.expect("422");
        page.getByLabel("copies").fill("3");
        page.getByLabel("urgent").check();
        page.getByLabel("colour").selectOption("red");
        page.getByLabel("names").fill("ann\nbob");
        page.getByLabel("more").fill("{\"a\": [1]}");
        button(page, "Start the run").dblclick();
        page.waitForURL(Pattern.compile(".*/ui/runs/[0-9a-f-]{36}"));
        String inputs = api.get("/api/v1/runs?recipe_id=" + recipe).json().get("items").toString();
        assertThat(api.get("/api/v1/runs?recipe_id=" + recipe).json().get("items").size()).as(inputs).isEqualTo(1);
        String id = page.url().replaceAll(".*/", "");
        assertThat(api.get("/api/v1/runs/" + id).json().get("inputs").toString()).contains("\"copies\":3")
                .contains("\"urgent\":true")
                .contains("\"names\":[\"ann\",\"bob\"]").contains("\"colour\":\"red\"")
                .contains("\"more\":{\"a\":[1]}");
    }

    @Test
    void graphHasNoOverlapAndPointsOneWay() {
        Page page = browser.signedIn("/ui/runs/" + train + "?view=graph");
        PlaywrightAssertions.assertThat(page.locator(".box")).hasCount(5);
        PlaywrightAssertions.assertThat(page.locator(".box").nth(1)).containsText("×12");
        assertThat(page.evaluate("""
                () => { const all = [...document.querySelectorAll('.box')].map(b => b.getBoundingClientRect());
                  return all.every((a, i) => all.every((b, j) => i === j || a.right <= b.left || b.right <= a.left
                    || a.bottom <= b.top || b.bottom <= a.top)); }""")).isEqualTo(true);
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(Pattern.compile("Sign off"))).click();
        PlaywrightAssertions.assertThat(page.getByRole(AriaRole.COMPLEMENTARY)).containsText("announce");
        PlaywrightAssertions.assertThat(page.locator(".edge.lit")).hasCount(4);
    }

    @Test
    void statesAreShownInTheWordsOfEachContract() {
        Page page = browser.signedIn("/ui/runs/" + train);
        button(page, "More actions").click();
        button(page, "Names of this state…").click();
        Locator dialog = page.getByRole(AriaRole.DIALOG);
        JsonNode contracts = api.get("/api/v1/runs/" + train + "/states").json().get("contracts");
        assertThat(contracts.propertyNames()).hasSize(5);
        contracts.properties().forEach(each -> PlaywrightAssertions.assertThat(dialog.getByRole(AriaRole.ROW)
                .filter(new Locator.FilterOptions().setHasText(each.getKey())))
                .containsText(each.getValue().get("run").asString()));
    }

    @Test
    void aServerThatDoesNotAnswerIsSaidAndThePageRecovers() {
        Page page = browser.signedInAnew("/ui/runs/" + train);
        sees(page.locator(".headline"));
        page.context().setOffline(true);
        button(page, "Pause").click();
        sees(page.getByText("The server has not answered since"));
        sees(page.locator(".headline"));
        page.context().setOffline(false);
        page.evaluate("dispatchEvent(new Event('online'))");
        PlaywrightAssertions.assertThat(page.getByText("The server has not answered since")).hasCount(0);
        sees(page.getByText("Live", new Page.GetByTextOptions().setExact(true)).first());
        browser.expect("Failed to load resource");
    }

    @Test
    void sumsOfMoneyEqualTheApi() {
        Page page = browser.signedIn("/ui/money");
        String available =
                api.get("/api/v1/credits").json().get("available").decimalValue().setScale(6).toPlainString();
        PlaywrightAssertions.assertThat(page.locator(".figures strong > .num").first()).hasAttribute("title",
                available + " credits");
        String total = api.get("/api/v1/usage?by=tool").json().get("total").get("credits").decimalValue().setScale(6)
                .toPlainString();
        PlaywrightAssertions.assertThat(page.locator(".figures > div").nth(2).locator("strong > .num"))
                .hasAttribute("title", total + " credits");
        button(page, "Verify").click();
        sees(page.getByText("All balances follow from the ledger."));
    }

    @Test
    void paletteFindsARunByItsIdAndShortcutsCanBeSwitchedOff() {
        Page page = browser.signedInAnew("/ui/");
        page.keyboard().press("Control+k");
        page.getByRole(AriaRole.COMBOBOX, new Page.GetByRoleOptions().setName("Search or jump")).fill(train);
        sees(page.getByRole(AriaRole.OPTION).filter(new Locator.FilterOptions().setHasText("release-train")));
        page.keyboard().press("Enter");
        page.waitForURL(Pattern.compile(".*/ui/runs/" + train));
        page.keyboard().press("?");
        page.getByLabel("Shortcuts of a single key").uncheck();
        button(page, "Close").click();
        page.keyboard().press("g");
        page.keyboard().press("m");
        assertThat(page.url()).contains("/ui/runs/");
    }

    @Test
    void aKeyThatOnlyReadsSeesDisabledActionsWithTheScope() {
        String reader = api.bearer(Bootstrap.DEFAULT_WORKSPACE, Set.of(Scope.RUNS_READ)).substring("Bearer ".length());
        Page page = browser.signedIn("/ui/runs/" + train, 1440, 900, ColorScheme.LIGHT, reader);
        Locator pause = button(page, "Pause");
        PlaywrightAssertions.assertThat(pause).isDisabled();
        PlaywrightAssertions.assertThat(pause).hasAttribute("title", "Needs the scope runs:write");
    }

    /** Light and wide, dark and narrow; all four in the long runs. */
    private record Look(ColorScheme scheme, int width) {}

    /** A seventh of the pages in each of two looks every day, each page in both within a week, and in all four with {@code ./check --all}. */
    @Test
    @ExtendWith(Breadth.InFailures.class)
    void axeFindsNothingAndNothingOverflows() {
        List<String> found = new ArrayList<>();
        String recipe = seed.recipe();
        List<String> paths = List.of("/ui/", "/ui/runs", "/ui/runs/" + train + "?task=ship", "/ui/runs/" + failed,
                "/ui/runs/" + train + "?view=graph", "/ui/runs/" + train + "?view=plan",
                "/ui/runs/" + train + "?view=events", "/ui/inbox", "/ui/launch",
                "/ui/launch?recipe=" + recipe,
                "/ui/money", "/ui/board", "/ui/schedules", "/ui/triggers", "/ui/reports", "/ui/workers", "/ui/events",
                "/ui/settings",
                "/ui/settings?tab=access", "/ui/settings?tab=agents", "/ui/settings?tab=webhooks",
                "/ui/compare?a=" + train + "&b=" + failed, "/ui/nothing");
        List<Look> looks = List.of(new Look(ColorScheme.LIGHT, 1440), new Look(ColorScheme.DARK, 390),
                new Look(ColorScheme.DARK, 1440), new Look(ColorScheme.LIGHT, 390));
        for (int look = 0; look < (Breadth.all() ? looks.size() : 2); look++) {
            ColorScheme scheme = looks.get(look).scheme();
            int width = looks.get(look).width();
            Page page = browser.open("/ui/", width, 844, scheme);
            if (width == 390) {
                browser.violations(page).forEach(each -> found.add(scheme + " sign in " + each));
            }
            browser.signIn(page);
            for (int i = 0; i < paths.size(); i++) {
                if (!Breadth.has(i + 3 * look)) {
                    continue;
                }
                String path = paths.get(i);
                DashboardBrowser.go(page, path);
                page.locator(".page h1, .page h2").first().waitFor();
                PlaywrightAssertions.assertThat(page.locator(".skeleton")).hasCount(0);
                browser.violations(page).forEach(each -> found.add(scheme + " " + width + " " + path + " " + each));
                if ((Boolean) page.evaluate("document.documentElement.scrollWidth > innerWidth")) {
                    found.add(scheme + " " + width + " " + path + " is wider than the window");
                }
            }
            page.context().close();
        }
        assertThat(found).isEmpty();
    }
}
