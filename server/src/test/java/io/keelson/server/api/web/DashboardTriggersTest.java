package io.keelson.server.api.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.ColorScheme;
import io.keelson.server.api.http.ApiServer;
import java.nio.file.Path;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Triggers and their deliveries in the dashboard. */
class DashboardTriggersTest extends DashboardChecks {

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        use(new ApiServer(folder));
    }

    /** A trigger that starts a run for orders with a total, and drops those of zero. */
    private String trigger(String name) {
        ApiServer.Answer made = api.post("/api/v1/triggers", """
                {"name": "%1$s", "source": {"kind": "event", "event": "%1$s"}, "filter": "${ .body.total > 0 }",
                 "mission": {"name": "%1$s", "inputs": {"total": {"type": "integer"}}, "plan": {"tasks": []}},
                 "inputs": {"total": "${ .body.total }"}, "example": {"body": {"total": 1}}}""".formatted(name));
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        return made.json().get("id").asString();
    }

    private void sends(String name, String id, String total) {
        assertThat(api.post("/api/v1/events", "{\"name\": \"%s\", \"id\": \"%s\", \"data\": {\"total\": %s}}"
                .formatted(name, id, total)).status()).isEqualTo(202);
    }

    private void awaitDecided(String trigger, int count) {
        Awaitility.await().until(() -> api.get("/api/v1/triggers/" + trigger + "/deliveries").json().get("items")
                .valueStream().filter(each -> !each.get("state").asString().equals("pending")).count() == count);
    }

    @Test
    void deliveriesAreShownWithTheirOutcomesAndReplayed() {
        String trigger = trigger("orders");
        sends("orders", "first", "7");
        sends("orders", "second", "0");
        sends("orders", "third", "\"many\"");
        awaitDecided(trigger, 3);
        Page page = browser.signedIn("/ui/triggers");
        button(page, "orders").click();
        Locator events = page.locator(".runs-made li");
        PlaywrightAssertions.assertThat(events).hasCount(3);
        PlaywrightAssertions.assertThat(events.filter(text("first"))).containsText("started");
        PlaywrightAssertions.assertThat(events.filter(text("second"))).containsText("FILTERED");
        PlaywrightAssertions.assertThat(events.filter(text("third"))).containsText("refused");
        events.filter(text("third")).locator("button").first().click();
        sees(dialog(page).getByText("\"total\": \"many\""));
        assertThat(browser.violations(page)).isEmpty();
        save(page, "Close").click();
        events.filter(text("second")).getByText("Replay").click();
        sees(page.getByText("1 event will be decided again"));
        page.getByLabel("Outcome").selectOption("refused");
        PlaywrightAssertions.assertThat(events).hasCount(1);
        assertThat(page.url()).contains("state=refused");
        button(page, "Replay…").click();
        PlaywrightAssertions.assertThat(dialog(page).getByLabel("Outcome")).hasValue("refused");
        save(page, "Replay").click();
        sees(page.getByText("1 event will be decided again").last());
        for (int width : List.of(1440, 390)) {
            page.setViewportSize(width, 844);
            assertThat(browser.violations(page)).isEmpty();
            assertThat(page.evaluate("document.documentElement.scrollWidth > innerWidth")).isEqualTo(false);
        }
    }

    @Test
    void triggerIsTurnedOffAndOnAndDeleted() {
        String trigger = trigger("invoices");
        Page page = browser.signedIn("/ui/triggers", 390, 844, ColorScheme.DARK, api.key());
        Locator row = row(page, "invoices");
        row.getByText("Turn off…").click();
        save(page, "Turn off").click();
        PlaywrightAssertions.assertThat(row).containsText("off");
        sees(row.getByText("Turn on"));
        assertThat(api.get("/api/v1/triggers/" + trigger).json().get("enabled").asBoolean()).isFalse();
        row.getByText("Turn on").click();
        sees(row.getByText("Turn off…"));
        assertThat(browser.violations(page)).isEmpty();
        button(page, "Delete invoices").click();
        save(page, "Delete").click();
        PlaywrightAssertions.assertThat(row).hasCount(0);
        assertThat(api.get("/api/v1/triggers/" + trigger).status()).isEqualTo(404);
    }

    @Test
    void deadEventsAreReplayedFromTheInbox() {
        String trigger = api.post("/api/v1/triggers", """
                {"name": "unpaid", "source": {"kind": "event", "event": "unpaid"}, "mission": {"name": "unpaid",
                  "plan": {"tasks": [{"id": "a", "estimated_cost": 900000, "steps": [{"tool": "noop"}]}]}}}""").json()
                .get("id").asString();
        sends("unpaid", "1", "1");
        Awaitility.await().until(() -> api.get("/api/v1/triggers/" + trigger + "/deliveries").json()
                .at("/items/0/failures").asInt() > 0);
        api.sql("update trigger_deliveries set failures = 7, due_at = clock_timestamp() where state = 'pending'");
        awaitDecided(trigger, 1);
        Page page = browser.signedIn("/ui/inbox?kind=dead_letter");
        sees(page.getByText("Trigger 'unpaid' has given up an event").last());
        assertThat(browser.violations(page)).isEmpty();
        page.locator(".answers").getByText("Replay").click();
        save(page, "Replay").click();
        sees(page.getByText("Replay: done"));
        assertThat(api.get("/api/v1/inbox?kind=dead_letter").json().get("items")).isEmpty();
    }

    private static Locator.FilterOptions text(String text) {
        return new Locator.FilterOptions().setHasText(text);
    }
}
