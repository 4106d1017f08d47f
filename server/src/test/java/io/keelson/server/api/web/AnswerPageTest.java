package io.keelson.server.api.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import io.keelson.server.api.http.ApiServer;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.outlet.webhook.Receiver;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Answers by links of messages in a browser of a phone's size, at a server that it finds over plain http. */
class AnswerPageTest extends DashboardChecks {

    private Receiver receiver;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        receiver = new Receiver();
        use(new ApiServer(folder, TestDatabase.createUrl(),
                Map.of("KEELSON_ALLOW_PRIVATE_ADDRESSES", "true", "KEELSON_PUBLIC_URL", "http://keelson.test")));
        browser.close();
        // Not a loopback name: browsers send no Sec-Fetch-Site to it, and the form's Origin decides.
        browser = new DashboardBrowser(URI.create("http://keelson.test:" + api.url().getPort()), api.key());
        api.post("/api/v1/api-keys", "{\"name\": \"alex\", \"principal\": \"alex\", \"principal_kind\": \"person\","
                + " \"scopes\": [\"runs:read\", \"approve\"]}");
        assertThat(api.post("/api/v1/webhooks", "{\"url\": \"" + receiver.url()
                + "\", \"format\": \"slack\", \"recipient\": \"alex\", \"events\": [\"approval.needed\"]}").status())
                .isEqualTo(201);
    }

    @AfterAll
    void stop() {
        receiver.close();
    }

    private Page answerPage(String question, ColorScheme scheme) {
        int before = receiver.got().size();
        api.create("""
                {"name": "invoice", "start": true, "plan": {"tasks": [{"id": "a", "steps": [{"kind": "approval",
                  "input": {"question": "QUESTION", "invoice": {"number": 17, "lines": [{"text": "Chairs", "total": 250}],
                    "note": "first line\\nsecond <b>line</b>"}}}]}]}}""".replace("QUESTION", question));
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> receiver.got().size() > before);
        Matcher link = Pattern.compile("/answer/[A-Za-z0-9_.-]+").matcher(receiver.got().getLast().body());
        assertThat(link.find()).isTrue();
        Page page = browser.open(link.group(), 390, 844, scheme);
        assertThat(page.locator("h1").textContent()).isEqualTo(question);
        assertThat(page.evaluate("document.documentElement.scrollWidth > innerWidth")).isEqualTo(false);
        assertThat(browser.violations(page)).isEmpty();
        return page;
    }

    private static String background(Locator button) {
        return String.valueOf(button.evaluate("it => getComputedStyle(it).backgroundColor"));
    }

    @Test
    void questionIsReadAndAcceptedOnAPhone() {
        Page page = answerPage("Pay the invoice?", ColorScheme.LIGHT);
        assertThat(page.locator("pre").textContent()).isEqualTo("""
                invoice:
                  note:
                    first line
                    second <b>line</b>
                  lines:
                    - text: Chairs
                      total: 250
                  number: 17""");
        assertThat(page.locator("dd").allTextContents())
                .anyMatch(each -> each.matches("\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC"));
        assertThat(background(button(page, "Accept"))).isNotEqualTo(background(button(page, "Reject")));
        button(page, "Accept").click();
        sees(page.getByText("Your answer is recorded"));
        assertThat(browser.violations(page)).isEmpty();
    }

    @Test
    void questionIsRejectedInTheDark() {
        Page page = answerPage("Pay it twice?", ColorScheme.DARK);
        page.getByLabel("Reason (optional)").fill("once is enough");
        button(page, "Reject").click();
        sees(page.getByText("Reject, by alex."));
    }
}
