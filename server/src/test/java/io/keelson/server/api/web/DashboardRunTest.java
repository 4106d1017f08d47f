package io.keelson.server.api.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.assertions.LocatorAssertions;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.BoundingBox;
import com.microsoft.playwright.options.ColorScheme;
import io.keelson.core.Breadth;
import io.keelson.server.ServerProxy;
import io.keelson.server.api.http.ApiServer;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page of a run, the list of runs and transcripts: at full size, live, and on bad days. */
class DashboardRunTest extends DashboardChecks {

    private static final int MOST_ELEMENTS = 3_000;
    private static final int MOST_MODULES = 25;
    private static final int MOST_BYTES = 60_000;
    private final DatabaseUrl database = TestDatabase.createUrl();
    private Path folder;
    private static final String HIDE = """
            hidden => { Object.defineProperty(document, 'hidden', {value: hidden, configurable: true});
              document.dispatchEvent(new Event('visibilitychange')); }""";

    @BeforeAll
    void start(@TempDir Path own) throws Exception {
        folder = own;
        use(new ApiServer(folder.resolve("one"), database, Map.of()));
    }

    private void approve(String run) {
        String item = item(run);
        api.post("/api/v1/inbox/" + item + "/accept", "{}");
        api.awaitState(run, "completed");
    }

    private String large(String name, int tasks, IntFunction<String> dependsOn) {
        return api.create("{\"name\": \"" + name + "\", \"start\": true, \"plan\": {\"tasks\": ["
                + IntStream.range(0, tasks).mapToObj(i -> """
                        {"id":"t%d","depends_on":[%s],"steps":[{"tool":"noop"}]}"""
                        .formatted(i, dependsOn.apply(i))).collect(Collectors.joining(","))
                + "]}}");
    }

    /** 10,000 tasks in the long runs. */
    @Test
    void largePlansAreFewElementsAndFewBoxes() {
        int tasks = Boolean.getBoolean("keelson.long") ? 10_000 : 2_000;
        Random random = new Random(1);
        List<String> runs = List.of(large("distinct", tasks, _ -> ""),
                large("chain", tasks / 10, i -> i == 0 ? "" : "\"t" + (i - 1) + "\""),
                large("woven", tasks, i -> i < 50 ? ""
                        : random.ints(3, 0, i).distinct().mapToObj(x -> "\"t" + x + "\"")
                                .collect(Collectors.joining(","))));
        Page page = browser.signedIn("/ui/");
        for (String run : runs) {
            DashboardBrowser.go(page, "/ui/runs/" + run);
            page.locator(".tree-body .tree-row").nth(5).waitFor();
            page.getByRole(AriaRole.TREEGRID).focus();
            page.keyboard().press("End");
            assertThat((Integer) page.evaluate("document.querySelectorAll('*').length")).isLessThan(MOST_ELEMENTS);
            DashboardBrowser.go(page, "/ui/runs/" + run + "?view=graph");
            page.locator(".box").first().waitFor();
            assertThat((Integer) page.evaluate("document.querySelectorAll('*').length")).isLessThan(MOST_ELEMENTS);
        }
    }

    @Test
    void firstPagesAreFewAndSmallModules() {
        for (String path : List.of("/ui/", "/ui/runs")) {
            String code = api.post("/api/v1/sessions/links", "{}").json().get("code").asString();
            Page page = browser.open(path + "#code=" + code, 1440, 900, ColorScheme.LIGHT);
            page.locator(".page h1, .page h2").first().waitFor();
            String files =
                    "performance.getEntriesByType('resource').filter(each => each.name.includes('/ui/f/') && !each.name.endsWith('.woff2'))";
            assertThat((Integer) page.evaluate(files + ".filter(each => each.name.endsWith('.js')).length")).as(path)
                    .isLessThanOrEqualTo(MOST_MODULES);
            assertThat((Integer) page.evaluate(files + ".reduce((sum, each) => sum + each.encodedBodySize, 0)"))
                    .as(path)
                    .isLessThan(MOST_BYTES);
        }
    }

