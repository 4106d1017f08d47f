package io.keelson.server.api.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.AriaRole;
import io.keelson.core.Breadth;
import io.keelson.server.api.http.ApiServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/** The server and the browser of a class of tests of the dashboard, and words that these tests share. */
@Breadth.Spread
@TestInstance(Lifecycle.PER_CLASS)
abstract class DashboardChecks {

    ApiServer api;
    DashboardBrowser browser;
    DashboardSeed seed;

    /** Called before all tests of a class. */
    void use(ApiServer server) {
        api = server;
        browser = new DashboardBrowser(api.url(), api.key());
        seed = new DashboardSeed(api);
    }

    @AfterAll
    void closeBrowserAndServer() {
        browser.close();
        api.close();
    }

    @AfterEach
    void nothingWentWrong() {
        browser.clean();
    }

    static void sees(Locator locator) {
        PlaywrightAssertions.assertThat(locator).isVisible();
    }

    static Locator button(Page page, String name) {
        return page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name).setExact(true));
    }

    static Locator dialog(Page page) {
        return page.getByRole(AriaRole.DIALOG);
    }

    /** A button of the dialog. */
    static Locator save(Page page, String name) {
        return dialog(page).getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName(name).setExact(true));
    }

    /** The row of a table with this text. */
    static Locator row(Page page, String text) {
        return page.getByRole(AriaRole.ROW).filter(new Locator.FilterOptions().setHasText(text));
    }

    /** The state beside the name of a run. */
    static Locator state(Page page) {
        return page.locator("h1 + .state");
    }

    /** What the foot says of the stream. */
    static Locator foot(Page page) {
        return page.locator(".live").first();
    }

    /** The first item of the inbox of a run, once there is one. */
    String item(String run) {
        return Awaitility.await().atMost(Duration.ofSeconds(60)).until(
                () -> api.get("/api/v1/inbox?run_id=" + run).json().at("/items/0/id").asString(""),
                id -> !id.isEmpty());
    }

    /** Sends JSON by another method than POST. */
    void send(String method, String path, String json) {
        ApiServer.Answer answer = api.send(method, path, json.getBytes(StandardCharsets.UTF_8), "Content-Type",
                "application/json");
        assertThat(answer.status()).as(answer.text()).isIn(List.of(200, 201));
    }
}
