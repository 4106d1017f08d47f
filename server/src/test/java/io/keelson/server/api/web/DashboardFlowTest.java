package io.keelson.server.api.web;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import io.keelson.server.api.http.ApiServer;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Switches, groups and rounds in the dashboard. */
class DashboardFlowTest extends DashboardChecks {
    private String run;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        use(new ApiServer(folder));
        run = api.create("""
                {"name": "triage", "start": true, "plan": {"tasks": [
                  {"id": "read", "title": "Read the ticket", "steps": [{"tool": "echo", "input": {"kind": "bug"}}]},
                  {"id": "route", "title": "Choose by the kind", "depends_on": ["read"], "switch": [
                    {"name": "bug", "when": ".tasks.read.output.kind == \\"bug\\"", "tasks": [
                      {"id": "repair", "group": [
                        {"id": "find", "title": "Find the cause", "steps": [{"tool": "noop"}]},
                        {"id": "fix", "title": "Fix it", "depends_on": ["find"], "steps": [{"tool": "noop"}]}]}]},
                    {"name": "question", "when": "false", "tasks": [
                      {"id": "answer", "title": "Answer", "steps": [{"tool": "noop"}]}]},
                    {"else": [{"id": "file", "title": "File", "steps": [{"tool": "noop"}]}]}]},
                  {"id": "collect", "title": "Collect", "depends_on": ["route"],
                   "repeat": {"until": ".round >= 3", "max": 20}, "steps": [{"tool": "noop"}]}]}}""");
        api.awaitState(run, "completed");
    }

    @Test
    void graphHasTheChoiceAndItsBranches() {
        Page page = browser.signedIn("/ui/runs/" + run + "?view=graph");
        PlaywrightAssertions.assertThat(page.locator(".branch-of")).hasText(new String[] {"bug", "question", "else"});
        PlaywrightAssertions.assertThat(page.locator(".box.choice")).containsText("Choose by the kind");
        PlaywrightAssertions.assertThat(page.locator(".box.end")).containsText("Choose by the kind: end");
    }

    @Test
    void timelineHasBranchesAndRounds() {
        Page page = browser.signedIn("/ui/runs/" + run + "?task=answer");
        Locator rows = page.locator(".tree-row");
        PlaywrightAssertions.assertThat(rows.filter(text("Answer")).locator(".flow")).hasText("route: question");
        PlaywrightAssertions.assertThat(rows.filter(text("Find the cause")).locator(".flow")).hasText("repair");
        PlaywrightAssertions.assertThat(rows.filter(text("Collect"))).containsText("round 3 of 20");
        sees(page.locator(".why").getByText("switch 'route' chose branch 'bug'"));
    }

    /** All tasks of its rounds have completed. */
    @Test
    void groupWithoutRoundsLeftIsDrawnAsFailed() {
        String failed = api.create("""
                {"name": "exhausted", "start": true, "plan": {"tasks": [
                  {"id": "essay", "title": "Write and review", "repeat": {"until": "false", "max": 2},
                   "group": [{"id": "draft", "steps": [{"tool": "noop"}]}]}]}}""");
        api.awaitState(failed, "failed");

        Page page = browser.signedIn("/ui/runs/" + failed + "?view=graph");
        PlaywrightAssertions.assertThat(page.locator(".box.x-failed")).containsText("round 2 of 2");
        page.navigate(page.url().replace("?view=graph", ""));
        page.getByLabel("Only trouble").check();
        Locator row = page.locator(".tree-row").filter(text("Write and review"));
        PlaywrightAssertions.assertThat(row.locator(".i-failed")).isVisible();
    }

    private static Locator.FilterOptions text(String text) {
        return new Locator.FilterOptions().setHasText(text);
    }
}