    @Test
    void questionsAboutTheRunAndTheRunAheadAreShown() {
        String ahead = api
                .create("""
                {"name": "first-in-line", "start": true, "config": {"autonomy": {"level": "approve"}, "concurrency": {"key": "line"}},
                 "plan": {"tasks": [{"id": "a", "title": "Do it", "steps": [{"tool": "echo"}]}]}}""");
        DashboardSeed.await(api, ahead);
        String next = api
                .create("""
                {"name": "next-in-line", "start": true, "config": {"concurrency": {"key": "line"}},
                 "plan": {"tasks": [{"id": "a", "title": "Do it", "steps": [{"tool": "echo"}]}]}}""");
        Page page = browser.signedIn("/ui/runs/" + next);
        page.locator(".headline").getByText("The run ahead").click();
        sees(page.getByRole(AriaRole.HEADING, new Page.GetByRoleOptions().setName("first-in-line")));
        Locator row = page.getByRole(AriaRole.ROW)
                .filter(new Locator.FilterOptions().setHasText("Questions about the run"));
        PlaywrightAssertions.assertThat(row.locator(".s-person")).hasCount(1);
        row.click();
        sees(page.getByRole(AriaRole.HEADING, new Page.GetByRoleOptions().setName("Inbox")));
        page.close();
        approve(ahead);
        api.awaitState(next, "completed");
    }

    @Test
    void timelineIsZoomedAndEventsAreFilteredAndDownloaded() throws Exception {
        String run = seed.failing();
        Page page = browser.signedIn("/ui/runs/" + run);
        page.locator(".tree-body .tree-row").first().waitFor();
        page.getByRole(AriaRole.TREEGRID).press("0");
        assertThat(page.url()).doesNotContain("zoom=");
        Locator axis = page.locator(".tree-head .axis");
        BoundingBox box = Objects.requireNonNull(axis.boundingBox());
        page.mouse().move(box.x + 2, box.y + 4);
        page.mouse().down();
        page.mouse().move(box.x + box.width / 2, box.y + 4);
        page.mouse().up();
        page.waitForURL(Pattern.compile(".*zoom=\\d+-\\d+"));
        button(page, "Whole run").click();
        PlaywrightAssertions.assertThat(page).not().hasURL(Pattern.compile(".*zoom=.*"));

        page.getByRole(AriaRole.TAB, new Page.GetByRoleOptions().setName("Steps")).click();
        page.getByLabel("Only open and failed").check();
        sees(row(page, "the source does not answer"));
        page.getByRole(AriaRole.TAB, new Page.GetByRoleOptions().setName("Events")).click();
        page.getByLabel("Filter events").fill("source_down");
        PlaywrightAssertions.assertThat(row(page, "run created")).hasCount(0);
        sees(row(page, "run failed"));
        Path file = page.waitForDownload(() -> button(page, "Download all").click()).path();
        assertThat(Files.readAllLines(file)).as("all of them").hasSizeGreaterThan(5)
                .allMatch(line -> line.startsWith("{") && line.contains(run));
    }

    @Test
    void runShowsItsInputsAndIsDeleted() {
        String run = api.post("/api/v1/recipes/" + seed.recipe() + "/run", "{\"inputs\": {\"copies\": 2}}").json()
                .get("id").asString();
        api.awaitState(run, "completed");
        Page page = browser.signedIn("/ui/runs/" + run);
        Locator origin = page.getByRole(AriaRole.REGION, new Page.GetByRoleOptions().setName("Origin"));
        PlaywrightAssertions.assertThat(origin.getByLabel("Inputs", new Locator.GetByLabelOptions().setExact(true)))
                .containsText("\"copies\": 2");
        assertThat((String) origin.locator("time").first().evaluate("""
                time => { getSelection().selectAllChildren(time);
                  const event = new ClipboardEvent('copy', {clipboardData: new DataTransfer(), bubbles: true, cancelable: true});
                  time.dispatchEvent(event);
                  return event.clipboardData.getData('text/plain'); }""")).matches("\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z");
        button(page, "More actions").click();
        button(page, "Delete…").click();
        save(page, "Delete the run").click();
        page.waitForURL(Pattern.compile("/ui/runs$"));
        assertThat(api.get("/api/v1/runs/" + run).status()).isEqualTo(404);
    }

