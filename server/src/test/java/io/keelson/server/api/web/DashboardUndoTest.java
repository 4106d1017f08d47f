package io.keelson.server.api.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import io.keelson.server.api.http.ApiServer;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The undo of a run in the dashboard. */
class DashboardUndoTest extends DashboardChecks {

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        use(new ApiServer(folder));
    }

    @Test
    void runIsUndoneWithATaskDoneByHand() {
        String run = api.create("""
                {"name": "trip", "start": true, "plan": {"tasks": [
                 {"id": "flight", "steps": [{"tool": "noop"}], "undo": {"tool": "noop"}},
                 {"id": "hotel", "steps": [{"tool": "noop"}],
                  "undo": {"tool": "fail", "input": {"class": "permanent", "message": "the hotel is closed"}}}]}}""");
        api.awaitState(run, "completed");
        Page page = browser.signedIn("/ui/runs/" + run);
        button(page, "More actions").click();
        button(page, "Undo…").click();
        save(page, "Undo the run").click();
        Locator note = page.locator(".note[role=status]");
        sees(note.getByText("It is being undone. It waits for a person."));
        note.getByText("The undo").click();
        sees(page.getByText("This run undoes another."));
        page.getByText("Answer", new Page.GetByTextOptions().setExact(true)).click();
        sees(page.getByText("the hotel is closed").last());
        assertThat(browser.violations(page)).isEmpty();
        button(page, "Done by hand").click();
        save(page, "Done by hand").click();
        sees(page.getByText("Done by hand: done"));
        page.navigate(api.url() + "/ui/runs/" + run);
        sees(note.getByText("It is undone."));
        sees(note.getByText("1 undone, 1 done by hand of 2 tasks"));
        for (int width : List.of(1440, 390)) {
            page.setViewportSize(width, 844);
            assertThat(browser.violations(page)).isEmpty();
            assertThat(page.evaluate("document.documentElement.scrollWidth > innerWidth")).isEqualTo(false);
        }
        button(page, "More actions").click();
        sees(button(page, "Delete…"));
        assertThat(button(page, "Undo…").count()).isZero();
        note.getByText("The undo").click();
        page.getByText("The original", new Page.GetByTextOptions().setExact(true)).click();
        sees(note.getByText("It is undone."));
    }
}
