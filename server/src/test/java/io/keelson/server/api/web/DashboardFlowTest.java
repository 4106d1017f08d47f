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

    private static Locator.FilterOptions text(String text) {
        return new Locator.FilterOptions().setHasText(text);
    }
}