    @Test
    void eventsOfTheWorkspaceAreFollowedByKind() {
        Page page = browser.signedIn("/ui/events?kind=failures");
        PlaywrightAssertions.assertThat(foot(page)).containsText("Live");
        String run = seed.failing();
        Locator link = page.locator("a[href='/ui/runs/" + run + "?view=events']").first();
        sees(link);
        PlaywrightAssertions.assertThat(row(page, "task completed")).hasCount(0);
        link.click();
        sees(page.getByRole(AriaRole.HEADING, new Page.GetByRoleOptions().setName("invoice-import")));

        DashboardBrowser.go(page, "/ui/runs");
        button(page, "Filter…").click();
        dialog(page).getByLabel("Tag").fill("weekly");
        save(page, "Filter").click();
        page.waitForURL(Pattern.compile(".*tag=weekly.*"));
        PlaywrightAssertions
                .assertThat(page.locator(".run-row").filter(new Locator.FilterOptions().setHasText("invoice-import")))
                .hasCount(0);

        DashboardBrowser.go(page, "/ui/");
        button(page, "Retry all with SOURCE_DOWN").click();
        PlaywrightAssertions.assertThat(dialog(page)).containsText("can do this now");
        save(page, "Close").click();
    }

    @Test
    void aFanOutIsExpandedInTheGraphAndFoldedAgain() {
        Page page = browser.signedIn("/ui/runs/" + seed.releaseTrain() + "?view=graph");
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(Pattern.compile("Translate pages")))
                .click();
        PlaywrightAssertions.assertThat(page.locator(".box")).hasCount(16);
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(Pattern.compile("pages *fold"))).click();
        PlaywrightAssertions.assertThat(page.locator(".box")).hasCount(5);
    }

    @Test
    void tasksAreGatheredByAgent() {
        String run = api
                .create("""
                {"name": "two-agents", "start": true, "plan": {"tasks": [
                  {"id": "a", "title": "Read", "suggested_agent": {"agent_name": "reader"}, "steps": [{"tool": "echo"}]},
                  {"id": "b", "title": "Write", "suggested_agent": {"agent_name": "writer"}, "depends_on": ["a"], "steps": [{"tool": "echo"}]},
                  {"id": "c", "title": "Read again", "suggested_agent": {"agent_name": "reader"}, "depends_on": ["b"], "steps": [{"tool": "echo"}]}]}}""");
        api.awaitState(run, "completed");
        Page page = browser.signedIn("/ui/runs/" + run);
        Locator rows = page.locator(".tree-body [role=row]");
        PlaywrightAssertions.assertThat(rows).containsText(new String[] {"Read", "Write", "Read again"});
        page.getByLabel("By agent").check();
        PlaywrightAssertions.assertThat(rows).containsText(new String[] {"reader×2", "writer×1"});
        page.getByRole(AriaRole.TREEGRID).focus();
        page.keyboard().press("Home");
        page.keyboard().press("ArrowRight");
        PlaywrightAssertions.assertThat(rows).containsText(new String[] {"reader×2", "Read", "Read again", "writer×1"});
        page.reload();
        PlaywrightAssertions.assertThat(rows).hasCount(4);
    }

    @Test
    void taskNamesItsDownstreamTasks() {
        Page page = browser.signedIn("/ui/runs/" + seed.releaseTrain() + "?task=pages[3]");
        Locator drawer = page.getByRole(AriaRole.COMPLEMENTARY);
        PlaywrightAssertions.assertThat(drawer.locator("dt", new Locator.LocatorOptions().setHasText("Blocks")))
                .isVisible();
        for (String key : List.of("build", "approve", "ship", "announce")) {
            PlaywrightAssertions.assertThat(drawer.locator(".chip", new Locator.LocatorOptions().setHasText(key)))
                    .isVisible();
        }
    }

    @Test
    void aLongOutputIsShownByItsBeginning() {
        String run = api
                .create("""
                {"name": "long", "start": true, "plan": {"tasks": [{"id": "t", "steps": [
                  {"tool": "echo", "input": {"list": "${ [range(10000)] | map(\\"0123456789012345678901234567890123456789\\") }"}}]}]}}""");
        api.awaitState(run, "completed");
        Page page = browser.signedIn("/ui/runs/" + run + "?task=t");
        Locator drawer = page.getByRole(AriaRole.COMPLEMENTARY);
        drawer.locator("summary", new Locator.LocatorOptions().setHasText("Output")).first().click();
        PlaywrightAssertions.assertThat(drawer).containsText("KiB");
        PlaywrightAssertions.assertThat(drawer.getByRole(AriaRole.BUTTON,
                new Locator.GetByRoleOptions().setName("Download")).first()).isVisible();
        assertThat((Integer) page.evaluate("document.body.innerText.length")).isLessThan(20_000);
        PlaywrightAssertions.assertThat(page.locator("k-run > .card .json summary")).containsText("Output of t");
    }

    @Test
    void aTranscriptHasAllAttemptsCallsAndRefusals() {
        String run = seed.agent();
        Page page = browser.signedIn("/ui/runs/" + run + "?task=research");
        page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("Transcript")).click();
        PlaywrightAssertions.assertThat(page.locator(".attempt")).hasCount(2);
        PlaywrightAssertions.assertThat(page.locator(".attempt").last()).containsText("rejected: no source named");
        PlaywrightAssertions.assertThat(page.locator(".attempt").first()).containsText("I read the file again");
        PlaywrightAssertions.assertThat(page.locator(".attempt").last()).containsText("I will look for licences");
        PlaywrightAssertions.assertThat(page.locator(".attempt").last()).containsText("Apache-2.0");
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Only errors")).click();
        PlaywrightAssertions.assertThat(page.locator(".attempt").last()).containsText("FILE_UNREADABLE");
        PlaywrightAssertions.assertThat(page.locator(".attempt").last()).containsText("TOOL_NOT_ALLOWED");
        PlaywrightAssertions.assertThat(page.locator(".attempt").last()).not().containsText("Apache-2.0");
        assertThat(browser.violations(page)).isEmpty();
    }

    @Test
    void aDeletedRunSaysSo() {
        String run = seed.failing();
        Page page = browser.open("/ui/runs/" + run, 1440, 900, ColorScheme.LIGHT);
        page.clock().install();
        browser.signIn(page);
        PlaywrightAssertions.assertThat(state(page)).containsText("failed");
        api.send("DELETE", "/api/v1/runs/" + run, null);
        page.clock().runFor(31_000);
        PlaywrightAssertions.assertThat(page.getByText("This run was deleted by local, at")).isVisible();
        PlaywrightAssertions.assertThat(page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Retry")))
                .hasCount(0);
        browser.expect("404");
    }

    @Test
    void aHiddenPageAsksNothingAndIsRightWhenItIsSeen() {
        String run = seed.waiting("hidden");
        Page page = browser.open("/ui/runs/" + run, 1440, 900, ColorScheme.LIGHT);
        page.clock().install();
        browser.signIn(page);
        PlaywrightAssertions.assertThat(foot(page)).containsText("Live");
        page.evaluate(HIDE, true);
        page.clock().runFor(11_000);
        List<String> asked = new CopyOnWriteArrayList<>();
        page.onRequest(request -> asked.add(request.url()));
        approve(run);
        page.clock().runFor(60_000);
        assertThat(asked).isEmpty();
        page.evaluate(HIDE, false);
        page.clock().runFor(1_000);
        PlaywrightAssertions.assertThat(state(page)).containsText("completed");
    }

    @Test
    void withoutStreamsThePagePollsUntilTheRunHasEnded() {
        String run = seed.waiting("polled");
        Page page = browser.open("/ui/runs/" + run, 1440, 900, ColorScheme.LIGHT);
        page.route("**/events/stream*", Route::abort);
        browser.signIn(page);
        PlaywrightAssertions.assertThat(foot(page)).containsText("Polling");
        approve(run);
        PlaywrightAssertions.assertThat(state(page)).containsText("completed",
                new LocatorAssertions.ContainsTextOptions().setTimeout(10_000));
        PlaywrightAssertions.assertThat(foot(page)).containsText("Ended");
        browser.expect("Failed to load resource");
        browser.expect("ERR_FAILED");
    }

    /** A browser has six connections per host, so one tab streams for all, and another takes its place. */
    @Test
    void oneOfSevenTabsStreamsForAll() {
        String run = seed.waiting("seven");
        Page first = browser.signedInAnew("/ui/runs/" + run);
        PlaywrightAssertions.assertThat(foot(first)).containsText("Live");
        List<Page> tabs = new ArrayList<>(List.of(first));
        List<String> streams = new CopyOnWriteArrayList<>();
        first.context().onRequest(request -> {
            if (request.url().contains("/events/stream")) {
                streams.add(request.url());
            }
        });
        for (int i = 1; i < 7; i++) {
            tabs.add(browser.tab(first.context(), "/ui/runs/" + run));
        }
        for (Page tab : tabs) {
            PlaywrightAssertions.assertThat(foot(tab)).containsText("Live");
            PlaywrightAssertions.assertThat(state(tab)).containsText("running");
        }
        assertThat(streams).isEmpty();
        api.post("/api/v1/runs/" + run + "/pause", "{}");
        for (Page tab : tabs) {
            PlaywrightAssertions.assertThat(state(tab)).containsText("paused");
        }
        first.close();
        tabs.remove(first);
        first.context().waitForCondition(() -> streams.size() == 1);
        api.post("/api/v1/runs/" + run + "/resume", "{}");
        for (Page tab : tabs) {
            PlaywrightAssertions.assertThat(state(tab)).containsText("running");
        }
        assertThat(streams).hasSize(1);
        approve(run);
        PlaywrightAssertions.assertThat(tabs.getFirst().locator(".live").first()).containsText("Ended");
        DashboardBrowser.go(tabs.getFirst(), "/ui/inbox");
        PlaywrightAssertions.assertThat(tabs.getFirst().locator(".live").first()).containsText("Live");
    }

    @Test
    void frameIsThereBeforeItIsKnownWhoLooksAndAFaultEndsNoSession() {
        Page page = browser.signedInAnew("/ui/runs");
        List<Route> held = new CopyOnWriteArrayList<>();
        page.route("**/api/v1/whoami", held::add);
        page.reload();
        page.waitForCondition(() -> !held.isEmpty());
        sees(page.locator(".side").getByText("Overview"));
        sees(page.locator("main .skeleton").first());
        held.forEach(Route::abort);
        sees(page.getByText("The server does not answer").first());
        browser.expect("Failed to load resource");
        page.unroute("**/api/v1/whoami");
        button(page, "Try again").click();
        sees(page.getByRole(AriaRole.HEADING, new Page.GetByRoleOptions().setName("Runs").setExact(true)));
    }

    @Test
    @Breadth.InPart(1)
    void pageGoesOnWithAnotherServerWhenItsOwnDies() throws Exception {
        String run = seed.waiting("survivor");
        ApiServer other = new ApiServer(folder.resolve("two"), database, Map.of());
        AtomicReference<URI> server = new AtomicReference<>(other.url());
        try (ServerProxy proxy = new ServerProxy(server::get)) {
            browser.expect(proxy.url().toString());
            Page page = browser.open("/ui/", 1440, 900, ColorScheme.LIGHT);
            page.navigate(proxy.url() + "/ui/runs/" + run);
            browser.signIn(page);
            PlaywrightAssertions.assertThat(foot(page)).containsText("Live");
            server.set(api.url());
            proxy.cut();
            other.close();
            approve(run);
            PlaywrightAssertions.assertThat(state(page)).containsText("completed");
            DashboardBrowser.go(page, "/ui/runs?text=survivor");
            PlaywrightAssertions.assertThat(row(page, "survivor")).containsText("completed");
            PlaywrightAssertions.assertThat(foot(page)).containsText("Live");
        } finally {
            other.close();
        }
    }

    @Test
    void aNewVersionOfTheServerIsSaid() {
        Page page = browser.open("/ui/runs/" + seed.waiting("upgraded"), 1440, 900, ColorScheme.LIGHT);
        AtomicBoolean cut = new AtomicBoolean();
        page.route("**/events/stream*", route -> {
            if (cut.getAndSet(true)) {
                route.resume();
            } else {
                page.route("**/whoami", other -> other.fulfill(new Route.FulfillOptions()
                        .setBody(api.get("/api/v1/whoami").text().replaceFirst("\"version\":\"[^\"]*\"",
                                "\"version\":\"9.9.9\""))
                        .setContentType("application/json")));
                route.abort();
            }
        });
        browser.signIn(page);
        PlaywrightAssertions.assertThat(page.getByText("The server is a new version, 9.9.9")).isVisible();
        browser.expect("Failed to load resource");
    }

    @Test
    void troubleIsFoundByWhatRunsWaitFor() {
        seed.waiting("asks-for-trouble");
        seed.failing();
        Page page = browser.signedIn("/ui/runs?view=trouble");
        PlaywrightAssertions.assertThat(page.getByText("asks-for-trouble").first()).isVisible();
        PlaywrightAssertions.assertThat(page.getByText("invoice-import")).hasCount(0);
    }
}
